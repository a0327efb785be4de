#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The service manager's end of sd_notify(3), for the tests.

    notifytool.py SOCKET [--hold] [TRY...]

Binds the datagram socket SOCKET, `@NAME` for an abstract one, and prints each
message as one line, its fields joined by spaces in place of line feeds.  When
a message says READY=1, connects to each unix socket TRY at that moment and
prints `open TRY` or `closed TRY` before the message.  With --hold, descriptors
that come with messages are closed no sooner than at SIGUSR1.
"""
import os
import signal
import socket
import sys


def is_open(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        try:
            s.connect(path)
        except OSError:
            return False
    return True


def main():
    name, tries = sys.argv[1], sys.argv[2:]
    hold, held = "--hold" in tries, []

    def release(*_):
        nonlocal hold
        hold = False
        while held:
            os.close(held.pop())

    tries = [path for path in tries if path != "--hold"]
    signal.signal(signal.SIGUSR1, release)
    address = "\0" + name[1:] if name.startswith("@") else name
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(address)
    print("listening on", name, flush=True)
    while True:
        data, fds, _, _ = socket.recv_fds(manager, 65536, 1)
        held.extend(fds)
        if not hold:
            release()
        lines = data.decode().split("\n")
        if "READY=1" in lines:
            for path in tries:
                print("open" if is_open(path) else "closed", path, flush=True)
        print(" ".join(lines), flush=True)


main()
