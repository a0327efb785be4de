#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients of allow and deny.

accesstool.py knock ADDRESS [--source IP] [--proxy IP] [--count N]: connects,
from that address, or with a PROXY header that names it (`local`: a header that
names nobody), to a frontend whose server speaks first.  Prints `served`,
`reset` or `closed` for each, and with --time the milliseconds that it took.

accesstool.py hold ADDRESS FILE: connects and waits until FILE exists; prints
`silent` if nothing has come, or else what knock prints.

accesstool.py leave ADDRESS fin|rst: connects and leaves.

accesstool.py crowd ADDRESS COUNT [--source IP] [--proxy IP]: keeps COUNT
connections open, which send nothing but the header; a connection that was ended
is replaced, 500 a second at most: more would only take the CPUs.  Prints `ready`
once COUNT connections were made; runs until a signal.

accesstool.py rules COUNT SEED DIRECTORY: writes random rules for lfproxy and
for nginx, COUNT lists of them: DIRECTORY/rules.N.ini and DIRECTORY/rules.N.conf.
Rules of lfproxy that follow each other and say the same are mostly one address
list; DIRECTORY/lists.ini has their sections.

accesstool.py compare COUNT SEED CLIENTS A,... B,...: COUNT addresses of each
program, in the order of the rules; for each list, CLIENTS random clients ask
both, named by a PROXY header.  Prints how many were asked and admitted, and
each about which they do not agree.

accesstool.py networks COUNT SEED DIRECTORY: writes COUNT random networks, which
overlap, for lfproxy and for nginx: DIRECTORY/networks.list and
DIRECTORY/networks.geo.

accesstool.py members COUNT SEED CLIENTS A B: CLIENTS random clients, at the
borders of these networks and elsewhere, ask both programs.  Prints as compare
does."""

import argparse
import itertools
import ipaddress
import pathlib
import random
import selectors
import socket
import struct
import time

DEADLINE_S = 300


def endpoint(text):
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def connect(address, source=None):
    if address.startswith("unix:"):
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(DEADLINE_S)
        s.connect(address[len("unix:"):])
        return s
    host, port = endpoint(address)
    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    s.settimeout(DEADLINE_S)
    if source:
        s.bind((source, 0))
    s.connect((host, port))
    return s


def header(client):
    if client == "local":
        return b"PROXY UNKNOWN\r\n"
    v6 = ":" in str(client)
    to = "2001:db8::1" if v6 else "192.0.2.1"
    return f"PROXY TCP{6 if v6 else 4} {client} {to} 5000 80\r\n".encode()


def result(s):
    try:
        return "served" if s.recv(64) else "closed"
    except ConnectionError:
        return "reset"


def knock(address, source=None, proxy=None):
    try:
        with connect(address, source) as s:
            if proxy:
                s.sendall(header(proxy))
            return result(s)
    except ConnectionError:
        return "reset"


def run_knock(options):
    for _ in range(options.count):
        begin = time.monotonic()
        got = knock(options.address, options.source, options.proxy)
        took = f" {(time.monotonic() - begin) * 1000:.0f}"
        print(got + (took if options.time else ""), flush=True)


def run_hold(options):
    with connect(options.address) as s:
        while not pathlib.Path(options.file).exists():
            time.sleep(0.02)
        s.setblocking(False)
        try:
            print(result(s))
        except BlockingIOError:
            print("silent")


def run_crowd(options):
    crowd = selectors.DefaultSelector()
    made = 0
    while True:
        while len(crowd.get_map()) < options.count:
            try:
                s = connect(options.address, options.source)
                if options.proxy:
                    s.sendall(header(options.proxy))
                crowd.register(s, selectors.EVENT_READ)
            except ConnectionError:
                pass
            made += 1
            if made == options.count:
                print("ready", flush=True)
            if made > options.count:
                time.sleep(0.002)
        for key, _ in crowd.select():
            if result(key.fileobj) != "served":
                crowd.unregister(key.fileobj)
                key.fileobj.close()


def run_leave(options):
    with connect(options.address) as s:
        if options.how == "rst":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                         struct.pack("ii", 1, 0))


class Rules:
    """A list of rules, and addresses near their borders."""

    def __init__(self, generator):
        self.random = generator
        self.rules = [self.rule() for _ in range(generator.randrange(1, 12))]
        if generator.random() < 0.5:
            self.rules.append((generator.random() < 0.3, "all"))

    def address(self):
        # Few different bits: rules overlap, and clients are in them.
        if self.random.random() < 0.5:
            return ipaddress.IPv4Address(
                0x0A000000 | self.random.getrandbits(4) << 20
                | self.random.getrandbits(6) << 6 | self.random.getrandbits(4))
        return ipaddress.IPv6Address(
            0x20010DB8 << 96 | self.random.getrandbits(3) << 90
            | self.random.getrandbits(4) << 62 | self.random.getrandbits(4))

    def rule(self):
        address = self.address()
        bits = self.random.choice([8, 12, 14, 26, 30, 31, 32]) \
            if address.version == 4 else self.random.choice(
                [0, 32, 37, 64, 65, 66, 125, 128])
        network = ipaddress.ip_network((address, bits), strict=False)
        return self.random.random() < 0.5, str(network)

    def client(self):
        kind, network = self.random.choice(self.rules)
        if network == "all" or self.random.random() < 0.4:
            return self.address()
        network = ipaddress.ip_network(network)
        near = int(self.random.choice(
            [network.network_address, network.broadcast_address]))
        near += self.random.randrange(-2, 3)
        size = type(network.network_address)
        most = 2 ** network.max_prefixlen - 1
        client = size(min(max(near, 1), most))
        if client.version == 6 and client.ipv4_mapped:
            return client.ipv4_mapped
        return client


def all_rules(count, seed):
    generator = random.Random(seed)
    return [Rules(generator) for _ in range(count)]


def group_rules(words, name, sections, base):
    """Yields the rules with address lists in place of several rules."""
    for word, group in itertools.groupby(words, lambda rule: rule[0]):
        networks = [network for _, network in group]
        listed = [n for n in networks if n != "all"]
        if len(listed) < 2:
            yield from ((word, n) for n in networks)
            continue
        file = base / f"{name}.{len(sections)}.list"
        file.write_text("\n".join(reversed(listed[1:])) + "\n",
                        encoding="ascii")
        sections.append(f"[list {file.stem}]\nentry = {listed[0]}\n"
                        f"file = {file}\n")
        yield word, f"list:{file.stem}"
        yield from ((word, n) for n in networks if n == "all")


def run_rules(options):
    sections = []
    for n, rules in enumerate(all_rules(options.count, options.seed)):
        words = [("allow" if allow else "deny", network)
                 for allow, network in rules.rules]
        base = pathlib.Path(options.directory)
        (base / f"rules.{n}.ini").write_text(
            "".join(f"{word} = {network}\n" for word, network in
                    group_rules(words, f"rules.{n}", sections, base)),
            encoding="ascii")
        (base / f"rules.{n}.conf").write_text(
            "".join(f"{word} {network};\n" for word, network in words),
            encoding="ascii")
    (pathlib.Path(options.directory) / "lists.ini").write_text(
        "".join(sections), encoding="ascii")


def run_compare(options):
    asked = admitted = 0
    for rules, our, their in zip(
            all_rules(options.count, options.seed), options.ours.split(","),
            options.theirs.split(","), strict=True):
        for _ in range(options.clients):
            client = rules.client()
            a, b = (knock(where, proxy=client) == "served"
                    for where in (our, their))
            asked += 1
            admitted += a
            if a != b:
                print(f"{client}: {a} and not {b}: {rules.rules}")
    print(f"asked {asked}, admitted {admitted}")


class Networks:
    """Many networks, long and short ones, and addresses near their borders."""

    def __init__(self, count, seed):
        self.random = random.Random(seed)
        self.all = [self.network() for _ in range(count)]

    def network(self):
        # Half of the addresses are close together, so networks are nested.
        close = self.random.random() < 0.5
        if self.random.random() < 0.6:
            address = ipaddress.IPv4Address(
                0x0A000000 | self.random.getrandbits(16) if close
                else self.random.getrandbits(32))
            bits = self.random.choice([12, 16, 20, 24, 27, 30, 31, 32, 32])
        else:
            address = ipaddress.IPv6Address(
                0x20010DB8 << 96 | self.random.getrandbits(12) << 64
                | self.random.getrandbits(6) if close
                else self.random.getrandbits(128))
            bits = self.random.choice([20, 32, 48, 63, 64, 65, 127, 128])
        return ipaddress.ip_network((address, bits), strict=False)

    def client(self):
        network = self.random.choice(self.all)
        near = int(self.random.choice(
            [network.network_address, network.broadcast_address]))
        near += self.random.randrange(-2, 3)
        if self.random.random() < 0.4:
            near = self.random.getrandbits(network.max_prefixlen)
        most = 2 ** network.max_prefixlen - 1
        client = type(network.network_address)(min(max(near, 1), most))
        if client.version == 6 and client.ipv4_mapped:
            return client.ipv4_mapped
        return client


def run_networks(options):
    base = pathlib.Path(options.directory)
    networks = Networks(options.count, options.seed).all
    (base / "networks.list").write_text(
        "".join(f"{n}\n" for n in networks), encoding="ascii")
    # nginx refuses a network that is there twice with a warning alone.
    (base / "networks.geo").write_text(
        "".join(f"{n} ok;\n" for n in dict.fromkeys(networks)),
        encoding="ascii")


def run_members(options):
    networks = Networks(options.count, options.seed)
    admitted = 0
    for _ in range(options.clients):
        client = networks.client()
        a, b = (knock(where, proxy=client) == "served"
                for where in (options.ours, options.theirs))
        admitted += a
        if a != b:
            print(f"{client}: {a} and not {b}")
    print(f"asked {options.clients}, admitted {admitted}")


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("knock")
    command.add_argument("address")
    command.add_argument("--source")
    command.add_argument("--proxy")
    command.add_argument("--count", type=int, default=1)
    command.add_argument("--time", action="store_true")
    command.set_defaults(run=run_knock)
    command = commands.add_parser("hold")
    command.add_argument("address")
    command.add_argument("file")
    command.set_defaults(run=run_hold)
    command = commands.add_parser("crowd")
    command.add_argument("address")
    command.add_argument("count", type=int)
    command.add_argument("--source")
    command.add_argument("--proxy")
    command.set_defaults(run=run_crowd)
    command = commands.add_parser("leave")
    command.add_argument("address")
    command.add_argument("how", choices=["fin", "rst"])
    command.set_defaults(run=run_leave)
    command = commands.add_parser("rules")
    command.add_argument("count", type=int)
    command.add_argument("seed", type=int)
    command.add_argument("directory")
    command.set_defaults(run=run_rules)
    command = commands.add_parser("compare")
    command.add_argument("count", type=int)
    command.add_argument("seed", type=int)
    command.add_argument("clients", type=int)
    command.add_argument("ours")
    command.add_argument("theirs")
    command.set_defaults(run=run_compare)
    command = commands.add_parser("networks")
    command.add_argument("count", type=int)
    command.add_argument("seed", type=int)
    command.add_argument("directory")
    command.set_defaults(run=run_networks)
    command = commands.add_parser("members")
    command.add_argument("count", type=int)
    command.add_argument("seed", type=int)
    command.add_argument("clients", type=int)
    command.add_argument("ours")
    command.add_argument("theirs")
    command.set_defaults(run=run_members)
    options = parser.parse_args()
    options.run(options)


main()
