# SPDX-License-Identifier: MIT
"""Processes that are started, waited for and ended.

Everything listens on ports of 127.0.0.1 that the kernel chooses, and everything
that was started is ended by whoever started it."""

import os
import re
import selectors
import signal
import subprocess
import time

DEADLINE_S = 20


class MeasuringError(Exception):
    """The bench itself does not work; no verdict can be had."""


def wait_line(stream, pattern, what):
    """The first match in the stream's lines; every wait has an end."""
    selector = selectors.DefaultSelector()
    selector.register(stream, selectors.EVENT_READ)
    ends = time.monotonic() + DEADLINE_S
    seen = b""
    while True:
        left = ends - time.monotonic()
        if left <= 0 or not selector.select(left):
            raise MeasuringError(f"{what} does not answer; it said: {seen!r}")
        chunk = os.read(stream.fileno(), 65536)
        if not chunk:
            raise MeasuringError(f"{what} has ended; it said: {seen!r}")
        seen += chunk
        for line in seen.split(b"\n")[:-1]:
            match = re.search(pattern, line.decode(errors="replace"))
            if match:
                return match


def wait_until(condition, what):
    """Looks every few milliseconds; every wait has an end."""
    ends = time.monotonic() + DEADLINE_S
    while not condition():
        if time.monotonic() > ends:
            raise MeasuringError(f"{what} does not get there")
        time.sleep(0.005)


class Process:
    """A child that ends with the `with`."""

    def __init__(self, argv, **pipes):
        self.argv = [str(a) for a in argv]
        self.child = subprocess.Popen(self.argv, **pipes)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()

    def stop(self):
        for name in (signal.SIGTERM, signal.SIGKILL):
            if self.child.poll() is None:
                self.child.send_signal(name)
            try:
                self.child.wait(DEADLINE_S if name == signal.SIGTERM else None)
                break
            except subprocess.TimeoutExpired:
                continue
        for stream in (self.child.stdin, self.child.stdout, self.child.stderr):
            if stream:
                stream.close()


class AppServer(Process):
    """tests/tools/appserver: answers HTTP requests with a few bytes."""

    def __init__(self, build):
        super().__init__([f"{build}/tools/appserver", "--listen",
                          "127.0.0.1:0"], stdout=subprocess.PIPE)
        self.address = wait_line(self.child.stdout, r"listening on (\S+)",
                                 "appserver").group(1)
