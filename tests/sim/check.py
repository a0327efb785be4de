# SPDX-License-Identifier: MIT
"""What `make check-sim` runs: the core as it is under many schedules, its
golden traces, and mutants of it, each of which has to be caught, and to fail
again in the same step by the command that the failure names.  A mutant is
first searched for in the plans with one delay that take no time, then by chance
for a second, then in the other plans and in the one that two delays suit best,
then by chance.  Speaks TAP.

    check.py DIR COMPILER LINKER OBJECT...

A trace that has changed for a good reason is kept with
`lf_sim --golden NAME >tests/sim/golden/NAME.trace`.
"""

import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from cost.checks import CostChecks
from mutants import MUTANTS, apply

# SHORT=1: a quarter of the schedules by chance, and no plan with two delays.
SHORT = os.environ.get("SHORT", "0") != "0"
SCHEDULES = 20000 if SHORT else 80000  # of each of the two runs
MUTANT_FIRST = 2000  # by chance, of a mutant; most that no plan catches
DEAR = ("times", "close")  # plans that take longer than these
MUTANT_SCHEDULES = 160000  # at most of each kind, until a mutant is caught
TWO_DELAYS = 300  # for plans that have fewer schedules with one
# Found by chance, after some hundred schedules.
REPLAYED = "a leader sleeps without a look at the mailbox"
GOLDEN = pathlib.Path("tests/sim/golden")


def run(*command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False, **options)


class Checks:
    def __init__(self, build, compiler, linker, objects):
        self.build = pathlib.Path(build)
        self.sim = str(self.build / "lf_sim")
        self.compiler = shlex.split(compiler)
        self.linker = shlex.split(linker)
        self.objects = objects
        usage = run(self.sim, "--help").stdout
        self.plans = self.names(usage, "seed:")
        self.goldens = self.names(usage, "script:")
        self.needed = []  # schedules, and the mutant

    @staticmethod
    def names(usage, after):
        """Returns the names in the line behind the one that ends so."""
        line = usage.split(after + "\n")[1].splitlines()[0]
        return [name.strip() for name in line.split(",")]

    def schedules(self, seed):
        """Returns what is wrong, or None, and what there is to say."""
        p = run(self.sim, "--schedules", str(SCHEDULES), "--seed", str(seed))
        return (None if p.returncode == 0 else p.stdout), p.stdout

    def plan(self, name):
        p = run(self.sim, "--plan", name)
        tried = re.search(r"(\d+) schedules", p.stdout)
        if not SHORT and p.returncode == 0 and tried and \
                int(tried.group(1)) < TWO_DELAYS:
            p = run(self.sim, "--plan", name, "--delays", "2")
        return (None if p.returncode == 0 else p.stdout), p.stdout

    def repeats(self):
        digests = set()
        for _ in range(2):
            p = run(self.sim, "--schedules", "2000", "--seed", "77")
            digests.update(re.findall("digest ([0-9a-f]+)", p.stdout) or ["?"])
        ok = len(digests) == 1 and "?" not in digests
        return (None if ok else f"the digests: {digests}"), ""

    def golden(self, name):
        p = run(self.sim, "--golden", name)
        kept = GOLDEN / (name + ".trace")
        if p.returncode == 0 and kept.exists() and kept.read_text() == p.stdout:
            return None, ""
        with tempfile.NamedTemporaryFile("w", suffix=".trace") as now:
            now.write(p.stdout)
            now.flush()
            return run("diff", "-u", str(kept), now.name).stdout, ""

    def make_mutant(self, number, name):
        """Returns the program, or None and what is wrong."""
        file = MUTANTS[number][1]
        try:
            text = apply(MUTANTS[number])
        except LookupError as error:
            return None, str(error)
        base = self.build / name
        source, changed = base.with_suffix(".c"), base.with_suffix(".o")
        source.write_text(text)
        original = str(self.build / file.replace(".c", ".o"))
        others = [o for o in self.objects if o != original]
        if len(others) == len(self.objects):
            return None, f"{original} is not part of the simulator"
        # A mutant need not be tidy.
        p = run(*self.compiler, "-w", "-c", "-o", str(changed), str(source))
        if p.returncode == 0:
            p = run(*self.linker, "-o", str(base), *others, str(changed), "-lm")
        if p.returncode != 0:
            return None, p.stdout
        return str(base), ""

    @staticmethod
    def replay(program, failure):
        """Returns what is wrong, or None: the command at the end of a failure
        has to end with the same failure in the same step."""
        command = re.search("^The whole of it: lf_sim (.*) --trace$", failure,
                            re.MULTILINE)
        again = run(program, *command.group(1).split()).stdout
        ends = [re.search("seed .*", out) for out in (failure, again)]
        if ends[1] and ends[0].group() == ends[1].group():
            return None
        return (f"lf_sim {command.group(1)} does not replay:\n"
                f"{ends[0].group()}\n{again}")

    def replays(self, strategy):
        number = [m[0] for m in MUTANTS].index(REPLAYED)
        program, wrong = self.make_mutant(number, f"replayed-{strategy}")
        if not program:
            return wrong, ""
        p = run(program, "--schedules", str(MUTANT_SCHEDULES),
                "--strategy", strategy)
        failed = re.search(r"schedule (\d+), .*", p.stdout)
        # Nothing has gone before the first one.
        if not failed or int(failed.group(1)) == 1:
            return p.stdout, ""
        return self.replay(program, p.stdout), failed.group()

    def mutant(self, number):
        program, wrong = self.make_mutant(number, f"mutant-{number}")
        if not program:
            return wrong, ""
        searches = [("--plan", name) for name in self.plans if name not in DEAR]
        searches.append(("--schedules", str(MUTANT_FIRST), "--strategy",
                         "mixed"))
        searches += [("--plan", name) for name in DEAR]
        searches.append(("--delays", "2", "--plan", "retire"))
        # Some are found by one kind of schedule hardly ever.
        searches += [("--schedules", str(MUTANT_SCHEDULES), "--strategy", name)
                     for name in ("mixed", "random")]
        before = 0
        for search in searches:
            p = run(program, *search)
            said = re.search(r"lf_sim: schedule (\d+), .*?: (.*)", p.stdout)
            if p.returncode == 1 and said:
                needed = before + int(said.group(1))
                self.needed.append((needed, MUTANTS[number][0]))
                return (self.replay(program, p.stdout),
                        f"{needed} schedules, {search[-1]}: {said.group(2)}")
            tried = re.search(r"(\d+) schedules", p.stdout)
            before += int(tried.group(1)) if tried else 0
        return "not caught: " + p.stdout, ""


def main():
    c = Checks(*sys.argv[1:4], sys.argv[4:])
    tasks = [("schedules of seed 1", c.schedules, 1),
             ("schedules of seed 10000001", c.schedules, 10000001),
             ("the same seed, the same schedule", c.repeats)]
    tasks += [(f"a failure is replayed, strategy {n}", c.replays, n)
              for n in ("mixed", "random", "pct")]
    tasks += [(f"plan {n}", c.plan, n) for n in c.plans]
    tasks += [(f"golden trace {n}", c.golden, n) for n in c.goldens]
    tasks += [(f"caught: {m[0]}", c.mutant, i) for i, m in enumerate(MUTANTS)]
    tasks += CostChecks(c.build).all()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(*t[1:]) for t in tasks]
        print(f"1..{len(tasks)}", flush=True)
        for i, (task, future) in enumerate(zip(tasks, futures), 1):
            wrong, said = future.result()
            failed += wrong is not None
            print("not ok" if wrong is not None else "ok", i, task[0])
            for line in (wrong or said).splitlines():
                print("#", line)
            sys.stdout.flush()
    if c.needed:
        print("# most schedules: %d, of %d, for: %s" %
              (max(c.needed)[0], MUTANT_SCHEDULES, max(c.needed)[1]))
    return failed > 0


sys.exit(main())
