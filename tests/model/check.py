# SPDX-License-Identifier: MIT
"""What `make check-model` runs: the SPIN models of the core, each over its whole
state space, and mutants of them, each of which has to be caught.  First the models'
names have to be those of the code (names.py).  Speaks TAP.

    check.py [MODEL]...
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

import names

HERE = pathlib.Path(__file__).resolve().parent
MEMORY_MB = 2000
TIMEOUT_S = 3000  # a search that does not end; on idle CPUs each takes < 60
SAFETY = (["-DSAFETY", "-DNOCLAIM", "-DCOLLAPSE"], [])
LIVE = (["-DNFAIR=3"], ["-a", "-f"])  # the ltl, under weak fairness

# The model, options of spin, how the search runs, and the model's mutants.
MODELS = [
    ("shards", "", SAFETY,
     "CLOSE_WITHOUT_GRACE CLOSE_WITHOUT_LOOK NOTE_ONCE"),
    ("kernel", "-DLATE -DTRAFFIC", SAFETY, ""),
    ("kernel", "-DLATE", SAFETY, ""),
    ("kernel", "-DLIVENESS", LIVE,
     "PARK_UNDER_KERNEL STAY_WITH_LEADER KEEP_THE_WAKE"),
    ("standby", "", SAFETY, "SLEEP_BESIDE_A_FREE_TOKEN GIVE_UP_WITHOUT_WAKE "
     "KEEP_THE_ORDER KEEP_THE_WAKE PARK_BY_AN_OLD_LOOK"),
    ("standby", "-DNOTE", SAFETY, "WAKE_CLEARS_ASLEEP"),
    ("lend", "-DPARKED", SAFETY, "NO_GUARD"),
    ("lend", "-DSLEEP", SAFETY, "NO_LOOK_AFTER_BUSY NO_LOOK_AFTER_GIVING_UP "
     "SLEEP_BESIDE_A_FREE_TOKEN"),
    ("lend", "", SAFETY, "NO_GUARD LEND_ONLY_THE_PARKED RESUME_WITHOUT_LOOK"),
    ("claim", "", SAFETY, "RELEASE_BEFORE_GENERATION LATE_GENERATION NO_RENEW "
     "DROP_WITHOUT_LOOK LATE_DEADLINE"),
    ("promotion", "", SAFETY,
     "LET_GO_WITHOUT_LOOK RETIRE_WITHOUT_FORWARD PARK_WITHOUT_LOOK"),
    ("promotion", "-DLIVENESS", LIVE, "RETIRE_WITHOUT_FORWARD"),
    ("promotion", "-DCLASSES", SAFETY, "RETIRE_WITHOUT_FORWARD"),
    ("promotion", "-DCLASSES -DLIVENESS", LIVE, ""),
    ("takeover", "", SAFETY, "NO_GUARD RESUME_WITHOUT_LOOK "
     "GUARD_WITHOUT_TOKEN NO_LOOK_AFTER_BUSY SLEEP_WITHOUT_LOOK"),
    ("takeover", "-DALARM", SAFETY, "ALARM_OF_A_FORMER_SLEEP ALARM_UNSEEN "
     "NO_LOOK_AFTER_BUSY"),
    ("admission", "", SAFETY, "NO_SIGNAL WAKE_WITHOUT_LOCK KEEP_THE_LAST "
     "RETIRE_WITHOUT_WAKE NO_HAND_OVER LIMIT_WITHOUT_TAKE"),
    ("keeper", "", SAFETY, "CALL_ONCE READ_AFTER_CALLS LOOK_BEFORE_DEADLINE "
     "REAP_UNTOLD LOOK_BEFORE_PUSH PACE_UNTOLD"),
    ("keeper", "-DPAUSED", SAFETY, "LOOK_BEFORE_PAUSE"),
    ("mailbox", "", SAFETY, "WAKE_BEFORE_PUSH LOOK_BEFORE_ASLEEP"),
]


def run(directory, *command):
    return subprocess.run(command, cwd=directory, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          timeout=TIMEOUT_S)


def search(model, flags, how, optimize="-O1"):
    """Returns the number of errors, or None if the search did not come to an
    end, and what there is to say."""
    defines, options = how
    with tempfile.TemporaryDirectory() as directory:
        for command in (["spin", "-a", *flags, str(HERE / (model + ".pml"))],
                        ["gcc", optimize, "-w", f"-DMEMLIM={MEMORY_MB}",
                         *defines, "-o", "pan", "pan.c"]):
            p = run(directory, *command)
            if p.returncode != 0:
                return None, p.stdout
        p = run(directory, "./pan", "-m200000", *options)
    errors = re.search(r"errors: (\d+)", p.stdout)
    stored = re.search(r"(\d+) states, stored", p.stdout)
    depth = re.search(r"depth reached (\d+)", p.stdout)
    if p.returncode != 0 or not (errors and stored and depth) or \
            re.search("out of memory|too small|VECTORSZ", p.stdout):
        return None, p.stdout
    if errors.group(1) == "0" and "not completed" in p.stdout:
        return None, p.stdout
    why = re.search(r"^pan:\d+: (.*?) \(at", p.stdout, re.MULTILINE)
    return int(errors.group(1)), why.group(1) if why else \
        f"{stored.group(1)} states, depth {depth.group(1)}"


def holds(model, flags, how):
    errors, said = search(model, flags, how)
    return errors == 0, said


def is_caught(model, flags, how):
    # Its search ends soon: compiling it is most of the work, and takes a fifth
    # of the time without optimization.
    errors, said = search(model, flags, how, "-O0")
    return errors is not None and errors > 0, said


def names_of_the_code():
    wrong = names.check()
    return not wrong, "\n".join(wrong)


def main():
    tasks = [("names are those of the code", names_of_the_code)]
    for model, flags, how, mutants in MODELS:
        if len(sys.argv) > 1 and model not in sys.argv[1:]:
            continue
        flags = flags.split()
        name = " ".join([model, *(f[2:].lower() for f in flags)])
        tasks.append((name, holds, model, flags, how))
        tasks += [(f"{name}, caught: {m.lower().replace('_', ' ')}", is_caught,
                   model, [*flags, "-DMUTANT_" + m], how)
                  for m in mutants.split()]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        futures = [pool.submit(*t[1:]) for t in tasks]
        print(f"1..{len(tasks)}", flush=True)
        for i, (task, future) in enumerate(zip(tasks, futures), 1):
            good, said = future.result()
            failed += not good
            print("ok" if good else "not ok", i, task[0])
            for line in said.splitlines():
                print("#", line)
            sys.stdout.flush()
    return failed > 0 or len(tasks) < 2


sys.exit(main())
