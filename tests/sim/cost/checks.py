# SPDX-License-Identifier: MIT
"""What `make check-sim` asks of the cost model: figures that follow from the
costs by arithmetic, and the same figures for the same arguments."""

import json
import pathlib
import re
import subprocess
import tempfile

COSTS = pathlib.Path("tests/sim/cost/costs.txt")
# With all other costs 0 a request takes two turns and nothing else.
TURN_NS = 10000


def names():
    return re.findall(r"^(\w+) ", COSTS.read_text(), re.M)


class CostChecks:
    def __init__(self, build):
        self.program = f"{build}/lf_cost"

    def run(self, *options):
        return subprocess.run([self.program, *map(str, options)], text=True,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False)

    def figures(self, *options):
        done = self.run(*options)
        if done.returncode != 0:
            raise LookupError(done.stdout)
        return json.loads(done.stdout)

    def bare(self, *options, **costs):
        """Only turns cost something, and what is given."""
        costs = {**dict.fromkeys(names(), 0), "turn": TURN_NS,
                 "slice": 1000000, "balance": 500000, **costs}
        sets = [word for name, ns in costs.items()
                for word in ("--set", f"{name}={ns}")]
        return self.figures(*sets, "--client-us", 1, "--server-us", 1,
                            "--ms", 50, *options)

    @staticmethod
    def expect(figures, name, value, by=0.02):
        is_ = figures[name]
        if abs(is_ - value) > by * value:
            raise LookupError(f"{name} is {is_}, and {value} is expected")

    def repeats(self):
        """The same arguments give the same line, another seed another one."""
        lines = [self.run("--cpus", 8, "--shards", 2, "--seed", seed).stdout
                 for seed in (1, 1, 2)]
        if lines[0] != lines[1] or lines[0] == lines[2]:
            raise LookupError("\n".join(lines))

    def one_cpu(self):
        """One CPU: two turns for each request."""
        f = self.bare("--cpus", 1)
        self.expect(f, "throughput", 1e9 / (2 * TURN_NS))
        self.expect(f, "cpu_us", 2 * TURN_NS / 1000)

    def scales(self):
        """A reactor on each of 16 CPUs: 16 times as many requests."""
        f = self.bare("--cpus", 16, "--policy", "reactor",
                      "--connections", 1024)
        self.expect(f, "throughput", 16 * 1e9 / (2 * TURN_NS))

    def serialises(self):
        """Turns of which half serialises: no more than two CPUs' worth."""
        f = self.bare("--cpus", 16, "--policy", "reactor", "--connections",
                      1024, turn_serial=TURN_NS // 2)
        self.expect(f, "throughput", 2 * 1e9 / (2 * TURN_NS), 0.05)

    def wakes(self):
        """One connection: each of its turns begins with a wake-up."""
        f = self.bare("--cpus", 1, "--connections", 1, wake_delay=20000,
                      wake_call=5000, thread_switch=2000)
        self.expect(f, "p50_us", 2 * (20 + 5 + 2 + TURN_NS / 1000), 0.05)

    def transfers(self):
        """A word that two CPUs write in turn costs a transfer each time."""
        near = self.bare("--cpus", 2, "--policy", "always")
        far = self.bare("--cpus", 2, "--policy", "always",
                        line_transfer=20000)
        if far["cpu_us"] < near["cpu_us"] + 2 * 20:
            raise LookupError(f"{near} without, {far} with the cost")

    def accepts(self):
        """A connection for each request: its cost is added."""
        f = self.bare("--cpus", 1, "--requests", 1, accept=40000,
                      connect=60000)
        self.expect(f, "cpu_us", (2 * TURN_NS + 100000) / 1000)

    def queues(self):
        """Little's law: the requests in the system are those that connections
        have, as clients and servers take next to no time."""
        f = self.bare("--cpus", 1, "--connections", 50)
        self.expect(f, "p50_us", 50 * 1e6 / f["throughput"], 0.1)

    def helps(self):
        """A shard that never rests: its second thread works, too."""
        options = "--cpus", 2, "--connections", 128
        one = self.figures(*options, "--threads", 1)["throughput"]
        two = self.figures(*options, "--threads", 2)["throughput"]
        if two < 1.6 * one:
            raise LookupError(f"{one} requests/s with one thread, {two} with "
                              "two")

    def refuses(self):
        """A file with a line too few, too many or wrong is refused."""
        text = COSTS.read_text()
        line = re.search(r"^turn .*\n", text, re.M)[0]
        wrong = {
            "missing cost 'turn'": text.replace(line, ""),
            "cost given twice": text + line,
            "unknown cost": text + "turns 5 ns\n",
            "whole number": text.replace(line, "turn -5 ns\n"),
            "unit": text.replace(line, "turn 5 us\n"),
        }
        for said, content in wrong.items():
            with tempfile.NamedTemporaryFile("w") as file:
                file.write(content)
                file.flush()
                done = self.run("--costs", file.name)
            if done.returncode != 2 or said not in done.stdout:
                raise LookupError(f"{said}: {done.stdout}")

    def all(self):
        """(name, function) of each check, as check.py runs them."""
        for check in (self.repeats, self.one_cpu, self.scales,
                      self.serialises, self.wakes, self.transfers,
                      self.accepts, self.queues, self.helps, self.refuses):
            what = " ".join(check.__doc__.split()).rstrip(".")
            yield f"cost model: {what}", self.wrong, check

    @staticmethod
    def wrong(check):
        """What is wrong, or None, and what there is to say."""
        try:
            check()
        except LookupError as error:
            return str(error), ""
        return None, ""
