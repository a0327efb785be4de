#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients of a load balancer in front of lfproxy: they ask again and again, and
send nobody to an lfproxy that is not ready.

    load.py PORT HTTP_PORT

Four clients make one session after the other, each of 64 KiB in 300 ms, with a
checksum at its end.  When /readyz answers 503 they begin no further session.
Prints `started` after the first session, and at the end a line
`sessions=N refused=N cut=N`.  Ends when lfproxy is not ready any more and all
sessions have ended.
"""
import hashlib
import socket
import sys
import threading
import time
import urllib.error
import urllib.request

BLOCK = b"x" * 8192
BLOCKS = 8


def serve(listener):
    """The server: sends back the digest of what it gets."""
    while True:
        conn, _ = listener.accept()
        threading.Thread(target=answer, args=(conn,), daemon=True).start()


def answer(conn):
    digest = hashlib.sha256()
    with conn:
        while data := conn.recv(65536):
            digest.update(data)
        conn.sendall(digest.hexdigest().encode())


class Clients:
    def __init__(self, port, http):
        self.port, self.http = port, http
        self.ready = True
        self.lock = threading.Lock()
        self.counts = {"sessions": 0, "refused": 0, "cut": 0}

    def count(self, what):
        with self.lock:
            self.counts[what] += 1
            if what == "sessions" and self.counts[what] == 1:
                print("started", flush=True)

    def session(self):
        try:
            s = socket.create_connection(("127.0.0.1", self.port), 60)
        except OSError:
            self.count("refused")
            return
        try:
            with s:
                for _ in range(BLOCKS):
                    s.sendall(BLOCK)
                    time.sleep(0.3 / BLOCKS)
                s.shutdown(socket.SHUT_WR)
                got = b""
                while data := s.recv(100):
                    got += data
        except OSError:
            got = b""
        wanted = hashlib.sha256(BLOCK * BLOCKS).hexdigest().encode()
        self.count("sessions" if got == wanted else "cut")

    def run(self):
        while self.ready:
            self.session()

    def watch(self):
        """As a load balancer's health check does."""
        while self.ready:
            try:
                url = f"http://127.0.0.1:{self.http}/readyz"
                urllib.request.urlopen(url, timeout=60).read()
                time.sleep(0.1)
            except (urllib.error.HTTPError, OSError):
                self.ready = False


def main():
    clients = Clients(int(sys.argv[1]), int(sys.argv[2]))
    threads = [threading.Thread(target=clients.run) for _ in range(4)]
    threads.append(threading.Thread(target=clients.watch))
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    print(" ".join(f"{k}={v}" for k, v in clients.counts.items()), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        listener = socket.create_server(("127.0.0.1", int(sys.argv[2])))
        serve(listener)
    else:
        main()
