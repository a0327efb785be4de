#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The other end of the access log, for the behaviour tests.

  logtool.py receive unix:PATH | udp | tcp[:PORT]
                                       a syslog daemon: prints each datagram,
                                       or each message of a counted stream
                                       (RFC 6587), as a line
  logtool.py read json | logfmt        parses standard input strictly; prints
                                       each record as sorted JSON, fails on the
                                       first line that is none
"""
import json
import os
import re
import socket
import sys
import threading


def put(data):
    sys.stdout.buffer.write(data.replace(b"\n", b"\\n") + b"\n")
    sys.stdout.buffer.flush()


def receive_stream(connection):
    with connection, connection.makefile("rb") as stream:
        while byte := stream.read(1):
            length = b""
            while byte != b" ":
                if not byte.isdigit():
                    raise ValueError("no length: %r" % (length + byte))
                length += byte
                byte = stream.read(1)
            put(stream.read(int(length)))


def receive_streams(port):
    s = socket.create_server(("127.0.0.1", port))
    print("listening on %s:%d" % s.getsockname(), flush=True)
    while True:
        threading.Thread(target=receive_stream, args=(s.accept()[0],),
                         daemon=True).start()


def receive(where):
    if where.startswith("tcp"):
        receive_streams(int(where[len("tcp:"):] or 0))
    if where == "udp":
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.bind(("127.0.0.1", 0))
        name = "%s:%d" % s.getsockname()
    else:
        path = where[len("unix:"):]
        if os.path.exists(path):
            os.unlink(path)
        s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        s.bind(path)
        name = where
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    print("listening on", name, flush=True)
    while True:
        put(s.recv(65536))


PAIR = re.compile(r'([a-z_]+)=("(?:[^"\\]|\\.)*"|[^\s"=\\]*)(?: |$)')


def parse_logfmt(line):
    record, at = {}, 0
    while at < len(line):
        m = PAIR.match(line, at)
        if not m:
            raise ValueError("no logfmt at %d: %s" % (at, line))
        if m[1] in record:
            raise ValueError("%s stands twice: %s" % (m[1], line))
        value = m[2]
        record[m[1]] = json.loads(value) if value.startswith('"') else value
        at = m.end()
    return record


def no_twins(pairs):
    if len({k for k, _ in pairs}) != len(pairs):
        raise ValueError("a name stands twice: %s" % pairs)
    return dict(pairs)


def read(kind):
    for raw in sys.stdin.buffer:
        line = raw.decode("utf-8")
        if not line.endswith("\n"):
            raise ValueError("the last line has no end: " + line)
        if kind == "json":
            record = json.loads(line, object_pairs_hook=no_twins)
        else:
            record = parse_logfmt(line[:-1])
        print(json.dumps(record, sort_keys=True))


if __name__ == "__main__":
    {"receive": receive, "read": read}[sys.argv[1]](sys.argv[2])
