# SPDX-License-Identifier: MIT
"""One sample of lfproxy with a limit on bandwidth, or without.

`exact` is the measured rate by that of the limit.  The first portion may be read
at once, so the time is that of the others (model/bandwidth.h).

On loopback a thread that makes room for its peer does the peer's part of TCP as
well.  Who waits for whom decides which of the three processes pays for it, so
`all_s_per_gb` has the CPU time of the server, lfproxy and the client together."""

import os
import resource
import subprocess

from limit_samples import LimitSamples
from measuring.process import Process, wait_line
from measuring.short import brief
from peers import NGINX, kind_of

SECONDS = brief(3, 1)
PORTION_MIN = 1460
PORTION_MAX = 1 << 20
UNLIMITED = "lfproxy, unlimited"
# The client reads, or the server writes, at the rate that lfproxy has as its
# limit: the same transfer, with nothing to count.
SLOW_CLIENT = "lfproxy, unlimited, slow client"
SLOW_SERVER = "lfproxy, unlimited, slow server"


class Pour(Process):
    """tests/bench/pour: a server of bulk at a rate."""

    def __init__(self, build, rate):
        super().__init__([f"{build}/bench/pour", "--rate", rate,
                          "127.0.0.1:0"], stdout=subprocess.PIPE)
        self.address = wait_line(self.child.stdout, r"listening on (\S+)",
                                 "pour").group(1)


def portion(rate):
    """What may be read at once."""
    return max(PORTION_MIN, min(rate // 100, max(PORTION_MAX, rate // 250)))


def process_cpu_s(pid):
    total_ns = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat",
                  encoding="ascii") as file:
            total_ns += int(file.read().split()[0])
    return total_ns / 1e9


def ended_cpu_s():
    """Of children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class BandSamples(LimitSamples):
    def paced(self, name, rate, seconds, scope):
        if name != SLOW_SERVER:
            return self.through(name, self.server, rate, seconds, scope)
        with Pour(self.build, rate) as server:
            return self.through(name, server, rate, seconds, scope)

    def through(self, name, server, rate, seconds, scope):
        def others_cpu_s():
            return process_cpu_s(server.child.pid) + ended_cpu_s()

        total = int(rate * seconds) + portion(rate)
        limits = {
            "lfproxy": [f"bandwidth = out={rate // 1024}KiB/s per={scope}"],
            NGINX: [f"    proxy_download_rate {rate};",
                    "    proxy_buffer_size 64k;"]}
        slow = rate if name == SLOW_CLIENT else 0
        ours = kind_of(name) != NGINX
        with self.contenders["lfproxy" if ours else name](
                name, [server.address],
                listen=limits.get(name if ours else NGINX, [])) as proxy:
            before, others = proxy.cpu_s(), others_cpu_s()
            told = self.told_by(self.sink(proxy.address, 1, total, slow))
            spent = proxy.cpu_s() - before
            others = others_cpu_s() - others
        got = (told["bytes"] - portion(rate)) * 1e9 / told["ns"]
        return {"exact": got / rate,
                "cpu_s_per_gb": spent * 1e9 / told["bytes"],
                "all_s_per_gb": (spent + others) * 1e9 / told["bytes"],
                "gbit_s": told["bytes"] * 8 / told["ns"]}

    def slowest(self, name):
        return self.paced(name, 8 << 10, 4 * SECONDS, "session")

    def mib100(self, name):
        return self.paced(name, 100 << 20, SECONDS, "frontend")

    def gbit5(self, name):
        return self.paced(name, 610352 << 10, SECONDS, "frontend")

    def gbit5_of_source(self, name):
        return self.paced(name, 610352 << 10, SECONDS, "source")
