#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Both ends of TLS connections, and what each knows of the other.

tlstool.py serve CERT KEY [--proxy] [--plain] [--client-ca FILE] [--alpn A,B]
[--max 1.2] [--greeting TEXT] [--unix PATH]: prints `listening on ADDRESS`, then a line of
JSON for each connection: what its PROXY header says (--proxy), and what TLS
says unless --plain.  Gives back what follows, after TEXT.  A handshake that
fails is a line with `error`.

tlstool.py connect ADDRESS [--ca FILE] [--sni NAME] [--alpn A,B] [--cert FILE
--key FILE] [--max 1.2] [--times N] [--hold]: sends a line and reads it back, N
times, each resuming the session before it; prints a line of JSON for each.
With --hold the last connection stays open until stdin ends.
"""

import argparse
import json
import socket
import ssl
import struct
import sys
import threading

SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
SSL_PARTS = {0x21: "version", 0x22: "cn", 0x23: "cipher", 0x24: "sig_alg",
             0x25: "key_alg"}


def receive(sock, size):
    data = b""
    while len(data) < size:
        more = sock.recv(size - len(data))
        if not more:
            raise ConnectionError("ended")
        data += more
    return data


def parts(data):
    while data:
        kind, size = struct.unpack(">BH", data[:3])
        assert len(data) >= 3 + size, "a value does not fit"
        yield kind, data[3:3 + size]
        data = data[3 + size:]


def read_header(sock):
    head = receive(sock, 16)
    assert head[:12] == SIGNATURE, head
    body = receive(sock, struct.unpack(">H", head[14:])[0])
    facts = {"command": head[12] & 15}
    for kind, value in parts(body[{0x11: 12, 0x21: 36}.get(head[13], 0):]):
        if kind == 1:
            facts["alpn"] = value.decode()
        elif kind == 2:
            facts["authority"] = value.decode()
        elif kind == 0x20:
            facts["client"], facts["verify"] = struct.unpack(">BI", value[:5])
            for sub, text in parts(value[5:]):
                facts[SSL_PARTS[sub]] = text.decode()
        else:
            facts["other"] = kind
    return facts


def name_of(cert):
    for rdn in (cert or {}).get("subject", ()):
        for key, value in rdn:
            if key == "commonName":
                return value
    return None


def say(lock, facts):
    with lock:
        print(json.dumps(facts), flush=True)


def serve_one(sock, context, args, lock):
    facts = {}
    try:
        sock.settimeout(60)
        if args.proxy:
            facts["proxy"] = read_header(sock)
        if not args.plain:
            sock = context.wrap_socket(sock, server_side=True)
            facts.update(sni=getattr(sock, "sni", None), reused=sock.session_reused, version=sock.version(),
                         alpn=sock.selected_alpn_protocol(),
                         cn=name_of(sock.getpeercert()))
        if args.greeting:
            sock.sendall(args.greeting.encode() + b"\n")
        first = sock.recv(65536)
        facts["first"] = first.decode(errors="replace")
        say(lock, facts)
        while first:
            sock.sendall(first)
            first = sock.recv(65536)
    except (OSError, AssertionError) as e:
        if "first" in facts:
            return
        facts["error"] = getattr(e, "reason", None) or str(e)
        say(lock, facts)
    finally:
        sock.close()


def note_sni(sock, name, context):
    sock.sni = name


def serve(args):
    context = None
    if not args.plain:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(args.cert, args.key)
        context.sni_callback = note_sni
        if args.client_ca:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(args.client_ca)
        limit(context, args)
    if args.unix:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(args.unix)
        listener.listen(100)
        print(f"listening on unix:{args.unix}", flush=True)
    else:
        listener = socket.create_server(("127.0.0.1", 0), backlog=100)
        print("listening on %s:%d" % listener.getsockname(), flush=True)
    lock = threading.Lock()
    while True:
        sock, _ = listener.accept()
        threading.Thread(target=serve_one, daemon=True,
                         args=(sock, context, args, lock)).start()


def limit(context, args):
    if args.alpn:
        context.set_alpn_protocols(args.alpn.split(","))
    if args.max:
        context.maximum_version = ssl.TLSVersion["TLSv" +
                                                 args.max.replace(".", "_")]


def connect(args):
    context = ssl.create_default_context(cafile=args.ca)
    context.check_hostname = bool(args.ca)
    if not args.ca:
        context.verify_mode = ssl.CERT_NONE
    if args.client_cert:
        context.load_cert_chain(args.client_cert, args.client_key)
    limit(context, args)
    host, port = args.address.rsplit(":", 1)
    session = None
    for i in range(args.times):
        sock = socket.create_connection((host, int(port)), timeout=60)
        try:
            sock = context.wrap_socket(sock, server_hostname=args.sni,
                                       session=session)
            sock.sendall(b"hello\n")
            data = receive(sock, 6)
            session = sock.session
            print(json.dumps({"reused": sock.session_reused,
                              "version": sock.version(),
                              "alpn": sock.selected_alpn_protocol(),
                              "echo": data.decode()}), flush=True)
            if args.hold and i + 1 == args.times:
                sys.stdin.read()
        except OSError as e:
            print(json.dumps({"error": getattr(e, "reason", None) or
                              str(e)}), flush=True)
        sock.close()


parser = argparse.ArgumentParser()
commands = parser.add_subparsers(required=True)
p = commands.add_parser("serve")
p.add_argument("cert", nargs="?")
p.add_argument("key", nargs="?")
p.add_argument("--proxy", action="store_true")
p.add_argument("--plain", action="store_true")
p.add_argument("--client-ca")
p.add_argument("--greeting")
p.add_argument("--unix")
p.set_defaults(run=serve)
q = commands.add_parser("connect")
q.add_argument("address")
q.add_argument("--ca")
q.add_argument("--sni")
q.add_argument("--cert", dest="client_cert")
q.add_argument("--key", dest="client_key")
q.add_argument("--times", type=int, default=1)
q.add_argument("--hold", action="store_true")
q.set_defaults(run=connect)
for command in (p, q):
    command.add_argument("--alpn")
    command.add_argument("--max")
args = parser.parse_args()
args.run(args)
