# SPDX-License-Identifier: MIT
"""One sample of one variant."""

import json
import re
import signal
import subprocess

from measuring.load import lab_load, wrk
from measuring.process import DEADLINE_S, MeasuringError, wait_line
from measuring.short import MOMENT, brief
from rig import FutexCount, Proxy


def top_share(before, after):
    """The largest share that one thread has of the turns."""
    turns = [b - a for a, b in zip(before, after)]
    return max(turns) / max(1, sum(turns))


class Bench:
    """What all samples need: programs, a server, the number of CPUs."""

    def __init__(self, build, server, cpus, perf):
        self.build, self.server = build, server
        self.cpus, self.perf = cpus, perf

    def proxy(self, variant):
        program, *options = variant
        return Proxy(f"{self.build}/lab/{program}", options, self.server)

    def warm_up(self, proxy):
        """Sessions get their slots, pages are touched, caches fill."""
        lab_load(self.build, proxy.address, 192, 20000, 200)

    def per_request(self, proxy, load):
        """The costs of one request while load() runs, which returns their
        number and further figures.  A busy machine may need more than one try
        to answer the first request."""
        with FutexCount(proxy.pid, self.perf) as futexes:
            before, switches = proxy.status(), proxy.switches()
            for _ in range(10):
                requests, sample = load()
                if requests > 0:
                    break
            else:
                raise MeasuringError("no request was answered in ten tries")
            after, switched = proxy.status(), proxy.switches()
        grown = {name: after[name] - before[name] for name in after
                 if isinstance(after[name], int)}
        sample.update({
            "cpu_us": (grown["user_us"] + grown["system_us"]) / requests,
            "voluntary": (switched[0] - switches[0]) / requests,
            "forced": (switched[1] - switches[1]) / requests,
            "switches": (sum(switched) - sum(switches)) / requests,
            "wakes": grown["wakes"] / requests,
            "allocations": grown["allocations"] / max(1, grown["turns"]),
            "events_per_wait": grown["fetched"] / max(1, grown["waits"]),
            "guarded": grown["guarded"],
            "wake_us": after["wake_ns"] / 1e3,
            "top_thread": top_share(before["thread_turns"],
                                    after["thread_turns"]),
        })
        gap = after["poll_gap"]
        if gap["n"] > 0:
            sample["poll_gap_p99_us"] = gap["p99_ns"] / 1e3
            sample["poll_gap_max_us"] = gap["max_ns"] / 1e3
        if futexes.count is not None:
            sample["futexes"] = futexes.count / requests
        return sample

    def closed_loop(self, variant, close):
        """wrk with 64 connections, as fast as it goes."""
        def load():
            told = wrk(proxy.address, 64, 1, close)
            if told["errors"]:
                raise MeasuringError(f"{variant}: {told['errors']} failed requests")
            return told.pop("requests"), told

        with self.proxy(variant) as proxy:
            self.warm_up(proxy)
            return self.per_request(proxy, load)

    def at_a_rate(self, variant, rate):
        """lab_load with 100 connections."""
        with self.proxy(variant) as proxy:
            self.warm_up(proxy)
            return self.paced(proxy, rate, 0)

    def with_slow_ones(self, variant, rate, slow_ms):
        """The same; slow connections are counted apart.  A hundred sessions take
        the first hundred slots, of which one is slow, if none was there
        before: no warm-up."""
        if MOMENT:
            return self.at_a_rate(variant, rate)
        for _ in range(3):
            with self.proxy(variant) as proxy:
                sample = self.paced(proxy, rate, slow_ms * 1000 - 500)
            if sample and (sample["slow"] > 0 or "--slow" not in variant):
                return sample
        raise MeasuringError(f"{variant}: slow and fast connections cannot be "
                             "told apart; the machine is too busy")

    def paced(self, proxy, rate, slow_us):
        def load():
            told = lab_load(self.build, proxy.address, 100, rate, 1000,
                            slow_us)
            others = told["others"]
            return others["requests"] * 1.1, {
                "p50_us": others["p50_us"], "p99_us": others["p99_us"],
                "slow": told["slow"]["connections"]}

        return self.per_request(proxy, load)

    def null(self, variant):
        """The core without descriptors.  A moment in which none of its threads
        ran, as on a busy machine, is followed by a longer one."""
        for ms in (25, 250, 2500) if MOMENT else (brief(250, 25),):
            told = self.run_null(variant, ms)
            if told["turns"] > 0:
                break
        turns = max(1, told["turns"])
        return {
            "mega_s": told["turns"] * 1e3 / told["ns"],
            "promotions": told["promotions"] / turns,
            "wakes": told["wakes"] / turns,
            "taken_over": told["taken_over"] / turns,
            "cas_failures": told["cas_failures"] / turns * 1e3,
        }

    def run_null(self, variant, ms):
        done = subprocess.run(
            [f"{self.build}/lab/null_bench", "--ms", str(ms), *variant],
            capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        if done.returncode != 0:
            raise MeasuringError(f"null_bench failed: {done.stderr}")
        return json.loads(done.stdout)

    def traced_futexes(self, variant):
        """Futex calls that strace sees in a running proxy under load."""
        with self.proxy(variant) as proxy:
            self.warm_up(proxy)
            tracer = subprocess.Popen(
                ["strace", "-f", "-c", "-p", str(proxy.pid)],
                stderr=subprocess.PIPE, text=True)
            wait_line(tracer.stderr, "attached", "strace")
            wrk(proxy.address, 64, brief(2, 1))
            tracer.send_signal(signal.SIGINT)
            _, text = tracer.communicate(timeout=DEADLINE_S)
        if not re.search(r"epoll_p?wait", text):
            raise MeasuringError(f"strace saw no proxy at work: {text}")
        calls = [line.split() for line in text.splitlines()
                 if line.split()[-1:] == ["futex"]]
        return sum(int(words[3]) for words in calls)
