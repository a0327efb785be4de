#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""lfproxy, HAProxy and nginx under the same work, in one interleaved run.

    bench.py BUILD REPORT [--rounds N] [--only WORK[,WORK]...]

One of GROUPS among the works means all of them whose names begin so.

The machine may be shared: costs are CPU time of the proxy's processes, every
round takes all proxies once, each time in another order, and a budget is judged
by the median of the ratios within the rounds.  Where these spread too widely,
nothing is concluded: see INCONCLUSIVE.  Exits with 0 when everything was
concluded, whether budgets are met or not, 3 when a row was not, 1 when the
bench itself does not work."""

import argparse
import os
import platform
import sys
import time

from contenders import THREADS, columns
from measuring.figures import (
    cell, figure, interleave, quartiles, table, three, values)
from measuring.process import MeasuringError
from measuring.short import SHORT
from peers import HAPROXY, KINDS, NGINX, newest, versions
from samples import (
    IDLE_FEW, IDLE_MANY, IDLE_SESSIONS, MIXED_RATE, Samples, raise_descriptors)
from acl_samples import AclSamples
from band_samples import (
    SLOW_CLIENT, SLOW_SERVER, UNLIMITED, BandSamples)
from limit_samples import FLOOD, GOOD, SOURCES, LimitSamples
from tls_samples import (
    AGREED, AT_ONCE, ESTABLISHED, RATE, STORM, TlsSamples)

MET, MISSED, INCONCLUSIVE = "met", "MISSED", "inconclusive"
# Wider than this, the interquartile range by the median, is no figure.
SPREAD = 0.15
# Of fewer rounds nothing is concluded.
FEWEST = 3
# No work is begun later than this for each column: on a busy machine the bulk
# takes long.
LIMIT_S = 600
# Networks in a list.  HAProxy and nginx take seconds to read a million, and on a
# busy machine nginx then serves nobody for a while.
LIST_SIZES = (10, 10000) if SHORT else (10, 10000, 1000000)
BEST = KINDS
ALL = ("lfproxy", *KINDS)
# lfproxy with other settings.
OWN = ("reactor per thread", "always", "kernel")
LATENCY = [("p50_us", "p50, µs"), ("p99_us", "p99, µs")]
REQUESTS = [("cpu_us", "CPU, µs"), ("per_s", "per second"), *LATENCY]
TAIL = [*LATENCY, ("p999_us", "p99.9, µs")]
BULK = [("cpu_s_per_gb", "CPU, s per GB"), ("gbit_s", "Gbit/s")]
# Budgets of works that only make handshakes.
HANDSHAKES = [("cpu_us", 1.00, BEST), ("per_s", -1.00, BEST)]


class Work:
    """One kind of work: who does it, what is measured, what is promised.  names
    are of contenders or kinds of peers (contenders.columns).  A budget is
    (metric, limit, reference): at most (or with a limit below 0, at least) that
    many times the reference, which is a name, or the best of several; a kind
    stands for its newest peer; None: the figure itself."""

    def __init__(self, title, sample, names, columns, budgets=()):
        self.title, self.sample, self.names = title, sample, names
        self.columns, self.budgets = columns, budgets


def storm(key, sample):
    """The headline: what established sessions notice of others' handshakes."""
    return Work(
        f"TLS: {RATE} requests/s over {ESTABLISHED} sessions beside {STORM} "
        f"clients that make full handshakes, {key}", sample, ALL,
        [*TAIL, ("handshakes_s", "handshakes/s")],
        [("p50_us", 0.40, BEST), ("p99_us", 0.25, BEST),
         ("p999_us", 0.30, BEST), ("handshakes_s", -0.95, BEST)])


def paced(rate, sample,
          names=("lfproxy", NGINX, UNLIMITED, SLOW_CLIENT, SLOW_SERVER)):
    """A limit is kept, and costs next to nothing: by an unlimited stream that
    has the same rate, since its client or server has it, and by one that goes as
    fast as it can.  nginx has the same limit, for each connection."""
    costs = [(metric, 1.05, name)
             for name in (SLOW_CLIENT, SLOW_SERVER, UNLIMITED)
             for metric in ("cpu_s_per_gb", "all_s_per_gb")]
    if NGINX in names:
        costs.append(("cpu_s_per_gb", 1.00, NGINX))
    return Work(
        f"Bulk, one stream, with a limit of {rate}", sample, names,
        [("exact", "× the limit"), ("cpu_s_per_gb", "CPU, s per GB"),
         ("all_s_per_gb", "CPU with server and client, s per GB"),
         ("gbit_s", "Gbit/s")],
        [("exact", 1.03, None), ("exact", -0.97, None),
         *(costs if len(names) > 1 else ())])


def lists(n, admits):
    """A list of n networks that lets its clients in, or keeps them out."""
    names = (*ALL, "nginx, geo") if admits else ALL
    return Work(
        f"{'An accepted' if admits else 'A refused'} connection, by a list of "
        f"{n} networks", lambda samples, name: samples.listed(name, n, admits),
        names, [("cpu_us", "CPU, µs"), ("per_s", "per second")],
        [("cpu_us", 1.00, BEST)])


WORKS = {
    "keep-alive": Work(
        "Keep-alive requests, 64 connections, as fast as they go",
        Samples.keep_alive,
        (*ALL, *OWN), REQUESTS,
        [("cpu_us", 0.92, HAPROXY), ("cpu_us", 0.97, NGINX),
         ("per_s", -1.00, BEST), ("p99_us", 0.80, BEST),
         ("cpu_us", 1.03, OWN)]),
    "connections": Work(
        "A connection per request, 64 at a time", Samples.connections,
        (*ALL, *OWN), REQUESTS,
        [("cpu_us", 0.95, BEST), ("per_s", -1.00, BEST),
         ("cpu_us", 1.03, OWN)]),
    "bulk": Work(
        "Bulk, one stream", Samples.one_stream,
        (*ALL, "HAProxy, splice-auto"), BULK,
        [("cpu_s_per_gb", 0.50, BEST), ("gbit_s", -1.2, BEST)]),
    "bulk8": Work(
        "Bulk, eight streams", Samples.eight_streams,
        (*ALL, "HAProxy, splice-auto"), BULK),
    "mixed": Work(
        "4000 requests/s over 32 connections beside two downloads of together "
        f"{MIXED_RATE >> 20} MiB/s", Samples.mixed, ALL,
        [("cpu_s", "CPU, s"), *LATENCY]),
    **{f"low-{rate}": Work(
        f"{rate} requests/s over 50 connections",
        lambda samples, name, r=rate: samples.few_requests(name, r), ALL,
        [("cpu_us", "CPU, µs per request"), *LATENCY],
        [("cpu_us", 0.90, BEST)]) for rate in (100, 1000)},
    **{f"idle-{word}": Work(
        f"The first {n} sessions of a process, which have carried a request and "
        "wait", lambda samples, name, n=n: samples.idle(name, n), ALL,
        [("kib", "PSS, KiB per session")], [("kib", 0.5, None)])
       for word, n in (("few", IDLE_FEW), ("many", IDLE_MANY))},
    "start": Work(
        "From the start to the first answered request", Samples.start_time,
        ALL, [("ms", "ms")], [("ms", 50, None)]),
    "start-1000": Work(
        "The same with 1000 frontends", Samples.start_time_1000, ALL,
        [("ms", "ms")], [("ms", 1.0, HAPROXY)]),
    "tls-rsa": Work(
        f"TLS: full handshake, RSA 2048, and a request, {AT_ONCE} clients",
        TlsSamples.full_rsa, ALL, REQUESTS, HANDSHAKES),
    "tls-ecdsa": Work(
        f"TLS: full handshake, P-256, and a request, {AT_ONCE} clients",
        TlsSamples.full_ecdsa, ALL, REQUESTS, HANDSHAKES),
    "tls-resumed": Work(
        f"TLS: resumed handshake and a request, {AT_ONCE} clients",
        TlsSamples.resumed, ALL, REQUESTS, HANDSHAKES),
    "tls-keep-alive": Work(
        f"TLS: keep-alive requests, {ESTABLISHED} sessions, as fast as they "
        "go", TlsSamples.tls_keep_alive, ALL, REQUESTS,
        [("cpu_us", 0.90, BEST)]),
    "tls-bulk": Work(
        "TLS: bulk to the client, one stream", TlsSamples.tls_bulk, ALL, BULK,
        [("cpu_s_per_gb", 0.85, BEST)]),
    "tls-upload": Work(
        "TLS: bulk to the server, one stream", TlsSamples.tls_upload, ALL,
        BULK),
    "tls-idle": Work(
        f"TLS: {IDLE_SESSIONS} sessions that have carried a request and wait",
        TlsSamples.tls_idle, ALL, [("kib", "PSS, KiB per session")],
        [("kib", 0.6, BEST)]),
    "tls-storm-rsa": storm("RSA 2048", TlsSamples.storm_rsa),
    "tls-storm-ecdsa": storm("P-256", TlsSamples.storm_ecdsa),
    "tls-calm": Work(
        f"TLS: {RATE} requests/s over {ESTABLISHED} sessions, and no storm",
        TlsSamples.calm, ALL, TAIL,
        [("p50_us", 1.00, BEST), ("p99_us", 1.00, BEST)]),
    "limits-accept": Work(
        f"A connection per request, from {SOURCES} sources with a limit for "
        "each", LimitSamples.limited, ALL,
        [("cpu_us", "CPU, µs"), ("per_s", "per second")],
        [("cpu_us", 1.00, BEST)]),
    "limits-none": Work(
        f"The same from {SOURCES} sources, without a limit",
        LimitSamples.unlimited, ALL,
        [("cpu_us", "CPU, µs"), ("per_s", "per second")]),
    "limits-flood": Work(
        f"Requests over {GOOD} sessions beside {FLOOD} connections a second "
        "that a limit refuses", LimitSamples.flood, ("lfproxy", HAPROXY),
        [("p99_ratio", "p99, × without"),
         ("p99_by_elsewhere", "p99, × with the flood at another proxy"),
         *LATENCY, ("calm_p99_us", "p99 without, µs"),
         ("elsewhere_p99_us", "p99, flood at another, µs"),
         ("refused_s", "refused/s")],
        [("p99_ratio", 1.2, None), ("p99_by_elsewhere", 1.2, None),
         ("p99_ratio", 1.0, HAPROXY)]),
    "bandwidth-8k": paced(
        "8 KiB/s, per=session", BandSamples.slowest, ("lfproxy",)),
    "bandwidth-100m": paced("100 MiB/s, per=frontend", BandSamples.mib100),
    "bandwidth-5g": paced("5 Gbit/s, per=frontend", BandSamples.gbit5),
    "bandwidth-source": paced(
        "5 Gbit/s, per=client", BandSamples.gbit5_of_source,
        ("lfproxy", UNLIMITED, SLOW_CLIENT, SLOW_SERVER)),
    **{f"lists-{word}-{n}": lists(n, word == "accept")
       for word in ("accept", "refuse") for n in LIST_SIZES},
}


# Words for all works whose names begin so.
GROUPS = ("low", "idle", "tls", "limits", "bandwidth", "lists")


def reference(taken, metric, names, most):
    """The best: the one whose median is highest, if most is better, or else
    lowest."""
    names = [newest(name).name if name in KINDS else name
             for name in ([names] if isinstance(names, str) else names)]
    choose = max if most else min
    return choose(names, key=lambda n: quartiles(values(taken[n], metric))[1])


def judge(numbers, limit):
    """The verdict on figures that are to be at most limit, or at least -limit
    if that is negative."""
    lower, middle, upper = quartiles(numbers)
    if len(numbers) < FEWEST:
        return INCONCLUSIVE
    if middle > 0 and (upper - lower) / middle > SPREAD:
        return INCONCLUSIVE
    good = middle >= -limit if limit < 0 else middle <= limit
    return MET if good else MISSED


def verdicts(work, taken):
    """(what, budget, figures, verdict) of each budget."""
    lines = []
    heads = dict(work.columns)
    for metric, limit, name in work.budgets:
        numbers = values(taken["lfproxy"], metric)
        sign = "≥" if limit < 0 else "≤"
        budget = f"{sign} {abs(limit):g}"
        if name:
            name = reference(taken, metric, name, limit < 0)
            numbers = [a / b for a, b in
                       zip(numbers, values(taken[name], metric))]
            budget += f" × {name}"
        lines.append((f"{work.title}: {heads[metric]}", budget,
                      three(numbers), judge(numbers, limit)))
    return lines


def ratio_cell(rows, ours, metric):
    """How many times lfproxy's cost this is, round by round."""
    pairs = list(zip(values(rows, metric), values(ours, metric)))
    if not pairs or any(b == 0 for _, b in pairs):
        return "–"
    return figure(quartiles([a / b for a, b in pairs])[1])


def section(work, taken):
    first, head = work.columns[0]
    rows = []
    for name in columns(work.names):
        row = [name] + [cell(taken[name], m) for m, _ in work.columns]
        rows.append(row + [ratio_cell(taken[name], taken["lfproxy"], first)])
    return (f"## {work.title}\n\n" + table(
        ["", *(h for _, h in work.columns), f"{head}: × lfproxy"], rows))


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def machine(build, began, rounds):
    return (
        f"{'; '.join(versions(build))}.  {THREADS} threads each, one proxy at "
        f"a time, no access log.  Budgets are judged against the newest.\n"
        f"TLS: {AGREED[0]}, {AGREED[1]}, key exchange {AGREED[2]}, the same "
        "certificate, and session tickets.\n"
        f"{cpu_model()}, {len(os.sched_getaffinity(0))} CPUs, Linux "
        f"{platform.release()}; {time.strftime('%Y-%m-%d %H:%M %Z')}, load "
        f"{os.getloadavg()[0]:.1f} at the end; {rounds} rounds, "
        f"{time.monotonic() - began:.0f} s.\n"
        "Medians, with the quartiles of the rounds; ratios are taken within "
        f"each round.  Inconclusive: the quartiles of what is judged are more "
        f"than {SPREAD:.0%} of the median apart, or fewer than {FEWEST} "
        "rounds.\n")


def run(options):
    lines, sections, failed = [], [], []
    limit_s = LIMIT_S * len(columns(ALL))
    ends = time.monotonic() + limit_s
    with AclSamples(options.build) as samples:
        for name in options.only:
            work = WORKS[name]
            if time.monotonic() > ends:
                failed.append(f"{name}: {limit_s} s are over, the machine is "
                              f"busy; try ONLY={name}")
                continue
            try:
                taken = interleave(
                    {n: n for n in columns(work.names)}, options.rounds,
                    lambda n, w=work: w.sample(samples, n), name)
            except (MeasuringError, OSError) as error:
                failed.append(f"{name}: {error}")
                continue
            lines += verdicts(work, taken)
            sections.append(section(work, taken))
    return lines, sections, failed


def arguments(argv):
    parser = argparse.ArgumentParser(prog="bench.py")
    parser.add_argument("build")
    parser.add_argument("report")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join(WORKS))
    options = parser.parse_args(argv)
    options.only = [
        name for asked in options.only.split(",")
        for name in ([n for n in WORKS if n.startswith(f"{asked}-")]
                     if asked in GROUPS
                     else [asked])]
    unknown = [name for name in options.only if name not in WORKS]
    if unknown or options.rounds < 1:
        parser.error(f"there are {', '.join(WORKS)}; one round at least")
    return options


def main(argv):
    options, began = arguments(argv), time.monotonic()
    raise_descriptors()
    try:
        lines, sections, failed = run(options)
        about = machine(options.build, began, options.rounds)
    except (MeasuringError, OSError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    text = "\n".join(
        ["# Beside HAProxy and nginx\n", about,
         "## Budgets\n", table(["work", "budget", "lfproxy", "verdict"], lines),
         *sections, *(f"Not measured: {line}\n" for line in failed)])
    with open(options.report, "w", encoding="utf-8") as file:
        file.write(text)
    print(text)
    if failed:
        return 1
    if SHORT:
        return 0
    return 3 if any(line[3] == INCONCLUSIVE for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
