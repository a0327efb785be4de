#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""What sessions see of upgrades to another process, and what is left of it.

    upgrades.py BUILD REPORT

Each proxy has idle sessions, sessions that send a numbered record every
PERIOD_MS and get it back, and new connections, one every 5 ms; meanwhile it is
told UPGRADES times, a second apart, to go over to another process, as its
manual says: lfproxyctl upgrade, SIGUSR2 to HAProxy's master, SIGHUP to nginx.
Each may keep former sessions for 10 s (drain_timeout, hard-stop-after,
worker_shutdown_timeout).  The longest pause is that between two records of a
session.  Exits with 1 if a session or a connection of lfproxy is lost."""

import argparse
import asyncio
import contextlib
import json
import os
import pathlib
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time

import peers
from contenders import answers, free_ports
from measuring.figures import figure, table
from measuring.process import (
    MeasuringError, Process, descendants, wait_line, wait_until)
from measuring.short import brief

IDLE = brief(2000, 200, 50)
MOVING = brief(200, 50, 20)
UPGRADES = brief(5, 2, 1)
HARD_STOP_S = 10
PERIOD_MS = 10
RECORD = struct.Struct("=QQ")


# -- servers and clients, in processes of their own --

async def echo(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()


async def serve():
    server = await asyncio.start_server(echo, "127.0.0.1", 0, backlog=4096)
    print("listening on 127.0.0.1:%d" % server.sockets[0].getsockname()[1],
          flush=True)
    await server.serve_forever()


class Clients:
    def __init__(self, address):
        self.host, port = address.rsplit(":", 1)
        self.port, self.going = int(port), True
        self.gaps, self.lost, self.wrong = [], 0, 0
        self.made, self.refused = 0, 0

    async def record(self, streams, number):
        reader, writer = streams
        writer.write(RECORD.pack(number, ~number & 0xffffffffffffffff))
        back = RECORD.unpack(await reader.readexactly(RECORD.size))
        if back != (number, ~number & 0xffffffffffffffff):
            self.wrong += 1

    async def session(self, moving):
        try:
            streams = await asyncio.open_connection(self.host, self.port)
            await self.record(streams, 0)
            last, number = time.monotonic(), 0
            while self.going:
                await asyncio.sleep(PERIOD_MS / 1000 if moving else 0.5)
                if not moving:
                    if streams[0].at_eof():
                        raise EOFError
                    continue
                number += 1
                await self.record(streams, number)
                now = time.monotonic()
                self.gaps.append(now - last)
                last = now
            if not moving:
                await self.record(streams, 1)
            streams[1].close()
        except (OSError, EOFError, asyncio.IncompleteReadError):
            self.lost += 1

    async def connections(self):
        number = 0
        while self.going:
            number += 1
            try:
                streams = await asyncio.open_connection(self.host, self.port)
                await self.record(streams, number)
                streams[1].close()
                self.made += 1
            except (OSError, EOFError, asyncio.IncompleteReadError):
                self.refused += 1
            await asyncio.sleep(0.005)

    async def run(self):
        def end():
            self.going = False

        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
        tasks = [asyncio.ensure_future(self.connections())]
        for number in range(IDLE + MOVING):
            tasks.append(asyncio.ensure_future(self.session(number < MOVING)))
            if number % 50 == 49:
                await asyncio.sleep(0.02)
        await asyncio.sleep(1)
        # The gaps from here on are those that count.
        self.gaps.clear()
        print("begun", flush=True)
        await asyncio.gather(*tasks)
        gaps = sorted(self.gaps) or [0]
        print(json.dumps({
            "lost": self.lost, "wrong": self.wrong, "made": self.made,
            "refused": self.refused, "records": len(self.gaps),
            "p999_ms": gaps[int(len(gaps) * 0.999)] * 1000 - PERIOD_MS,
            "max_ms": gaps[-1] * 1000 - PERIOD_MS}), flush=True)


# -- the proxies --

class Contender:
    def __init__(self, name, folder, server, config, argv):
        self.name, self.folder = name, folder
        self.address = "127.0.0.1:%d" % free_ports("127.0.0.1", 1)[0]
        (folder / "config").write_text(
            config.format(folder=folder, server=server, address=self.address,
                          hard=HARD_STOP_S), encoding="utf-8")
        self.argv = [word.format(folder=folder) for word in argv]

    def start(self):
        return Process(self.argv, env={**os.environ, "PATH": peers.PATH},
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       start_new_session=True)

    def upgrade(self, process):
        process.child.send_signal(
            signal.SIGUSR2 if peers.kind_of(self.name) == peers.HAPROXY
            else signal.SIGHUP)

    def processes(self, process):
        return [p for p in descendants(process.child.pid) if alive(p)]


class Lfproxy(Contender):
    """A former process may end before the next one, which is then nobody's
    child: they are found by their session."""

    def upgrade(self, process):
        subprocess.run([self.ctl, "-S", f"{self.folder}/admin.sock",
                        "upgrade"], check=True, stdout=subprocess.DEVNULL)

    def processes(self, process):
        return [int(p) for p in os.listdir("/proc") if p.isdigit() and
                session_of(p) == process.child.pid and alive(p)]


def session_of(pid):
    try:
        return os.getsid(int(pid))
    except ProcessLookupError:
        return 0


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def memory_mib(pids):
    kib = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
                kib += int(re.search(r"^Pss: +(\d+)", f.read(), re.M).group(1))
        except (FileNotFoundError, ProcessLookupError, AttributeError):
            pass
    return kib / 1024


LFPROXY = """[global]
log = off
admin = {folder}/admin.sock
drain_timeout = {hard}s
drain_idle_timeout = {hard}s
[pool main]
threads = 2
[frontend web]
listen = {address}
backend = app
[backend app]
check = off
server = s {server}
"""
HAPROXY = """global
    nbthread 2
    hard-stop-after {hard}s
defaults
    mode tcp
    timeout connect 5s
    timeout client 1h
    timeout server 1h
listen web
    bind {address}
    server s {server}
"""
NGINX = """worker_processes 2;
daemon off;
pid {folder}/pid;
error_log /dev/null;
worker_shutdown_timeout {hard}s;
events {{ worker_connections 16000; }}
stream {{
    access_log off;
    proxy_timeout 1h;
    server {{ listen {address} backlog=4096; proxy_pass {server}; }}
}}
"""


def contenders(build, folder, server):
    haproxy, nginx = map(peers.newest, peers.KINDS)
    load = (f"load_module {nginx.module};\n"
            if os.path.exists(nginx.module) else "")
    Lfproxy.ctl = f"{build}/lfproxyctl"
    rows = [("lfproxy", Lfproxy, LFPROXY,
             [peers.lfproxy(build), "-c", "{folder}/config"]),
            (haproxy.name, Contender, HAPROXY,
             [haproxy.program, "-W", "-q", "-f", "{folder}/config"]),
            (nginx.name, Contender, load + NGINX,
             [nginx.program, "-c", "{folder}/config", "-e", "/dev/null"])]
    for name, kind, config, argv in rows:
        place = pathlib.Path(folder, peers.kind_of(name))
        place.mkdir()
        yield kind(name, place, server, config, argv)


def measure(contender):
    with contender.start() as process:
        try:
            return measure_started(contender, process)
        finally:
            end_all(contender, process)


def measure_started(contender, process):
    wait_until(lambda: answers(contender.address), contender.name)
    with Process([sys.executable, "-B", __file__, "--clients",
                  contender.address], stdout=subprocess.PIPE) as clients:
        wait_line(clients.child.stdout, "begun", "the clients")
        for _ in range(UPGRADES):
            contender.upgrade(process)
            time.sleep(1)
        time.sleep(1)
        left = contender.processes(process)
        row = {"processes": len(left), "mib": memory_mib(left)}
        time.sleep(brief(HARD_STOP_S + 2, 1))
        clients.child.send_signal(signal.SIGTERM)
        said = clients.child.stdout.read()
        row.update(json.loads(said.splitlines()[-1]))
    return row


def end_all(contender, process):
    """Successors are not children of this program."""
    left = contender.processes(process)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    with contextlib.suppress(MeasuringError):
        wait_until(lambda: not any(map(alive, left)), contender.name)
    for pid in contender.processes(process):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def report(rows):
    head = ["", "sessions lost", "connections refused, of", "wrong bytes",
            "longest pause, ms", "p99.9, ms", "processes 2 s later",
            "their memory, MiB"]
    return table(head, [[name, str(r["lost"]),
                         f"{r['refused']}, {r['made'] + r['refused']}",
                         str(r["wrong"]), figure(r["max_ms"]),
                         figure(r["p999_ms"]), str(r["processes"]),
                         figure(r["mib"])] for name, r in rows.items()])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("report")
    options = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    rows = {}
    with tempfile.TemporaryDirectory() as folder, Process(
            [sys.executable, "-B", __file__, "--serve"],
            stdout=subprocess.PIPE) as server:
        address = wait_line(server.child.stdout, r"listening on (\S+)",
                            "the server").group(1)
        for contender in contenders(os.path.abspath(options.build), folder,
                                    address):
            rows[contender.name] = measure(contender)
    text = (f"{UPGRADES} upgrades, a second apart; {IDLE} idle sessions and "
            f"{MOVING} with a record every {PERIOD_MS} ms\n\n" + report(rows))
    print(text)
    pathlib.Path(options.report).write_text(text, encoding="utf-8")
    ours = rows["lfproxy"]
    return int(ours["lost"] + ours["refused"] + ours["wrong"] > 0)


if sys.argv[1:2] == ["--serve"]:
    try:
        asyncio.run(serve())
    except KeyboardInterrupt:
        pass
elif sys.argv[1:2] == ["--clients"]:
    asyncio.run(Clients(sys.argv[2]).run())
else:
    sys.exit(main())
