# SPDX-License-Identifier: MIT
"""The arithmetic of the matrix: medians of the rounds, each policy against the
best of its cell, and the aims.

A result is one round of one cell: {"cost", "connections", "threads", "shards",
"load", "round", "policies": {name: sample}}.  A sample has the metrics below
and `idle`, the share of the machine's CPU time that nothing used."""

import statistics
from collections import namedtuple

from matrix_cells import POLICIES
from measuring.figures import figure, table

# The machine counts as saturated when less than this share of it is idle.
SATURATED_IDLE = 0.05

# name, in a sample, whether more is better, the aim as a factor of the best,
# whether only saturated samples count
Measure = namedtuple("Measure", "name key more aim saturated")
MEASURES = (
    Measure("throughput", "throughput", True, 0.97, False),
    Measure("p50", "p50_us", False, 1.10, False),
    Measure("p99", "p99_us", False, 1.10, False),
    Measure("CPU, saturated", "cpu_us", False, 1.05, True),
    Measure("CPU", "cpu_us", False, None, False),
)
METRICS = (("throughput", "requests/s"), ("cpu_us", "CPU µs"),
           ("p50_us", "p50 µs"), ("p99_us", "p99 µs"), ("p999_us", "p99.9 µs"),
           ("gap_us", "longest gap µs"), ("idle", "idle"))

Share = namedtuple("Share", "ratio cell own best best_policy")


def cell_name(cell):
    cost, connections, threads, shards, load = cell
    at = "closed" if load == "closed" else f"{load} %"
    return (f"{cost}, {connections} conn., {threads} thr., {shards} sh., {at}")


def medians(results):
    """{cell: {policy: {metric: median of the rounds}}}"""
    rounds = {}
    for result in results:
        cell = tuple(result[name] for name in (
            "cost", "connections", "threads", "shards", "load"))
        for policy, sample in result["policies"].items():
            rounds.setdefault(cell, {}).setdefault(policy, []).append(sample)
    return {
        cell: {policy: {key: statistics.median(s[key] for s in samples)
                        for key in samples[0]}
               for policy, samples in policies.items()}
        for cell, policies in rounds.items()}


def shares(cells, measure):
    """{policy: [Share in each cell where the measure counts]}.  The best is
    that among the policies for which it counts."""
    found = {policy: [] for policy in POLICIES}
    for cell, policies in cells.items():
        own = {policy: median[measure.key]
               for policy, median in policies.items()
               if not (measure.saturated
                       and median["idle"] >= SATURATED_IDLE)}
        if not own:
            continue
        best = (max if measure.more else min)(own, key=own.get)
        if own[best] == 0:
            continue
        for policy, value in own.items():
            found[policy].append(Share(value / own[best], cell, value,
                                       own[best], best))
    return found


def met(measure, share):
    return (share.ratio >= measure.aim if measure.more
            else share.ratio <= measure.aim)


def worst(measure, of_policy):
    """The Share furthest from the best; None where the measure never counts."""
    pick = min if measure.more else max
    return pick(of_policy, key=lambda share: share.ratio, default=None)


def within_aims(cells):
    """{policy: (cells within all aims, cells)}"""
    missed = {policy: set() for policy in POLICIES}
    for measure in MEASURES:
        if measure.aim is None:
            continue
        for policy, of_policy in shares(cells, measure).items():
            missed[policy] |= {s.cell for s in of_policy
                               if not met(measure, s)}
    return {policy: (
        sum(policy in policies and cell not in missed[policy]
            for cell, policies in cells.items()),
        sum(policy in policies for policies in cells.values()))
        for policy in POLICIES}


def aims_table(cells):
    aimed = [m for m in MEASURES if m.aim is not None]
    by_measure = {m.name: shares(cells, m) for m in aimed}
    everything = within_aims(cells)
    rows = []
    for policy in POLICIES:
        row = [policy]
        for m in aimed:
            of_policy = by_measure[m.name][policy]
            row.append(f"{sum(met(m, s) for s in of_policy)} of "
                       f"{len(of_policy)}")
        rows.append(row + ["{} of {}".format(*everything[policy])])
    head = ["policy"] + [
        f"{m.name} {'≥' if m.more else '≤'} {m.aim:.2f}" for m in aimed]
    return table(head + ["all of these"], rows)


def worst_table(cells):
    rows = []
    for m in MEASURES:
        of_all = shares(cells, m)
        for policy in POLICIES:
            share = worst(m, of_all[policy])
            if share:
                rows.append([
                    m.name, policy, f"{share.ratio:.2f}",
                    cell_name(share.cell), f"{figure(share.own)}",
                    f"{figure(share.best)} ({share.best_policy})"])
    return table(["measure", "policy", "× best", "worst cell", "there",
                  "best there"], rows)


def summary(results):
    """The two tables that say how far each policy is from the best."""
    cells = medians(results)
    rounds = max((result["round"] for result in results), default=-1) + 1
    return (f"{len(cells)} cells, medians of up to {rounds} rounds.\n\n"
            "Cells within the aims, as a factor of the best policy there:\n\n"
            f"{aims_table(cells)}\n"
            f"The worst cell of each policy:\n\n{worst_table(cells)}")


def all_cells(results):
    """Every figure."""
    rows = []
    for cell, policies in sorted(medians(results).items()):
        for policy, median in policies.items():
            rows.append([cell_name(cell), policy]
                        + [figure(median[key]) for key, _ in METRICS])
    return table(["cell", "policy"] + [head for _, head in METRICS], rows)
