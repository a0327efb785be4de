#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Policies against each other over turn costs, connections, threads, shards and
loads: see README.md.

    matrix.py BUILD RESULTS REPORT
    matrix.py --summary RESULTS

Every round goes through all cells in another order, and a cell takes all
policies once, in another order too, so that drift of the machine hits all
alike.  Each cell of a round is a line of RESULTS.  A line that is there already
is not measured again: a run that was interrupted goes on where it stopped."""

import hashlib
import json
import os
import platform
import random
import subprocess
import sys
import time

from matrix_cells import CLOSED, POLICIES, SelectionError, selection, variant
from matrix_summary import all_cells, summary
from measuring.process import DEADLINE_S, AppServer, MeasuringError
from measuring.short import SHORT, brief
from rig import Proxy

WARM_MS = brief(150, 30)


def machine_times():
    """CPU time of the machine so far, (idle, all).  Time that a hypervisor
    took away is not idle.  Time of niced processes is, for the measured ones
    can have it, unless they are niced themselves."""
    with open("/proc/stat", encoding="ascii") as file:
        times = [int(word) for word in file.readline().split()[1:9]]
    _, nice, _, idle, waiting = times[:5]
    left = idle + waiting + (nice if os.nice(0) <= 0 else 0)
    return left, sum(times)


def cpu_us(status):
    return status["user_us"] + status["system_us"]


class Meter:
    """What the proxy and the machine have used between two marks of the load."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.taken = []

    def take(self):
        self.taken.append((cpu_us(self.proxy.status()), machine_times()))

    def used(self):
        """CPU time of the proxy in µs, idle share of the machine."""
        (cpu, (idle, total)), (cpu_after, (idle_after, total_after)) = self.taken
        return (cpu_after - cpu,
                (idle_after - idle) / max(1, total_after - total))


def load_argv(build, address, setting, load, rate, seconds):
    """timeout(1) ends a load whose proxy does not answer."""
    how = ["--closed"] if load == CLOSED else [
        "--rate", str(max(1, round(rate))), "--unanswered"]
    return ["timeout", str(DEADLINE_S + seconds), f"{build}/lab/lab_load",
            "--connections", str(setting.connections), "--marks",
            "--ms", str(round(seconds * 1000)), "--warm-ms", str(WARM_MS),
            *how, address]


def run_load(argv, meter):
    with subprocess.Popen(argv, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as load:
        for line in load.stdout:
            if line.strip() not in ("warm", "done"):
                break
            meter.take()
        else:
            line = ""
        said = load.stderr.read()
        if load.wait() != 0 or len(meter.taken) != 2:
            raise MeasuringError(f"{' '.join(argv)} failed: {line}{said}")
    return json.loads(line)


def measure(build, server, policy, setting, load, rate, seconds):
    """One sample of one policy."""
    program, *options = variant(policy, setting)
    with Proxy(f"{build}/lab/{program}", options, server) as proxy:
        meter = Meter(proxy)
        told = run_load(load_argv(build, proxy.address, setting, load, rate,
                                  seconds), meter)
    cpu, idle = meter.used()
    times = told["others"]
    if times["requests"] == 0:  # none took less than this
        times = dict.fromkeys(times, round(seconds * 1e6))
    return {
        "throughput": told["answers"] / seconds,
        "cpu_us": cpu / max(1, told["answers"]),
        "p50_us": times["p50_us"], "p99_us": times["p99_us"],
        "p999_us": times["p999_us"], "gap_us": told["silence_us"],
        "idle": idle,
    }


class Results:
    """The lines of the file that one program has brought."""

    def __init__(self, path, program):
        self.path, self.program = path, program
        end_last_line(path)
        self.lines = [line for line in read_lines(path)
                      if line["program"] == program]
        self.there = {self.key(line) for line in self.lines}

    @staticmethod
    def key(line):
        return tuple(line[name] for name in (
            "cost", "connections", "threads", "shards", "load", "seconds",
            "round"))

    def add(self, line):
        self.lines.append(line)
        self.there.add(self.key(line))
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def saturation(self, setting, seconds):
        """Requests/s of the best policy in the first round of the setting."""
        first = min((line for line in self.lines
                     if line["load"] == CLOSED and line["seconds"] == seconds
                     and all(line[name] == value for name, value
                             in setting._asdict().items())),
                    key=lambda line: line["round"])
        return max(s["throughput"] for s in first["policies"].values())


def end_last_line(path):
    """A line that was cut short does not take the next one with it."""
    if os.path.exists(path):
        with open(path, "rb+") as file:
            text = file.read()
            if text and not text.endswith(b"\n"):
                file.write(b"\n")


def read_lines(path):
    """A line that was cut short by the end of a run is left out."""
    lines = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            for text in file:
                try:
                    lines.append(json.loads(text))
                except json.JSONDecodeError:
                    continue
    return lines


def plan(chosen):
    """(round, setting, load) in the order of measuring.  The loads at a rate
    need the saturation of their setting."""
    for number in range(chosen.rounds):
        order = random.Random(number)
        settings = list(chosen.settings)
        order.shuffle(settings)
        for setting in settings:
            open_loads = [load for load in chosen.loads if load != CLOSED]
            order.shuffle(open_loads)
            if number == 0 or CLOSED in chosen.loads:
                yield number, setting, CLOSED
            for load in open_loads:
                yield number, setting, load


def measure_cell(build, server, results, chosen, step):
    number, setting, load = step
    line = {**setting._asdict(), "load": load, "seconds": chosen.seconds,
            "round": number, "program": results.program}
    if results.key(line) in results.there:
        return
    rate = None
    if load != CLOSED:
        rate = results.saturation(setting, chosen.seconds) * int(load) / 100
    order = list(POLICIES)
    random.shuffle(order)
    line["rate"] = rate
    line["policies"] = {
        policy: measure(build, server, policy, setting, load, rate,
                        chosen.seconds) for policy in order}
    results.add(line)


def run(build, results, chosen):
    steps = list(plan(chosen))
    began = time.monotonic()
    with AppServer(build) as server:
        for done, step in enumerate(steps, 1):
            measure_cell(build, server.address, results, chosen, step)
            sys.stderr.write(
                f"\r  matrix: cell {done} of {len(steps)}, "
                f"{time.monotonic() - began:.0f} s ")
            sys.stderr.flush()
    sys.stderr.write("\n")


def program_of(build):
    """Identifies the lab_proxy that is measured, so that samples of an older
    core are not reused."""
    with open(f"{build}/lab/lab_proxy", "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:12]


def report(lines):
    head = (f"{time.strftime('%Y-%m-%d')}, {platform.machine()}, Linux "
            f"{platform.release()}, {os.cpu_count()} CPUs, load "
            f"{os.getloadavg()[0]:.1f} at the end.  ")
    return head + summary(lines)


def print_summary(path):
    lines = read_lines(path)
    if not lines:
        print(f"matrix: {path} has no results", file=sys.stderr)
        return 1
    last = lines[-1]["program"]
    print(summary([line for line in lines if line["program"] == last]))
    return 0


def main(argv):
    if len(argv) == 3 and argv[1] == "--summary":
        return print_summary(argv[2])
    if len(argv) != 4:
        print("usage: matrix.py BUILD RESULTS REPORT | --summary RESULTS",
              file=sys.stderr)
        return 2
    build, path, report_path = argv[1:]
    if SHORT and os.path.exists(path):
        os.unlink(path)
    try:
        chosen = selection()
        results = Results(path, program_of(build))
        run(build, results, chosen)
    except (MeasuringError, SelectionError, OSError) as error:
        print(f"matrix: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\n")
    text = report(results.lines)
    with open(report_path, "w", encoding="utf-8") as file:
        file.write(f"# The matrix\n\n{text}\n## All cells\n\n"
                   f"{all_cells(results.lines)}")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
