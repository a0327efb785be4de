#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients of limits by source.

sourcelimittool.py take ADDRESS COUNT [--source IP] [--sources FIRST] [--proxy
IP] [--stay] [--time]: makes COUNT connections at once to a frontend whose
server speaks first, from one address, or each from another one, the next after
FIRST; with a PROXY header that names the client.  Prints how many were served,
reset and closed, and with --time the milliseconds until all had their answer.
With --stay it keeps those that were served until it is ended.

sourcelimittool.py reset ADDRESS: makes a connection that is served, and resets
it."""

import argparse
import collections
import ipaddress
import signal
import socket
import struct
import time

DEADLINE_S = 300


def endpoint(text):
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def connect(address, source, proxy):
    s = socket.socket()
    s.settimeout(DEADLINE_S)
    if source:
        s.bind((source, 0))
    s.connect(endpoint(address))
    if proxy:
        v6 = ":" in proxy
        to = "2001:db8::1" if v6 else "192.0.2.1"
        s.sendall(f"PROXY TCP{6 if v6 else 4} {proxy} {to} 1 2\r\n".encode())
    return s


def answer(s):
    try:
        return "served" if s.recv(64) else "closed"
    except ConnectionError:
        return "reset"


def source_of(options, n):
    if options.sources:
        return str(ipaddress.ip_address(options.sources) + n)
    return options.source


def take(options):
    begin = time.monotonic()
    clients, tally = [], collections.Counter()
    for n in range(options.count):
        try:
            clients.append(
                connect(options.address, source_of(options, n), options.proxy))
        except ConnectionError:
            tally["reset"] += 1
    for client in clients:
        tally[answer(client)] += 1
    text = ", ".join(f"{tally[what]} {what}"
                     for what in ("served", "reset", "closed") if tally[what])
    took = f" after {(time.monotonic() - begin) * 1000:.0f}"
    print(text + (took if options.time else ""), flush=True)
    if options.stay:
        signal.pause()


def reset(options):
    client = connect(options.address, None, None)
    assert answer(client) == "served"
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                      struct.pack("ii", 1, 0))


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("take")
    command.add_argument("address")
    command.add_argument("count", type=int)
    command.add_argument("--source")
    command.add_argument("--sources")
    command.add_argument("--proxy")
    command.add_argument("--stay", action="store_true")
    command.add_argument("--time", action="store_true")
    command.set_defaults(run=take)
    command = commands.add_parser("reset")
    command.add_argument("address")
    command.set_defaults(run=reset)
    options = parser.parse_args()
    options.run(options)


main()
