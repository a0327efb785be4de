#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""What lfproxy, HAProxy and nginx do for a request, a connection and a GB.

    profile_calls.py BUILD REPORT

System calls by name (strace -f -c: which slows everything down, so that batches
are larger than without it) and the functions that take the time (perf record),
each for one run of each work.  For looking at, no verdicts: those are of
bench.py.  Exits with 0 when all was measured."""

import os
import re
import signal
import subprocess
import sys
import tempfile

from bench import WORKS
from contenders import newest_of_each
from measuring.figures import figure, table
from measuring.load import wrk
from measuring.process import (
    DEADLINE_S, MeasuringError, Process, wait_until)
from measuring.short import brief
from peers import PATH
from samples import BULK_BYTES, Samples, raise_descriptors

SECONDS = brief(2, 1)
CALLS, FUNCTIONS = 12, 16


def requests(close):
    def load(samples, proxy):
        told = wrk(proxy.address, 64, SECONDS, close)
        return told["requests"] - told["errors"]
    return load


def bulk(samples, proxy):
    told = samples.told_by(samples.sink(proxy.address, 1, BULK_BYTES))
    return told["bytes"] / 1e9


LOADS = {
    "keep-alive": (requests(False), "request"),
    "connections": (requests(True), "connection"),
    "bulk": (bulk, "GB"),
}


def traced(pids):
    """strace is attached to every thread."""
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/status",
                      encoding="ascii") as file:
                if re.search(r"^TracerPid:\t0$", file.read(), re.M):
                    return False
    return True


def system_calls(samples, name, load):
    """{system call: number for one unit of work}"""
    with samples.start(name) as proxy, tempfile.NamedTemporaryFile() as out:
        pids = proxy.pids()
        argv = ["strace", "-f", "-c", "-o", out.name]
        for pid in pids:
            argv += ["-p", str(pid)]
        with Process(argv, stderr=subprocess.DEVNULL) as tracer:
            wait_until(lambda: tracer.child.poll() is not None or
                       traced(pids), "strace")
            units = 0
            for _ in range(10):  # on a busy machine the first may do nothing
                units = units or load(samples, proxy)
            tracer.child.send_signal(signal.SIGINT)
            tracer.child.wait(DEADLINE_S)
        text = out.read().decode()
    if not units:
        raise MeasuringError(f"{name} did nothing in ten tries")
    calls = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 5 and words[3].isdigit() and words[-1] != "total":
            calls[words[-1]] = int(words[3]) / units
    if not calls:
        raise MeasuringError(f"strace saw nothing of {name}: {text}")
    return calls


def functions(samples, name, load):
    """[(share, function)] of the CPU time, the most expensive first."""
    with samples.start(name) as proxy, \
            tempfile.TemporaryDirectory() as directory:
        data = f"{directory}/perf.data"
        argv = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "1999", "-o",
                data, "-p", ",".join(str(pid) for pid in proxy.pids())]
        with Process(argv, stderr=subprocess.PIPE, text=True) as recorder:
            wait_until(lambda: recorder.child.poll() is not None or
                       os.path.exists(data) and os.path.getsize(data) > 0,
                       "perf")
            load(samples, proxy)
            recorder.child.send_signal(signal.SIGINT)
            _, said = recorder.child.communicate(timeout=DEADLINE_S)
        done = subprocess.run(
            ["perf", "report", "--stdio", "-q", "--no-children", "-s",
             "symbol", "-i", data], capture_output=True, text=True,
            timeout=120, check=False, env={**os.environ, "PATH": PATH})
    found = re.findall(r"^\s+([\d.]+)%\s+\[(.)\]\s+(\S+)", done.stdout, re.M)
    if not found:
        raise MeasuringError(f"perf saw nothing of {name}: {said}"
                             f"{done.stderr}")
    return [(float(share), where, symbol) for share, where, symbol in found]


def calls_table(calls, unit):
    names = sorted({c for of in calls.values() for c in of},
                   key=lambda c: -max(of.get(c, 0) for of in calls.values()))
    rows = [[c] + [figure(of[c]) if c in of else "" for of in calls.values()]
            for c in names[:CALLS]]
    rows.append(["all"] + [figure(sum(of.values()))
                           for of in calls.values()])
    return table([f"system calls per {unit}", *calls], rows)


def functions_table(found):
    rows = [[f"{share:.1f} % {symbol}" + ("" if where == "k" else " (own)")
             for share, where, symbol in rows[:FUNCTIONS]]
            for rows in found.values()]
    longest = max(len(column) for column in rows)
    columns = [column + [""] * (longest - len(column)) for column in rows]
    own = [f"**{sum(s for s, where, _ in rows if where != 'k'):.1f} % own**"
           for rows in found.values()]
    return table([*found], [own, *zip(*columns)])


def section(samples, name, load, unit):
    parts = [f"## {WORKS[name].title}\n"]
    parts.append(calls_table(
        {n: system_calls(samples, n, load) for n in newest_of_each()}, unit))
    try:
        parts.append(functions_table(
            {n: functions(samples, n, load) for n in newest_of_each()}))
    except (MeasuringError, OSError) as error:
        parts.append(f"No functions: {error}\n")
    return "\n".join(parts)


def main(argv):
    if len(argv) != 3:
        print("usage: profile_calls.py BUILD REPORT", file=sys.stderr)
        return 2
    raise_descriptors()
    sections = []
    try:
        with Samples(argv[1]) as samples:
            for name, (load, unit) in LOADS.items():
                sections.append(section(samples, name, load, unit))
    except (MeasuringError, OSError) as error:
        print(f"bench-profile: {error}", file=sys.stderr)
        return 1
    text = "\n".join(["# What a request costs, call by call\n", *sections])
    with open(argv[2], "w", encoding="utf-8") as file:
        file.write(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
