#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""The laboratory: the claims of the Leader/Followers paper and of lfproxy as
experiments, with a verdict on each.

    lab.py BUILD REPORT [EXPERIMENT]...

Compares within interleaved rounds and by CPU time of the proxy's process: the
machine is shared, and wall-clock times of one run say little.  A verdict is the
answer of the middle half of the rounds; where that disagrees there is none.
Whatever comes out is printed, also where it contradicts the paper.  Exits with
0 when all was measured, whatever the verdicts are."""

import math
import os
import platform
import sys
import time

import experiments
from measure import Bench
from measuring.figures import cell, table
from measuring.process import AppServer, MeasuringError
from rig import perf_counts_futexes
from verdict import Verdicts


# What perf has to count, and gaps that are counted only while the guard watches.
NOT_ALWAYS = {"futexes", "poll_gap_p99_us", "poll_gap_max_us"}
NEVER_ZERO = {"cpu_us", "p50_us", "p99_us", "mega_s", "wake_us"}


def require_figures(title, columns, taken):
    """Every sample has a number for every column."""
    for name, samples in taken.items():
        for sample in samples:
            for metric, _ in columns:
                value = (sample or {}).get(
                    metric, 0 if metric in NOT_ALWAYS else math.nan)
                if not math.isfinite(value) or value < 0 or (
                        value == 0 and metric in NEVER_ZERO):
                    raise MeasuringError(f"{title}: {metric} of '{name}' is "
                                         f"{value}")


def section(result):
    title, remark, columns, taken = result
    require_figures(title, columns, taken)
    rows = [[name] + [cell(samples, metric) for metric, _ in columns]
            for name, samples in taken.items()]
    return (f"## {title}\n\n{remark}\n\n"
            + table([""] + [head for _, head in columns], rows))


def machine(bench, seconds):
    load = os.getloadavg()
    futexes = "" if bench.perf else (
        "  perf cannot count system calls here: no futex calls.")
    return (f"{platform.machine()}, Linux {platform.release()}, {bench.cpus} "
            f"CPUs, load {load[0]:.1f} at the end; {seconds:.0f} s."
            f"{futexes}\nMedians, with the quartiles of the rounds.\n")


def run(build, wanted):
    verdicts, sections = Verdicts(), []
    with AppServer(build) as server:
        bench = Bench(build, server.address, experiments.cpus(),
                      perf_counts_futexes())
        for name in wanted:
            experiment, rounds = experiments.ALL[name]
            result = experiment(bench, rounds, verdicts)
            if result:
                sections.append(section(result))
    claims = table(["whose", "claim", "verdict", "figures"], verdicts.lines)
    return bench, "## Verdicts\n\n" + claims, sections


def main(argv):
    if len(argv) < 3 or any(name not in experiments.ALL for name in argv[3:]):
        print("usage: lab.py BUILD REPORT [EXPERIMENT]...; there are "
              + ", ".join(experiments.ALL), file=sys.stderr)
        return 2
    began = time.monotonic()
    try:
        bench, claims, sections = run(argv[1], argv[3:] or experiments.ALL)
    except (MeasuringError, OSError) as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    text = "\n".join(["# The laboratory\n",
                      machine(bench, time.monotonic() - began), claims,
                      *sections])
    with open(argv[2], "w", encoding="utf-8") as file:
        file.write(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
