# SPDX-License-Identifier: MIT
"""Interleaved rounds, and what is said of their figures."""

import random
import statistics
import sys

from measuring.process import MeasuringError
from measuring.short import brief


def interleave(variants, rounds, sample, label):
    """{name: [sample of round 0, ...]}: every round takes all variants once,
    each time in another order."""
    rounds = brief(rounds, 1)
    taken = {name: [] for name in variants}
    for number in range(rounds):
        order = list(variants)
        random.Random(number).shuffle(order)
        for name in order:
            try:
                taken[name].append(sample(variants[name]))
            except MeasuringError as error:
                raise MeasuringError(f"{name}: {error}") from error
        sys.stderr.write(f"\r  {label}: round {number + 1} of {rounds} ")
        sys.stderr.flush()
    sys.stderr.write("\n")
    return taken


def figure(number):
    """Three digits that count, without an exponent where none is needed."""
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:.3g}"


def values(rows, metric):
    return [row[metric] for row in rows if metric in row]


def quartiles(numbers):
    """(lower, median, upper)"""
    if len(numbers) < 2:
        return (numbers[0],) * 3
    return tuple(statistics.quantiles(numbers, n=4, method="inclusive"))


def three(numbers):
    lower, middle, upper = (figure(n) for n in quartiles(numbers))
    return f"{middle} ({lower}–{upper})"


def cell(rows, metric):
    numbers = values(rows, metric)
    if not numbers:
        return "–"
    lower, middle, upper = (figure(n) for n in quartiles(numbers))
    return middle if lower == upper else three(numbers)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
