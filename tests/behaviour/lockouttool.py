#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A user who wants to lock others out of an admin socket.

    lockouttool.py SOCKET COUNT [UID]

Keeps COUNT connections open, as user UID if given.  Each is made by a child of
its own that passes the descriptor back and ends, so that each is of another
process.  Each asks for a prompt, so that none counts as idle, sends one byte
every 150 ms and never ends its line; one that is closed is replaced.  Prints `ready` once all are there; runs until a signal.
"""
import os
import select
import socket
import sys
import time

BYTE_EVERY_S = 0.15
FIRST = b"prompt;set timeout cli 1h\nx"


def connect(path):
    """A connection of a process that has ended; None when it was refused."""
    ours, childs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            s = socket.socket(socket.AF_UNIX)
            s.connect(path)
            socket.send_fds(childs, [b"x"], [s.fileno()])
        finally:
            os._exit(0)
    childs.close()
    _, fds, _, _ = socket.recv_fds(ours, 1, 1)
    ours.close()
    os.waitpid(pid, 0)
    if not fds:
        return None
    s = socket.socket(fileno=fds[0])
    s.setblocking(False)
    return s


def lost(s):
    """Sends a byte; whether the connection is gone."""
    try:
        s.send(b"s")
        readable, _, _ = select.select([s], [], [], 0)
        return bool(readable) and not s.recv(64).startswith(b"\n> ")
    except BlockingIOError:
        return False
    except OSError:
        return True


def main():
    path, count = sys.argv[1], int(sys.argv[2])
    if len(sys.argv) > 3:
        os.setgroups([])
        os.setgid(int(sys.argv[3]))
        os.setuid(int(sys.argv[3]))
    held, said = [], False
    while True:
        began = time.monotonic()
        for s in [s for s in held if lost(s)]:
            s.close()
            held.remove(s)
        while len(held) < count:
            s = connect(path)
            if s is None:
                break
            try:
                s.send(FIRST)
            except OSError:
                break
            held.append(s)
        if not said and len(held) == count:
            print("ready", flush=True)
            said = True
        time.sleep(max(0.0, BYTE_EVERY_S - (time.monotonic() - began)))


main()
