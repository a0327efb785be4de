#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""guesstool.py ADDRESS PASSWORD COUNT [NETWORK]: COUNT clients of the HTTP port
ask at the same time, as alice, with the passwords PASSWORD1 and so on, or with
PASSWORD itself if that ends in `!`.  They come from 127.0.0.1, from the address
NETWORK or, if that ends in `.`, from NETWORK1 and so on.  Prints the status of each answer as it comes.
"""
import base64
import http.client
import os
import sys
import threading

address, password, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
network = sys.argv[4] if len(sys.argv) > 4 else ""
together = threading.Barrier(count)


def ask(number):
    word = password[:-1] if password.endswith("!") else f"{password}{number}"
    source = f"{network}{number}" if network.endswith(".") else network
    connection = http.client.HTTPConnection(
        address, timeout=170, source_address=(source or "127.0.0.1", 0)
    )
    connection.connect()
    together.wait()
    basic = base64.b64encode(f"alice:{word}".encode()).decode()
    connection.request(
        "GET", "/api/v1/session", headers={"Authorization": f"Basic {basic}"}
    )
    line = f"{connection.getresponse().status}\n"
    # In one piece: several threads write.
    os.write(sys.stdout.fileno(), line.encode())


threads = [threading.Thread(target=ask, args=(i + 1,)) for i in range(count)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
