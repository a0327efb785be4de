#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ends of connections, with TLS or without, that end in each way.

    tlsendstool.py send ADDRESS [OPTION...]
        sends, ends, and says what came back
    tlsendstool.py hello ADDRESS [OPTION...]
        the first --size bytes of a client's hello, then nothing until the
        connection is closed
    tlsendstool.py serve NAME [OPTION...]
        answers a client's first bytes with a +, for which clients wait before
        they end; takes its bytes up to their end; answers with NAME, its count
        and its digest of them; ends

    tlsendstool.py records ADDRESS [OPTION...]
        sends --size bytes; with the answer's end it prints `records SIZE...`:
        the lengths of the records of data that came, without those of the
        handshake, each as often as it came in a row: SIZExTIMES; tickets of
        TLS 1.3 are among them

Ends: clean (close_notify, or a FIN where there is no TLS), cut (a FIN without
close_notify), reset.  Both print a line for each connection, `got BYTES DIGEST
END`, END being what the other side did.

    --tls [1.2|1.3]   speak TLS             --end clean|cut|reset   this side's
    --size N          bytes to send         --cert FILE             of a server
    --piece N         bytes for each segment, of TLS records where there is TLS
    --record N        bytes for each record
    --rest N          bytes to send when the other side has ended its half
    --first           a server answers and ends after --size bytes
"""
import argparse
import hashlib
import itertools
import random
import socket
import ssl
import struct
import sys
import threading


class Plain:
    """read() returns b"" at a clean end; a reset is a ConnectionError."""

    def __init__(self, s, args):
        self.s, self.args = s, args
        s.settimeout(100)
        if s.family != socket.AF_UNIX:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send_pieces(self, data):
        step = self.args.piece or len(data) or 1
        for i in range(0, len(data), step):
            self.s.sendall(data[i:i + step])

    def write(self, data):
        self.send_pieces(data)

    def read(self):
        return self.s.recv(65536)

    def finish(self):
        self.s.shutdown(socket.SHUT_WR)

    def end(self, how):
        if how == "clean":
            self.finish()
        elif how == "cut":
            self.s.shutdown(socket.SHUT_WR)
        else:
            self.s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                              struct.pack("ii", 1, 0))
            self.s.close()


class Tls(Plain):
    """read() raises EOFError at an end that was not announced."""

    def __init__(self, s, args, server):
        super().__init__(s, args)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server
                                 else ssl.PROTOCOL_TLS_CLIENT)
        if server:
            context.load_cert_chain(args.cert)
        else:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if args.tls != "any":
            context.minimum_version = context.maximum_version = (
                ssl.TLSVersion[f"TLSv{args.tls.replace('.', '_')}"])
        self.inward, self.outward = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.came = bytearray()
        self.tls = context.wrap_bio(self.inward, self.outward, server)

    def shake(self):
        self.call(self.tls.do_handshake)

    def flush(self):
        self.send_pieces(self.outward.read())

    def call(self, function, *args):
        while True:
            try:
                result = function(*args)
                self.flush()
                return result
            except ssl.SSLWantReadError:
                self.flush()
                data = self.s.recv(65536)
                if not data:
                    raise EOFError from None
                self.came += data
                self.inward.write(data)

    def write(self, data):
        step = self.args.record or 16384
        for i in range(0, len(data), step):
            self.call(self.tls.write, data[i:i + step])

    def read(self):
        try:
            return self.call(self.tls.read, 65536)
        except ssl.SSLZeroReturnError:
            return b""

    def finish(self):
        """close_notify alone; the FIN comes with the end of the connection."""
        try:
            self.tls.unwrap()
        except ssl.SSLError:
            pass  # It wants the peer's close_notify, or has seen data instead.
        self.flush()


def connection(s, args, server):
    if not args.tls:
        return Plain(s, args)
    c = Tls(s, args, server)
    c.shake()
    return c


def take_all(c, first=b"", take=lambda data: None):
    """Bytes, digest, and how it ended; the first bytes have come already."""
    digest, n = hashlib.sha256(first), len(first)
    try:
        while data := c.read():
            digest.update(data)
            n += len(data)
            take(data)
        end = "clean"
    except EOFError:
        end = "cut"
    except (ConnectionResetError, BrokenPipeError):
        end = "reset"
    return f"{n} {digest.hexdigest()[:16]} {end}"


def connect(address):
    if address.startswith("unix:"):
        s = socket.socket(socket.AF_UNIX)
        s.connect(address[5:])
        return s
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)))


def send(args):
    """What is sent is the same for the same size."""
    c = connection(connect(args.address), args, False)
    data = random.Random(args.size).randbytes(args.size)
    answer = []
    try:
        c.write(data)
        answer.append(c.read())
    except (BrokenPipeError, ConnectionResetError):
        print("got 0 - reset", flush=True)
        return
    print("sent", args.size, hashlib.sha256(data).hexdigest()[:16], flush=True)
    if args.rest:
        print("got", take_all(c, answer[0], answer.append), flush=True)
        c.write(random.Random(args.rest).randbytes(args.rest))
    c.end(args.end)
    if args.end == "clean" and not args.rest:
        print("got", take_all(c, answer[0], answer.append), flush=True)
    print("answer", b"".join(answer).decode(errors="replace"), flush=True)


def hello(args):
    c = Tls(connect(args.address), args, False)
    try:
        c.tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    c.s.sendall(c.outward.read()[:args.size])
    print("held", flush=True)
    print("got", take_all(Plain(c.s, args)), flush=True)


def records(args):
    c = connection(connect(args.address), args, False)
    c.write(bytes(args.size))
    c.came.clear()
    take_all(c)
    sizes, at = [], 0
    while at + 5 <= len(c.came):
        n = int.from_bytes(c.came[at + 3:at + 5], "big")
        sizes.append(n)
        at += 5 + n
    print("records", *(f"{n}x{len(list(same))}"
                       for n, same in itertools.groupby(sizes)), flush=True)


def serve_one(s, args):
    try:
        c = connection(s, args, True)
        first = c.read()
        c.write(b"+")
        if args.first:
            # Python cannot end TLS while a record is unread.
            while len(first) < args.size:
                first += c.read()
            c.write(f"{args.name}\n".encode())
            c.end(args.end)
        got = take_all(c, first)
        print("got", got, flush=True)
        if not args.first and got.endswith("clean"):
            c.write(f"{args.name} {got}".encode())
            c.end(args.end)
        if args.end != "reset":
            s.close()
    except ConnectionResetError:
        print("got 0 - reset", flush=True)
    except (OSError, EOFError) as error:
        print("failed", error, flush=True)


def serve(args):
    s = socket.create_server(("127.0.0.1", 0), backlog=100)
    print("listening on %s:%d" % s.getsockname(), flush=True)
    while True:
        client, _ = s.accept()
        threading.Thread(target=serve_one, args=(client, args),
                         daemon=True).start()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("mode", choices=["send", "hello", "records", "serve"])
    parser.add_argument("where")
    parser.add_argument("--tls", nargs="?", const="any")
    parser.add_argument("--end", default="clean",
                        choices=["clean", "cut", "reset"])
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--rest", type=int, default=0)
    parser.add_argument("--piece", type=int, default=0)
    parser.add_argument("--record", type=int, default=0)
    parser.add_argument("--cert")
    parser.add_argument("--first", action="store_true")
    args = parser.parse_args()
    args.address = args.name = args.where
    if args.mode in ("hello", "records"):
        args.tls = args.tls or "any"
    {"send": send, "hello": hello, "records": records,
     "serve": serve}[args.mode](args)


if __name__ == "__main__":
    sys.exit(main())
