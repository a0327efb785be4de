#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients and servers that ask for TLS as PostgreSQL does, and say no TLS.

    starttlstool.py serve NAME ANSWER   answers the SSLRequest with this: bytes
                                        in hexadecimal digits, none (silence),
                                        or close.  After S it says who it is,
                                        and the digest of what came before the
                                        client's FIN.  Without an SSLRequest it
                                        does so at once.
    starttlstool.py talk ADDRESS STEP...   prints what was read, a word a step

Steps: ssl, gss, plain, cancel (PostgreSQL's messages), hello=NAME, hex=DIGITS
are sent; byte-ssl, byte-gss byte by byte; `+` between them sends them together.
read reads a byte; fin sends a FIN; end reads to the end: what was read in words,
who answered if it is a server of this tool, and `reset` if that was the end.
"""
import hashlib
import re
import socket
import struct
import sys
import threading
import time

from snitool import connect, make_hello

SSL = struct.pack(">II", 8, 80877103)
MESSAGES = {
    "ssl": SSL,
    "gss": struct.pack(">II", 8, 80877104),
    "plain": struct.pack(">II", 23, 3 << 16) + b"user\0somebody\0\0",
    "cancel": struct.pack(">IIII", 16, 80877102, 1, 2),
}


def message(word):
    if word.startswith("hello="):
        return make_hello(word[6:])
    if word.startswith("hex="):
        return bytes.fromhex(word[4:])
    return MESSAGES[word]


def to_the_end(s, sent):
    got, end = b"", []
    try:
        while data := s.recv(4096):
            got += data
    except ConnectionResetError:
        end = ["reset"]
    words = re.sub(rb"[^ -~]+", b"_", got).decode().strip("_\n").split()
    if words and hashlib.sha256(sent).hexdigest() in words[-1]:
        words = [words[0]]
    return "_".join(words + end) or "closed"


def talk(address, *steps):
    said, sent = [], b""
    with connect(address) as s:
        for step in steps:
            if step == "read":
                try:
                    said.append(s.recv(1).decode() or "closed")
                except ConnectionResetError:
                    said.append("reset")
            elif step == "fin":
                s.shutdown(socket.SHUT_WR)
            elif step == "end":
                said.append(to_the_end(s, sent))
            elif step.startswith("byte-"):
                for byte in message(step[5:]):
                    s.sendall(bytes([byte]))
                    time.sleep(.01)
            else:
                data = b"".join(map(message, step.split("+")))
                sent = data if step not in ("ssl", "gss") else sent
                s.sendall(data)
    print(*said)


def answer(client, name, how):
    digest = hashlib.sha256()
    data = client.recv(8, socket.MSG_PEEK | socket.MSG_WAITALL)
    if data == SSL:
        client.recv(8)
        if how == "close":
            return
        if how != "none":
            client.sendall(bytes.fromhex(how))
    while data := client.recv(65536):
        digest.update(data)
    client.sendall(f"{name} {digest.hexdigest()}\n".encode())


def attend(client, name, how):
    with client:
        try:
            answer(client, name, how)
        except OSError:
            pass


def serve(name, how):
    s = socket.create_server(("127.0.0.1", 0), backlog=100)
    print("listening on %s:%d" % s.getsockname(), flush=True)
    while True:
        threading.Thread(target=attend, args=(s.accept()[0], name, how),
                         daemon=True).start()


if __name__ == "__main__":
    {"serve": serve, "talk": talk}[sys.argv[1]](*sys.argv[2:])
