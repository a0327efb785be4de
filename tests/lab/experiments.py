# SPDX-License-Identifier: MIT
"""The experiments: what is run, and what is claimed of it.

Each is a function of the bench, the number of rounds and the verdicts; it
returns a title, a remark, the columns of its table and the samples."""

import os

from measuring.figures import interleave, quartiles, values
from verdict import FAILS, HOLDS

PAPER, OURS, CONTROL = "the paper", "lfproxy", "control"

COSTS = [
    ("cpu_us", "CPU, µs"), ("switches", "context switches"),
    ("voluntary", "of these voluntary"), ("futexes", "futex calls"),
    ("wakes", "wakes"), ("allocations", "allocations per event"),
    ("events_per_wait", "events per wait"), ("p50_us", "p50, µs"),
    ("p99_us", "p99, µs"),
]


def proxy(*options, threads):
    return ("lab_proxy", "--threads", str(threads), *options)


def cores(threads):
    """Every way to run a pool of that many threads.  Half-Sync/Half-Reactive
    has its I/O thread on top: as many process as in the others.  It copies each
    request into memory that it allocates; without the copy it hands over a
    pointer, and the worker reads."""
    hs_hr = ("lab_proxy_hshr", "--threads", str(threads + 1))
    return {
        "hs/hr": hs_hr,
        "hs/hr, no copy": (*hs_hr, "--no-copy"),
        "always": proxy("--promotion", "always", threads=threads),
        "always, mutex": proxy("--promotion", "always", "--mutex",
                               threads=threads),
        "kernel": proxy("--promotion", "kernel", threads=threads),
        "adaptive": proxy(threads=threads),
        "reactor per thread": proxy("--shards", str(threads),
                                    threads=threads),
    }


def paper_claims(verdicts, taken, work):
    """POSA2, Leader/Followers, Consequences: what it says against
    Half-Sync/Half-Reactive."""
    for policy in ("always", "adaptive"):
        pair = (policy, "hs/hr")
        for metric, what in (("switches", "fewer context switches"),
                             ("futexes", "fewer futex calls"),
                             ("cpu_us", "less CPU"),
                             ("p50_us", "a lower median latency"),
                             ("p99_us", "a lower p99")):
            verdicts.ratio(PAPER, f"{policy} needs {what} than "
                           f"Half-Sync/Half-Reactive ({work})", taken, metric,
                           pair)
    verdicts.ratio(PAPER, "without allocation and copy Half-Sync/Half-Reactive "
                   f"needs less CPU ({work})", taken, "cpu_us",
                   ("hs/hr, no copy", "hs/hr"))


def keep_alive(bench, rounds, verdicts):
    taken = interleave(cores(bench.cpus), rounds,
                       lambda v: bench.closed_loop(v, False), "keep-alive")
    work = "keep-alive"
    paper_claims(verdicts, taken, work)
    for name, rows in taken.items():
        if name != "hs/hr" and max(values(rows, "allocations")) > 0:
            verdicts.at_most(PAPER, f"no heap allocation per event: {name}",
                             taken, "allocations", name, 0)
            break
    else:
        verdicts.add(PAPER, "no heap allocation per event, in any core that "
                     "copies no request", HOLDS,
                     "0 by the pool's threads after the warm-up")
    verdicts.above(CONTROL, "Half-Sync/Half-Reactive allocates for nearly "
                   "every event", taken, "allocations", "hs/hr", 0.9)
    verdicts.ratio(OURS, "adaptive needs at most 1.03 × the CPU per request "
                   "of a reactor per thread", taken, "cpu_us",
                   ("adaptive", "reactor per thread"), 1.03)
    for other in ("always", "kernel"):
        verdicts.ratio(OURS, f"adaptive needs less CPU than {other} ({work})",
                       taken, "cpu_us", ("adaptive", other))
    verdicts.ratio(OURS, "the futex needs less CPU than mutex and condition "
                   "variable (always)", taken, "cpu_us",
                   ("always", "always, mutex"))
    return ("Keep-alive: 64 connections, as fast as they go", "Per request; "
            f"{bench.cpus} threads, Half-Sync/Half-Reactive one more for I/O.",
            COSTS, taken)


def connections(bench, rounds, verdicts):
    taken = interleave(cores(bench.cpus), rounds,
                       lambda v: bench.closed_loop(v, True), "connections")
    work = "connection per request"
    paper_claims(verdicts, taken, work)
    verdicts.ratio(OURS, "adaptive needs at most 1.03 × the CPU per "
                   "connection of a reactor per thread", taken, "cpu_us",
                   ("adaptive", "reactor per thread"), 1.03)
    return ("A connection per request: 64 at a time", "Per request.", COSTS,
            taken)


def at_a_rate(bench, rounds, verdicts):
    threads = 2 * bench.cpus
    taken = interleave(cores(threads), rounds,
                       lambda v: bench.at_a_rate(v, 8000), "at a rate")
    paper_claims(verdicts, taken, "8000 requests/s")
    for other in ("always", "kernel", "reactor per thread"):
        verdicts.ratio(OURS, f"adaptive needs less CPU than {other} "
                       "(8000 requests/s)", taken, "cpu_us",
                       ("adaptive", other))
    return ("At a rate: 8000 requests/s over 100 connections",
            f"Per request; {threads} threads.  Times count from when a "
            "request was due.", COSTS, taken)


def orders(bench, rounds, verdicts):
    threads = 4 * bench.cpus
    variants = {
        f"{policy}, {order}": proxy("--promotion", policy, "--order", order,
                                    threads=threads)
        for policy in ("always", "adaptive") for order in ("lifo", "fifo")}
    taken = interleave(variants, rounds,
                       lambda v: bench.at_a_rate(v, 8000), "orders")
    for policy in ("always", "adaptive"):
        verdicts.ratio(PAPER, f"waking the last to park (LIFO) needs less CPU "
                       f"than the first (FIFO), {policy}", taken, "cpu_us",
                       (f"{policy}, lifo", f"{policy}, fifo"))
    return ("LIFO against FIFO: 8000 requests/s", f"{threads} threads.",
            COSTS, taken)


def thresholds(bench, rounds, verdicts):
    values_us = (5, 10, 25, 50, 100)
    variants = {"measured": proxy(threads=bench.cpus)}
    for us in values_us:
        variants[f"{us} µs"] = proxy("--wake-ns", str(us * 1000),
                                     threads=bench.cpus)
    taken = interleave(variants, rounds,
                       lambda v: bench.closed_loop(v, False), "wake costs")
    best = {metric: min(taken, key=lambda n: quartiles(
        values(taken[n], metric))[1]) for metric in ("cpu_us", "p99_us")}
    verdicts.ratio(OURS, "the wake cost that was measured at the start is as "
                   "good as the best that could be set", taken, "cpu_us",
                   ("measured", best["cpu_us"]), 1.05)
    return ("What a wake is taken to cost: adaptive, keep-alive",
            f"Least CPU with {best['cpu_us']}, lowest p99 with "
            f"{best['p99_us']}.  lfproxy calls a follower when the backlog is "
            "worth a multiple of this (src/lf/policy.h).",
            COSTS + [("wake_us", "wake taken as, µs")], taken)


def awake(bench, rounds, verdicts):
    """POLICY_AWAKE_NS: at low rates a leader that waits longer calls for less
    help, at high ones its clients wait longer for it."""
    rates, longer = (150, 2000, 8000), 1000
    variants = {}
    for rate in rates:
        variants[f"200 µs, {rate}/s"] = (proxy(threads=bench.cpus), rate)
        variants[f"{longer} µs, {rate}/s"] = (
            proxy("--awake-ns", str(longer * 1000), threads=bench.cpus), rate)
    taken = interleave(variants, rounds, lambda v: bench.at_a_rate(*v),
                       "awake")
    for rate in rates:
        pair = (f"200 µs, {rate}/s", f"{longer} µs, {rate}/s")
        for metric, what, limit in (("cpu_us", "CPU", 1.03),
                                    ("p99_us", "p99", 1.1)):
            verdicts.ratio(OURS, "a leader that calls for help 200 µs after it "
                           f"has slept has at most {limit} × the {what} of one "
                           f"that waits {longer} µs ({rate} requests/s)",
                           taken, metric, pair, limit)
    return ("How long after a sleep no leader calls for help",
            f"{bench.cpus} threads; POLICY_AWAKE_NS is 200 µs.",
            COSTS + [("top_thread", "turns of the busiest thread")], taken)


SLOW = [("p50_us", "others' p50, µs"), ("p99_us", "others' p99, µs"),
        ("poll_gap_p99_us", "poll gap, p99, µs"),
        ("poll_gap_max_us", "longest, µs"), ("guarded", "ended by the guard"),
        ("cpu_us", "CPU, µs"), ("slow", "slow connections")]


def slow_handlers(bench, rounds, verdicts):
    threads = 2 * bench.cpus
    slow = ("--slow", "1:5")
    variants = {f"{name}, slow": (*variant, *slow)
                for name, variant in cores(threads).items()
                if "mutex" not in name}
    variants["adaptive, none slow"] = proxy(threads=threads)
    taken = interleave(variants, rounds,
                       lambda v: bench.with_slow_ones(v, 8000, 5),
                       "slow handlers")
    verdicts.ratio(OURS, "with 1 % slow handlers the others' p99 is lower "
                   "than with a reactor per thread", taken, "p99_us",
                   ("adaptive, slow", "reactor per thread, slow"))
    verdicts.ratio(OURS, "the others' p99 stays within 2 × that without slow "
                   "handlers", taken, "p99_us",
                   ("adaptive, slow", "adaptive, none slow"), 2)
    verdicts.ratio(CONTROL, "of a reactor per thread it would not",
                   taken, "p99_us",
                   ("reactor per thread, slow", "adaptive, none slow"), 2)
    turn_round(verdicts)
    return ("1 % of the handlers block for 5 ms: 8000 requests/s over 100 "
            "connections", f"{threads} threads; every turn of the slow "
            "sessions blocks.", SLOW, taken)


def turn_round(verdicts):
    """The last claim was a control: that it fails is what was expected."""
    opposite = {HOLDS: FAILS, FAILS: HOLDS}
    whose, claim, verdict, figures = verdicts.lines.pop()
    verdicts.add(whose, claim, opposite.get(verdict, verdict), figures)


def quantum_us(cpus):
    """The scheduler's slice, as it says or by its rule of 0.7 ms times 1 +
    log2 of the CPUs (at most 8)."""
    try:
        with open("/sys/kernel/debug/sched/base_slice_ns",
                  encoding="ascii") as file:
            return int(file.read()) / 1e3
    except (OSError, ValueError):
        return 700.0 * min(8, cpus).bit_length()


def guard(bench, rounds, verdicts):
    threads = 2 * bench.cpus
    slow = ("--slow-turns", "2:5")
    variants = {
        "with the guard": proxy(*slow, threads=threads),
        "without": proxy(*slow, "--no-guard", threads=threads),
        "none slow": proxy(threads=threads),
    }
    taken = interleave(variants, rounds,
                       lambda v: bench.at_a_rate(v, 8000), "guard")
    limit = 2000 + quantum_us(bench.cpus)
    verdicts.at_most(OURS, "the longest poll gap stays under 2 ms and "
                     "a scheduling quantum, µs", taken, "poll_gap_max_us",
                     "with the guard", limit)
    verdicts.above(CONTROL, "without the guard it does not, µs", taken,
                   "poll_gap_max_us", "without", limit)
    verdicts.ratio(OURS, "the guard lowers the p99", taken, "p99_us",
                   ("with the guard", "without"))
    return ("2 ‰ of all turns, at random, block for 5 ms: the guard",
            f"{threads} threads, 8000 requests/s.", SLOW[:-1], taken)


CEILING = [("mega_s", "million events/s"), ("promotions", "promotions"),
           ("wakes", "wakes"), ("taken_over", "taken over"),
           ("cas_failures", "CAS retries per 1000")]


def ceiling(bench, rounds, verdicts):
    variants = {}
    for policy in ("always", "adaptive"):
        for threads in (1, 2, 4, 8, 16):
            for shards in (1, 2, 4):
                if shards > threads or (shards > 1 and threads == 16):
                    continue
                variants[f"{policy}, {threads} × {shards}"] = (
                    "--policy", policy, "--threads", str(threads),
                    "--shards", str(shards))
    for threads in (2, 8):
        variants[f"always, {threads} × 1, mutex"] = (
            "--policy", "always", "--threads", str(threads), "--mutex")
    taken = interleave(variants, rounds, bench.null, "null handlers")
    verdicts.ratio(PAPER, "promotion limits what threads can add: always, 8 "
                   "threads on a shard do fewer null events than 1", taken,
                   "mega_s", ("always, 8 × 1", "always, 1 × 1"))
    for policy in ("always", "adaptive"):
        verdicts.ratio(OURS, f"shards lift the ceiling: {policy}, 8 threads "
                       "do more null events on 4 shards than on 1", taken,
                       "mega_s", (f"{policy}, 8 × 1", f"{policy}, 8 × 4"))
    for threads in (2, 8):
        verdicts.ratio(OURS, f"the futex promotes faster than the mutex "
                       f"(always, {threads} threads)", taken, "mega_s",
                       (f"always, {threads} × 1, mutex",
                        f"always, {threads} × 1"))
    return ("The promotion's ceiling: null handlers, threads × shards",
            "No descriptors and no work: fetch, claim, promote, join.  "
            "Everything but the first column is per event.", CEILING, taken)


def no_futex(bench, _, verdicts):
    threads = bench.cpus
    sole = bench.traced_futexes(proxy("--shards", str(threads),
                                      threads=threads))
    shared = bench.traced_futexes(proxy("--promotion", "always",
                                        threads=threads))
    # strace makes some turns so long that another thread takes the token.
    verdicts.add(OURS, "one thread per shard makes less than a hundredth of "
                 "the futex calls of always on one shard (strace -f -c)",
                 HOLDS if sole * 100 < shared else FAILS,
                 f"{sole} calls in 2 s")
    verdicts.add(CONTROL, "strace sees those of always on one shard",
                 HOLDS if shared > 0 else FAILS, f"{shared} calls in 2 s")
    return None


ALL = {
    "keep-alive": (keep_alive, 11),
    "connections": (connections, 7),
    "rate": (at_a_rate, 5),
    "orders": (orders, 5),
    "wake": (thresholds, 5),
    "awake": (awake, 7),
    "slow": (slow_handlers, 7),
    "guard": (guard, 5),
    "ceiling": (ceiling, 3),
    "futex": (no_futex, 1),
}


def cpus():
    return max(2, len(os.sched_getaffinity(0)))
