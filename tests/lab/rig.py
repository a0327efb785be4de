# SPDX-License-Identifier: MIT
"""The laboratory's proxy, and what perf counts of it."""

import json
import os
import re
import signal
import subprocess

from measuring.process import (
    DEADLINE_S, MeasuringError, Process, wait_line, wait_until)


class Proxy(Process):
    """lab_proxy, of one kind and with its options."""

    def __init__(self, program, options, server, before=()):
        super().__init__([*before, program, *options, server],
                         stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
        self.address = wait_line(self.child.stderr, r"listening on (\S+)",
                                 "lab_proxy").group(1)
        self.pid = self.child.pid

    def status(self):
        """What the proxy has counted since its start."""
        self.child.stdin.write(b"\n")
        self.child.stdin.flush()
        match = wait_line(self.child.stdout, r"^\{.*\}$", "lab_proxy")
        return json.loads(match.group(0))

    def switches(self):
        """Context switches of the pool's threads, (voluntary, not)."""
        voluntary = forced = 0
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/status",
                      encoding="ascii") as file:
                text = file.read()
            if not text.startswith("Name:\tlf-"):
                continue
            voluntary += int(re.search(
                r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M).group(1))
            forced += int(re.search(
                r"nonvoluntary_ctxt_switches:\s+(\d+)", text).group(1))
        return voluntary, forced


def perf_counts_futexes():
    """perf and the kernel's tracepoints are not to be had everywhere."""
    try:
        done = subprocess.run(
            ["perf", "stat", "-x,", "-e", "syscalls:sys_enter_futex", "true"],
            capture_output=True, text=True, timeout=DEADLINE_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return bool(re.search(r"^\d+,", done.stderr, re.M))


class FutexCount:
    """Futex calls of a process while the `with` lasts; None without perf."""

    def __init__(self, pid, wanted):
        self.argv = ["perf", "stat", "-x,", "-e", "syscalls:sys_enter_futex",
                     "-p", str(pid)] if wanted else None
        self.count = self.child = None

    def __enter__(self):
        if self.argv:
            self.child = subprocess.Popen(self.argv, stderr=subprocess.PIPE,
                                          text=True)
            wait_until(self.counting, "perf")
        return self

    def counting(self):
        """perf has opened its counters."""
        if self.child.poll() is not None:
            raise MeasuringError(f"perf has ended: {self.child.stderr.read()}")
        for fd in os.listdir(f"/proc/{self.child.pid}/fd"):
            try:
                if "perf_event" in os.readlink(
                        f"/proc/{self.child.pid}/fd/{fd}"):
                    return True
            except FileNotFoundError:
                continue
        return False

    def __exit__(self, *exception):
        if not self.child:
            return
        self.child.send_signal(signal.SIGINT)
        _, text = self.child.communicate(timeout=DEADLINE_S)
        match = re.search(r"^(\d+),", text, re.M)
        self.count = int(match.group(1)) if match else None
