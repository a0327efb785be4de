#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""What the thresholds of splicing are worth (src/proxy/relay_internal.h).

    thresholds.py BUILD [--rounds N] [--only messages,begin,turn]

Builds lfproxy with others beside the one of BUILD and compares them, interleaved:

    messages  answers of one size over kept connections: copied, as it is, or
              spliced always
    begin     a connection for each download: spliced from when on
    turn      bulk, and small requests beside it: bytes for each turn

CPU time of the proxy, medians and quartiles, as tables."""

import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

from contenders import start_lfproxy
from measuring.figures import figure, interleave, quartiles
from measuring.load import wrk
from samples import Samples, raise_descriptors

ALWAYS = "-DRELAY_LARGE=1u -DRELAY_BULK=1024u -DRELAY_SMALL=1u"
VARIANTS = {
    "as it is": "",
    "always": ALWAYS,
    "begin 0": "-DRELAY_LARGE=1u -DRELAY_BULK=1024u",
    "begin 240K": "-DRELAY_BULK=245760u",
    "turn 128K": "-DRELAY_SPLICE_BUDGET=131072u",
    "turn 256K": "-DRELAY_SPLICE_BUDGET=262144u",
    "turn 1M": "-DRELAY_SPLICE_BUDGET=1048576u",
}
KIB = 1024


def build_variant(build, directory, name):
    """Only what has the thresholds is compiled again."""
    if not VARIANTS[name]:
        return build
    to = pathlib.Path(directory, name.replace(" ", "-"))
    shutil.copytree(build, to)
    for path in to.glob("obj/proxy/relay*.o"):
        path.unlink()
    subprocess.run(
        ["make", "-s", f"B={to}", f"{to}/lfproxy",
         f"CPPFLAGS=-D_FORTIFY_SOURCE=2 {VARIANTS[name]}"], check=True)
    return to


class Measure(Samples):
    def __init__(self, build, binaries):
        super().__init__(build)
        self.binaries = binaries
        self.contenders = {name: self.starter(name) for name in binaries}
        self.contenders["off"] = lambda name, servers: start_lfproxy(
            name, f"{build}/lfproxy", servers, defaults=("splice = off",))

    def starter(self, variant):
        return lambda name, servers: start_lfproxy(
            name, f"{self.binaries[variant]}/lfproxy", servers)

    def answers(self, name, size, close):
        """CPU microseconds for an answer of that many bytes."""
        with self.start(name) as proxy:
            before = proxy.cpu_s()
            told = wrk(proxy.address, 8, 1, close, f"/bytes/{size}")
            spent = proxy.cpu_s() - before
        if told["errors"]:
            raise RuntimeError(f"{name}: {told}")
        return spent * 1e6 / told["requests"]


def table(title, variants, rows):
    print(f"\n| {title} | " + " | ".join(variants) + " |")
    print("|---" * (len(variants) + 1) + "|")
    for label, taken in rows:
        cells = []
        for name in variants:
            low, mid, high = quartiles(taken[name])
            cells.append(f"{figure(mid)} ({figure(low)}-{figure(high)})")
        print(f"| {label} | " + " | ".join(cells) + " |", flush=True)


def run(variants, rounds, label, sample):
    return label, interleave({v: v for v in variants}, rounds, sample, label)


def messages(m, rounds):
    variants = ["off", "as it is", "always"]
    table("us per answer, kept connections", variants, [
        run(variants, rounds, f"{k} KiB",
            lambda name, k=k: m.answers(name, k * KIB, False))
        for k in (4, 8, 16, 32, 64, 256)])


def begin(m, rounds):
    variants = ["off", "begin 0", "as it is", "begin 240K"]
    table("us per download, a connection each", variants, [
        run(variants, rounds, f"{k} KiB",
            lambda name, k=k: m.answers(name, k * KIB, True))
        for k in (16, 128, 512, 1024)])


def turn(m, rounds):
    variants = ["turn 128K", "turn 256K", "as it is", "turn 1M"]
    bulk = [run(variants, rounds, f"s per GB, {n} streams",
                lambda name, n=n: m.bulk(name, n)["cpu_s_per_gb"])
            for n in (1, 8)]
    _, beside = run(variants, rounds, "beside", m.mixed)
    for key in ("cpu_s", "p50_us", "p99_us"):
        bulk.append((f"requests beside bulk, {key}",
                     {v: [s[key] for s in beside[v]] for v in variants}))
    table("bytes for each turn", variants, bulk)


PARTS = {"messages": messages, "begin": begin, "turn": turn}


def main(argv):
    parser = argparse.ArgumentParser(prog="thresholds.py")
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args(argv)
    raise_descriptors()
    with tempfile.TemporaryDirectory(prefix="lfproxy-thresholds.") as place:
        binaries = {name: build_variant(options.build, place, name)
                    for name in VARIANTS}
        with Measure(options.build, binaries) as m:
            for part in options.only.split(","):
                PARTS[part](m, options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
