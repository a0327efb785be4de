#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients of the HTTP port that behave badly.

    httpfoestool.py unread ADDRESS COUNT [tls]
    httpfoestool.py viewers ADDRESS COUNT [tls]
    httpfoestool.py commands ADDRESS COUNT [tls]

unread: COUNT connections ask for more answers than buffers hold, and read
nothing.  Prints `ready` once all have got a part of it, then `ended` when the
server has closed all.

viewers: COUNT connections ask for the live stream, one after another, and read
the answer's head.  Prints `viewing N`, the number of those that got status 200, then
`ended` when the server has closed all.
commands: COUNT connections run a command that waits for an hour.  Prints `ready`
once all have sent that, then the same.
"""
import select
import socket
import ssl
import sys

WAIT_S = 120
REQUESTS = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 8
LIVE = b"GET /api/v1/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
BODY = b'{"command": "wait 1h"}'
COMMAND = (
    b"POST /api/v1/command HTTP/1.1\r\nHost: localhost\r\n"
    b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(BODY)
) + BODY


def connected(address, tls):
    host, port = address.rsplit(":", 1)
    s = socket.socket()
    # The kernel sizes the server's buffer by the segments: it stays small.
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(WAIT_S)
    s.connect((host, int(port)))
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        s = context.wrap_socket(s)
    return s


def wait_for_ends(sockets):
    """Waits for the server's reset or close, without reading."""
    poll = select.poll()
    for s in sockets:
        poll.register(s, select.POLLRDHUP)
    left = len(sockets)
    while left:
        events = poll.poll(WAIT_S * 1000)
        if not events:
            sys.exit(f"{left} connections are still open")
        for fd, _ in events:
            poll.unregister(fd)
            left -= 1
    print("ended", flush=True)


def main():
    mode, address, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    tls = sys.argv[4:] == ["tls"]
    sockets, viewing = [], 0
    for _ in range(count):
        s = connected(address, tls)
        sockets.append(s)
        if mode == "viewers":
            s.sendall(LIVE)
            viewing += s.recv(100).startswith(b"HTTP/1.1 200")
        elif mode == "commands":
            s.sendall(COMMAND)
        else:
            s.sendall(REQUESTS)
            select.select([s], [], [], WAIT_S)
    print(f"viewing {viewing}" if mode == "viewers" else "ready", flush=True)
    wait_for_ends(sockets)


main()
