#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""asktool.py ADDRESS N: N connections, over each of which / is asked for once.

Prints `answered M` as the M-th answer has come, and ends after the last one:
with 1 if an answer is wrong.
"""

import asyncio
import sys

REQUEST = b"GET / HTTP/1.1\r\nHost: test\r\n\r\n"


class Tally:
    def __init__(self):
        self.answered = self.wrong = 0

    def count(self, head):
        self.answered += 1
        self.wrong += not head.startswith(b"HTTP/1.1 200 ")
        print(f"answered {self.answered}", flush=True)


async def client(host, port, tally):
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(REQUEST)
    tally.count(await reader.readuntil(b"\r\n\r\n"))
    writer.close()


async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    tally = Tally()
    await asyncio.gather(
        *(client(host, int(port), tally) for _ in range(int(sys.argv[2])))
    )
    sys.exit(tally.wrong > 0)


asyncio.run(main())
