#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""holdtool.py ADDRESS N: N clients that connect again and again.  One
connection of twenty is kept open until it is ended for it.
Ends with SIGTERM.
"""

import asyncio
import random
import sys


async def hold(reader, writer):
    try:
        await reader.read(1)
    except ConnectionError:
        pass
    writer.close()


async def client(host, port, held):
    while True:
        try:
            reader, writer = await asyncio.open_connection(host, port)
        except ConnectionError:
            continue
        if random.random() < 0.05:
            held.append(asyncio.create_task(hold(reader, writer)))
        else:
            await asyncio.sleep(0.005)
            writer.close()


async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    held = []
    await asyncio.gather(
        *(client(host, int(port), held) for _ in range(int(sys.argv[2])))
    )


if __name__ == "__main__":
    asyncio.run(main())
