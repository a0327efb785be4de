# SPDX-License-Identifier: MIT
"""Chooses the behaviour tests that sanitizers leave out, and tags them `covered`:
tests whose every branch of lfproxy, as gcov sees them, is also reached by the
tests that are left.  See tests/README.md, "Sanitizers".

    covered.py BUILD DIRECTORY [new]      (make covered, make covered NEW=1)

BUILD has been made with MODE=cover.  What is measured goes to DIRECTORY, which is
used again if it is there.  With `new` tests that have the tag keep it without being
run: the tests without it reach all that these had reached.
"""

import os
import pathlib
import re
import struct
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parent
# Their subject is what threads do beside each other, not which branches.
LOADS = {"chaos", "load", "longturns", "pool", "rebalance", "resize", "splice",
         "storm", "tlsload"}
EXCLUDED = "!timing,!long,!slow,!unsanitized"
FUNCTION, ARCS = 0x01000000, 0x01a10000
TEST = re.compile(r'@test "(.*)" \{$')
TAGS = "# bats test_tags="


def measure(build, out, excluded):
    """Runs unit tests and stored fuzz inputs, then each behaviour test, and has
    gcov write into a directory for each of them."""
    env = dict(os.environ, GCOV_PREFIX=str(out / "units"),
               GCOV_PREFIX_STRIP=str(len(build.parts) - 1))
    programs = [[str(p)] for p in sorted(build.glob("unit/*/test_*"))
                if not p.suffix]
    programs += [[str(build / "fuzz" / d.name), str(d)]
                 for d in sorted(TESTS.parent.glob("fuzz/corpus/*"))]
    for program in programs:
        subprocess.run(program, env=env, stdin=subprocess.DEVNULL, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    env = dict(env, LFPROXY_BUILD=str(build), LFPROXY_COVER=str(out / "tests"))
    subprocess.run(["bats", "--jobs", str(4 * os.cpu_count()),
                    "--no-parallelize-within-files", "--filter-tags", excluded,
                    *map(str, sorted(TESTS.glob("*.bats")))],
                   env=env, check=False)


def arcs_of(path):
    """Yields the arcs that a .gcda file of gcc 12 or later counts, if taken."""
    data, at, function = path.read_bytes(), 16, 0
    while at + 8 <= len(data):
        tag, size = struct.unpack_from("<Ii", data, at)
        at += 8
        if tag == FUNCTION and size > 0:
            function = struct.unpack_from("<I", data, at)[0]
        if tag == ARCS and size > 0:  # below 0: none was taken
            counts = struct.unpack_from("<%dQ" % (size // 8), data, at)
            yield from (("/".join(path.parts[-2:]), function, i)
                        for i, count in enumerate(counts) if count)
        at += max(size, 0)


def arcs_below(directory, numbers):
    return {numbers.setdefault(arc, len(numbers))
            for path in directory.rglob("*.gcda") for arc in arcs_of(path)}


def choose(reached, needed, chosen):
    """Adds tests to chosen until these reach all that is needed: always the one
    that reaches most of what is missing."""
    left = needed.difference(*(reached[key] for key in chosen & reached.keys()))
    adds = {key: arcs & left for key, arcs in reached.items()}
    while left:
        best = max(adds, key=lambda key: len(adds[key]))
        chosen.add(best)
        gain = adds.pop(best)
        left -= gain
        for arcs in adds.values():
            arcs -= gain


def tags_of(text):
    """Yields the name of each test, with its tags and those of the file."""
    of_file, tags = set(), set()
    for line in text.splitlines():
        if line.startswith("# bats file_tags="):
            of_file = set(re.split(", *", line.split("=")[1]))
        elif line.startswith(TAGS):
            tags = set(re.split(", *", line[len(TAGS):]))
        elif match := TEST.match(line):
            yield match.group(1), tags | of_file
            tags = set()


def write_tags(path, covered):
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        match = TEST.match(line)
        if match:
            tags = []
            if lines[-1].startswith(TAGS):
                tags = re.split(", *", lines.pop()[len(TAGS):])
            tags = [tag for tag in tags if tag != "covered"]
            if (path.stem, match.group(1)) in covered:
                tags.append("covered")
            if tags:
                lines.append(TAGS + ", ".join(tags))
        lines.append(line)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    build, out = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
    only_new = sys.argv[3:] == ["new"]
    if not out.exists():
        measure(build, out, EXCLUDED + ",!covered" * only_new)
    numbers, reached, tags = {}, {}, {}
    for path in sorted(TESTS.glob("*.bats")):
        for name, found in tags_of(path.read_text(encoding="utf-8")):
            tags[path.stem, name] = found
    for note in sorted(out.glob("tests/*/*/name")):
        key = note.parts[-3], note.read_text(encoding="utf-8").rstrip("\n")
        reached[key] = arcs_below(note.parent, numbers)
    units = arcs_below(out / "units", numbers)
    # Without a thread unit tests show no data race.
    threads = {key: arcs for key, arcs in reached.items()
               if key in tags and "onethread" not in tags[key]}
    chosen = {key for key in reached if key[0] in LOADS}
    choose(threads, set().union(*threads.values()), chosen)
    choose(reached, set().union(*reached.values()) - units, chosen)
    covered = {key for key in reached if key not in chosen}
    if only_new:
        covered |= {key for key, found in tags.items() if "covered" in found}
    for path in sorted(TESTS.glob("*.bats")):
        write_tags(path, covered)
    print(f"{len(covered)} of {len(covered | set(reached))} behaviour tests are "
          f"covered by the others; {len(numbers)} branches")


main()
