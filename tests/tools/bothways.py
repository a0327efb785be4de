#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""Both ends of sessions through a proxy, neither of which reads at first.

    bothways.py [--sessions N] [--bytes N] [--urgent] [--pace]

Prints `listening on ADDRESS`, its server's, and reads the proxy's address from
a line of standard input.  Then both ends of every session write as much as the
kernel takes, nobody reads, and it prints `stuck N`, the bytes that lie between
them.  From the next line of standard input on both read, everything (with
--pace a little at a time), and compare: each end sends bytes of its own, and
then its FIN.  --urgent: now and then a byte of urgent data among them, which
who does not ask for it does not see, unless the next one comes before it was
passed: then it is as any other, and is left out when comparing.  Ends with
`ok N` or says what is wrong."""

import argparse
import hashlib
import random
import select
import socket
import sys
import time

CHUNK = 1 << 16
URGENT = b"!"
URGENT_EVERY = 1 << 20
# What an end's kernel takes on its behalf; the proxy's may take tcp_rmem's and
# tcp_wmem's most, 32 and 4 MiB where they are large.
RECEIVE_BUFFER = 1 << 20
QUIET_S = 0.5
PACE_S = 0.0002


class End:
    """One end of a session; `data` is what it sends, `wanted` the digest of
    what it is to get."""

    def __init__(self, sock, data, wanted, urgent):
        sock.setblocking(False)
        self.sock, self.data, self.wanted = sock, memoryview(data), wanted
        self.urgent = urgent
        self.urgent_at = URGENT_EVERY
        self.sent, self.digest = 0, hashlib.sha256()
        self.shut = self.ended = False

    def write(self):
        """The bytes that went."""
        before = self.sent
        try:
            while self.sent < len(self.data):
                if self.urgent and self.sent >= self.urgent_at:
                    self.sock.send(URGENT, socket.MSG_OOB)
                    self.urgent_at += URGENT_EVERY
                self.sent += self.sock.send(
                    self.data[self.sent:self.sent + CHUNK])
        except BlockingIOError:
            return self.sent - before
        if not self.shut:
            self.sock.shutdown(socket.SHUT_WR)
            self.shut = True
        return self.sent - before

    def read(self, most):
        try:
            got = self.sock.recv(most)
        except BlockingIOError:
            return
        self.digest.update(got.replace(URGENT, b"") if self.urgent else got)
        self.ended = not got

    def right(self):
        return self.digest.digest() == self.wanted


def open_sessions(options, listener, proxy):
    host, port = proxy.rsplit(":", 1)
    ends = []
    for number in range(options.sessions):
        rng = random.Random(number)
        one, two = (rng.randbytes(options.bytes).replace(URGENT, b"?")
                    for _ in range(2))
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        client.settimeout(30)
        client.connect((host, int(port)))
        server = listener.accept()[0]
        ends.append(End(client, one, hashlib.sha256(two).digest(),
                        options.urgent))
        ends.append(End(server, two, hashlib.sha256(one).digest(),
                        options.urgent))
    return ends


def fill(ends):
    """Until nothing went for a while."""
    last = time.monotonic()
    while time.monotonic() - last < QUIET_S:
        if sum(end.write() for end in ends):
            last = time.monotonic()
        else:
            time.sleep(0.01)
    return sum(end.sent for end in ends)


def drain(ends, pace):
    left = list(ends)
    while left:
        readable, writable, _ = select.select(
            [e.sock for e in left if not e.ended],
            [e.sock for e in left if not e.shut], [], 60)
        if not readable and not writable:
            raise TimeoutError("nothing came for a minute")
        for end in left:
            if end.sock in writable:
                end.write()
            if end.sock in readable:
                end.read(CHUNK // 4 if pace else 1 << 20)
        if pace:
            time.sleep(PACE_S)
        left = [e for e in left if not (e.ended and e.shut)]


def main(argv):
    parser = argparse.ArgumentParser(prog="bothways.py")
    parser.add_argument("--sessions", type=int, default=4)
    parser.add_argument("--bytes", type=int, default=48 << 20)
    parser.add_argument("--urgent", action="store_true")
    parser.add_argument("--pace", action="store_true")
    options = parser.parse_args(argv)
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    listener.settimeout(30)
    print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
    ends = open_sessions(options, listener, sys.stdin.readline().strip())
    print("stuck", fill(ends), flush=True)
    if any(end.shut for end in ends):
        print("bothways: all was taken; give more --bytes", file=sys.stderr)
        return 1
    sys.stdin.readline()
    drain(ends, options.pace)
    wrong = sum(not end.right() for end in ends)
    if wrong:
        print(f"bothways: {wrong} ends got other bytes", file=sys.stderr)
        return 1
    print("ok", len(ends) // 2, flush=True)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OSError as error:
        print(f"bothways: {error}", file=sys.stderr)
        sys.exit(1)
