#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""What healthy clients see, and what it costs, while others misbehave.

    faults.py BUILD REPORT [--rounds N] [--only WORD]

Each proxy has two listeners: one in front of a good server, one in front of a
bad one.  While the bad peers are at work, 32 healthy clients send requests at a
rate to the good server; their times count from when a request was due.  CPU,
memory and descriptors are the proxy's, the last two at their highest meanwhile
and a while after.  Figures, no verdicts.  Exits with 0 when all was measured;
a fault that this machine cannot be made to have is skipped, with the reason."""

import argparse
import subprocess
import sys
import threading
import time

from contenders import contenders, newest_of_each
from measuring.figures import cell, interleave, table
from measuring.load import lab_load
from measuring.process import (
    AppServer, MeasuringError, Process, wait_line)
from measuring.short import brief
from netns import NoNamespaces, lossy_link, supported
from samples import open_session, raise_descriptors, settled

LOAD_MS = 1500
# Until the first rush of the bad ones is over.
WARM_MS = 1000
RATE = 2000
GARBAGE = "\x16\x03\x01\x02 PROXY \x7f\x01 \\r\\n\\r\\n <<>> %s%n"
BIG = "GET /bytes/50000000 HTTP/1.1\r\nHost: bench\r\n\r\n"
HEAD = [("requests", "requests"), ("errors", "errors"),
        ("p50_us", "p50, µs"), ("p99_us", "p99, µs"), ("cpu_s", "CPU, s"),
        ("kib", "memory more, KiB"), ("kib_after", "after"),
        ("fds", "descriptors more"), ("fds_after", "after")]


class Fault:
    """Clients: badclient's options.  server: badserver's; they then come to
    the listener in front of it.  loss: of a hundred packets."""

    def __init__(self, clients=(), server=None, loss=0):
        self.clients, self.server, self.loss = clients, server, loss


def leave(at, how, rate=300):
    return ["leave", "--at", at, "--how", how, "--rate", str(rate),
            "--count", "1000000"]


FAULTS = {
    "none": Fault(),
    "clients that read 20 kB/s of 50 MB": Fault(
        ["slow", "--count", "50", "--rate", "20000", "--send", BIG]),
    "clients that never read": Fault(["never-read", "--count", "50"]),
    "clients that are silent": Fault(["silent", "--count", "500"]),
    "clients that send garbage and stay": Fault(
        ["idle", "--count", "200", "--send", GARBAGE]),
    "clients that leave half a request": Fault(leave("partial", "fin")),
    "clients that half-close and leave": Fault(leave("half-close", "fin")),
    "clients that reset": Fault(leave("response", "rst")),
    "servers that refuse": Fault(leave("connect", "fin"), ["refuse"]),
    "servers that reset at once": Fault(leave("partial", "fin"), ["reset"]),
    "servers that answer and reset": Fault(
        ["idle", "--count", "300"], ["reply-reset", "--bytes", "100000"]),
    "servers that half-close": Fault(
        ["silent", "--count", "300"], ["half-close", "--bytes", "100000"]),
    "servers that never answer": Fault(
        ["idle", "--count", "300"], ["silent"]),
    "servers that never read": Fault(
        ["never-read", "--count", "50"], ["never-read"]),
    "1 % of packets lost": Fault(loss=1),
}


class BadServer(Process):
    def __init__(self, build, options):
        mode, *rest = options
        super().__init__([f"{build}/tools/badserver", mode, "127.0.0.1:0",
                          "--deadline", "120", *rest],
                         stdout=subprocess.PIPE)
        self.address = wait_line(self.child.stdout, r"listening on (\S+)",
                                 "badserver").group(1)


class Watch(threading.Thread):
    """The highest that the proxy's memory and descriptors were."""

    def __init__(self, proxy):
        super().__init__(daemon=True)
        self.proxy, self.ended = proxy, threading.Event()
        self.kib = self.fds = 0
        self.start()

    def run(self):
        while not self.ended.is_set():
            try:
                self.kib = max(self.kib, self.proxy.pss_kib())
                self.fds = max(self.fds, self.proxy.descriptors())
            except (MeasuringError, OSError):
                return
            self.ended.wait(0.1)


def bad_clients(build, fault, address):
    argv = [f"{build}/tools/badclient", fault.clients[0], address,
            *fault.clients[1:], "--deadline", "120"]
    return Process(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def healthy(build, address):
    """Lost connections are the proxy's doing, and counted as errors."""
    try:
        told = lab_load(build, address, 32, RATE, LOAD_MS, warm_ms=WARM_MS)
    except MeasuringError as error:
        return {"errors": 1, "why": str(error)}
    return {"errors": told["errors"], **told["others"]}


def measure(build, proxy, fault, to):
    """The bad ones first, then the healthy ones beside them."""
    open_session(proxy.addresses[0]).close()
    settled(proxy)
    before = proxy.pss_kib(), proxy.descriptors(), proxy.cpu_s()
    watch = Watch(proxy)
    bad = bad_clients(build, fault, to) if fault.clients else None
    try:
        told = healthy(build, proxy.addresses[0])
        told["cpu_s"] = proxy.cpu_s() - before[2]
    finally:
        if bad:
            bad.stop()
        watch.ended.set()
        watch.join()
    calm(proxy)
    told.update(kib=watch.kib - before[0], fds=watch.fds - before[1],
                kib_after=proxy.pss_kib() - before[0],
                fds_after=proxy.descriptors() - before[1])
    return told


def calm(proxy):
    """Until nothing has changed for a while, or a few seconds are over: what
    is still held then is what the table is to show."""
    ends = time.monotonic() + brief(4, 0.5)
    seen = []
    while time.monotonic() < ends:
        seen.append(proxy.descriptors())
        if len(seen) > 10 and len(set(seen[-10:])) == 1:
            return
        time.sleep(0.05)


def on_loopback(build, name, fault, good):
    server = BadServer(build, fault.server) if fault.server else None
    servers = [good] + ([server.address] if server else [])
    try:
        with contenders(build)[name](name, servers) as proxy:
            return measure(build, proxy, fault, proxy.addresses[-1])
    finally:
        if server:
            server.stop()


def over_a_link(build, name, fault):
    """Clients in one network namespace, proxy and server in another."""
    with lossy_link(fault.loss) as link:
        with link.far(lambda: AppServer(build)) as server, \
                link.far(lambda: contenders(build)[name](
                    name, [server.address], host=link.address)) as proxy:
            return measure(build, proxy, fault, proxy.addresses[0])


def compared(build, fault, good, rounds, title):
    def sample(name):
        if fault.loss:
            return over_a_link(build, name, fault)
        return on_loopback(build, name, fault, good)

    return interleave({name: name for name in newest_of_each()}, rounds, sample,
                      title)


def section(title, taken):
    rows = [[name] + [cell(samples, m) for m, _ in HEAD]
            for name, samples in taken.items()]
    notes = "".join(f"\n{name}: {told['why']}\n"
                    for name, samples in taken.items()
                    for told in samples if "why" in told)
    return (f"## {title[0].upper()}{title[1:]}\n\n"
            + table(["", *(h for _, h in HEAD)], rows) + notes)


def run(build, wanted, rounds):
    parts = ["# Beside peers that misbehave\n",
             f"{RATE} requests/s of healthy clients over 32 connections, "
             f"{LOAD_MS / 1000:g} s; medians and quartiles of {rounds} "
             f"interleaved rounds.\n"]
    with AppServer(build) as good:
        for title in wanted:
            fault = FAULTS[title]
            reason = supported() if fault.loss else None
            if reason:
                parts.append(f"## {title}\n\nSkipped: {reason}.\n")
                continue
            parts.append(section(title, compared(
                build, fault, good.address, rounds, title)))
    return "\n".join(parts)


def main(argv):
    parser = argparse.ArgumentParser(prog="faults.py")
    parser.add_argument("build")
    parser.add_argument("report")
    parser.add_argument("--only", help="faults whose name has this in it")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(argv)
    wanted = [t for t in FAULTS if not options.only or options.only in t]
    if not wanted:
        parser.error("there are: " + "; ".join(FAULTS))
    raise_descriptors()
    try:
        text = run(options.build, wanted, options.rounds)
    except (MeasuringError, NoNamespaces, OSError) as error:
        print(f"bench-faults: {error}", file=sys.stderr)
        return 1
    with open(options.report, "w", encoding="utf-8") as file:
        file.write(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
