# SPDX-License-Identifier: MIT
"""One sample of one proxy with a limit for each source address.

The clients' addresses are of 127.0.0.0/8 (sources.c).  HAProxy counts in a stick
table; nginx has limit_conn, which knows no rate."""

import subprocess
from statistics import median

from measuring.load import lab_load
from measuring.process import DEADLINE_S, MeasuringError, Process
from measuring.short import brief
from peers import kind_of
from tls_samples import TlsSamples

SOURCES = 200000
AT_ONCE = 64
# At least one connection from each source, and then some.
FILL_MS = brief(8000, 300, 100)
LIMITED_MS = brief(4000, 300, 100)
GOOD = 1000
GOOD_RATE = 4000
# How long the good clients are watched at a time, and how often.
GOOD_MS = brief(1500, 300, 100)
WINDOWS = brief(5, 1)
FLOOD = 20000
# Connections of one source until it is refused: the good clients have fewer,
# in all windows together.
BURST = 20000

LIMITED = {
    "lfproxy": {"listen": ["limit = sessions=100 rate=1000/s size=1m"]},
    "HAProxy": {"listen": [
        "  stick-table type ip size 1m expire 5m store conn_cur,conn_rate(10s)",
        "  tcp-request connection track-sc0 src",
        "  tcp-request connection reject if { sc0_conn_cur gt 100 }",
        "  tcp-request connection reject if { sc0_conn_rate gt 10000 }"]},
    "nginx": {"stream": ["  limit_conn_zone $binary_remote_addr zone=z:64m;"],
              "listen": ["    limit_conn z 100;"]},
}
FLOODED = {
    "lfproxy": {"listen": [f"limit = rate=1/h burst={BURST}"]},
    "HAProxy": {"listen": [
        "  stick-table type ip size 1m expire 5m store conn_cnt",
        "  tcp-request connection track-sc0 src",
        f"  tcp-request connection reject if {{ sc0_conn_cnt gt {BURST} }}"]},
}


class LimitSamples(TlsSamples):
    def sources(self, proxy, *options):
        """Starts the clients; what they say is JSON."""
        return Process([f"{self.build}/bench/sources", *options,
                        proxy.address], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)

    @staticmethod
    def told_by_sources(clients, ms=0):
        """ms: how long the clients run."""
        return clients.told(ms / 1000 + 2 * DEADLINE_S)

    def visits(self, proxy, ms):
        told = self.told_by_sources(self.sources(
            proxy, "--sources", SOURCES, "--at-once", AT_ONCE, "--ms", ms))
        if told["refused"] or told["failed"] or not told["served"]:
            raise MeasuringError(f"{proxy.name}: {told}")
        return told

    def from_sources(self, name, more):
        """The table is filled before it is measured."""
        with self.start(name, **more) as proxy:
            self.visits(proxy, FILL_MS)
            before = proxy.cpu_s()
            told = self.visits(proxy, LIMITED_MS)
            spent = proxy.cpu_s() - before
        return {"cpu_us": spent * 1e6 / told["served"],
                "per_s": told["served"] * 1e9 / told["ns"]}

    def limited(self, name):
        return self.from_sources(name, LIMITED[kind_of(name)])

    def unlimited(self, name):
        return self.from_sources(name, {})

    def good(self, proxy):
        return lab_load(self.build, proxy.address, GOOD, GOOD_RATE,
                        GOOD_MS)["others"]

    def use_up(self, proxy):
        """The source of the flood uses up what it may have."""
        while not self.told_by_sources(self.sources(
                proxy, "--ms", brief(1000, 200)))["refused"]:
            pass

    def beside_flood(self, proxy, flooded):
        """The good clients' latency, and the refused connections a second."""
        flood = self.sources(flooded, "--rate", FLOOD, "--at-once", 256,
                             "--ms", GOOD_MS + brief(500, 200))
        try:
            good = self.good(proxy)
        finally:
            told = self.told_by_sources(flood)
        if told["served"]:
            raise MeasuringError(f"{flooded.name} served the flood: {told}")
        return {**good, "refused_s": told["refused"] * 1e9 / told["ns"]}

    def flood(self, name):
        """The latency of good clients without a flood, beside one at another
        proxy of the same kind, which takes CPU time only, and beside one at
        their own.  These windows take turns, and the medians are compared."""
        with self.start(name, **FLOODED[kind_of(name)]) as proxy, \
                self.start(name, **FLOODED[kind_of(name)]) as other:
            self.use_up(proxy)
            self.use_up(other)
            kinds = {"calm": lambda: self.good(proxy),
                     "elsewhere": lambda: self.beside_flood(proxy, other),
                     "beside": lambda: self.beside_flood(proxy, proxy)}
            seen = {kind: [] for kind in kinds}
            for window in range(WINDOWS):
                order = list(kinds)
                if window % 2:
                    order.reverse()
                for kind in order:
                    seen[kind].append(kinds[kind]())

        def middle(kind, metric):
            return median(told[metric] for told in seen[kind])
        p99_us = middle("beside", "p99_us")
        return {"p50_us": middle("beside", "p50_us"), "p99_us": p99_us,
                "calm_p99_us": middle("calm", "p99_us"),
                "elsewhere_p99_us": middle("elsewhere", "p99_us"),
                "p99_ratio": p99_us / middle("calm", "p99_us"),
                "p99_by_elsewhere": p99_us / middle("elsewhere", "p99_us"),
                "refused_s": middle("beside", "refused_s")}
