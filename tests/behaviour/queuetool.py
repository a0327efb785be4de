#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two servers that count, and many clients at once.

queuetool.py servers LIMIT SLACK: prints `listening on A` and `listening on B`;
each connection says its number in a line and gets it back.  A server with more
than LIMIT connections at a time is printed, and a connection that is served more
than SLACK places before or behind that of its number.

queuetool.py clients ADDRESS N: N connections, one after the other, all open
until they have got their number.  None says its number before the last one is
open, so that the others wait in the queue however slow this machine is.
"""

import asyncio
import resource
import sys

HOLD_S = 0.005


def more_descriptors():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class Server:
    def __init__(self, limit, order, slack):
        self.limit, self.order, self.slack, self.now = limit, order, slack, 0

    async def serve(self, reader, writer):
        self.now += 1
        if self.now > self.limit:
            print(f"{self.now} connections, {self.limit} allowed", flush=True)
        number = await reader.readline()
        self.order.append(int(number))
        if abs(self.order[-1] - len(self.order)) > self.slack:
            print(
                f"number {self.order[-1]} came {len(self.order)}.", flush=True
            )
        await asyncio.sleep(HOLD_S)
        writer.write(number)
        # Its slot is free for lfproxy only after this.
        self.now -= 1
        writer.close()


async def servers(limit, slack):
    order = []
    for _ in range(2):
        server = await asyncio.start_server(
            Server(limit, order, slack).serve, "127.0.0.1", 0
        )
        print("listening on %s:%d" % server.sockets[0].getsockname())
    print("ready", flush=True)
    await asyncio.sleep(600)


async def answered(number, reader, writer):
    line = await reader.readline()
    writer.close()
    return line == b"%d\n" % number


async def clients(host, port, n):
    opened = [await asyncio.open_connection(host, port) for _ in range(n)]
    for i, (_, writer) in enumerate(opened):
        writer.write(b"%d\n" % i)
    got = sum(
        await asyncio.gather(
            *(answered(i, *streams) for i, streams in enumerate(opened))
        )
    )
    print(f"answered {got} of {n}")
    return got != n


def main():
    more_descriptors()
    if sys.argv[1] == "servers":
        return asyncio.run(servers(int(sys.argv[2]), int(sys.argv[3])))
    host, port = sys.argv[2].rsplit(":", 1)
    return asyncio.run(clients(host, int(port), int(sys.argv[3])))


if __name__ == "__main__":
    sys.exit(main())
