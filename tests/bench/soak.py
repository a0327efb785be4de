#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Everything at once for a long time: memory and descriptors stay flat.

    soak.py BUILD [--seconds N]

At a rate, so that every part of the run has the same work: requests over
connections that stay, connections that come, ask and go, that half-close and
that reset, verified streams in both directions (bulk, with pauses, ended by
either side first), slow readers, idle sessions that must still answer at the
end, and one of two servers that is killed and comes back, seen by health
checks.  Compares the medians of the second and the last fifth of the run, in memory
(PSS) and descriptors; in the first fifth, the warm-up, everything runs twice,
because slabs keep what was once needed at a time.  Exits with 0 when they are
flat and no client saw an error, 1 if not."""

import argparse
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from contenders import Proxy, read_addresses
from measuring.process import (
    AppServer, MeasuringError, Process, wait_line, wait_until)
from measuring.short import brief
from samples import raise_descriptors

FLAT = 0.02
WARM = 0.18  # the warm-up: what it leaves has gone when the second fifth begins
# 2 % of a process of 5 MB is hardly more than one buffer of 64 KiB.
FLAT_KIB = 64
LONG, SHORT_KIB = 120, 1024  # runs of fewer seconds may grow by this
IDLE = 500
INI = """\
[global]
log = off
[pool main]
threads = 2
[defaults]
timeout_connect = 2s
timeout_client = 1h
timeout_server = 1h
[frontend web]
listen = 127.0.0.1:0
backend = app
[frontend flapping]
listen = 127.0.0.1:0
backend = flapping
[frontend streams]
listen = 127.0.0.1:0
backend = streams
[backend app]
check = off
server = a {app}
[backend flapping]
check = http path=/healthz interval=200ms timeout=1s fall=1 rise=1
server = a {app}
server = b {other}
[backend streams]
check = off
server = s {streams}
"""


class Listening(Process):
    def __init__(self, argv):
        super().__init__(argv, stdout=subprocess.PIPE)
        self.address = wait_line(self.child.stdout, r"listening on (\S+)",
                                 argv[0]).group(1)
        # It says something about every stream, and must never wait for a
        # reader.
        threading.Thread(target=self.child.stdout.read, daemon=True).start()


class Load:
    """A client that runs until it is stopped or to the end of what it has to
    do, then again.  `fails`: its exit code says whether it was served."""

    def __init__(self, argv, directory, label, fails=True):
        self.argv, self.label, self.fails = argv, label, fails
        self.path = pathlib.Path(directory, label)
        self.errors = self.runs = 0
        self.process = None

    def start(self):
        with open(self.path, "w", encoding="utf-8") as out:
            self.process = Process(self.argv, stdout=out, stderr=out)
        self.runs += 1

    def look(self):
        """Starts it again when it has ended."""
        code = self.process.child.poll()
        if code is None:
            return
        self.judge(code)
        self.stop()
        self.start()

    def judge(self, code):
        if self.fails and code != 0:
            self.errors += 1
            text = self.path.read_text(encoding="utf-8")[-300:]
            print(f"soak: {self.label} ended with {code}: {text}",
                  file=sys.stderr)

    def stop(self):
        self.process.stop()


def loads(build, web, flapping, streams, directory):
    bad = f"{build}/tools/badclient"
    stream = [f"{build}/tools/streamer", "client", streams, "--deadline", "60"]
    big = "GET /bytes/400000 HTTP/1.1\r\nHost: soak\r\n\r\n"

    def leave(label, at, how, rate, address=web, fails=True):
        return Load([bad, "leave", address, "--at", at, "--how", how, "--rate",
                     str(rate), "--count", str(rate * 4)], directory, label,
                    fails)

    return [
        Load([f"{build}/lab/lab_load", "--connections", "32", "--rate", "800",
              "--ms", "3000", web], directory, "keep-alive"),
        leave("come-and-go", "response", "fin", 150),
        leave("flapping", "connect", "fin", 50, flapping),
        leave("half-close", "half-close", "fin", 60),
        leave("reset", "response", "rst", 60),
        leave("partial-reset", "partial", "rst", 40),
        Load([*stream, "--connections", "2", "--up", "8000000", "--down",
              "8000000", "--pause", "3"], directory, "bulk"),
        Load([*stream, "--connections", "4", "--mode", "first", "--up",
              "200000", "--down", "200000", "--pause", "20"], directory,
             "server-first"),
        Load([*stream, "--connections", "4", "--mode", "echo", "--up",
              "200000", "--pause", "20"], directory, "echo"),
        Load([bad, "slow", web, "--count", "20", "--rate", "200000", "--send",
              big.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"),
              "--bytes", "400000"], directory, "slow"),
    ]


class Flapping:
    """A server that is killed and comes back on the same port."""

    def __init__(self, build):
        self.build = build
        self.server = AppServer(build)
        self.address = self.server.address
        self.flaps, self.next = 0, 0.0
        self.up = True

    def look(self, now):
        if now < self.next:
            return
        self.next = now + 1.0
        if self.up:
            self.server.child.kill()
            self.server.stop()
        else:
            self.server = Listening([f"{self.build}/tools/appserver",
                                     "--listen", self.address])
            self.flaps += 1
        self.up = not self.up

    def stop(self):
        if self.up:
            self.server.stop()


def start_proxy(build, servers):
    directory = tempfile.TemporaryDirectory(prefix="lfproxy-soak.")
    ini = pathlib.Path(directory.name, "lfproxy.ini")
    ini.write_text(INI.format(**servers), encoding="utf-8")
    with open(f"{directory.name}/log", "w", encoding="utf-8") as log:
        proxy = Proxy("lfproxy", [f"{build}/lfproxy", "-c", ini], [],
                      directory, stderr=log)
    try:
        wait_until(lambda: read_addresses(proxy, 3), "lfproxy")
    except MeasuringError:
        proxy.stop()
        raise
    return proxy


def drive(proxy, running, warming, flapping, seconds):
    """[(time, KiB, descriptors)] of the whole run."""
    began, taken = time.monotonic(), []
    while (now := time.monotonic() - began) < seconds:
        flapping.look(now)
        if now > seconds * WARM and warming:
            for load in warming:
                load.stop()
            warming = []
        for load in running:
            load.look()
        taken.append((now, proxy.pss_kib(), proxy.descriptors()))
        time.sleep(0.1)
    return taken


def compare(taken, seconds):
    """Whether the last fifth is as the second, the first after the warm-up.
    In a short run slabs have not seen all their peaks at its beginning."""
    flat = True
    least_kib = FLAT_KIB if seconds >= LONG else SHORT_KIB
    for name, column, least in (("memory, KiB", 1, least_kib),
                                ("descriptors", 2, 8)):
        first = [row[column] for row in taken
                 if seconds * 0.2 <= row[0] < seconds * 0.4]
        last = [row[column] for row in taken if row[0] >= seconds * 0.8]
        a, b = statistics.median(first), statistics.median(last)
        allowed = max(a * FLAT, least)
        grows = b - a > allowed
        flat = flat and not grows
        print(f"{name}: {a:.0f} at first, {b:.0f} at last, "
              f"{(b - a) / a:+.1%}, allowed {allowed:+.0f}; "
              f"{'grows' if grows else 'flat'}, "
              f"highest {max(row[column] for row in taken)}")
    return flat


def idle_end(idle, path):
    """The clients report when they receive the signal to stop."""
    idle.child.terminate()
    code = idle.child.wait(60)
    text = path.read_text(encoding="utf-8")
    print(f"idle sessions: {text.split(chr(10))[-2]} of {IDLE}")
    return code == 0 and re.search(rf"^verified {IDLE}$", text, re.M)


def soak(build, seconds, directory):
    started = []

    def keep(process):
        started.append(process)
        return process

    try:
        app = keep(AppServer(build))
        flapping = keep(Flapping(build))
        streams = keep(Listening([f"{build}/tools/streamer", "server",
                                  "127.0.0.1:0"]))
        proxy = keep(start_proxy(build, {
            "app": app.address, "other": flapping.address,
            "streams": streams.address}))
        before = proxy.descriptors()
        path = pathlib.Path(directory, "idle")
        with open(path, "w", encoding="utf-8") as out:
            idle = keep(Process(
                [f"{build}/tools/badclient", "idle", proxy.addresses[0],
                 "--count", str(IDLE), "--verify"], stdout=out, stderr=out))
        wait_until(lambda: "established" in path.read_text(encoding="utf-8"),
                   "idle sessions")
        running = loads(build, *proxy.addresses, directory)
        warming = loads(build, *proxy.addresses, directory)
        for load in warming:
            load.path = pathlib.Path(f"{load.path}.warm-up")
        for load in running + warming:
            load.start()
            keep(load)
        taken = drive(proxy, running, warming, flapping, seconds)
        flat = compare(taken, seconds)
        for load in running:
            load.stop()
        answered = idle_end(idle, path)
        wait_until(lambda: proxy.descriptors() <= before + 8,
                   "the descriptors after the end")
        print(f"descriptors: {before} before, {proxy.descriptors()} after; "
              f"server b came back {flapping.flaps} times; runs: "
              + ", ".join(f"{load.label} {load.runs}" for load in running))
        errors = sum(load.errors for load in running)
        print(f"failed runs: {errors}")
        return flat and answered and errors == 0
    finally:
        for process in reversed(started):
            process.stop()


def main(argv):
    parser = argparse.ArgumentParser(prog="soak.py")
    parser.add_argument("build")
    parser.add_argument("--seconds", type=int, default=brief(300, 10))
    options = parser.parse_args(argv)
    raise_descriptors()
    try:
        with tempfile.TemporaryDirectory(prefix="lfproxy-soak.") as directory:
            good = soak(options.build, options.seconds, directory)
    except (MeasuringError, OSError) as error:
        print(f"soak: {error}", file=sys.stderr)
        return 1
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
