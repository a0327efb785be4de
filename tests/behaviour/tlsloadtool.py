#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peers that do TLS badly or slowly.

tlsloadtool.py server KIND CERT KEY: prints `listening on ADDRESS`.  After a
client's hello it answers with a fatal alert (refuse), a FIN (fin), a reset
(reset), what is no TLS (garbage), half of its flight and a FIN (half), or
nothing (hang); early completes a handshake of TLS 1.2 and resets the connection
at once.  Prints `hello` for each client.

tlsloadtool.py silent ADDRESS N [BYTES]: opens N connections, sends so many
bytes of a hello, and prints `established N`; then `ended N` once all have been
closed.

tlsloadtool.py trickle ADDRESS CA [TIMES]: handshakes with each byte sent by
itself, then a line and its echo.
"""

import socket
import ssl
import struct
import sys
import threading

# A fatal alert: handshake_failure.
REFUSAL = b"\x15\x03\x03\x00\x02\x02\x28"


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack("ii", 1, 0))
    sock.close()


class Memory:
    """One end of a connection whose bytes the caller moves."""

    def __init__(self, context, sock, **kind):
        self.sock = sock
        self.inward, self.outward = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.inward, self.outward, **kind)

    def flush(self, portion=65536):
        data = self.outward.read()
        for at in range(0, len(data), portion):
            self.sock.sendall(data[at:at + portion])

    def do(self, call, portion=65536):
        while True:
            try:
                result = call()
                self.flush(portion)
                return result
            except ssl.SSLWantReadError:
                self.flush(portion)
                data = self.sock.recv(65536)
                if not data:
                    raise ConnectionError("ended")
                self.inward.write(data)


def half(context, sock):
    end = Memory(context, sock, server_side=True)
    end.inward.write(sock.recv(65536))
    try:
        end.tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    flight = end.outward.read()
    sock.sendall(flight[:len(flight) // 2])
    sock.close()


def early(context, sock):
    """The server's Finished is the last message, and the reset follows."""
    end = Memory(context, sock, server_side=True)
    end.do(end.tls.do_handshake)
    reset(sock)


def serve_one(kind, context, sock):
    try:
        if kind == "early":
            early(context, sock)
            return
        if kind == "half":
            half(context, sock)
            return
        sock.recv(65536)
        if kind == "hang":
            while sock.recv(65536):
                pass
        if kind == "refuse":
            sock.sendall(REFUSAL)
        if kind == "garbage":
            sock.sendall(b"220 mail.example ESMTP\r\n" * 20)
        if kind == "reset":
            reset(sock)
        else:
            sock.close()
    except (OSError, ConnectionError):
        sock.close()


def server(kind, cert, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    if kind == "early":
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    listener = socket.create_server(("127.0.0.1", 0), backlog=100)
    print("listening on 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
    while True:
        sock, _ = listener.accept()
        print("hello", flush=True)
        threading.Thread(target=serve_one, args=(kind, context, sock),
                         daemon=True).start()


def connect(address):
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)))


def silent(address, count, size="0"):
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(300)
    socks = [connect(address) for _ in range(int(count))]
    for sock in socks:
        sock.sendall(hello[:int(size)])
    print("established", len(socks), flush=True)
    for sock in socks:
        try:
            while sock.recv(4096):
                pass
        except ConnectionResetError:
            pass
    print("ended", len(socks), flush=True)


def trickle(address, authority, times="1"):
    for n in range(int(times)):
        context = ssl.create_default_context(cafile=authority)
        if n % 2:
            context.maximum_version = ssl.TLSVersion.TLSv1_2
        sock = connect(address)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end = Memory(context, sock, server_hostname="127.0.0.1")
        end.do(end.tls.do_handshake, portion=1)
        for line in (b"a line\n", b"x" * 3000 + b"\n"):
            end.do(lambda data=line: end.tls.write(data), portion=1)
            got = b""
            while len(got) < len(line):
                got += end.do(lambda: end.tls.read(65536))
            assert got == line, got
        sock.close()
    print("ok", times)


if __name__ == "__main__":
    {"server": server, "silent": silent,
     "trickle": trickle}[sys.argv[1]](*sys.argv[2:])
