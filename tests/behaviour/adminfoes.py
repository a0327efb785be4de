#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients that misbehave at an admin socket, and one that does not.

    adminfoes.py foes SOCKET COUNT [HTTP]
                                       until a signal; prints `ready` once all
                                       have been at it; half of them at the HTTP
                                       port (HOST:PORT) if that is given
    adminfoes.py friend WHERE SECONDS  asks again and again; prints how long the
                                       answers took, in ms: median, 95 of 100,
                                       the longest, and how many came; WHERE is
                                       a socket or an HTTP port

    adminfoes.py random SOCKET COUNT SEED
                                       sends so many lines of random words, of
                                       `help` and of garbage; each must be
                                       answered with one prompt

The foes come back whenever they are thrown out.
"""
import asyncio
import os
import random
import socket
import sys
import time

PAUSE_S = 0.1


async def stall(reader, writer):
    await reader.read()


async def half_a_line(reader, writer):
    writer.write(b"show st")
    await reader.read()


async def garbage(reader, writer):
    writer.write(b"prompt\n")
    while True:
        # A NUL would end the connection.
        writer.write(os.urandom(512).translate(None, b"\n\0") + b"\n")
        await asyncio.sleep(PAUSE_S)
        if not await reader.read(65536):
            return


async def long_line(reader, writer):
    for _ in range(64):
        writer.write(b"a" * 16384)
        await writer.drain()
    await reader.read()


async def deaf(reader, writer):
    writer.write(b"prompt;set timeout cli 1h\n" + b"show stat;" * 200 + b"\n")
    while not writer.is_closing():
        await asyncio.sleep(PAUSE_S * 10)
        writer.write(b"a")
        await writer.drain()


async def half_a_request(reader, writer):
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ")
    while not writer.is_closing():
        await asyncio.sleep(PAUSE_S * 10)
        writer.write(b"y")
        await writer.drain()


async def garbage_requests(reader, writer):
    writer.write(os.urandom(4096))
    await reader.read()


async def long_header(reader, writer):
    writer.write(b"GET / HTTP/1.1\r\nHost: ")
    for _ in range(64):
        writer.write(b"a" * 16384)
        await writer.drain()
    await reader.read()


async def deaf_to_pages(reader, writer):
    writer.write(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
    while not writer.is_closing():
        await asyncio.sleep(PAUSE_S * 10)
        writer.write(b"GET ")
        await writer.drain()


KINDS = [stall, half_a_line, garbage, long_line, deaf]
HTTP_KINDS = [stall, half_a_request, garbage_requests, long_header,
              deaf_to_pages]


def connect(where):
    if "/" in where:
        return asyncio.open_unix_connection(where, limit=1024)
    return asyncio.open_connection(*where.rsplit(":", 1), limit=1024)


async def foe(where, kind, been):
    while True:
        writer = None
        try:
            reader, writer = await connect(where)
            been.release()
            await kind(reader, writer)
        except OSError:
            pass
        if writer:
            writer.transport.abort()
        await asyncio.sleep(PAUSE_S * (1 + random.random()))


async def foes(path, count, http=None):
    been = asyncio.Semaphore(0)
    enemies = [(path, kind) for kind in KINDS]
    enemies += [(http, kind) for kind in HTTP_KINDS if http]
    tasks = [asyncio.create_task(foe(*enemies[i % len(enemies)], been))
             for i in range(count)]
    for _ in range(count):
        await been.acquire()
    print("ready", flush=True)
    await asyncio.gather(*tasks)


def ask(where):
    """How long it took, in ms."""
    began = time.monotonic()
    http = "/" not in where
    with socket.socket(socket.AF_INET if http else socket.AF_UNIX) as s:
        s.settimeout(20)
        s.connect(tuple(f(x) for f, x in zip(
            (str, int), where.rsplit(":", 1))) if http else where)
        s.sendall(b"GET /stats;csv HTTP/1.0\r\n\r\n" if http
                  else b"show info\n")
        answer = b"".join(iter(lambda: s.recv(65536), b""))
    wanted = b"\n# pxname," if http else b"\nUptime_sec: "
    if wanted not in answer or not answer.endswith(b"\n"):
        raise OSError(f"{where} answered {answer[:200]}")
    return (time.monotonic() - began) * 1000


def friend(where, seconds):
    took = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        took.append(ask(where))
        time.sleep(0.02)
    took.sort()
    print(" ".join(f"{x:.1f}" for x in (
        took[len(took) // 2], took[len(took) * 95 // 100], took[-1])),
          len(took))


def words_of(path):
    """What `help` lists, and what may stand in the place of arguments."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(b"help\n")
        text = b"".join(iter(lambda: s.recv(65536), b""))
    words = {w for line in text.splitlines()[1:]
             for w in line[:40].replace(b":", b" ").split() if w[:1].isalpha()}
    return sorted(words - {b"quit", b"prompt", b"cli", b"operator", b"user",
                           b"upgrade"}) + [
        b"main", b"app", b"app/a", b"web", b"a", b"0", b"1", b"-1", b"4",
        b"99999999999999999999", b"json", b"typed", b"up", b"10s", b"\\",
        b"\\;", b";", b"<", b"x" * 300, b"%s%n", b"../../etc", b"cli",
        b"\xff\x80", b"\x1b[2J", b"=", b"/", b"@", b"#", b"0x10"]


def connect_for_long(path):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(path)
    s.sendall(b"prompt\n")
    wait_for_prompts(s, 1)
    s.sendall(b"set timeout cli 1h\n")
    wait_for_prompts(s, 1)
    return s


def wait_for_prompts(s, count):
    text = b""
    while text.count(b"\n> ") < count or not text.endswith(b"\n> "):
        data = s.recv(65536)
        if not data:
            sys.exit(f"closed; so far: {text[-500:]}")
        text += data


def random_lines(path, count, seed):
    draw = random.Random(seed)
    words = words_of(path)
    s = connect_for_long(path)
    for i in range(count):
        line = b" ".join(draw.choice(words)
                         for _ in range(draw.choice([1, 2, 3, 3, 4, 5, 80])))
        if draw.random() < 0.1:
            line = draw.randbytes(draw.randrange(1, 2000))
        # What ends the connection, or takes further lines, is not to be tried
        # here.
        for bad in b"\n", b"\r", b"<<", b"\0":
            line = line.replace(bad, b"")
        commands = 1 + split(line).count(b";")
        # A command that ends the connection is none to be tried here.
        if b"wait" in line or b"shutdown" in line:
            continue
        try:
            s.sendall(line + b"\n")
            wait_for_prompts(s, commands)
        except (OSError, SystemExit) as e:
            sys.exit(f"seed {seed}, line {i}: {line!r}: {e}")
    print("answered", count)


def split(line):
    """Without what is escaped."""
    text, out, i = line, b"", 0
    while i < len(text):
        if text[i:i + 1] == b"\\" and i + 1 < len(text):
            i += 2
            continue
        out += text[i:i + 1]
        i += 1
    return out


if __name__ == "__main__":
    if sys.argv[1] == "random":
        random_lines(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    elif sys.argv[1] == "foes":
        asyncio.run(foes(sys.argv[2], int(sys.argv[3]), *sys.argv[4:]))
    else:
        friend(sys.argv[2], float(sys.argv[3]))
