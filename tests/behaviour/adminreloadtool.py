#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients of admin sockets and of the HTTP port while both come and go.

    adminreloadtool.py whole SOCKET TIMES COMMAND RCVBUF
            sends the command so many times in a line, prints `asked` once the
            answer has begun, and reads on after a line on stdin; prints how
            many answers there were, and whether the last one has its end
    adminreloadtool.py page HOST:PORT PATH SOCKET
            asks for the page and does not read it, has it reload by the admin
            SOCKET, and prints what it answers; then how the page ends, what
            another connection that is kept is answered, and when one ends that
            says nothing
    adminreloadtool.py backlog PID SOCKET HOST:PORT COUNT
            connects so often to each, and asks, while the process stands still,
            and then has it reload; prints how many were answered
    adminreloadtool.py levels SOCKET ONE FILE
            reloads, after FILE has become ONE, on a connection of the SOCKET,
            beside others; prints the answer, and the level of each: the one
            that asked, one that had made itself a user, a new one
    adminreloadtool.py storm FILE ONE TWO STABLE HTTP SOCKETS REBOUNDS
            reloads to and fro between the files ONE and TWO, each time by the
            admin socket that goes, while clients ask at all sockets and ports;
            SOCKETS: the two that come and go, HTTP: the ports, commas between
"""
import os
import signal
import socket
import sys
import threading
import time

DEADLINE_S = 60
IDLE_S = 2.5


def unix(path, rcvbuf=0):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(DEADLINE_S)
    if rcvbuf:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
    s.connect(path)
    return s


def read_all(s):
    parts = []
    while True:
        part = s.recv(65536)
        if not part:
            return b"".join(parts)
        parts.append(part)


def ask(path, line):
    with unix(path) as s:
        s.sendall(line + b"\n")
        return read_all(s)


def whole(path, times, command, rcvbuf):
    s = unix(path, int(rcvbuf))
    s.sendall(b";".join([command.encode()] * int(times)) + b"\n")
    head = s.recv(1)
    print("asked", flush=True)
    sys.stdin.readline()
    text = head + read_all(s)
    print("answers", text.count(b"\n\n"), "the last", text[-2:] == b"\n\n")


def read_head(s):
    text = b""
    while b"\r\n\r\n" not in text:
        part = s.recv(65536)
        if not part:
            raise EOFError("no answer, after %r" % text)
        text += part
    return text.split(b"\r\n\r\n", 1)


def read_chunks(s, rest):
    """The body, and what is behind it."""
    body = b""
    while True:
        while b"\r\n" not in rest:
            rest += s.recv(65536) or b"no line\r\n"
        size, rest = rest.split(b"\r\n", 1)
        size = int(size, 16)
        while len(rest) < size + 2:
            part = s.recv(65536)
            if not part:
                raise EOFError("cut within a chunk")
            rest += part
        body, rest = body + rest[:size], rest[size + 2:]
        if size == 0:
            return body, rest


def read_page(s):
    head, rest = read_head(s)
    if not head.startswith(b"HTTP/1.1 200 "):
        raise ValueError(head)
    if b"ransfer-Encoding: chunked" in head:
        return head, read_chunks(s, rest)[0]
    size = [int(line.split(b":")[1]) for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")][0]
    while len(rest) < size:
        part = s.recv(65536)
        if not part:
            raise EOFError("cut within a page")
        rest += part
    return head, rest


def connect(where, rcvbuf=0):
    host, port = where.rsplit(":", 1)
    s = socket.socket()
    s.settimeout(DEADLINE_S)
    if rcvbuf:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, rcvbuf)
    s.connect((host, int(port)))
    return s


def get(path):
    return b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path.encode()


def page(where, path, admin):
    s = connect(where, 4096)
    idle = connect(where)
    silent = connect(where)
    idle.sendall(get("/healthz"))
    read_page(idle)
    # It has been idle for longer than it is given to leave.
    time.sleep(IDLE_S)
    s.sendall(get(path))
    s.recv(1, socket.MSG_PEEK)
    began = time.monotonic()
    answer = ask(admin, b"reload").decode().strip()
    idle.sendall(get("/healthz"))
    head, body = read_page(idle)
    print(answer)
    print("last", b"Connection: close" in head and body == b"ok\n")
    print("end", idle.recv(1))
    # The library's own limit is 10 s.
    print("silent", silent.recv(1), time.monotonic() - began < 8)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    body = read_page(s)[1]
    print("page", len(body), "end", s.recv(1))


def converse(s, line):
    s.sendall(line + b"\n")
    text = b""
    while not text.endswith(b"\n> "):
        part = s.recv(65536)
        if not part:
            raise EOFError("cut after %r" % text)
        text += part
    return text[:-3].decode().strip()


def levels(path, one, file):
    asks, user = unix(path), unix(path)
    for s in (asks, user):
        converse(s, b"prompt")
    converse(user, b"user")
    os.rename(one, file)
    print(converse(asks, b"reload"))
    print([converse(s, b"show cli level") for s in (asks, user)],
          ask(path, b"show cli level").decode().strip())


def backlog(pid, path, where, count):
    os.kill(int(pid), signal.SIGSTOP)
    admin = [unix(path) for _ in range(int(count))]
    http = [connect(where) for _ in range(int(count))]
    for s in admin:
        s.sendall(b"show info\n")
    for s in http:
        s.sendall(get("/healthz"))
    os.kill(int(pid), signal.SIGHUP)
    os.kill(int(pid), signal.SIGCONT)
    print("admin", sum(read_all(s).endswith(b"\n\n") for s in admin),
          "http", sum(read_page(s)[1] == b"ok\n" for s in http))


class Storm:
    def __init__(self):
        self.over = False
        self.wrong = []
        self.done = {}
        self.reset = 0

    def count(self, name):
        self.done[name] = self.done.get(name, 0) + 1

    def admin(self, name, path):
        """Who has connected has a whole answer, also where the socket goes."""
        while not self.over:
            try:
                s = unix(path)
            except (FileNotFoundError, ConnectionRefusedError):
                if name == "stable":
                    self.wrong.append("%s: refused" % name)
                time.sleep(0.001)
                continue
            try:
                with s:
                    s.sendall(b"show info\n")
                    text = read_all(s)
                if not text.startswith(b"Name: ") or text[-2:] != b"\n\n":
                    self.wrong.append("%s: %r" % (name, text[-40:]))
                self.count(name)
            except OSError as e:
                self.wrong.append("%s: %r" % (name, e))

    def prompt(self, path):
        """One connection, which no reload cuts."""
        with unix(path) as s:
            s.sendall(b"prompt\n")
            while not self.over:
                text = b""
                s.sendall(b"show cli level\n")
                while not text.endswith(b"\n\n> "):
                    part = s.recv(65536)
                    if not part:
                        self.wrong.append("the prompt was cut")
                        return
                    text += part
                self.count("prompt")
                time.sleep(0.001)

    def scrape(self, where):
        while not self.over:
            try:
                s = connect(where)
            except (ConnectionRefusedError, ConnectionResetError):
                time.sleep(0.001)
                continue
            try:
                with s:
                    for _ in range(3):
                        s.sendall(get("/metrics"))
                        head, body = read_page(s)
                        if not body.endswith(b"\n"):
                            self.wrong.append("a page is cut")
                        self.count("http")
                        if b"Connection: close" in head:
                            break
            except (ConnectionResetError, BrokenPipeError):
                # A handshake may cross with the close of the port.
                self.reset += 1
            except (OSError, EOFError, ValueError) as e:
                self.wrong.append("%s: %r" % (where, e))


def storm(file, one, two, stable, ports, sockets, rebounds):
    a, b = sockets.split(",")
    run = Storm()
    rebounds = int(rebounds)
    jobs = [(run.admin, ("stable", stable)), (run.prompt, (stable,))]
    jobs += [(run.admin, ("moving", path)) for path in (a, b)]
    jobs += [(run.scrape, (where,)) for where in ports.split(",")] * 2
    threads = [threading.Thread(target=f, args=args) for f, args in jobs]
    for t in threads:
        t.start()
    for i in range(rebounds):
        os.symlink((two, one)[i % 2], file + ".new")
        os.rename(file + ".new", file)
        text = ask((a, b)[i % 2], b"reload")
        if text.count(b" is removed\n") != 1 or text[-2:] != b"\n\n":
            run.wrong.append("reload %d: %r" % (i, text))
    run.over = True
    for t in threads:
        t.join()
    print("wrong", sorted(set(run.wrong)))
    print("resets", run.reset)
    print("all", sorted(name for name, n in run.done.items() if n >= 5))
    print(run.done)


def main():
    kind, args = sys.argv[1], sys.argv[2:]
    {"whole": whole, "page": page, "levels": levels, "backlog": backlog,
     "storm": storm}[kind](*args)


main()
