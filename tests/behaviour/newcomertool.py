#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients that keep lfproxy waiting, and others in their way.

newcomertool.py trickle ADDRESS COUNT [header]: connections that send a TLS hello
one byte every 100 ms, at most 200 bytes of its 517; with `header` a PROXY header
first.  Prints `established` once all are connected, and `ended N` when N of them
were ended.

newcomertool.py storm ADDRESS COUNT EACH AUTHORITY: COUNT threads, each of which
makes EACH connections one after the other, with a TLS handshake and a request.
Prints `served N, failed M`."""

import socket
import ssl
import sys
import threading
import time

DEADLINE_S = 300


def connect(address):
    host, _, port = address.rpartition(":")
    s = socket.create_connection((host, int(port)), timeout=DEADLINE_S)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return s


def is_open(s):
    s.setblocking(False)
    try:
        return s.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


def trickle(address, count, header=None):
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(189)
    open_socks = [connect(address) for _ in range(int(count))]
    if header:
        for s in open_socks:
            s.sendall(b"PROXY TCP4 192.0.2.1 192.0.2.2 5000 80\r\n")
    print("established", flush=True)
    ended = 0
    for i in range(len(hello)):
        for s in list(open_socks):
            try:
                s.setblocking(True)
                s.sendall(hello[i:i + 1])
            except ConnectionError:
                pass
            if not is_open(s):
                open_socks.remove(s)
                ended += 1
                print("ended", ended, flush=True)
        time.sleep(0.1)
    while True:
        time.sleep(1)


def storm(address, count, each, authority):
    context = ssl.create_default_context(cafile=authority)
    results = []

    def client():
        for _ in range(int(each)):
            try:
                with context.wrap_socket(
                        connect(address), server_hostname="127.0.0.1") as s:
                    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
                    results.append(b"200" in s.recv(64))
            except OSError:
                results.append(False)

    threads = [threading.Thread(target=client) for _ in range(int(count))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"served {results.count(True)}, failed {results.count(False)}")


if __name__ == "__main__":
    {"trickle": trickle, "storm": storm}[sys.argv[1]](*sys.argv[2:])
