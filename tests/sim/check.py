# SPDX-License-Identifier: MIT
"""What `make check-sim` runs: the core as it is under many schedules, its
golden traces, and mutants of it, each of which has to be caught.  A mutant is
first searched for in the plans with one delay, which takes no time, then by
chance and in the plan that two delays suit best, then by chance.  Speaks TAP.

    check.py DIR COMPILER LINKER OBJECT...

A trace that has changed for a good reason is kept with
`lf_sim --golden NAME >tests/sim/golden/NAME.trace`.
"""

import concurrent.futures
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

from cost.checks import CostChecks
from mutants import MUTANTS, apply

SCHEDULES = 80000  # of each of the two runs
MUTANT_SCHEDULES = 160000  # at most of each kind, until a mutant is caught
TWO_DELAYS = 300  # for plans that have fewer schedules with one
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
        if p.returncode == 0 and tried and int(tried.group(1)) < TWO_DELAYS:
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

    def mutant(self, number):
        file = MUTANTS[number][1]
        try:
            text = apply(MUTANTS[number])
        except LookupError as error:
            return str(error), ""
        base = self.build / f"mutant-{number}"
        source, changed = base.with_suffix(".c"), base.with_suffix(".o")
        source.write_text(text)
        original = str(self.build / file.replace(".c", ".o"))
        others = [o for o in self.objects if o != original]
        if len(others) == len(self.objects):
            return f"{original} is not part of the simulator", ""
        # A mutant need not be tidy.
        p = run(*self.compiler, "-w", "-c", "-o", str(changed), str(source))
        if p.returncode == 0:
            p = run(*self.linker, "-o", str(base), *others, str(changed), "-lm")
        if p.returncode != 0:
            return p.stdout, ""
        searches = [("--plan", name) for name in self.plans]
        searches.append(("--schedules", "5000", "--strategy", "mixed"))
        searches.append(("--delays", "2", "--plan", "retire"))
        # Some are found by one kind of schedule hardly ever.
        searches += [("--schedules", str(MUTANT_SCHEDULES), "--strategy", name)
                     for name in ("mixed", "random")]
        before = 0
        for search in searches:
            p = run(str(base), *search)
            said = re.search(r"lf_sim: schedule (\d+), .*?: (.*)", p.stdout)
            if p.returncode == 1 and said:
                needed = before + int(said.group(1))
                self.needed.append((needed, MUTANTS[number][0]))
                return None, f"{needed} schedules, {search[-1]}: {said.group(2)}"
            tried = re.search(r"(\d+) schedules", p.stdout)
            before += int(tried.group(1)) if tried else 0
        return "not caught: " + p.stdout, ""


def main():
    c = Checks(*sys.argv[1:4], sys.argv[4:])
    tasks = [("schedules of seed 1", c.schedules, 1),
             ("schedules of seed 10000001", c.schedules, 10000001),
             ("the same seed, the same schedule", c.repeats)]
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
