#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Traffic with and without the checks of 500 servers, half of them dead.

    checks.py BUILD REPORT [--rounds N] [--servers N] [--kinds connect,http]

One lfproxy has a frontend in front of one good server, and beside it a backend
of many servers on one host, checked every 2 s.  Once all that are dead are
down, wrk asks the good one through 64 connections as fast as it goes, and then
lab_load at a rate far below that, whose times count from when a request was
due.  The variants take turns, and "no checks" twice: how far its two figures
are apart is what others have to be beyond.  How late checks are begun is told
by lfproxy (CheckMaxDelay_us), how far from 2 s apart a server sees them by the
host, and so is how late the machine was with waking the host meanwhile.  Exits
with 1 when a check was off by more than a tenth of the interval beyond that,
with 75 when one was by no more than that, with 0 otherwise: the rest are
figures, no verdicts."""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading

from measuring.figures import cell, interleave, table
from measuring.load import lab_load, wrk
from measuring.process import (
    AppServer, MeasuringError, Process, descendants, wait_line, wait_until)
from measuring.short import SHORT, brief
from samples import raise_descriptors

INTERVAL_MS = brief(2000, 200)
LATE_SHARE = 0.1
WRK_S = brief(4, 1)
RATE = 2000
RATE_MS = 4000
HEAD = [("per_s", "requests/s"), ("p50_us", "p50, µs"), ("p99_us", "p99, µs"),
        ("paced_p50_us", f"p50 at {RATE}/s"),
        ("paced_p99_us", f"p99 at {RATE}/s"), ("cpu_s", "CPU, s"),
        ("turn_falling_us", "longest turn while they go down, µs"),
        ("falling_cpu_us", "of CPU"), ("turn_us", "longest turn, µs"),
        ("turn_cpu_us", "of CPU"), ("late_us", "latest check, µs"),
        ("off", "worst interval, off by"), ("stall", "machine, late by")]


class Host(Process):
    """tests/tools/checkclock.py: until it is asked how it was."""

    def __init__(self, servers, kind):
        here = os.path.dirname(os.path.abspath(__file__))
        super().__init__(
            [sys.executable, "-uB", f"{here}/../tools/checkclock.py", servers,
             3600, INTERVAL_MS, kind], stdout=subprocess.PIPE)
        self.addresses = []
        for line in self.child.stdout:
            text = line.decode().strip()
            if text.startswith("listening on"):
                break
            self.addresses.append(text)

    def begin_anew(self):
        self.child.send_signal(signal.SIGUSR1)

    def worst(self):
        """As shares of the interval: the checks, the machine."""
        self.child.send_signal(signal.SIGINT)
        found = wait_line(self.child.stdout,
                          r"^worst ([\d.]+) stall ([\d.]+)", "checkclock")
        return float(found.group(1)), float(found.group(2))


def configuration(directory, server, check, host):
    lines = ["[global]", "log = off", f"admin = {directory}/admin",
             "[pool main]", "threads = 2",
             "[frontend web]", "listen = 127.0.0.1:0", "backend = web",
             "[backend web]", "check = off", f"server = s {server}",
             "[backend checked]", f"check = {check}"]
    lines += [f"server = s{i} {address}"
              for i, address in enumerate(host.addresses)]
    return "\n".join(lines) + "\n"


class Proxy(Process):
    def __init__(self, build, text, directory):
        self.admin = f"{directory}/admin"
        path = f"{directory}/lfproxy.ini"
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        super().__init__([f"{build}/lfproxy", "-c", path],
                         stderr=subprocess.PIPE)
        self.address = wait_line(self.child.stderr, r"listening on (\S+)",
                                 "lfproxy").group(1)
        wait_until(self.answers, "lfproxy")
        self.down = 0
        self.reader = threading.Thread(target=self.count_down)
        self.reader.start()

    def answers(self):
        """The socket's file is there before anything listens."""
        with socket.socket(socket.AF_UNIX) as s:
            return s.connect_ex(self.admin) == 0

    def count_down(self):
        """Not by asking: `show stat` of them all is a long turn, too."""
        for line in self.child.stderr:
            self.down += b" is down: " in line

    def stop(self):
        self.child.terminate()
        self.reader.join()
        super().stop()

    def ask(self, command):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.admin)
            s.sendall(command.encode() + b"\n")
            return b"".join(iter(lambda: s.recv(65536), b"")).decode()

    def info(self):
        return dict(line.split(": ", 1)
                    for line in self.ask("show info").splitlines() if line)

    def cpu_s(self):
        spent = 0
        for pid in descendants(self.child.pid):
            for task in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{task}/schedstat",
                          encoding="ascii") as file:
                    spent += int(file.read().split()[0])
        return spent / 1e9


class Bench:
    def __init__(self, build, servers):
        self.build, self.servers = build, servers

    def load(self, proxy):
        before = proxy.cpu_s()
        told = wrk(proxy.address, 64, WRK_S)
        cpu_s = proxy.cpu_s() - before
        paced = lab_load(self.build, proxy.address, 32, RATE,
                         RATE_MS)["others"]
        if told["errors"] or paced.get("errors"):
            raise MeasuringError(f"failed requests: {told} {paced}")
        return {"per_s": told["requests"] / WRK_S, "p50_us": told["p50_us"],
                "p99_us": told["p99_us"], "cpu_s": cpu_s,
                "paced_p50_us": paced["p50_us"],
                "paced_p99_us": paced["p99_us"]}

    def sample(self, kind):
        check = "off" if kind == "off" else (
            f"{kind} interval={INTERVAL_MS}ms jitter=0")
        with tempfile.TemporaryDirectory() as directory, \
                AppServer(self.build) as server, \
                Host(self.servers, kind) as host, \
                Proxy(self.build, configuration(
                    directory, server.address, check, host),
                    directory) as proxy:
            told = {}
            if kind != "off":
                wait_until(lambda: proxy.down == self.servers // 2,
                           "what is dead")
                info = proxy.info()
                told["turn_falling_us"] = int(info["LoopMaxTime_us"])
                told["falling_cpu_us"] = int(info["LoopMaxCpu_us"])
                host.begin_anew()
            proxy.ask("clear loop")
            told.update(self.load(proxy))
            info = proxy.info()
            told["turn_us"] = int(info["LoopMaxTime_us"])
            told["turn_cpu_us"] = int(info["LoopMaxCpu_us"])
            if kind != "off":
                told["late_us"] = int(info["CheckMaxDelay_us"])
                told["off"], told["stall"] = host.worst()
            return told


def off(row):
    return max(row.get("off", 0), row.get("late_us", 0) / 1000 / INTERVAL_MS)


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("build")
    parser.add_argument("report")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--servers", type=int, default=brief(500, 20))
    parser.add_argument("--kinds", default="connect,http")
    args = parser.parse_args()
    raise_descriptors()
    bench = Bench(args.build, args.servers)
    variants = {"no checks": "off", "no checks again": "off"}
    variants.update((kind, kind) for kind in args.kinds.split(","))
    try:
        taken = interleave(variants, args.rounds, bench.sample, "checks")
    except MeasuringError as error:
        sys.exit(f"checks.py: {error}")
    text = table(["checks"] + [title for _, title in HEAD],
                 [[name] + [cell(rows, metric) for metric, _ in HEAD]
                  for name, rows in taken.items()])
    print(text)
    with open(args.report, "w", encoding="utf-8") as file:
        file.write(text)
    if SHORT:
        return
    late = [row for rows in taken.values() for row in rows
            if off(row) > LATE_SHARE]
    own = [row for row in late if off(row) - row["stall"] > LATE_SHARE]
    if own:
        sys.exit(f"checks off by more than {LATE_SHARE:.0%}: {own}")
    if late:
        print("inconclusive: checks were off by "
              f"{max(map(off, late)):.1%}, and the machine itself was late by "
              f"{max(row['stall'] for row in late):.1%}")
        sys.exit(os.EX_TEMPFAIL)


if __name__ == "__main__":
    main()
