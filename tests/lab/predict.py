#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""What the cost model says: beside what was measured, and of more CPUs than
there are.  See README.md.

    predict.py BUILD COSTS MEASURED REPORT

MEASURED has lines of matrix.py.  Prints the tables, and writes them to
REPORT."""

import concurrent.futures
import json
import math
import os
import statistics
import subprocess
import sys

from matrix_cells import CLOSED, COSTS, POLICIES
from matrix_summary import medians
from measuring.figures import figure, table
from measuring.process import MeasuringError
from measuring.short import brief

CPUS = brief((1, 2, 4, 8, 16, 32, 64), (1, 4))
SHARD_CPUS = brief((2, 4, 8, 16, 64), (4,))
# Enough that no CPU is idle for want of requests.
CONNECTIONS_PER_CPU = 32
MS = brief(60, 10)
# Policies whose throughput differs by less are not ranked.
APART = 1.15
# Several shards are better than one from this on.
BETTER = 1.1

# What other hardware, or another kernel, may cost.
VARIANTS = {
    "as calibrated": (),
    "turns half as long": ("turn=x0.5",),
    "turns twice as long": ("turn=x2",),
    "lines take 3 times as long": ("line_transfer=x3",),
    "waking takes a quarter": ("wake_call=x0.25", "wake_queued=x0.25",
                               "wake_delay=x0.25"),
    "2 % of a turn serialises": ("turn_serial=200",),
    "events take a quarter": ("wait_event=x0.25",),
}
WORKS = {
    "kept alive": (),
    "a connection per request": ("--requests", "1"),
    "10%x1ms": ("--busy-turns", "100:1000"),
    "1%sleep5ms": ("--slow-turns", "10:5"),
}


def half(threads):
    """One shard for every two threads."""
    return (threads + 1) // 2


class Model:
    """lf_cost, several at a time; what was asked before is not run again."""

    def __init__(self, build, costs):
        self.program = [f"{build}/sim/lf_cost", "--costs", costs]
        self.pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
        self.asked = {}

    def ask(self, *options):
        """A future of what lf_cost prints."""
        key = tuple(map(str, options))
        if key not in self.asked:
            self.asked[key] = self.pool.submit(self.run, key)
        return self.asked[key]

    def run(self, options):
        done = subprocess.run([*self.program, *options], text=True,
                              capture_output=True, check=False)
        if done.returncode != 0:
            raise MeasuringError(f"{' '.join(done.args)}: {done.stderr}")
        return json.loads(done.stdout)

    def elsewhere(self, cpus, shards, policy="adaptive", threads=None, work=(),
                  variant=()):
        """With clients and servers on other machines."""
        sets = [word for cost in variant for word in ("--set", cost)]
        return self.ask("--cpus", cpus, "--threads", threads or cpus,
                        "--shards", shards, "--policy", policy,
                        "--connections", CONNECTIONS_PER_CPU * cpus,
                        "--ms", MS, "--warm-ms", MS // 2, *work, *sets)


# -- beside what was measured --

def predicted(model, cell, policy):
    cost, connections, threads, shards, _ = cell
    return model.ask("--local", "--cpus", 2, "--threads", threads,
                     "--shards", shards, "--policy", policy,
                     "--connections", connections, "--ms", brief(400, 20),
                     "--warm-ms", brief(50, 5), *COSTS[cost])


def read_measured(path):
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return {cell: policies for cell, policies
            in sorted(medians(lines).items()) if cell[-1] == CLOSED}


def relative(throughputs):
    """Each as a factor of their geometric mean: without what makes the whole
    machine faster or slower."""
    mean = statistics.geometric_mean(throughputs.values())
    return {policy: n / mean for policy, n in throughputs.items()}


def spread(ratios):
    """The factor within which two of three ratios are of 1."""
    logs = sorted(abs(math.log(ratio)) for ratio in ratios)
    return math.exp(logs[(2 * len(logs) - 1) // 3])


def rankings(measured, foretold):
    """(right, all) of the pairs of policies that are apart by measurement."""
    right = apart = 0
    for a in measured:
        for b in measured:
            if measured[a] > measured[b] * APART:
                apart += 1
                right += foretold[a] > foretold[b]
    return right, apart


def comparison(model, path):
    rows, cpu, shares, right, apart = [], [], [], 0, 0
    cells = read_measured(path)
    asked = {(cell, policy): predicted(model, cell, policy)
             for cell in cells for policy in POLICIES}
    for cell, policies in cells.items():
        told = {policy: asked[cell, policy].result() for policy in POLICIES}
        is_ = relative({p: policies[p]["throughput"] for p in POLICIES})
        said = relative({p: told[p]["throughput"] for p in POLICIES})
        pairs = rankings(is_, said)
        right, apart = right + pairs[0], apart + pairs[1]
        for policy in POLICIES:
            m, t = policies[policy], told[policy]
            cpu.append(t["cpu_us"] / m["cpu_us"])
            shares.append(said[policy] / is_[policy])
            rows.append([
                "{}, {} conn., {} thr.".format(*cell), policy,
                figure(m["throughput"]), figure(t["throughput"]),
                f"{is_[policy]:.2f}", f"{said[policy]:.2f}",
                figure(m["cpu_us"]), figure(t["cpu_us"]),
                figure(m["p50_us"]), figure(t["p50_us"]),
                figure(m["p99_us"]), figure(t["p99_us"])])
    head = ["cell", "policy", "requests/s", "model", "of the cell's mean",
            "model", "CPU µs", "model", "p50 µs", "model", "p99 µs", "model"]
    return (f"{table(head, rows)}\n"
            "Two of three predictions are within a factor of "
            f"{spread(cpu):.2f} for CPU per request (median "
            f"{statistics.median(cpu):.2f}), and of {spread(shares):.2f} for "
            "throughput against the mean of the cell's policies.  Of "
            f"{apart} pairs of policies that differ by more than "
            f"{(APART - 1) * 100:.0f} % the model ranks {right} as "
            "measured.\n")


# -- more CPUs --

def thousands(told):
    return figure(told["throughput"] / 1000)


def ceilings(model):
    policies = ("adaptive", "always", "kernel", "reactor")
    asked = {(p, n): model.elsewhere(n, 1, p) for p in policies for n in CPUS}
    rows = [[p, *(thousands(asked[p, n].result()) for n in CPUS)]
            for p in policies]
    return table(["policy", *map(str, CPUS)], rows)


def shard_counts(cpus):
    counts = {1, cpus, half(cpus)}
    counts.update(cpus // n for n in (2, 4, 8) if cpus >= n)
    return sorted(counts)


def by_shards(model, work):
    """Requests/s, and p99, of each number of shards."""
    rows = []
    asked = {(n, s): model.elsewhere(n, s, work=WORKS[work])
             for n in SHARD_CPUS for s in shard_counts(n)}
    for n in SHARD_CPUS:
        told = {s: asked[n, s].result() for s in shard_counts(n)}
        best = max(told, key=lambda s: told[s]["throughput"])
        two = half(n)
        rows.append([
            str(n), " ".join(f"{s}: {thousands(told[s])}" for s in told),
            str(best),
            f"{told[two]['throughput'] / told[best]['throughput']:.2f}",
            " ".join(f"{s}: {figure(told[s]['p99_us'])}" for s in told)])
    better = [n for n in SHARD_CPUS
              if max(asked[n, s].result()["throughput"]
                     for s in shard_counts(n) if s > 1)
              > BETTER * asked[n, 1].result()["throughput"]]
    return (table(["CPUs", "shards: thousand requests/s", "best",
                   "a shard for two threads, of the best",
                   "shards: p99 µs"], rows)
            + f"\nMore than one shard is better by {(BETTER - 1) * 100:.0f} "
            "% or more on these CPUs: "
            f"{', '.join(map(str, better)) or 'none'}.\n")


def sensitivity(model):
    cpus = SHARD_CPUS[-1] if len(SHARD_CPUS) < 4 else 16
    asked = {(v, s): model.elsewhere(cpus, s, variant=VARIANTS[v])
             for v in VARIANTS for s in shard_counts(cpus)}
    rows = []
    for v in VARIANTS:
        told = {s: asked[v, s].result()["throughput"]
                for s in shard_counts(cpus)}
        best = max(told, key=told.get)
        two = half(cpus)
        rows.append([v, " ".join(f"{s}: {figure(n / 1000)}"
                                 for s, n in told.items()), str(best),
                     f"{told[two] / told[best]:.2f}"])
    return (f"{cpus} CPUs and threads.\n\n"
            + table(["costs", "shards: thousand requests/s", "best",
                     "a shard for two threads, of the best"], rows))


def report(model, measured):
    parts = [("The model beside measurements", comparison(model, measured)),
             ("One shard, as many threads as CPUs: thousand requests/s",
              ceilings(model))]
    parts += [(f"Shards: {work}", by_shards(model, work)) for work in WORKS]
    parts += [("Shards, with other costs", sensitivity(model))]
    return "\n".join(f"## {title}\n\n{text}" for title, text in parts)


def main(argv):
    if len(argv) != 5:
        print("usage: predict.py BUILD COSTS MEASURED REPORT", file=sys.stderr)
        return 2
    build, costs, measured, path = argv[1:]
    try:
        text = report(Model(build, costs), measured)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"# Predictions\n\n{text}")
    except (MeasuringError, OSError) as error:
        print(f"predict: {error}", file=sys.stderr)
        return 1
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
