#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A storm: servers that come and go under load, and what clients see of it.

stormtool.py server ADDRESS RECORD
    One of the servers.  A request is a line `TOKEN SIZE CRC` and SIZE bytes;
    the token goes into the file RECORD, the answer is such a line and bytes of
    its own.  USR1: slow and quick in turn; USR2: refuses and listens in turn.

stormtool.py storm DIRECTORY --seed N --seconds S --servers N
    Starts the servers and prints `listening on` for each.  Once DIRECTORY/go
    has the frontend's address and the admin socket, it breaks and mends servers
    at random, while clients send requests.  There is always one that is well,
    and has been known to be for a second.  Then DIRECTORY/access.log, in JSON,
    must explain every error: the session's bytes had been sent to a server.
"""

import argparse
import asyncio
import collections
import csv
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import zlib

CLIENTS = 24
KNOWN_S = 1.0  # so long a server is well before another may break
ANSWER_S = 30
# What a session ends with that has not been connected, or not for want of one.
NEVER = {"SC", "sC", "SQ", "sQ", "CC", "CQ", "RC", "RD", "sD", "cD"}


def block(seed, size):
    return random.Random(seed).randbytes(size)


async def read_message(reader):
    """The token, or None at the end; raises when it is broken."""
    line = await reader.readline()
    if not line:
        return None
    token, size, crc = line.split()
    data = await reader.readexactly(int(size))
    if zlib.crc32(data) != int(crc):
        raise ValueError(f"the bytes of {token.decode()} are not those sent")
    return token.decode()


def message(token, size):
    data = block(token, size)
    return b"%s %d %d\n" % (token.encode(), size, zlib.crc32(data)) + data


def hold(host, port):
    """A port that the kernel gives to nobody else; connects are refused."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind((host, port))
    return held


class Server:
    def __init__(self, address, record):
        self.host, port = address.rsplit(":", 1)
        self.port = int(port)
        self.record = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.slow, self.listener, self.held = False, None, None

    async def serve(self, reader, writer):
        try:
            token = await read_message(reader)
            if token:
                os.write(self.record, token.encode() + b"\n")
                if self.slow:
                    await asyncio.sleep(random.uniform(0.05, 0.4))
                writer.write(message(token, random.choice((10, 3000, 200000))))
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def listen(self):
        # As long as it refuses nobody else is given the port.
        if not self.held:
            self.held = hold(self.host, self.port)
            self.port = self.held.getsockname()[1]
        self.listener = await asyncio.start_server(
            self.serve, self.host, self.port, backlog=1024, reuse_address=True
        )

    def turn_slow(self):
        self.slow = not self.slow

    def turn_refuse(self):
        if self.listener:
            self.listener.close()
            self.listener = None
        else:
            asyncio.ensure_future(self.listen())

    async def run(self):
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGUSR1, self.turn_slow)
        loop.add_signal_handler(signal.SIGUSR2, self.turn_refuse)
        await self.listen()
        print(f"listening on {self.host}:{self.port}", flush=True)
        await asyncio.sleep(600)


class Peer:
    """A server as the storm sees it."""

    def __init__(self, name, record):
        self.name, self.record = name, record
        self.held = hold("127.0.0.1", 0)
        self.address = "127.0.0.1:%d" % self.held.getsockname()[1]
        self.process = None
        self.broken = None  # what ails it
        self.well_since = None  # known to be well; None: not known
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, __file__, "server", self.address, self.record],
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline()
        if not line.startswith("listening on "):
            raise RuntimeError(f"{self.name} does not start")
        self.address = line.split()[-1]

    def send(self, number):
        self.process.send_signal(number)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def break_by(self, how):
        self.broken, self.well_since = how, None
        if how == "killed":
            self.end()
        else:
            self.send(
                {
                    "stopped": signal.SIGSTOP,
                    "slow": signal.SIGUSR1,
                    "refusing": signal.SIGUSR2,
                }[how]
            )

    def mend(self):
        how, self.broken = self.broken, None
        if how == "killed":
            self.start()
        elif how == "stopped":
            self.send(signal.SIGCONT)
        elif how == "slow":
            self.send(signal.SIGUSR1)
        else:
            self.send(signal.SIGUSR2)


async def statuses(admin):
    reader, writer = await asyncio.open_unix_connection(admin)
    writer.write(b"show stat\n")
    text = (await reader.read()).decode()
    writer.close()
    return {row["svname"]: row["status"] for row in csv.DictReader(text.splitlines())}


class Storm:
    def __init__(self, args):
        self.args = args
        self.random = random.Random(args.seed)
        self.record = os.path.join(args.directory, "received")
        self.peers = [Peer(f"s{i}", self.record) for i in range(args.servers)]
        self.deeds = collections.Counter()
        self.answered, self.errors, self.wrong = 0, [], []
        self.over = False

    async def look(self):
        """Who is well, and since when lfproxy knows it."""
        up = await statuses(self.admin)
        for p in self.peers:
            if p.broken or not up[p.name].startswith("UP"):
                p.well_since = None
            elif p.well_since is None:
                p.well_since = time.monotonic()

    def spare(self):
        """Those that may break: another one is known to be well."""
        known = [
            p
            for p in self.peers
            if p.well_since and time.monotonic() - p.well_since >= KNOWN_S
        ]
        return known if len(known) > 1 else []

    async def rage(self):
        end = time.monotonic() + self.args.seconds
        while time.monotonic() < end:
            await asyncio.sleep(self.random.uniform(0.02, 0.3))
            await self.look()
            broken = [p for p in self.peers if p.broken]
            spare = self.spare()
            if spare and (not broken or self.random.random() < 0.6):
                how = self.random.choices(
                    ("killed", "refusing", "slow", "stopped"), (4, 3, 2, 1)
                )[0]
                self.random.choice(spare).break_by(how)
                self.deeds[how] += 1
            elif broken:
                self.random.choice(broken).mend()
        for p in self.peers:
            if p.broken:
                p.mend()

    async def ask(self, source, token):
        sock = socket.socket()
        sock.setblocking(False)
        sock.bind((source, 0))
        name, writer = sock.getsockname(), None
        try:
            await asyncio.get_running_loop().sock_connect(sock, self.frontend)
            reader, writer = await asyncio.open_connection(sock=sock)
            # Some connect, and have nothing to say at first.
            if random.random() < 0.3:
                await asyncio.sleep(random.uniform(0, 0.3))
            writer.write(message(token, random.choice((10, 1000, 100000))))
            got = await asyncio.wait_for(read_message(reader), ANSWER_S)
        except ValueError as e:
            self.wrong.append(str(e))
        except (OSError, asyncio.TimeoutError, asyncio.IncompleteReadError) as e:
            self.errors.append((name, token, repr(e)))
        else:
            if got == token:
                self.answered += 1
            elif got is None:
                self.errors.append((name, token, "no answer"))
            else:
                self.wrong.append(f"{token} got the answer to {got}")
        finally:
            (writer or sock).close()

    async def client(self, number):
        n = 0
        while not self.over:
            await self.ask(f"127.0.1.{number + 1}", f"{number}.{n}")
            n += 1
            await asyncio.sleep(0.005)

    async def run(self):
        go = os.path.join(self.args.directory, "go")
        while not os.path.exists(go):
            await asyncio.sleep(0.05)
        with open(go) as f:
            frontend, self.admin = f.read().split()
        host, port = frontend.rsplit(":", 1)
        self.frontend = (host, int(port))
        clients = [asyncio.create_task(self.client(i)) for i in range(CLIENTS)]
        await self.rage()
        self.over = True
        await asyncio.gather(*clients)

    def sessions(self):
        """By the client's address.  The log is complete when it has as many
        lines as there were requests."""
        path = os.path.join(self.args.directory, "access.log")
        wanted = self.answered + len(self.errors) + len(self.wrong)
        end = time.monotonic() + 30
        while True:
            with open(path) as f:
                lines = [json.loads(line) for line in f]
            if len(lines) >= wanted or time.monotonic() > end:
                break
            time.sleep(0.1)
        if len(lines) != wanted:
            self.wrong.append(f"{len(lines)} sessions logged, {wanted} were made")
        by = collections.defaultdict(list)
        for line in lines:
            by[(line["client"], line["client_port"])].append(line)
        return by

    def judge(self):
        sessions = self.sessions()
        retried = 0
        for lines in sessions.values():
            for s in lines:
                retried += s["retries"] > 0
                if s["code"] in NEVER:
                    self.wrong.append(f"it ended with {s['code']}: {s}")
        for name, token, error in self.errors:
            mine = sessions[name]
            # Nothing was sent, so another server could have answered.
            if not any(s["bytes_in"] > 0 and s["connect_ms"] >= 0 for s in mine):
                self.wrong.append(f"{token} saw {error}: {mine}")
        with open(self.record) as f:
            received = collections.Counter(f.read().split())
        for token, times in received.items():
            if times > 1:
                self.wrong.append(f"{token} reached {times} servers")
        print(
            f"seed {self.args.seed}: {self.answered} answered, {retried} after "
            f"retries, {len(self.errors)} lost with a server that had them; "
            + ", ".join(f"{n} {how}" for how, n in sorted(self.deeds.items()))
        )
        for what in self.wrong[:20]:
            print("WRONG:", what)
        if len(self.wrong) > 20:
            print(f"and {len(self.wrong) - 20} more")
        return 1 if self.wrong or not self.answered or not retried else 0


def main():
    p = argparse.ArgumentParser()
    commands = p.add_subparsers(dest="command", required=True)
    server = commands.add_parser("server")
    server.add_argument("address")
    server.add_argument("record")
    storm = commands.add_parser("storm")
    storm.add_argument("directory")
    storm.add_argument("--seed", type=int, required=True)
    storm.add_argument("--seconds", type=float, required=True)
    storm.add_argument("--servers", type=int, default=4)
    args = p.parse_args()
    if args.command == "server":
        asyncio.run(Server(args.address, args.record).run())
        return 0
    s = Storm(args)
    try:
        for peer in s.peers:
            print(f"listening on {peer.address}", flush=True)
        print("ready", flush=True)
        asyncio.run(s.run())
        return s.judge()
    finally:
        for peer in s.peers:
            if peer.process.poll() is None:
                peer.end()


if __name__ == "__main__":
    sys.exit(main())
