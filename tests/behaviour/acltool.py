#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""acltool.py SOCKET LIST N: prepares a version of the list with N entries,
10.0.0.0/32 and on, in no order, and commits it on one connection, while another
one asks for the list all the time, and a third one adds 192.0.2.1 to it.

Prints: how many answers came while the commit was under way; the longest
iteration of the control loop meanwhile, in microseconds of CPU time; and the
entries when all is done.

acltool.py SOCKET LIST N leave: prepares it, sends the commit, and closes the
connection at once.

acltool.py SOCKET LIST N delete FILE: deletes N entries, every third line of the
file from the first one on.  Prints the longest iteration of the control loop
meanwhile, in microseconds of CPU time, and the entries afterwards.

acltool.py SOCKET LIST N add FILE: adds the first N lines of the file, and prints
the same.
"""

import itertools
import re
import socket
import sys


class Admin:
    """A connection that stays; each answer ends with a prompt."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.rest = b""
        self.ask("prompt")

    def send(self, *commands):
        self.socket.sendall("".join(c + "\n" for c in commands).encode())

    def has_answer(self):
        self.socket.setblocking(False)
        try:
            self.rest += self.socket.recv(65536)
        except BlockingIOError:
            pass
        self.socket.setblocking(True)
        return b"\n> " in self.rest

    def answer(self):
        while b"\n> " not in self.rest:
            part = self.socket.recv(65536)
            if not part:
                raise EOFError
            self.rest += part
        text, self.rest = self.rest.split(b"\n> ", 1)
        return text.decode().strip()

    def ask(self, command):
        self.send(command)
        return self.answer()


def prepare(admin, name, n):
    version = admin.ask(f"prepare acl {name}").rsplit(" ", 1)[1]
    # Multiplied by an odd number, all 24 bits come in another order.
    numbers = [i * 0x9E3779B1 % 2**24 for i in range(n)]
    for first in range(0, n, 500):
        part = numbers[first : first + 500]
        admin.send(
            *(
                f"add acl @{version} {name} 10.{i >> 16}.{i >> 8 & 255}.{i & 255}"
                for i in part
            )
        )
        for _ in part:
            if answer := admin.answer():
                raise ValueError(answer)
    return version


def number_in(text, pattern):
    return int(re.search(pattern, text)[1])


def change(admin, verb, name, n, step, path):
    with open(path, encoding="ascii") as lines:
        ranges = [line.strip()
                  for line in itertools.islice(lines, 0, step * n, step)]
    admin.ask("clear loop")
    for first in range(0, n, 100):
        part = ranges[first : first + 100]
        admin.send(*(f"{verb} acl {name} {entry}" for entry in part))
        for _ in part:
            if answer := admin.answer():
                raise ValueError(answer)
    print(
        number_in(admin.ask("show info"), r"LoopMaxCpu_us: (\d+)"),
        number_in(admin.ask("show acl"), rf"\({name}\) .* entry_cnt=(\d+)"),
    )


def main():
    path, name, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
    admin = Admin(path)
    if sys.argv[4:5] == ["delete"]:
        change(admin, "del", name, n, 3, sys.argv[5])
        return
    if sys.argv[4:5] == ["add"]:
        change(admin, "add", name, n, 1, sys.argv[5])
        return
    version = prepare(admin, name, n)
    if sys.argv[4:] == ["leave"]:
        admin.send(f"commit acl @{version} {name}")
        admin.socket.close()
        return
    other, third = Admin(path), Admin(path)
    other.ask("clear loop")
    admin.send(f"commit acl @{version} {name}")
    answers = 0
    while not admin.has_answer():
        if "being committed" in other.ask("show acl"):
            answers += 1
            if answers == 1:
                third.send(f"add acl {name} 192.0.2.1")
    if answers == 0:
        third.send(f"add acl {name} 192.0.2.1")
    if answer := admin.answer() or third.answer():
        raise ValueError(answer)
    print(
        answers,
        number_in(other.ask("show info"), r"LoopMaxCpu_us: (\d+)"),
        number_in(other.ask("show acl"), rf"\({name}\) .* entry_cnt=(\d+)"),
    )


main()
