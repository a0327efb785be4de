# SPDX-License-Identifier: MIT
"""Claims, and what the figures say of them."""

from measuring.figures import figure, quartiles, three, values

HOLDS = "holds"
FAILS = "does not hold"
UNCLEAR = "not clear: spread too wide"


def judge(numbers, limit):
    """Is it at most limit?  Yes or no if the middle half of the rounds agrees;
    the median alone would call every tie."""
    lower, _, upper = quartiles(numbers)
    if upper <= limit:
        return HOLDS
    return FAILS if lower > limit else UNCLEAR


class Verdicts:
    """One line for each claim."""

    def __init__(self):
        self.lines = []

    def add(self, whose, claim, verdict, figures):
        self.lines.append((whose, claim, verdict, figures))

    def ratio(self, whose, claim, taken, metric, pair, limit=1.0):
        """Of the pair the first is at most limit times the second, compared
        within each round."""
        a = values(taken[pair[0]], metric)
        b = values(taken[pair[1]], metric)
        if not a or not b:
            self.add(whose, claim, "not measured", f"no {metric} here")
            return
        if min(b) == 0:
            verdict = HOLDS if max(a) == 0 else FAILS
            self.add(whose, claim, verdict,
                     f"{three(a)} against {three(b)}")
            return
        ratios = [x / y for x, y in zip(a, b)]
        self.add(whose, claim, judge(ratios, limit),
                 f"{three(ratios)} ×, allowed {limit:g}; medians "
                 f"{figure(quartiles(a)[1])} and {figure(quartiles(b)[1])}")

    def at_most(self, whose, claim, taken, metric, name, limit):
        numbers = values(taken[name], metric)
        self.add(whose, claim, judge(numbers, limit),
                 f"{three(numbers)}, allowed {limit:g}")

    def above(self, whose, claim, taken, metric, name, limit):
        """A control: the experiment is able to fail."""
        numbers = values(taken[name], metric)
        opposite = {HOLDS: FAILS, FAILS: HOLDS, UNCLEAR: UNCLEAR}
        self.add(whose, claim, opposite[judge(numbers, limit)],
                 f"{three(numbers)}, more than {limit:g} expected")
