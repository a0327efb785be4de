# SPDX-License-Identifier: MIT
"""Loads: wrk as fast as it goes, lab_load at a rate."""

import json
import re
import subprocess

from measuring.process import DEADLINE_S, MeasuringError
from measuring.short import brief

UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}


def wrk_time_us(text, percent):
    match = re.search(rf"^\s+{percent}%\s+([\d.]+)(us|ms|s)$", text, re.M)
    if not match:
        raise MeasuringError(f"wrk's latencies are not understood: {text}")
    return float(match.group(1)) * UNITS[match.group(2)]


def wrk(address, connections, seconds, close=False, path="/"):
    """A closed loop of requests: what wrk says of it."""
    argv = ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{seconds}s",
            f"http://{address}{path}"]
    if close:
        argv[1:1] = ["-H", "Connection: close"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False,
                          timeout=DEADLINE_S + seconds)
    found = re.search(r"(\d+) requests in", done.stdout)
    if done.returncode != 0 or not found:
        raise MeasuringError(f"wrk failed: {done.stdout}{done.stderr}")
    errors = sum(int(n) for n in re.findall(
        r"(?:connect|read|write|timeout) (\d+)", done.stdout))
    other = re.search(r"Non-2xx or 3xx responses: (\d+)", done.stdout)
    return {
        "requests": int(found.group(1)),
        "errors": errors + (int(other.group(1)) if other else 0),
        "p50_us": wrk_time_us(done.stdout, 50),
        "p99_us": wrk_time_us(done.stdout, 99),
    }


def lab_load(build, address, connections, rate, ms, slow_us=0, warm_ms=100):
    """Requests at a rate, timed from when they were due."""
    rate = brief(rate, max(rate // 10, 1))
    ms, warm_ms = brief(ms, min(ms, 500)), brief(warm_ms, min(warm_ms, 50))
    argv = [f"{build}/lab/lab_load", "--connections", str(connections),
            "--rate", str(rate), "--ms", str(ms), "--warm-ms", str(warm_ms)]
    if slow_us:
        argv += ["--slow-us", str(slow_us)]
    done = subprocess.run([*argv, address], capture_output=True, text=True,
                          timeout=DEADLINE_S + ms / 1000, check=False)
    if done.returncode != 0:
        raise MeasuringError(f"lab_load failed: {done.stdout}{done.stderr}")
    return json.loads(done.stdout)
