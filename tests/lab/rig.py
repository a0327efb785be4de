# SPDX-License-Identifier: MIT
"""The laboratory's bench: starts servers, proxies and loads, and measures.

Everything listens on ports of 127.0.0.1 that the kernel chooses, and everything
that was started is ended by whoever started it."""

import json
import os
import re
import selectors
import signal
import subprocess
import time

DEADLINE_S = 20


class LabError(Exception):
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
            raise LabError(f"{what} does not answer; it said: {seen!r}")
        chunk = os.read(stream.fileno(), 65536)
        if not chunk:
            raise LabError(f"{what} has ended; it said: {seen!r}")
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
            raise LabError(f"{what} does not get there")
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
            raise LabError(f"perf has ended: {self.child.stderr.read()}")
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


UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}


def wrk_time_us(text, percent):
    match = re.search(rf"^\s+{percent}%\s+([\d.]+)(us|ms|s)$", text, re.M)
    if not match:
        raise LabError(f"wrk's latencies are not understood: {text}")
    return float(match.group(1)) * UNITS[match.group(2)]


def wrk(address, connections, seconds, close=False):
    """A closed loop of requests: what wrk says of it."""
    argv = ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{seconds}s",
            f"http://{address}/"]
    if close:
        argv[1:1] = ["-H", "Connection: close"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False,
                          timeout=DEADLINE_S + seconds)
    found = re.search(r"(\d+) requests in", done.stdout)
    if done.returncode != 0 or not found:
        raise LabError(f"wrk failed: {done.stdout}{done.stderr}")
    errors = sum(int(n) for n in re.findall(
        r"(?:connect|read|write|timeout) (\d+)", done.stdout))
    other = re.search(r"Non-2xx or 3xx responses: (\d+)", done.stdout)
    return {
        "requests": int(found.group(1)),
        "errors": errors + (int(other.group(1)) if other else 0),
        "p50_us": wrk_time_us(done.stdout, 50),
        "p99_us": wrk_time_us(done.stdout, 99),
    }
