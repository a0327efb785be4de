#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""ramptool.py ADMIN ADDRESS SERVER SECONDS: watches a server's slow start.

Prints `ready`, waits until SERVER is throttled in `show stat`, then connects to ADDRESS one
session after the other for that long; each gets the name of its server, of
which there are two.  Fails unless the throttle, and the server's sessions in
proportion to the other's, grow linearly within 5 percent.
"""

import csv
import socket
import sys
import time

WINDOWS = 6
TOLERANCE = 0.05


def throttle(admin, server):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(admin)
        s.sendall(b"show stat\n")
        text = b"".join(iter(lambda: s.recv(65536), b"")).decode()
    for row in csv.DictReader(text.splitlines()):
        if row["svname"] == server:
            return float(row["throttle"] or 100) / 100
    sys.exit(f"there is no server {server}")


def name_of_server(address):
    with socket.create_connection(address) as s:
        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        text = b"".join(iter(lambda: s.recv(65536), b""))
    return text.decode().split("\r\n\r\n")[1].strip()


def start_of_ramp(admin, server):
    if throttle(admin, server) < 1:
        sys.exit(f"{server} is throttled already")
    print("ready", flush=True)
    before = time.monotonic()
    deadline = before + 60
    while throttle(admin, server) == 1:
        before = time.monotonic()
        if before > deadline:
            sys.exit(f"{server} is not throttled")
        time.sleep(0.002)
    return (before + time.monotonic()) / 2


def main():
    admin, address, server, seconds = sys.argv[1:]
    host, port = address.rsplit(":", 1)
    seconds = float(seconds)
    began = start_of_ramp(admin, server)
    sessions = [[0, 0] for _ in range(WINDOWS)]
    worst = 0.0
    next_look = 0.0
    while (past := (time.monotonic() - began) / seconds) < 1:
        if past >= next_look:
            worst = max(worst, abs(throttle(admin, server) - past))
            next_look = past + 0.02
        ours = name_of_server((host, int(port))) == server
        sessions[int(past * WINDOWS)][ours] += 1
    print(f"the throttle was off by {worst:.3f} at most")
    bad = worst > TOLERANCE
    for i, (other, ours) in enumerate(sessions):
        linear = (i + 0.5) / WINDOWS
        part = ours / max(other, 1)
        print(f"{ours} of {ours + other} sessions: {part:.3f} for {linear:.3f}")
        bad |= abs(part - linear) > TOLERANCE
    while throttle(admin, server) < 1:
        if time.monotonic() - began > seconds + 10:
            sys.exit("the ramp does not end")
        time.sleep(0.01)
    sys.exit(bad)


if __name__ == "__main__":
    main()
