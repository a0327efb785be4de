#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs fuzz targets, and says what they have come to.

    fuzz.py BUILD [--runs N] [--seconds S] [--only NAMES]   make up inputs
                                                (FUZZ_SEED=N: the same ones)
    fuzz.py BUILD --minimize [--only NAMES]     take what they found into the
                                                stored corpus

A target starts from tests/fuzz/corpus/TARGET and from what earlier runs have
left in BUILD/corpus/TARGET.  An input that ends the process goes to
BUILD/findings; `BUILD/fuzz/TARGET FILE` shows why.  Exit status 1: there was
such an input.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
# What is stored has to be read by people, and to be replayed in seconds.
STORED_BYTES = {"admin": 60000, "ini": 80000}
STORED_BYTES_ELSE = 30000
INPUT_BYTES = {"ini": 4096, "hello": 4096, "import": 4096, "tls": 4096}
INPUT_BYTES_ELSE = 1024
# Targets that keep what goes on from one input to the next: what is left over
# after one is not lost.  The replay looks for leaks at its end.
STATEFUL = {"admin", "http", "check", "receiver", "state", "top"}
HEADER = (f"{'target':8} {'inputs':>9} {'seconds':>8} {'a second':>9} "
          f"{'edges':>6} {'of':>6} {'corpus':>7} {'findings':>9}")


def command(build, target, *args):
    line = [str(build / "fuzz" / target), "-close_fd_mask=2", "-timeout=60",
            "-rss_limit_mb=3000", "-print_final_stats=1", "-entropic=0",
            f"-seed={os.environ.get('FUZZ_SEED', 0)}",
            f"-max_len={INPUT_BYTES.get(target, INPUT_BYTES_ELSE)}",
            f"-detect_leaks={int(target not in STATEFUL)}",
            # Seconds: a busy machine makes inputs slow.
            f"-report_slow_units={60 if os.environ.get('SHORT') else 10}"]
    return line + [str(arg) for arg in args]


def run(line):
    env = dict(os.environ)
    # The many small allocations of an input need not be filled with a pattern.
    env.setdefault("ASAN_OPTIONS", "max_malloc_fill_size=0")
    done = subprocess.run(line, stderr=subprocess.STDOUT, text=True,
                          stdout=subprocess.PIPE, errors="replace", env=env)
    return done.returncode, done.stdout


def last(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def reason(text):
    """What a run printed about its finding: the error, where, and the input."""
    lines = re.findall(r"^.*(?:ERROR:|runtime error:|ALARM:|SUMMARY:|"
                       r"Assertion|Base64:| in .* \S*(?:src|tests)/).*$",
                       text, re.M)
    return "\n".join(f"  {line.strip()[:300]}" for line in
                     lines[:10] + lines[10:][-2:])


def fuzz(build, target, runs, seconds):
    """The findings."""
    corpus, findings = build / "corpus" / target, build / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    before = set(findings.glob(f"{target}-*"))
    code, text = run(command(
        build, target, f"-runs={runs}", f"-max_total_time={seconds}",
        f"-dict={HERE / (target + '.dict')}",
        f"-artifact_prefix={findings / target}-",
        corpus, HERE / "corpus" / target))
    new = sorted(set(findings.glob(f"{target}-*")) - before)
    (build / f"{target}.log").write_text(text)
    took = last(r"Done \d+ runs in (\d+) second", text)
    count = last(r"number_of_executed_units: (\d+)", text)
    edges = last(r"cov: (\d+)", text)
    of = last(r"Loaded 1 modules   \((\d+)", text)
    kept = last(r"corp: (\d+)", text)
    print(f"{target:8} {count:9} {took:8} {count // max(took, 1):9} "
          f"{edges:6} {of:6} {kept:7} {len(new):9}", flush=True)
    for path in new:
        print(f"  {path}: {build / 'fuzz' / target} {path} shows why")
    if new:
        print(reason(text), flush=True)
    if code != 0 and not new:
        print(f"  ended with {code}:\n{text[-2000:]}")
    return len(new) + (code != 0 and not new)


def is_text(path):
    return all(byte in b"\t\n\r" or 32 <= byte < 127
               for byte in path.read_bytes())


def minimize(build, target):
    """The smallest inputs that reach what all together reach; of those that
    are text, which libFuzzer sorts by size, as many as there is room for."""
    stored = HERE / "corpus" / target
    room = STORED_BYTES.get(target, STORED_BYTES_ELSE)
    with tempfile.TemporaryDirectory() as work:
        texts, merged = pathlib.Path(work, "texts"), pathlib.Path(work, "new")
        texts.mkdir()
        merged.mkdir()
        kept = [p for p in stored.glob("*") if "-" in p.name or not is_text(p)]
        for path in [*stored.glob("*"), *(build / "corpus" / target).glob("*")]:
            if is_text(path):
                shutil.copy(path, texts / path.name)
        code, text = run(command(build, target, "-merge=1", merged, texts))
        if code != 0:
            sys.exit(f"{target}: {text[-2000:]}")
        for path in stored.glob("*"):
            if path not in kept:
                path.unlink()
        for path in sorted(merged.glob("*"), key=lambda p: p.stat().st_size):
            room -= path.stat().st_size
            if room >= 0 and not (stored / path.name).exists():
                shutil.copy(path, stored / path.name[:16])
    files = list(stored.glob("*"))
    print(f"{target:8} {len(files)} inputs, "
          f"{sum(p.stat().st_size for p in files)} bytes")


def main():
    targets = sorted(p.name for p in (HERE / "corpus").iterdir())
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=-1)
    parser.add_argument("--seconds", type=int, default=0)
    parser.add_argument("--only", default=",".join(targets))
    parser.add_argument("--minimize", action="store_true")
    args = parser.parse_args()
    wanted = args.only.split(",")
    if unknown := set(wanted) - set(targets):
        sys.exit(f"there is no target {', '.join(sorted(unknown))}; "
                 f"there are {', '.join(targets)}")
    if args.minimize:
        for target in wanted:
            minimize(args.build, target)
        return
    print(HEADER)
    sys.exit(any([fuzz(args.build, target, args.runs, args.seconds)
                  for target in wanted]))


if __name__ == "__main__":
    main()
