# SPDX-License-Identifier: MIT
"""The programs that lfproxy is compared with: HAProxy and nginx of this machine
and of the trees of other Debian releases that scripts/peers makes.

A program of a tree runs here, outside of the tree, as a copy whose dynamic
loader and library path are the tree's: it is started like any other program, and
has the libraries that it was built for.  So has lfproxy, with those of the newest
peers: TLS is compared with the same OpenSSL.

PEERS in the environment: which to take, `machine` or names of trees, separated
by commas; otherwise the machine's and all trees that are there."""

import functools
import glob
import os
import pathlib
import re
import subprocess
import tempfile

from measuring.process import DEADLINE_S, MeasuringError

# For paths of programs that a user's PATH may not have.
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
MACHINE = "machine"
TREES = pathlib.Path("build", "peers")
MODULE = "usr/lib/nginx/modules/ngx_stream_module.so"
HAPROXY, NGINX = "HAProxy", "nginx"
KINDS = (HAPROXY, NGINX)


def output(*argv):
    """All that a program says."""
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, check=False,
            timeout=DEADLINE_S, env={**os.environ, "PATH": PATH})
    except FileNotFoundError as error:
        raise MeasuringError(
            f"{argv[0]}: not found; scripts/install-deps bench peers "
            "installs it") from error
    if done.returncode != 0:
        raise MeasuringError(f"{' '.join(argv)}: {done.stderr.strip()}")
    return done.stdout + done.stderr


def found(pattern, text):
    match = re.search(pattern, text, re.M)
    if not match:
        raise MeasuringError(f"no '{pattern}' in: {text}")
    return match


@functools.cache
def folder():
    """For the copies; it goes when this process ends."""
    return tempfile.TemporaryDirectory(prefix="lfproxy-bench.")


def with_libraries(program, tree):
    """The path of a copy of program that runs with the tree's libraries."""
    root = pathlib.Path(tree).resolve()
    out = pathlib.Path(folder().name, root.name, os.path.basename(program))
    loader = output("patchelf", "--print-interpreter", str(program)).strip()
    libraries = glob.glob(f"{root}/usr/lib/*-linux-gnu*")
    if not libraries or not (root / loader.lstrip("/")).exists():
        raise MeasuringError(
            f"{root} is broken; scripts/peers {root.name} makes it again")
    out.parent.mkdir(exist_ok=True)
    output("patchelf", "--set-interpreter", f"{root}{loader}",
           "--force-rpath", "--set-rpath", ":".join(libraries),
           "--output", str(out), str(program))
    return str(out)


class Peer:
    """kind: one of KINDS.  name: with the version, as tables have it.  tree: of
    which it is, or None.  module: for nginx to load."""

    def __init__(self, kind, tree=None):
        self.kind, self.tree = kind, tree
        self.program = kind.lower()
        if tree:
            self.program = with_libraries(f"{tree}/usr/sbin/{self.program}",
                                          tree)
        self.module = os.path.join(os.path.abspath(tree or "/"), MODULE)
        if kind == HAPROXY:
            self.told(output(self.program, "-vv"), r"^HAProxy version (\S+)",
                      r"^Running on .*: (OpenSSL \S+)")
        else:
            self.told(output(self.program, "-V"), r"nginx/(\S+)",
                      r"(?:running|built) with (OpenSSL [^\s)]+)(?!.*running)")

    def told(self, text, version, library):
        self.version = found(version, text).group(1)
        self.library = found(library, text).group(1)
        numbers = found(r"^\d+(\.\d+)+", self.version).group()
        self.number = [int(n) for n in numbers.split(".")]
        self.name = f"{self.kind} {self.number[0]}.{self.number[1]}"

    def __str__(self):
        return f"{self.kind} {self.version} ({self.library})"


def wanted():
    """The trees to take peers of; None: the machine."""
    chosen = os.environ.get("PEERS")
    if not chosen:
        return [None, *sorted(p for p in TREES.glob("*") if p.is_dir() and
                              p.suffix != ".new")]
    trees = [None if name == MACHINE else TREES / name
             for name in chosen.split(",")]
    missing = [tree.name for tree in trees if tree and not tree.is_dir()]
    if missing:
        raise MeasuringError(f"no tree of {' '.join(missing)}; 'scripts/peers "
                             f"{' '.join(missing)}' makes it")
    return trees


@functools.cache
def peers():
    """All peers, the oldest first; of two of one version only one."""
    versions = {}
    for tree in wanted():
        for kind in KINDS:
            peer = Peer(kind, tree)
            versions.setdefault((kind, tuple(peer.number)), peer)
    names = [peer.name for peer in versions.values()]
    for peer in versions.values():
        if names.count(peer.name) > 1:
            peer.name = f"{peer.kind} {'.'.join(map(str, peer.number))}"
    return sorted(versions.values(),
                  key=lambda p: (KINDS.index(p.kind), p.number))


def newest(kind):
    return [peer for peer in peers() if peer.kind == kind][-1]


def kind_of(name):
    """The kind of the contender with a name in a table: 'HAProxy' for
    'HAProxy 3.0, splice-auto'."""
    return re.split("[ ,]", name, maxsplit=1)[0]


@functools.cache
def lfproxy(build):
    """The path of lfproxy with the libraries of the newest HAProxy."""
    tree = newest(HAPROXY).tree
    program = f"{build}/lfproxy"
    return with_libraries(program, tree) if tree else program


def versions(build):
    """One line for each program that is compared."""
    text = output(lfproxy(build), "-V")
    return [f"{text.splitlines()[0]} ({found('^OpenSSL [^ ]+', text).group()})",
            *map(str, peers())]
