#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails where objects of one folder call each other in too large a circle, and
where folders call each other at all.

  scripts/check-circles.py LIMIT [FOLDER=SIZE]... OBJECT.o...

A circle is a set of objects each of which reaches all the others by calls.  It
may have at most LIMIT objects, or SIZE in FOLDER.  `make check-layers` passes
the objects of src and the sizes that the Makefile agrees to.
"""
import collections
import pathlib
import subprocess
import sys


def folder(path):
    """The folder of src, as in build/release/obj/FOLDER/...; elsewhere that of
    the object."""
    parts = pathlib.Path(path).parts
    return parts[parts.index("obj") + 1 if "obj" in parts else -2]


def symbols(objects):
    """Two maps: object -> names it uses; name -> object that defines it."""
    uses, owner = collections.defaultdict(set), {}
    lines = subprocess.run(["nm", "-A", "-P", "-g", *objects], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        path, symbol = line.split(": ", 1)
        name, kind = symbol.split()[:2]
        if kind == "U":
            uses[path].add(name)
        else:
            owner[name] = path
    return uses, owner


def calls(objects):
    """Two graphs: object -> {object of the same folder: a name it uses}, and
    folder -> {folder: a name it uses}."""
    uses, owner = symbols(objects)
    graph = {path: {} for path in objects}
    folders = {folder(path): {} for path in objects}
    for path in objects:
        for name in sorted(uses[path]):
            target = owner.get(name, path)
            if folder(target) != folder(path):
                folders[folder(path)].setdefault(folder(target), name)
            elif target != path:
                graph[path].setdefault(target, name)
    return graph, folders


def reached(graph, start):
    """All objects that start reaches by one call or more."""
    seen, left = set(), [start]
    while left:
        for target in graph[left.pop()]:
            if target not in seen:
                seen.add(target)
                left.append(target)
    return seen


def circles(graph):
    reach, done = {path: reached(graph, path) for path in graph}, set()
    for start in graph:
        circle = {path for path in reach[start] if start in reach[path]}
        if len(circle) > 1 and start not in done:
            yield circle
        done |= circle


def describe(circle, graph):
    """The calls that make the circle, a line each."""
    for path in sorted(circle):
        for target, name in sorted(graph[path].items()):
            if target in circle:
                yield (f"  {pathlib.Path(path).stem} calls "
                       f"{pathlib.Path(target).stem}: {name}")


def main():
    objects = [word for word in sys.argv[2:] if word.endswith(".o")]
    agreed = dict(word.split("=") for word in sys.argv[2:] if "=" in word)
    if not objects:
        sys.exit("usage: scripts/check-circles.py LIMIT [FOLDER=SIZE]... "
                 "OBJECT.o...")
    graph, folders = calls(objects)
    bad = []
    for circle in circles(graph):
        where = folder(min(circle))
        allowed = int(agreed.get(where, sys.argv[1]))
        if len(circle) > allowed:
            bad.append(f"src/{where}: {len(circle)} objects call each other "
                       f"in a circle; allowed: {allowed}")
            bad.extend(describe(circle, graph))
    for circle in circles(folders):
        bad.append("folders of src call each other in a circle")
        bad.extend(describe(circle, folders))
    if bad:
        sys.exit("\n".join(bad))


main()
