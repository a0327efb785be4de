# SPDX-License-Identifier: MIT
"""Loads: wrk as fast as it goes, lab_load at a rate, tlsload for TLS."""

import json
import re
import subprocess

from measuring.process import DEADLINE_S, MeasuringError, Process
from measuring.short import MOMENT, brief

UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}


def wrk_time_us(text, percent):
    match = re.search(rf"^\s+{percent}%\s+([\d.]+)(us|ms|s) ?$", text, re.M)
    if not match:
        raise MeasuringError(f"wrk's latencies are not understood: {text}")
    return float(match.group(1)) * UNITS[match.group(2)]


def cut_short(argv):
    """Runs wrk for less than the second that it counts in.  A wrk that has not
    set up its handler of SIGINT yet, or has no answer, gets more time."""
    for seconds in (0.1, 0.5, 2, 8):
        done = subprocess.run(
            ["timeout", "--preserve-status", "-s", "INT", str(seconds), *argv],
            capture_output=True, text=True, check=False, timeout=DEADLINE_S)
        if done.returncode == 0 and "\n  0 requests in" not in done.stdout:
            break
    return done


def wrk(address, connections, seconds, close=False, path="/"):
    """A closed loop of requests: what wrk says of it."""
    argv = ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{seconds}s",
            f"http://{address}{path}"]
    if close:
        argv[1:1] = ["-H", "Connection: close"]
    if MOMENT:
        done = cut_short(argv)
    else:
        done = subprocess.run(argv, capture_output=True, text=True,
                              check=False, timeout=DEADLINE_S + seconds)
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
    """Requests at a rate, timed from when they were due.  A moment in which none
    was answered, as on a busy machine, is followed by a longer one."""
    rate = brief(rate, max(rate // 10, 1))
    warm_ms = brief(warm_ms, min(warm_ms, 50), 0)
    for ms in (100, 500, 2000, 8000) if MOMENT else (brief(ms, min(ms, 500)),):
        told = run_lab_load(build, address, "--connections", connections,
                            "--rate", rate, "--ms", ms, "--warm-ms", warm_ms,
                            *(("--slow-us", slow_us) if slow_us else ()))
        if told["others"]["requests"] > 0:
            break
    return told


def run_lab_load(build, address, *options):
    return Process([f"{build}/lab/lab_load", *options, address],
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                   text=True).told(2 * DEADLINE_S)


def tlsload_argv(build, mode, address, *options):
    return [f"{build}/tools/tlsload", mode, "--deadline", str(4 * DEADLINE_S),
            *map(str, options), address]


def tlsload(build, mode, address, *options, marked=None):
    """Returns what tests/tools/tlsload says of a load.  marked() is called as the
    measured time begins and as it ends; what it returned then is in
    ["marked"]."""
    argv = tlsload_argv(build, mode, address, *options)
    if marked:
        argv.insert(2, "--marks")
    seen, said = [], ""
    with Process(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 text=True) as load:
        for line in load.child.stdout:
            if line in ("warm\n", "done\n"):
                seen.append(marked())
            said = line
        error = load.child.stderr.read()
        load.child.wait(DEADLINE_S)
    if load.child.returncode != 0:
        raise MeasuringError(f"tlsload {mode} failed: {error}")
    return {**json.loads(said), "marked": seen}
