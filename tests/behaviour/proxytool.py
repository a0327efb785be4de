#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Both ends of the PROXY protocol.

proxytool.py serve ADDRESS: prints `listening on ADDRESS`, then for each
connection what its header says, in a line, `v2 TCP4 A P B P` or `v1 UNKNOWN`;
gives back what follows.  Whatever is no header is printed as such.

proxytool.py send ADDRESS HEADER... [--piece N] [--pause MS] [--data BYTES]
[--hello NAME] [--half] [--all] [--end fin|rst]: for each header, see HEADERS, a
connection that sends it in pieces of N bytes, and random data, of which the
first KiB comes in the last piece; the data must come back, or all.  Prints
`from ADDRESS`, then `echoed N`, `closed` or `reset`.
"""

import argparse
import os
import socket
import struct
import sys
import threading
import time

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
V4 = ("192.0.2.7", 50000, "192.0.2.1", 443)
V6 = ("2001:db8::7", 50000, "2001:db8::1", 443)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def v1(family, a, p, b, q):
    return f"PROXY {family} {a} {b} {p} {q}\r\n".encode()


def v2(addresses=V4, command=0x21, tlvs=b""):
    if addresses is None:
        kind, body = 0, b""
    else:
        a, p, b, q = addresses
        family = socket.AF_INET6 if ":" in a else socket.AF_INET
        kind = 0x21 if ":" in a else 0x11
        body = b"".join(socket.inet_pton(family, x) for x in (a, b))
        body += struct.pack(">HH", p, q)
    body += tlvs
    return SIGNATURE + struct.pack(">BBH", command, kind, len(body)) + body


def with_crc(wrong):
    header = v2(tlvs=b"\3\0\4" + bytes(4))
    crc = crc32c(header) ^ wrong
    return header[:-4] + struct.pack(">I", crc)


def tlv(kind, value):
    return struct.pack(">BH", kind, len(value)) + value


HEADERS = {
    "none": lambda arg: b"",
    "v1": lambda arg: v1("TCP4", *(V4[:1] if not arg else (arg,)), *V4[1:]),
    "v1-ipv6": lambda arg: v1("TCP6", *V6),
    "v1-unknown": lambda arg: b"PROXY UNKNOWN\r\n",
    "v2": lambda arg: v2(),
    "v2-ipv6": lambda arg: v2(V6),
    "v2-local": lambda arg: v2(None, 0x20),
    "v2-unspec": lambda arg: v2(None),
    "v2-crc": lambda arg: with_crc(0),
    "v2-crc-wrong": lambda arg: with_crc(1),
    "v2-authority": lambda arg: v2(tlvs=tlv(2, arg.encode())),
    "v2-long": lambda arg: v2(tlvs=tlv(0xEE, bytes(int(arg)))),
    "text": lambda arg: arg.encode().decode("unicode_escape").encode(),
}


def address_of(text):
    if text.startswith("unix:"):
        return socket.AF_UNIX, text[5:]
    host, port = text.rsplit(":", 1)
    host = host.strip("[]")
    return socket.AF_INET6 if ":" in host else socket.AF_INET, (host, int(port))


def address_text(sock):
    name = sock.getsockname()
    if sock.family == socket.AF_UNIX:
        return f"unix:{name}"
    return f"[{name[0]}]:{name[1]}" if ":" in name[0] else f"{name[0]}:{name[1]}"


# -- the server --


async def read_v1(reader, begin):
    line = begin + await reader.readuntil(b"\r\n")
    if len(line) > 107:
        raise ValueError("a line of more than 107 bytes")
    words = line[:-2].decode().split(" ")
    if words[1] == "UNKNOWN":
        return "v1 UNKNOWN"
    _, family, a, b, p, q = words
    for address in a, b:
        socket.inet_pton(
            socket.AF_INET if family == "TCP4" else socket.AF_INET6, address)
    return f"v1 {family} {a} {p} {b} {q}"


def read_tlvs(body):
    said = ""
    while body:
        kind, length = struct.unpack(">BH", body[:3])
        if kind == 2:
            said += f" authority={body[3:3 + length].decode()}"
        body = body[3 + length:]
    return said


async def read_v2(reader, begin):
    head = begin + await reader.readexactly(16 - len(begin))
    if head[:12] != SIGNATURE or head[12] >> 4 != 2:
        raise ValueError(f"no header: {head}")
    kind, length = struct.unpack(">BH", head[13:])
    body = await reader.readexactly(length)
    if head[12] == 0x20:
        return "v2 LOCAL"
    if kind == 0:
        return "v2 UNSPEC" + read_tlvs(body)
    family, size = {0x11: (socket.AF_INET, 4), 0x21: (socket.AF_INET6, 16)}[kind]
    a = socket.inet_ntop(family, body[:size])
    b = socket.inet_ntop(family, body[size:2 * size])
    p, q = struct.unpack(">HH", body[2 * size:2 * size + 4])
    name = "TCP4" if size == 4 else "TCP6"
    return f"v2 {name} {a} {p} {b} {q}" + read_tlvs(body[2 * size + 4:])


async def echo(reader, writer):
    import asyncio

    try:
        begin = await reader.readexactly(6)
        read = read_v1 if begin == b"PROXY " else read_v2
        print(await read(reader, begin), flush=True)
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except asyncio.IncompleteReadError as error:
        if error.partial:
            print(f"half: {error.partial}", flush=True)
    except (ValueError, KeyError, asyncio.LimitOverrunError) as error:
        print(f"wrong: {error!r}", flush=True)
    except ConnectionError:
        pass
    finally:
        writer.close()


async def serve(text):
    import asyncio

    family, address = address_of(text)
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(address)
    server = await asyncio.start_server(echo, sock=sock, backlog=200)
    print(f"listening on {address_text(sock)}", flush=True)
    await server.serve_forever()


# -- the client --


def hello(name):
    """What a TLS client says first."""
    import ssl

    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    tls = context.wrap_bio(incoming, outgoing, server_hostname=name)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def pieces(header, data, size):
    """The header's last piece comes together with the first KiB."""
    first = header + data[:1024]
    ends = list(range(size, len(header), size)) + [len(first)]
    begin = 0
    for end in ends:
        yield first[begin:end]
        begin = end
    yield data[1024:]


def say(sock, options, header, data):
    try:
        for piece in pieces(header, data, options.piece):
            sock.sendall(piece)
            time.sleep(options.pause / 1000)
        if options.end == "fin":
            sock.shutdown(socket.SHUT_WR)
    except ConnectionError:
        pass


def hear(sock, wanted, to_the_end):
    """What comes must be what is wanted; how it ended."""
    got = 0
    try:
        while got < len(wanted) or to_the_end:
            data = sock.recv(65536)
            if not data:
                break
            if data != wanted[got:got + len(data)]:
                sys.exit(f"byte {got} or one after it is another")
            got += len(data)
    except ConnectionError:
        return "reset"
    return f"echoed {got}" if wanted and got == len(wanted) else "closed"


def send(options, kind):
    kind, _, arg = kind.partition("=")
    header = HEADERS[kind](arg)
    data = os.urandom(options.data)
    if options.hello:
        data = hello(options.hello) + data
    if options.half:
        header, data = header[:len(header) // 2], b""
    family, address = address_of(options.address)
    with socket.socket(family, socket.SOCK_STREAM) as sock:
        sock.settimeout(60)
        sock.connect(address)
        if family != socket.AF_UNIX:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            print(f"from {address_text(sock)}", flush=True)
        if options.end == "rst":
            say(sock, options, header, data)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                            struct.pack("ii", 1, 0))
            return
        sender = threading.Thread(
            target=say, args=(sock, options, header, data))
        sender.start()
        wanted = header + data if options.all else data
        print(hear(sock, wanted, options.end != "no" or not data), flush=True)
        sender.join()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("serve")
    command.add_argument("address")
    command = commands.add_parser("send")
    command.add_argument("address")
    command.add_argument("header", nargs="+")
    command.add_argument("--piece", type=int, default=1 << 20)
    command.add_argument("--pause", type=float, default=0)
    command.add_argument("--data", type=int, default=0)
    command.add_argument("--hello")
    command.add_argument("--half", action="store_true")
    command.add_argument("--all", action="store_true")
    command.add_argument("--end", choices=("no", "fin", "rst"),
                         default="no")
    options = parser.parse_args()
    if options.command == "serve":
        import asyncio  # which takes its time, as ssl does

        asyncio.run(serve(options.address))
    else:
        for header in options.header:
            send(options, header)


main()
