#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Looks at `show stat` again and again, as dashboards do, until SIGTERM.

    stattool.py SOCKET SERVER BACKEND

Each answer is whole: all rows have as many fields as the head, SERVER is there
once, BACKEND's own row is behind its servers, no server is there twice, and no
two of a backend have the same id.  Prints how many answers it saw.
"""
import csv
import io
import signal
import socket
import sys


def ask(path):
    answer = b""
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(30)
        s.connect(path)
        s.sendall(b"show stat\n")
        while data := s.recv(65536):
            answer += data
    return answer.decode()


def check(text, server, backend):
    assert text.endswith("\n\n"), "it does not end"
    rows = list(csv.reader(io.StringIO(text.rstrip("\n"))))
    head = rows[0]
    assert all(len(r) == len(head) for r in rows), "rows of several lengths"
    mine = [r for r in rows[1:] if r[0] == backend]
    names = [r[1] for r in mine]
    ids = [r[head.index("sid")] for r in mine]
    assert names.count(server) == 1, f"{server} is there {names}"
    assert names[-1] == "BACKEND", names
    assert len(set(names)) == len(names), f"twice: {names}"
    assert len(set(ids)) == len(ids), f"ids: {ids}"
    return names


def main():
    path, server, backend = sys.argv[1:]
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    answers, seen = 0, set()
    while not stop:
        seen.update(check(ask(path), server, backend))
        answers += 1
    print(f"{answers} answers, {len(seen)} names")
    return answers < 3 or len(seen) < 3


if __name__ == "__main__":
    sys.exit(main())
