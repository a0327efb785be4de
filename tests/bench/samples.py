# SPDX-License-Identifier: MIT
"""One sample of one proxy under each kind of work.

Every sample starts the proxy anew and ends it, so that none lives beside
another, and bounds its work by a time or a number of bytes."""

import resource
import socket
import subprocess
import time

from contenders import TRIES, contenders, start_cold
from measuring.load import lab_load, wrk
from measuring.process import (
    DEADLINE_S, AppServer, MeasuringError, Process, wait_until)
from measuring.short import brief

WRK_S = brief(2, 1)
BULK_BYTES = brief(2 << 30, 64 << 20)
IDLE_SESSIONS = brief(4000, 100)
# So many that what a process takes once for all of them still counts; and as many
# as the descriptors of HAProxy, which has pipes as well, and of this process allow.
IDLE_FEW = brief(1500, 100)
IDLE_MANY = brief(min(10000, (resource.getrlimit(
    resource.RLIMIT_NOFILE)[1] - 500) // 3), 200)
MIXED_RATE = brief(300 << 20, 30 << 20)
MIXED_S = brief(2, 1)
REQUEST = b"GET / HTTP/1.1\r\nHost: bench\r\n\r\n"
STARTS = brief(3, 1)
LOW_MS = brief(2000, 500)


def raise_descriptors():
    """For this process and all that it starts."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def open_session(address):
    """A session that has carried a request and its answer."""
    host, port = address.rsplit(":", 1)
    s = socket.create_connection((host, int(port)), DEADLINE_S)
    s.sendall(REQUEST)
    if not s.recv(4096).startswith(b"HTTP/1.1 200"):
        raise MeasuringError(f"{address} does not answer")
    return s


class Samples:
    def __init__(self, build):
        self.build = build
        self.contenders = contenders(build)
        self.server = AppServer(build)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.server.stop()

    def start(self, name, **more):
        proxy = self.contenders[name](name, [self.server.address], **more)
        with proxy.unless_it_fails():
            lab_load(self.build, proxy.address, 64, 20000, 200)
        return proxy

    def closed_loop(self, name, close):
        """64 connections, as fast as they go."""
        with self.start(name) as proxy:
            before = proxy.cpu_s()
            told = wrk(proxy.address, 64, WRK_S, close)
            spent = proxy.cpu_s() - before
        if told["errors"]:
            raise MeasuringError(f"{name}: {told['errors']} failed requests")
        return {"cpu_us": spent * 1e6 / told["requests"],
                "per_s": told["requests"] / WRK_S,
                "p50_us": told["p50_us"], "p99_us": told["p99_us"]}

    def keep_alive(self, name):
        return self.closed_loop(name, False)

    def connections(self, name):
        return self.closed_loop(name, True)

    def sink(self, address, connections, total, rate=0):
        """Starts it; what it says is JSON."""
        argv = [f"{self.build}/bench/sink", "--connections", str(connections),
                "--bytes", str(total // connections), "--rate", str(rate)]
        return Process([*argv, address], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)

    @staticmethod
    def told_by(sink):
        return sink.told(120)

    def bulk(self, name, connections):
        with self.start(name) as proxy:
            before = proxy.cpu_s()
            told = self.told_by(
                self.sink(proxy.address, connections, BULK_BYTES))
            spent = proxy.cpu_s() - before
        return {"cpu_s_per_gb": spent * 1e9 / told["bytes"],
                "gbit_s": told["bytes"] * 8 / told["ns"]}

    def one_stream(self, name):
        return self.bulk(name, 1)

    def eight_streams(self, name):
        return self.bulk(name, 8)

    def mixed(self, name):
        """Requests at a rate, beside two downloads at a rate: the same work
        for all."""
        with self.start(name) as proxy:
            before = proxy.cpu_s()
            sink = self.sink(proxy.address, 2, MIXED_RATE * (MIXED_S + 1),
                             MIXED_RATE)
            try:
                told = lab_load(self.build, proxy.address, 32, 4000,
                                MIXED_S * 1000)["others"]
            finally:
                self.told_by(sink)
            spent = proxy.cpu_s() - before
        return {"cpu_s": spent, "p50_us": told["p50_us"],
                "p99_us": told["p99_us"]}

    def few_requests(self, name, rate):
        with self.start(name) as proxy:
            before = proxy.cpu_s()
            told = lab_load(self.build, proxy.address, 50, rate,
                            LOW_MS)["others"]
            spent = proxy.cpu_s() - before
        return {"cpu_us": spent * 1e6 / (rate * LOW_MS / 1000),
                "p50_us": told["p50_us"], "p99_us": told["p99_us"]}

    def idle(self, name, n):
        """Memory that n sessions keep, each of which has done something and now
        waits, the first that the process has.  Before it is measured the proxy
        has settled."""
        sessions = []
        with self.contenders[name](name, [self.server.address]) as proxy:
            settled(proxy)
            before = proxy.pss_kib()
            try:
                sessions += [open_session(proxy.address) for _ in range(n)]
                settled(proxy)
                kib = proxy.pss_kib() - before
            finally:
                for s in sessions:
                    s.close()
        return {"kib": kib / n}

    def start_time(self, name):
        """From the start of the process to the first answered request: the
        best of a few, which is what the proxy can do."""
        return {"ms": min(self.one_start(name, 1) for _ in range(STARTS))}

    def start_time_1000(self, name):
        return {"ms": min(self.one_start(name, 1000) for _ in range(STARTS))}

    def one_start(self, name, listeners):
        for _ in range(TRIES):
            with start_cold(name, self.build,
                            [self.server.address] * listeners) as proxy:
                ms = self.first_answer(proxy)
            if ms:
                return ms
        raise MeasuringError(f"{name} starts not")

    @staticmethod
    def first_answer(proxy):
        """None: the proxy has ended, as when a port is no longer free."""
        while time.monotonic() < proxy.began + DEADLINE_S:
            try:
                open_session(proxy.address).close()
                return (time.monotonic() - proxy.began) * 1e3
            except (ConnectionRefusedError, ConnectionResetError):
                if proxy.child.poll() is not None:
                    return None
            time.sleep(0.0005)
        raise MeasuringError(f"{proxy.name} does not answer")


def settled(proxy):
    """Until the memory has not changed for a fifth of a second."""
    seen = []

    def flat():
        seen.append(proxy.pss_kib())
        return len(seen) > 20 and max(seen[-20:]) - min(seen[-20:]) <= 8

    def look():
        time.sleep(0.005)
        return flat()

    wait_until(look, f"the memory of {proxy.name}")
