#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Measures this machine's costs for lf_cost (tests/sim/cost/costs.h): see
README.md.

    calibrate.py BUILD FILE

What lf_calibrate measures, and the CPU time of the lab's own load and server
for a request, from a closed loop without a proxy between them.  Each is the
median of several runs."""

import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time

from measuring.process import DEADLINE_S, AppServer, MeasuringError
from measuring.short import brief

RUNS = brief(5, 1)
LOAD_MS = brief(1000, 50)
LINE = re.compile(r"(\w+) +(\d+) ns  # (.*)")


def cpu_us(pid):
    """CPU time of a running process so far."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    ticks = int(fields[11]) + int(fields[12])
    return ticks * 1e6 / os.sysconf("SC_CLK_TCK")


def core_costs(build):
    """{name: (ns, where it comes from)} by lf_calibrate."""
    done = subprocess.run([f"{build}/sim/lf_calibrate"], capture_output=True,
                          text=True, timeout=DEADLINE_S * 3, check=False)
    if done.returncode != 0:
        raise MeasuringError(f"lf_calibrate failed: {done.stderr}")
    return {match[1]: (int(match[2]), match[3])
            for match in map(LINE.fullmatch, done.stdout.splitlines())}


def load_costs(build):
    """CPU time in ns for each request, of the load and of the server."""
    with AppServer(build) as server:
        argv = [f"{build}/lab/lab_load", "--closed", "--connections", "64",
                "--warm-ms", "0", "--ms", str(LOAD_MS), server.address]
        before = cpu_us(server.child.pid)
        with subprocess.Popen(argv, stdout=subprocess.PIPE,
                              text=True) as load:
            told = load.stdout.read()
            _, status, used = os.wait4(load.pid, 0)
            load.returncode = os.waitstatus_to_exitcode(status)
        if load.returncode != 0:
            raise MeasuringError(f"{' '.join(argv)} failed")
        served = cpu_us(server.child.pid) - before
    answers = max(1, json.loads(told)["answers"])
    return {
        "client": ((used.ru_utime + used.ru_stime) * 1e9 / answers,
                   "CPU time of lab_load, 64 connections without a proxy"),
        "server": (served * 1e3 / answers, "CPU time of appserver there"),
    }


def calibrate(build):
    runs = []
    for _ in range(RUNS):
        runs.append({**core_costs(build), **load_costs(build)})
    lines = [f"# Costs for lf_cost: {time.strftime('%Y-%m-%d')}, "
             f"{os.cpu_count()} CPUs, {platform.machine()}, Linux "
             f"{platform.release()};", f"# medians of {RUNS} runs of "
             "tests/lab/calibrate.py."]
    for name in runs[0]:
        median = statistics.median(run[name][0] for run in runs)
        lines.append(f"{name:15} {round(median):8} ns  # {runs[-1][name][1]}")
    return "\n".join(lines) + "\n"


def main(argv):
    if len(argv) != 3:
        print("usage: calibrate.py BUILD FILE", file=sys.stderr)
        return 2
    try:
        text = calibrate(argv[1])
        with open(argv[2], "w", encoding="utf-8") as file:
            file.write(text)
    except (MeasuringError, OSError) as error:
        print(f"calibrate: {error}", file=sys.stderr)
        return 1
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
