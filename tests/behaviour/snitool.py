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
    snitool.py cut ADDRESS BYTES        takes clients for ADDRESS, and sends what
                                        each says first in two segments

ADDRESS is HOST:PORT or unix:PATH; NAME none is no name.  Options of hello:

    --piece N   so many bytes at a time      --pause S   and such a pause
    --record N  in records of so many        --large     12 KB
    --stop N    a FIN after so many bytes    --reset N   the same with an RST
    --raw TEXT  this instead of a hello      --alpn A,B  offers these protocols
    --newest V  TLSv1_2: the highest version
    --hybrid    1700 bytes, with a key share of X25519MLKEM768, the name last
    --each N    a connection for each Nth byte that begins a second segment
    --header TEXT   a line before the hello, for lfproxy (also of cut)
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
import threading
import time

HYBRID = struct.pack(">H", 0x11ec)
SERVER_NAME, GROUPS, PADDING, KEY_SHARES = 0, 10, 21, 51


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


def make_hello(name, large=False, alpn=None, newest=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if newest:
        context.maximum_version = ssl.TLSVersion[newest]
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


def with_size(data):
    return struct.pack(">H", len(data)) + data


def make_hybrid(hello):
    """The hello of a client with ML-KEM, in the order that servers get from
    browsers at times: the name behind the key shares."""
    at, parts = 9 + 34, {}
    for size in 1, 2, 1:  # session id, ciphers, compression
        at += size + int.from_bytes(hello[at:at + size], "big")
    head, rest = hello[9:at], hello[at + 2:]
    while rest:
        kind, size = struct.unpack(">HH", rest[:4])
        parts[kind], rest = rest[4:4 + size], rest[4 + size:]
    groups, shares = parts[GROUPS][2:], parts[KEY_SHARES][2:]
    if shares[:2] != HYBRID:
        parts[GROUPS] = with_size(HYBRID + groups)
        parts[KEY_SHARES] = with_size(
            HYBRID + with_size(bytes(range(256)) * 4 + bytes(192)) + shares)
    parts.pop(PADDING, None)
    name = parts.pop(SERVER_NAME)
    used = sum(4 + len(part) for part in parts.values()) + 4 + len(name)
    parts[PADDING] = bytes(1700 - 9 - len(head) - 2 - used - 4)
    parts[SERVER_NAME] = name
    body = head + with_size(b"".join(
        struct.pack(">H", kind) + with_size(part)
        for kind, part in parts.items()))
    return hello[:3] + with_size(b"\1" + struct.pack(">I", len(body))[1:] + body)


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


def talk(address, data, pieces=None, pause=0.0):
    with connect(address) as s:
        try:
            for piece in pieces or [data]:
                s.sendall(piece)
                time.sleep(pause)
            s.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        return answer_of(s, data)


def hello(args):
    answers = []
    for name in args.name.split(","):
        data = args.raw.encode() if args.raw else make_hello(
            name, args.large, args.alpn, args.newest)
        if args.hybrid:
            data = make_hybrid(data)
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
        sent = header_of(args) + data
        if args.each:
            answers += sorted({
                talk(args.address, data, [sent[:i], sent[i:]], args.pause)
                for i in range(1, len(sent), args.each)})
            continue
        step = args.piece or len(sent) or 1
        pieces = [sent[i:i + step] for i in range(0, len(sent), step)]
        answers.append(talk(args.address, data, pieces, args.pause)
                       or "closed")
    print(*answers)


def header_of(args):
    return (args.header + "\r\n").encode() if args.header else b""


def copy(source, to):
    try:
        while data := source.recv(65536):
            to.sendall(data)
        to.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def cut(args):
    with socket.create_server(("127.0.0.1", 0)) as s:
        print("listening on %s:%d" % s.getsockname(), flush=True)
        while True:
            client, _ = s.accept()
            with client, connect(args.address) as lfproxy:
                said = client.recv(65536)
                lfproxy.sendall(header_of(args) + said[:args.bytes])
                time.sleep(0.02)
                lfproxy.sendall(said[args.bytes:])
                back = threading.Thread(target=copy, args=(lfproxy, client))
                back.start()
                copy(client, lfproxy)
                back.join()


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
    mode.add_argument("--newest")
    mode.add_argument("--hybrid", action="store_true")
    mode.add_argument("--each", type=int)
    mode.add_argument("--header")
    mode = modes.add_parser("cut")
    mode.set_defaults(run=cut)
    mode.add_argument("address")
    mode.add_argument("bytes", type=int)
    mode.add_argument("--header")
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
