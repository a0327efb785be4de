#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients, and processes that lfproxy hands over to, for the tests.

    upgradetool.py connect ADDRESS
        makes one connection after another, with a request on each, until
        SIGTERM; prints `ok=N failed=N`, and the first failure
    upgradetool.py speak VERSION
        a process that was to take over, and speaks that version
    upgradetool.py activate ADDRESS... -- COMMAND...
        listens, as a service manager does, connects to each address, and
        becomes the command, with these sockets as LISTEN_FDS; prints what the
        connections were answered
"""
import os
import signal
import socket
import struct
import sys

REQUEST = b"GET / HTTP/1.0\r\nHost: x\r\n\r\n"


def connected(address):
    if address.startswith("unix:"):
        s = socket.socket(socket.AF_UNIX)
        s.connect(address[5:])
        return s
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)))


def answer(s):
    s.sendall(REQUEST)
    data = b""
    while more := s.recv(65536):
        data += more
    if not data.startswith(b"HTTP/1.") or b" 200 " not in data[:20]:
        raise OSError(f"answered {data[:60]!r}")


def connect(address):
    going = True

    def stop(*_):
        nonlocal going
        going = False

    signal.signal(signal.SIGTERM, stop)
    ok, failures = 0, []
    print("begun", flush=True)
    while going:
        try:
            with connected(address) as s:
                answer(s)
            ok += 1
        except OSError as error:
            failures.append(str(error))
    print(f"ok={ok} failed={len(failures)}", *failures[:1], flush=True)


def speak(version):
    channel = socket.socket(fileno=int(os.environ["LFPROXY_TAKEOVER"]))
    channel.send(b"lfproxy\0" + struct.pack("=II", int(version), 2))
    channel.recv(65536)


def listening(address):
    if address.startswith("unix:"):
        s = socket.socket(socket.AF_UNIX)
        s.bind(address[5:])
    else:
        host, port = address.rsplit(":", 1)
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((host, int(port)))
    s.listen(100)
    return s


def activate(addresses, command):
    sockets = [listening(a) for a in addresses]
    # What waits in the backlog before there is a process that accepts.
    for s in sockets:
        name = s.getsockname()
        client = socket.socket(s.family)
        client.connect(name)
        if os.fork() == 0:
            os.setsid()
            for other in sockets:
                other.close()
            try:
                answer(client)
                os.write(1, b"answered\n")
            except OSError as error:
                os.write(1, f"failed {error}\n".encode())
            os._exit(0)
        client.close()
    for at, s in enumerate(sockets):
        os.dup2(s.fileno(), 3 + at)
        os.set_inheritable(3 + at, True)
    os.environ.update(LISTEN_FDS=str(len(sockets)), LISTEN_PID=str(os.getpid()))
    os.execv(command[0], command)


def main():
    mode, words = sys.argv[1], sys.argv[2:]
    if mode == "activate":
        at = words.index("--")
        activate(words[:at], words[at + 1:])
    else:
        {"connect": connect, "speak": speak}[mode](*words)


main()
