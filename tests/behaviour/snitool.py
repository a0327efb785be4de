#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients that say a TLS hello and no more, and the server that takes it.

    snitool.py serve NAME [ADDRESS]     says who it is, and the digest of what
                                        came before the client's FIN
    snitool.py hello ADDRESS NAME,... [OPTION...]   the names of who answered
    snitool.py load ADDRESS NAME        one after the other until SIGTERM, then
                                        who answered how often; status 1: error
    snitool.py hold ADDRESS [BYTES]     a hello, or the first so many bytes of
                                        it, then nothing until lfproxy ends it

ADDRESS is HOST:PORT or unix:PATH; NAME none is no name.  Options of hello:

    --piece N   so many bytes at a time      --pause S   and such a pause
    --record N  in records of so many        --large     12 KB
    --stop N    a FIN after so many bytes    --reset N   the same with an RST
    --raw TEXT  this instead of a hello      --alpn A,B  offers these protocols
Whoever answers must have got just what was sent, byte for byte.
"""
import argparse
import collections
import hashlib
import signal
import socket
import ssl
import struct
import sys
import time


def connect(address):
    if address.startswith("unix:"):
        s = socket.socket(socket.AF_UNIX)
        s.connect(address[5:])
    else:
        host, port = address.rsplit(":", 1)
        s = socket.create_connection((host, int(port)))
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    s.settimeout(60)
    return s


def make_hello(name, large=False, alpn=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if large:
        context.set_alpn_protocols([f"{i:060}" for i in range(200)])
    if alpn:
        context.set_alpn_protocols(alpn.split(","))
    out = ssl.MemoryBIO()
    tls = context.wrap_bio(ssl.MemoryBIO(), out,
                           server_hostname=None if name == "none" else name)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def recut(hello, size):
    parts = [hello[i:i + size] for i in range(5, len(hello), size)]
    return b"".join(hello[:3] + struct.pack(">H", len(p)) + p for p in parts)


def answer_of(s, sent):
    """Who has answered; "" when it was closed instead."""
    got = b""
    try:
        while data := s.recv(4096):
            got += data
    except ConnectionResetError:
        pass
    if not got:
        return ""
    name, digest = got.decode().split()
    if digest != hashlib.sha256(sent).hexdigest():
        sys.exit(f"{name} has got something else than was sent")
    return name


def talk(address, data, piece=0, pause=0.0):
    with connect(address) as s:
        try:
            step = piece or len(data) or 1
            for i in range(0, len(data), step):
                s.sendall(data[i:i + step])
                time.sleep(pause)
            s.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        return answer_of(s, data)


def hello(args):
    answers = []
    for name in args.name.split(","):
        data = args.raw.encode() if args.raw else make_hello(
            name, args.large, args.alpn)
        if args.record:
            data = recut(data, args.record)
        if args.stop is not None:
            data = data[:args.stop]
        if args.reset is not None:
            with connect(args.address) as s:
                s.sendall(data[:args.reset])
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                             struct.pack("ii", 1, 0))
            return
        answers.append(talk(args.address, data, args.piece, args.pause)
                       or "closed")
    print(*answers)


def load(args):
    data, seen = make_hello(args.name), collections.Counter()
    going = [True]
    signal.signal(signal.SIGTERM, lambda *_: going.clear())
    print("begun", flush=True)
    while going:
        seen[talk(args.address, data)] += 1
    print(*(f"{k or 'closed'}={n}" for k, n in sorted(seen.items())))
    sys.exit("" in seen)


def hold(args):
    with connect(args.address) as s:
        s.sendall(make_hello("held.example")[:args.bytes])
        print("held", flush=True)
        answer_of(s, b"")


def serve(args):
    if args.address.startswith("unix:"):
        s = socket.socket(socket.AF_UNIX)
        s.bind(args.address[5:])
        at = args.address
    else:
        host, port = args.address.rsplit(":", 1)
        s = socket.create_server((host, int(port)), backlog=1000)
        at = "%s:%d" % s.getsockname()
    s.listen(1000)
    print(f"listening on {at}", flush=True)
    while True:
        client, _ = s.accept()
        digest = hashlib.sha256()
        try:
            while data := client.recv(65536):
                digest.update(data)
            client.sendall(f"{args.name} {digest.hexdigest()}\n".encode())
        except OSError:
            pass
        client.close()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    modes = parser.add_subparsers(required=True)
    mode = modes.add_parser("serve")
    mode.set_defaults(run=serve)
    mode.add_argument("name")
    mode.add_argument("address", nargs="?", default="127.0.0.1:0")
    mode = modes.add_parser("hello")
    mode.set_defaults(run=hello)
    mode.add_argument("address")
    mode.add_argument("name")
    mode.add_argument("--piece", type=int, default=0)
    mode.add_argument("--pause", type=float, default=0)
    mode.add_argument("--record", type=int)
    mode.add_argument("--large", action="store_true")
    mode.add_argument("--stop", type=int)
    mode.add_argument("--reset", type=int)
    mode.add_argument("--raw")
    mode.add_argument("--alpn")
    mode = modes.add_parser("load")
    mode.set_defaults(run=load)
    mode.add_argument("address")
    mode.add_argument("name")
    mode = modes.add_parser("hold")
    mode.set_defaults(run=hold)
    mode.add_argument("address")
    mode.add_argument("bytes", nargs="?", type=int)
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
