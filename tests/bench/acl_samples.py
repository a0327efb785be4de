# SPDX-License-Identifier: MIT
"""One sample of one proxy with an address list.

The list has random networks, and in its middle those of the clients.  lfproxy has
a [list], HAProxy `src -f FILE`.  nginx has a rule for each network, which it
tries one after the other; its `geo`, which is a tree, can only choose a
server, so it is measured for clients that are let in."""

import pathlib
import random
import tempfile

from band_samples import BandSamples
from measuring.process import MeasuringError
from measuring.short import brief
from peers import HAPROXY, kind_of

AT_ONCE = 64
WARM_MS = brief(500, 100, 50)
LISTED_MS = brief(3000, 500, 400)
# Those of the clients: lab_load's, which only looks whether the proxy answers,
# and sources.c's.
CALM, CLIENTS = "127.0.0.0/16", "127.1.0.0/16"


def networks(n, own):
    """n networks outside of 127.0.0.0/8, with the others in their middle."""
    draw, seen = random.Random(n), set()
    while len(seen) < n - len(own):
        bits = draw.randint(24, 32)
        first = draw.choice([*range(1, 127), *range(128, 224)])
        ip = (first << 24 | draw.getrandbits(24)) >> 32 - bits << 32 - bits
        seen.add(f"{ip >> 24}.{ip >> 16 & 255}.{ip >> 8 & 255}.{ip & 255}"
                 f"/{bits}")
    drawn = sorted(seen)
    draw.shuffle(drawn)
    half = len(drawn) // 2
    return drawn[:half] + own + drawn[half:]


class AclSamples(BandSamples):
    def __init__(self, build):
        super().__init__(build)
        self.folder = tempfile.TemporaryDirectory(prefix="lfproxy-bench.")
        self.made = {}

    def __exit__(self, *exception):
        super().__exit__(*exception)
        self.folder.cleanup()

    def file(self, n, admits, form):
        """A file with n networks; form: how a line is written."""
        key = n, admits, form
        if key not in self.made:
            own = [CALM, CLIENTS] if admits else [CLIENTS]
            path = pathlib.Path(self.folder.name, f"list.{len(self.made)}")
            path.write_text("".join(f"{form.format(line)}\n"
                                    for line in networks(n, own)))
            self.made[key] = path
        return self.made[key]

    def settings(self, name, n, admits):
        """What the proxy is configured with."""
        if name == "lfproxy":
            rules = (["allow = list:bench", "deny = all"] if admits
                     else ["deny = list:bench"])
            return {"listen": rules, "defaults": [
                "[list bench]", f"file = {self.file(n, admits, '{}')}"]}
        if kind_of(name) == HAPROXY:
            when = "unless" if admits else "if"
            return {"listen": [f"  tcp-request connection reject {when} "
                               f"{{ src -f {self.file(n, admits, '{}')} }}"]}
        if name.endswith(", geo"):
            return {"stream": [
                "  geo $listed { default 0; include "
                f"{self.file(n, admits, '{} 1;')}; }}",
                f"  map $listed $server {{ 1 {self.server.address}; }}"],
                "target": "$server"}
        word = "allow" if admits else "deny"
        include = f"    include {self.file(n, admits, word + ' {};')};"
        return {"listen": [include, "    deny all;"] if admits else [include]}

    def listed(self, name, n, admits):
        with self.start(name, **self.settings(name, n, admits)) as proxy:
            self.clients(proxy, WARM_MS)
            before = proxy.cpu_s()
            told = self.clients(proxy, LISTED_MS)
            spent = proxy.cpu_s() - before
        done = "served" if admits else "refused"
        others = sum(told[k] for k in ("served", "refused", "failed")
                     if k != done)
        if others or not told[done]:
            raise MeasuringError(f"{name}: {told}")
        return {"cpu_us": spent * 1e6 / told[done],
                "per_s": told[done] * 1e9 / told["ns"]}

    def clients(self, proxy, ms):
        return self.told_by_sources(self.sources(
            proxy, "--sources", 60000, "--at-once", AT_ONCE, "--ms", ms),
            ms)
