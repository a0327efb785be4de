#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The other end of the access log, for the behaviour tests.

  logtool.py receive unix:PATH | udp   a syslog daemon: prints each datagram as
                                       a line, the first bytes of others as
                                       they are
  logtool.py read json | logfmt        parses standard input strictly; prints
                                       each record as sorted JSON, fails on the
                                       first line that is none
"""
import json
import os
import re
import socket
import sys


def receive(where):
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
        data = s.recv(65536)
        sys.stdout.buffer.write(data.replace(b"\n", b"\\n") + b"\n")
        sys.stdout.buffer.flush()


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
