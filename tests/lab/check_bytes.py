#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Sends verified streams through every core of the laboratory, both ways, in
small and in large pieces, with connections that end and begin again.

    check_bytes.py BUILD

Prints the name of each core whose bytes were right; exits with 1 at the first
one whose bytes were not."""

import subprocess
import sys

from experiments import cores
from measuring.process import (
    DEADLINE_S, MeasuringError, Process, wait_line)
from rig import Proxy

LOADS = (
    ("--up", "3000", "--down", "70000", "--chunk", "1000"),
    ("--up", "400000", "--down", "400000", "--chunk", "0"),
    ("--mode", "echo", "--up", "50000", "--pause", "1"),
)


class StreamServer(Process):
    """tests/tools/streamer: checks what it gets."""

    def __init__(self, build):
        super().__init__([f"{build}/tools/streamer", "server", "127.0.0.1:0"],
                         stdout=subprocess.PIPE)
        self.address = wait_line(self.child.stdout, r"listening on (\S+)",
                                 "streamer").group(1)


def check(build, variant, server):
    program, *options = variant
    with Proxy(f"{build}/lab/{program}", options, server.address) as proxy:
        for load in LOADS:
            done = subprocess.run(
                [f"{build}/tools/streamer", "client", proxy.address,
                 "--connections", "8", "--repeat", "2", *load],
                capture_output=True, text=True, check=False,
                timeout=DEADLINE_S)
            if done.returncode != 0:
                raise MeasuringError(
                    f"{' '.join(load)}: {done.stdout}{done.stderr}")


def main(argv):
    if len(argv) != 2:
        print("usage: check_bytes.py BUILD", file=sys.stderr)
        return 2
    with StreamServer(argv[1]) as server:
        for name, variant in cores(3).items():
            try:
                check(argv[1], variant, server)
            except (MeasuringError, subprocess.TimeoutExpired) as error:
                print(f"{name}: {error}", file=sys.stderr)
                return 1
            print(name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
