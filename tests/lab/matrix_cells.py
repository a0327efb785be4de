# SPDX-License-Identifier: MIT
"""What the matrix is made of: policies, turn costs, cells, and the selection of
them by the environment."""

import os
from collections import namedtuple

from measuring.short import SHORT

# The name of a reactor per thread is the lab's for as many shards as threads: a
# session stays on its shard and one thread leads there.
REACTOR = "reactor"
POLICIES = ("adaptive", "always", "kernel", REACTOR)

# Shares of a session's turns; a request takes two.
COSTS = {
    "none": (),
    "1%x100us": ("--busy-turns", "10:100"),
    "10%x100us": ("--busy-turns", "100:100"),
    "100%x100us": ("--busy-turns", "1000:100"),
    "1%x1ms": ("--busy-turns", "10:1000"),
    "10%x1ms": ("--busy-turns", "100:1000"),
    "100%x1ms": ("--busy-turns", "1000:1000"),
    "1%sleep5ms": ("--slow-turns", "10:5"),
}
CLOSED = "closed"
LOADS = (CLOSED, "30", "60", "90")

Setting = namedtuple("Setting", "cost connections threads shards")
Selection = namedtuple("Selection", "settings loads seconds rounds")

DEFAULTS = {
    "COSTS": "none 10%x100us 10%x1ms 1%sleep5ms",
    "CONNECTIONS": "2 16 64",
    "THREADS": "2 4",
    "SHARDS": "1",
    "LOADS": "closed 30 60 90",
    "SECONDS_PER_CELL": "0.6",
    "ROUNDS": "3",
}
SHORT_FORM = {
    "COSTS": "none 10%x1ms",
    "CONNECTIONS": "16",
    "THREADS": "2",
    "SHARDS": "1",
    "LOADS": "closed 60",
    "SECONDS_PER_CELL": "0.1",
    "ROUNDS": "1",
}
FULL = {
    "COSTS": " ".join(COSTS),
    "CONNECTIONS": "1 2 4 16 64 512",
    "THREADS": "1 2 4 8",
    "SHARDS": "1 2 threads",
    "LOADS": " ".join(LOADS),
}


class SelectionError(Exception):
    """A word of the environment that selects nothing."""


def words(name, environment):
    """The words of a variable; `all` stands for every value of the matrix."""
    default = SHORT_FORM if SHORT else DEFAULTS
    text = default[name] if SHORT else environment.get(name) or default[name]
    return (FULL[name] if text == "all" and name in FULL else text).split()


def numbers(name, environment):
    try:
        found = [int(word) for word in words(name, environment)]
    except ValueError:
        found = [0]
    if min(found) < 1:
        raise SelectionError(f"{name}: numbers from 1 are expected")
    return found


def chosen(name, environment, known):
    found = words(name, environment)
    for word in found:
        if word not in known:
            raise SelectionError(f"{name}: unknown '{word}'; there are "
                                 + ", ".join(known))
    return found


def shard_counts(environment, threads):
    """Returns the selected numbers of shards that are possible with this
    number of threads."""
    counts = set()
    for word in words("SHARDS", environment):
        if word != "threads" and not word.isdigit():
            raise SelectionError(f"SHARDS: unknown '{word}'; a number or "
                                 "'threads' is expected")
        counts.add(threads if word == "threads" else int(word))
    return sorted(n for n in counts if 1 <= n <= threads)


def selection(environment=os.environ):
    """What the environment, or the default, selects."""
    settings = [
        Setting(cost, connections, threads, shards)
        for cost in chosen("COSTS", environment, COSTS)
        for connections in numbers("CONNECTIONS", environment)
        for threads in numbers("THREADS", environment)
        for shards in shard_counts(environment, threads)]
    loads = chosen("LOADS", environment, LOADS)
    try:
        seconds = float(words("SECONDS_PER_CELL", environment)[0])
    except ValueError:
        seconds = 0
    if seconds <= 0:
        raise SelectionError("SECONDS_PER_CELL: a time is expected")
    return Selection(settings, loads, seconds, numbers("ROUNDS", environment)[0])


def variant(policy, setting):
    """The options of lab_proxy for a policy in a setting."""
    if policy == REACTOR:
        core = ("--shards", str(setting.threads))
    else:
        core = ("--shards", str(setting.shards), "--promotion", policy)
    return ("lab_proxy", "--threads", str(setting.threads), *core,
            *COSTS[setting.cost])
