# SPDX-License-Identifier: MIT
"""Processes that are started, waited for and ended.

Everything listens on ports of 127.0.0.1 that the kernel chooses.  What was
started is ended with its `with`, and at the latest when this program ends: by an
exception, or by a signal other than SIGKILL."""

import atexit
import contextlib
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time

DEADLINE_S = 90
# All that were started and not stopped yet.
running = set()


def stop_all():
    for process in list(running):
        process.stop()


def end(number, _):
    """Ends this program as after an error, so that all `with` take effect."""
    sys.exit(128 + number)


atexit.register(stop_all)
for ending in (signal.SIGTERM, signal.SIGHUP):
    if signal.getsignal(ending) == signal.SIG_DFL:
        signal.signal(ending, end)


def descendants(pid):
    """The process and all below it."""
    found = [pid]
    for parent in found:
        try:
            tasks = os.listdir(f"/proc/{parent}/task")
            for task in tasks:
                path = f"/proc/{parent}/task/{task}/children"
                with open(path, encoding="ascii") as file:
                    found += [int(word) for word in file.read().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


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
    """A child that ends with the `with`, and all below it."""

    def __init__(self, argv, **pipes):
        self.argv = [str(a) for a in argv]
        self.child = subprocess.Popen(self.argv, **pipes)
        running.add(self)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.stop()

    @contextlib.contextmanager
    def unless_it_fails(self):
        """Stops the process only if the body raises."""
        try:
            yield self
        except BaseException:
            self.stop()
            raise

    def told(self, seconds):
        """Waits until the process has ended; what it has printed is JSON."""
        with self:
            try:
                out, err = self.child.communicate(timeout=seconds)
            except subprocess.TimeoutExpired as error:
                raise MeasuringError(f"{self.argv[0]}: {error}") from error
        if self.child.returncode != 0:
            raise MeasuringError(f"{self.argv[0]} failed: {err}")
        return json.loads(out)

    def stop(self):
        if self.child.poll() is None:
            self.child.terminate()
            try:
                self.child.wait(DEADLINE_S)
            except subprocess.TimeoutExpired:
                self.kill()
        for stream in (self.child.stdin, self.child.stdout, self.child.stderr):
            if stream:
                stream.close()
        running.discard(self)

    def kill(self):
        for pid in descendants(self.child.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.child.wait()


class AppServer(Process):
    """tests/tools/appserver: answers HTTP requests with a few bytes."""

    def __init__(self, build):
        super().__init__([f"{build}/tools/appserver", "--listen",
                          "127.0.0.1:0"], stdout=subprocess.PIPE)
        self.address = wait_line(self.child.stdout, r"listening on (\S+)",
                                 "appserver").group(1)
