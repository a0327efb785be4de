#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""longtool.py ADDRESS N SECONDS: N clients that stay connected, ask for / every
so many seconds, and connect again when they are closed.

Prints `ready` when all have had an answer.  On SIGTERM each asks once more; then
it prints how often an answer was cut, and how often a client had to connect
again, and ends: with 1 if an answer was cut or wrong.
"""

import asyncio
import signal
import sys

REQUEST = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n"


class Tally:
    def __init__(self, clients):
        self.waiting = clients
        self.cut = self.again = 0

    def answered(self):
        self.waiting -= 1
        if self.waiting == 0:
            print("ready", flush=True)


async def ask(reader, writer):
    writer.write(REQUEST)
    await writer.drain()
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    )
    if not head.startswith(b"HTTP/1.1 200 "):
        raise ValueError(head)
    await reader.readexactly(length)


async def closed(reader, seconds, stop):
    """Waits so long, or until it is closed, or until it is to stop."""
    end = asyncio.create_task(reader.read(1))
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait(
        [end, stopped], timeout=seconds, return_when=asyncio.FIRST_COMPLETED
    )
    stopped.cancel()
    if end.done():
        return end.exception() is not None or end.result() == b""
    end.cancel()
    await asyncio.wait([end])
    return False


async def client(host, port, seconds, tally, stop):
    first = True
    while not stop.is_set():
        reader, writer = await asyncio.open_connection(host, port)
        if not first:
            tally.again += 1
        try:
            while True:
                last = stop.is_set()
                await ask(reader, writer)
                if first:
                    tally.answered()
                first = False
                if last or await closed(reader, seconds, stop):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, ValueError):
            tally.cut += 1
        writer.close()


async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    number, seconds = int(sys.argv[2]), float(sys.argv[3])
    tally = Tally(number)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await asyncio.gather(
        *(client(host, port, seconds, tally, stop) for _ in range(number))
    )
    print(f"cut {tally.cut} again {tally.again}", flush=True)
    sys.exit(1 if tally.cut else 0)


asyncio.run(main())
