#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether an AppArmor profile allows what a traced program did.

    confined.py PROFILE TRACE...
    confined.py PROFILE --allows MODE PATH

PROFILE is compiled: apparmor_parser -QKS.  A TRACE is the output of one thread
(strace -ff -y).  Prints each access that the profile denies and fails if there is
one; with --allows that of PATH with MODE, some of rwaklmx.

Needs no kernel with AppArmor: this walks the profile's automata as the kernel
does (security/apparmor/match.c).  Capabilities and signals are not in a trace, and
are not checked.  Rules for owners count for nobody here.
"""
import os
import re
import struct
import sys

MODES = {"x": 1, "w": 2, "r": 4, "a": 8, "l": 16, "k": 32, "m": 64}
EXEC_INHERIT = 4
OTHERS = 14  # the bits above are for files of other users
CLASS_NET = 14
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
TYPES = {"SOCK_STREAM": 1, "SOCK_DGRAM": 2, "SOCK_RAW": 3}
ACCEPT, BASE, CHECK, DEFAULT, CLASSES, NEXT = 1, 2, 3, 4, 5, 8


class Automaton:
    """A table set in flex's format, at a place in the compiled profile."""

    def __init__(self, data, start):
        head, size = struct.unpack_from(">II", data, start + 4)
        self.tables = {}
        at = start + head
        while at < start + size:
            name, width, _, length = struct.unpack_from(">HHII", data, at)
            letter = {1: "B", 2: "H", 4: "I"}[width]
            self.tables[name] = struct.unpack_from(
                f">{length}{letter}", data, at + 12)
            at = start + (at - start + 12 + length * width + 7) // 8 * 8

    def accept(self, text):
        table = self.tables
        state = 1
        for byte in text:
            if CLASSES in table:
                byte = table[CLASSES][byte]
            while True:
                base = table[BASE][state]
                slot = (base & 0xFFFFFF) + byte
                if table[CHECK][slot] == state:
                    state = table[NEXT][slot]
                    break
                state = table[DEFAULT][state]
                if not base & 0x80000000:
                    break
        return table[ACCEPT][state]


class Profile:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        starts = [m.start() for m in re.finditer(rb"\x1b\x5e\x78\x3d", data)]
        if len(starts) != 2:
            raise SystemExit(f"{path}: {len(starts)} automata, not 2: "
                             "compiled for a kernel without network rules?")
        self.policy, self.files = (Automaton(data, at) for at in starts)

    def denies_file(self, path, mode):
        allowed = self.files.accept(os.fsencode(path)) >> OTHERS
        denied = "".join(m for m in mode if not allowed & MODES[m])
        # Under no_new_privs a program stays in its profile, or does not start.
        if "x" in mode and allowed >> 7 & 0x7F != EXEC_INHERIT:
            denied = denied.replace("x", "") + "x"
        return denied

    def denies_socket(self, family, kind):
        return not self.policy.accept(struct.pack(
            ">BHH", CLASS_NET, FAMILIES[family], TYPES[kind]))


RETURNED = re.compile(r"^(\w+)\((.*)\)\s+= (\d+|0x[0-9a-f]+)(?:<(/.*)>)?"
                      r"(?:\(deleted\))?$")
NAMED = re.compile(r'(?:(?:AT_FDCWD|\d+)<(/[^>]*)>, )?"(/?[^"]*)"')
SUN_PATH = re.compile(r'sun_path="(/[^"]*)"')
WRITES = {"unlink", "unlinkat", "rename", "renameat", "renameat2", "mkdir",
          "mkdirat", "rmdir", "chmod", "fchmodat", "chown", "lchown",
          "fchownat", "truncate", "mknod", "mknodat", "symlink", "symlinkat"}


def named(directory, name):
    path = os.path.join(directory or "/", name)
    return os.path.join(os.path.realpath(os.path.dirname(path)),
                        os.path.basename(path))


def is_elf(path):
    try:
        with open(path, "rb") as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return True


def opened(arguments, path):
    if "O_PATH" in arguments:
        return
    if path.startswith(("/memfd:", "/dev/shm/")):
        return
    mode = ""
    if "O_RDONLY" in arguments or "O_RDWR" in arguments:
        mode += "r"
    if "O_WRONLY" in arguments or "O_RDWR" in arguments:
        mode += "a" if "O_APPEND" in arguments else "w"
    if "O_CREAT" in arguments and "w" not in mode:
        mode += "w"
    if os.path.isdir(path) or "O_DIRECTORY" in arguments:
        path = path.rstrip("/") + "/"
    yield path, mode


def accesses(call, arguments, path):
    """Pairs of a path and a mode that a call which succeeded needed."""
    if call in ("open", "openat", "creat") and path:
        yield from opened(arguments, path)
    elif call == "execve":
        program = os.path.realpath(NAMED.search(arguments)[2])
        yield program, "rxm" if is_elf(program) else "rx"
    elif call == "mmap" and "PROT_EXEC" in arguments:
        for mapped in re.findall(r"\d+<(/[^>]*)>", arguments):
            yield mapped, "m"
    elif call == "bind":
        for name in SUN_PATH.findall(arguments):
            yield named(None, name), "w"
    elif call == "connect":
        for name in SUN_PATH.findall(arguments):
            yield os.path.realpath(name), "w" if "/log" in name else "rw"
    elif call in ("sendto", "sendmsg", "sendmmsg"):
        for name in SUN_PATH.findall(arguments):
            yield os.path.realpath(name), "w"
    elif call == "flock":
        yield re.search(r"<(/[^>]*)>", arguments)[1], "k"
    elif call in ("link", "linkat"):
        yield named(*NAMED.findall(arguments)[-1]), "l"
    elif call in WRITES:
        for directory, name in NAMED.findall(arguments):
            # chmod(2) of an open descriptor.
            if not name.startswith("/proc/self/fd/"):
                yield named(directory, name), "w"


def denials(profile, trace):
    with open(trace, encoding="utf-8", errors="surrogateescape") as lines:
        for line in lines:
            got = RETURNED.match(line.rstrip())
            if not got:
                continue
            call, arguments, _, path = got.groups()
            for file, mode in accesses(call, arguments, path):
                denied = profile.denies_file(file, mode)
                if denied:
                    yield f"{denied} {file} ({call})"
            if call == "socket":
                family, kind = re.match(r"(\w+), (\w+)", arguments).groups()
                if profile.denies_socket(family, kind):
                    yield f"socket {family} {kind}"


def main():
    profile = Profile(sys.argv[1])
    if sys.argv[2] == "--allows":
        mode, path = sys.argv[3:]
        denied = profile.denies_file(path, mode)
        found = {f"{denied} {path}"} if denied else set()
    else:
        found = {denial for trace in sys.argv[2:]
                 for denial in denials(profile, trace)}
    for denial in sorted(found):
        print("denied:", denial)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
