#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""What sessions and other admin clients see of hostile admin clients.

    admin.py BUILD [REPORT] [--rounds N] [--ms N] [--foes N] [--more-us N]
             [--judge]

The foes of tests/behaviour/adminfoes.py, half of them at the admin socket and
half at the HTTP port, connect and stall, send garbage, half lines and lines of a
megabyte, or do not read.  They take CPU time wherever they are, so there are two
lfproxys: one has the traffic and is measured, at the other one the same foes are
no foes of its.  Variants take turns in every round, and that without foes comes
twice: what its two figures differ by is what this machine does by itself.

The verdict on the sessions' p99 is about pairs of a round: foes at this lfproxy
less foes at the other.  Their median must not be above the upper quartile of
what the two without foes differ by, and --more-us.  --judge: exit with 1 when it is, or another
admin client had to wait for longer than 100 ms in most of the rounds, or memory
or descriptors did not come back.  If so, it is all done once more, with twice
the rounds, and that counts; but on a machine with more than four programs to
run for each of its CPUs it is 75, and no verdict."""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from measuring.figures import (
    cell, figure, interleave, quartiles, table, three, values)
from measuring.load import lab_load
from measuring.process import (
    AppServer, MeasuringError, Process, wait_line, wait_until)
from measuring.short import brief

TESTS = pathlib.Path(__file__).resolve().parent.parent
sys.path.append(str(TESTS / "behaviour"))
import adminfoes  # noqa: E402

RATE = 1000
ANSWER_MS = 100
# From half of the rounds on: until then an allocator finds out how much it takes
# at most.  A round has some 600 foes, of whom each has 16 KiB.
GROWTH_KIB = 1024
BUSY = 4
HEAD = [("p50_us", "p50, µs"), ("p99_us", "p99, µs"),
        ("socket_ms", "admin socket: median, ms"),
        ("socket_max_ms", "longest"), ("http_ms", "HTTP port: median, ms"),
        ("http_max_ms", "longest"), ("rss_kib", "RSS, KiB"),
        ("descriptors", "descriptors")]


class Proxy(Process):
    def __init__(self, build, directory, server):
        self.admin = f"{directory}/admin"
        path = pathlib.Path(directory, "lfproxy.ini")
        path.write_text(
            f"[global]\nlog = off\nadmin = {self.admin}\nhttp = 127.0.0.1:0\n"
            "[pool main]\nthreads = 2\n"
            "[frontend web]\nlisten = 127.0.0.1:0\nbackend = web\n"
            f"[backend web]\ncheck = off\nserver = s {server}\n")
        log = pathlib.Path(directory, "log")
        with open(log, "wb") as out:
            super().__init__([f"{build}/lfproxy", "-c", path], stderr=out)
        with open(log, "rb") as said:
            found = {}

            def all_said():
                for line in said:
                    words = line.decode(errors="replace").split()
                    if "listening" in words:
                        found["web"] = words[words.index("on") + 1]
                    if "monitoring" in words:
                        found["http"] = words[-1][len("http://"):-1]
                    found["ready"] = words[-1] == "ready"
                return found.get("ready")
            wait_until(all_said, "lfproxy")
        self.address, self.http = found["web"], found["http"]

    def rss_kib(self):
        status = pathlib.Path(f"/proc/{self.child.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.child.pid}/fd"))


class Foes(Process):
    def __init__(self, proxy, count):
        super().__init__(
            ["nice", "-n", "10", sys.executable, "-uB",
             TESTS / "behaviour" / "adminfoes.py", "foes", proxy.admin, count,
             proxy.http], stdout=subprocess.PIPE)
        wait_line(self.child.stdout, "^ready", "the foes")


class Friend(threading.Thread):
    """Asks in turn at the socket and at the port, while the load lasts."""

    def __init__(self, proxy):
        super().__init__()
        self.where = {"socket": proxy.admin, "http": proxy.http}
        self.took = {name: [] for name in self.where}
        self.over, self.error = threading.Event(), None

    def run(self):
        try:
            while not self.over.wait(0.01):
                for name, where in self.where.items():
                    self.took[name].append(adminfoes.ask(where))
        except OSError as error:
            self.error = error

    def figures(self):
        self.over.set()
        self.join()
        if self.error:
            raise MeasuringError(f"another admin client: {self.error}")
        told = {}
        for name, took in self.took.items():
            told[f"{name}_ms"] = quartiles(took)[1]
            told[f"{name}_max_ms"] = max(took)
        return told


class Bench:
    def __init__(self, args, here, there):
        self.args, self.here, self.there = args, here, there
        self.quiet = here.descriptors()
        self.rss = []  # after each round with foes

    def sample(self, at):
        with contextlib.ExitStack() as stack:
            if at:
                stack.enter_context(Foes(at, self.args.foes))
            friend = Friend(self.here)
            friend.start()
            try:
                load = lab_load(self.args.build, self.here.address, 20, RATE,
                                self.args.ms)
            finally:
                told = friend.figures()
            if load["errors"]:
                raise MeasuringError(f"failed requests: {load}")
            told.update({k: load["others"][k] for k in ("p50_us", "p99_us")},
                        rss_kib=self.here.rss_kib(),
                        descriptors=self.here.descriptors())
        if at is self.here:
            wait_until(lambda: self.here.descriptors() <= self.quiet + 2,
                       "the number of descriptors")
            self.rss.append(self.here.rss_kib())
        return told


def differences(taken, one, other):
    return [a["p99_us"] - b["p99_us"] for a, b in zip(taken[one], taken[other])]


def verdicts(taken, rss, more_us):
    """(sentence, whether it is good) each."""
    noise = [abs(n) for n in differences(taken, "none", "none again")]
    allowed = quartiles(noise)[2] + more_us
    pairs = differences(taken, "foes here", "foes elsewhere")
    median = quartiles(pairs)[1]
    lines = [(f"p99 of sessions, µs: foes here less foes elsewhere "
              f"{three(pairs)}, and {figure(allowed)} is what the upper "
              f"quartile of rounds without foes differ by"
              + (f" and {more_us} more" if more_us else ""),
              median <= allowed)]
    for name, title in ("socket", "admin socket"), ("http", "HTTP port"):
        longest = quartiles(values(taken["foes here"], f"{name}_max_ms"))[1]
        lines.append((f"{title}: the longest answer, median of the rounds "
                      f"{figure(longest)} ms", longest <= ANSWER_MS))
    middle = rss[len(rss) // 2]
    lines.append((f"RSS once the foes have gone: {rss[0]} KiB at first, "
                  f"{middle} then, {rss[-1]} at last",
                  rss[-1] - middle <= GROWTH_KIB))
    return lines


def measure(args, rounds):
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        server = enter(AppServer(args.build))
        here, there = (
            enter(Proxy(args.build, enter(tempfile.TemporaryDirectory()),
                        server.address)) for _ in range(2))
        bench = Bench(args, here, there)
        bench.sample(here)  # what is made once is there
        taken = interleave(
            {"none": None, "none again": None, "foes elsewhere": there,
             "foes here": here}, rounds, bench.sample, "admin")
        return taken, verdicts(taken, bench.rss, args.more_us)


def report(taken, lines):
    return (table(["foes"] + [title for _, title in HEAD],
                  [[name] + [cell(rows, metric) for metric, _ in HEAD]
                   for name, rows in taken.items()])
            + "\n" + "".join(f"{'good' if good else 'BAD'}: {line}\n"
                             for line, good in lines))


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("build")
    parser.add_argument("report", nargs="?")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--ms", type=int, default=1500)
    parser.add_argument("--foes", type=int, default=brief(200, 20))
    parser.add_argument("--more-us", type=int, default=0)
    parser.add_argument("--judge", action="store_true")
    args = parser.parse_args()
    try:
        began = time.monotonic()
        taken, lines = measure(args, args.rounds)
        text = report(taken, lines)
        if args.judge and not all(good for _, good in lines):
            print(text)
            taken, lines = measure(args, 2 * args.rounds)
            text = report(taken, lines)
    except MeasuringError as error:
        sys.exit(f"admin.py: {error}")
    text += (f"{len(taken['none'])} rounds, {time.monotonic() - began:.0f} s, "
             f"load {os.getloadavg()[0]:.1f} at the end\n")
    print(text)
    if args.report:
        pathlib.Path(args.report).write_text(text, encoding="utf-8")
    if args.judge and not all(good for _, good in lines):
        busy = os.getloadavg()[0] > BUSY * len(os.sched_getaffinity(0))
        sys.exit(os.EX_TEMPFAIL if busy else 1)


if __name__ == "__main__":
    main()
