#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Clients, and processes that lfproxy hands over to, for the tests.

    upgradetool.py connect ADDRESS
        makes one connection after another, with a request on each, until
        SIGTERM; prints `ok=N failed=N`, and the first failure
    upgradetool.py speak VERSION
        a process that was to take over, and speaks that version
    upgradetool.py descriptors N
        a process that was to take over, and sends a session instead, with N
        descriptors
    upgradetool.py activate ADDRESS... -- COMMAND...
        listens, as a service manager does, connects to each address, and
        becomes the command, with these sockets as LISTEN_FDS; prints what the
        connections were answered.  NAME=ADDRESS gives the socket that name in
        LISTEN_FDNAMES
    upgradetool.py server [ADDRESS]
        prints `listening on ADDRESS`; reads the first bytes of each connection
        and prints `got LINE, N open`; each SIGUSR1 has the connection that has
        waited longest answered with the line, and closed
    upgradetool.py ask ADDRESS LINE [half]
        connects, prints `connected`, sends the line (half: and a FIN), and
        prints `answered LINE`, or what went wrong
    upgradetool.py hello ADDRESS NAME
        connects and prints `connected`; sends a TLS hello for that name upon
        SIGUSR1; prints `answered` when bytes come
    upgradetool.py former ADMIN ADDRESS STEP...
        a process that an lfproxy takes over from with `-x ADMIN`, and that
        listens at ADDRESS; hands over up to COMMIT and prints `ready` upon
        READY; each SIGUSR1 has it take a step and print it: `left` sends LEFT
        and awaits the names, `counts=N` says that it has N sessions at each
        server, `web=N` of each frontend, `passed=N` that it has N sessions,
        `end` ends it
    upgradetool.py successor
        a process that takes over, and ends when it has read LEFT
    upgradetool.py stranger
        prints `listening on @NAME`, where it waits for a process to take over
        from; ends as soon as it has said READY, which the other one reads after
        that
    upgradetool.py keep ADMIN HTTP
        asks again and again on one connection to the admin socket and on one to
        the HTTP port; prints `PID answers` for each process that answers the
        first one, and `admin closed` and `http closed`
    upgradetool.py scrape HTTP
        reads the metrics again and again until SIGTERM, on a connection each;
        prints `begun`, each counter of a frontend, a backend or a server that
        has gone back, and `scrapes=N`
    upgradetool.py meddle LFPROXYCTL ADMIN FILE
        changes threads, shards and policy of the pool main, and drain_timeout
        in the file, and has it read again, ten times a second until SIGTERM;
        prints `begun`, what has failed, and `done=N`; any of these may find an
        upgrade under way
"""
import http.client
import os
import re
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time

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


def activate(words, command):
    pairs = [w.rpartition("=") for w in words]
    sockets = [listening(address.removesuffix("/keepalive"))
               for _, _, address in pairs]
    for s, (_, _, address) in zip(sockets, pairs):
        if address.endswith("/keepalive"):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if any(name for name, _, _ in pairs):
        os.environ["LISTEN_FDNAMES"] = ":".join(name for name, _, _ in pairs)
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


class Server:
    """Connections that wait for SIGUSR1, in the order of their first bytes."""

    def __init__(self, address):
        self.listener = listening(address)
        self.lock = threading.Lock()
        self.turns = threading.Semaphore(0)
        self.waiting, self.open = [], 0
        host, port = self.listener.getsockname()
        print(f"listening on {host}:{port}", flush=True)

    def serve(self, s):
        with self.lock:
            self.open += 1
        line = s.recv(65536)
        text = "".join(c for c in line.decode("latin-1").strip()
                       if c.isprintable())
        with self.lock:
            self.waiting.append((s, line))
            print(f"got {text}, {self.open} open", flush=True)

    def answer_one(self):
        while True:
            self.turns.acquire()
            with self.lock:
                s, line = self.waiting.pop(0)
                self.open -= 1
                try:
                    s.sendall(line)
                except OSError as error:
                    print(f"failed {error}", flush=True)
                s.close()

    def run(self):
        signal.signal(signal.SIGUSR1, lambda *_: self.turns.release())
        threading.Thread(target=self.accept, daemon=True).start()
        threading.Thread(target=self.answer_one, daemon=True).start()
        while True:
            signal.pause()

    def accept(self):
        while True:
            s, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=[s], daemon=True).start()


def server(address="127.0.0.1:0"):
    Server(address).run()


def ask(address, line, how=""):
    with connected(address) as s:
        print("connected", flush=True)
        s.sendall(line.encode() + b"\n")
        if how == "half":
            s.shutdown(socket.SHUT_WR)
        data = b""
        while more := s.recv(65536):
            data += more
        print("answered", data.decode().strip(), flush=True)


def hello(address, name):
    context = ssl.create_default_context()
    out = ssl.MemoryBIO()
    tls = context.wrap_bio(ssl.MemoryBIO(), out, server_hostname=name)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    with connected(address) as s:
        print("connected", flush=True)
        signal.sigwait({signal.SIGUSR1})
        s.sendall(out.read())
        if s.recv(65536):
            print("answered", flush=True)


HEAD = struct.Struct("=8sII")
(SOCKETS, COMMANDS, COMMIT, READY, FAILED, LEFT, NAMES, NAMES_END, COUNTS,
 SESSION, PASSED) = range(11)


def tell(channel, kind, text=b"", fds=()):
    data = HEAD.pack(b"lfproxy", 1, kind) + text
    if fds:
        socket.send_fds(channel, [data], fds)
    else:
        channel.send(data)


def hear(channel):
    data = channel.recv(1 << 18)
    if not data:
        raise OSError("the other process has gone")
    return HEAD.unpack(data[:HEAD.size])[2], data[HEAD.size:]


def wire_address(s):
    """As struct sockaddr_in in a struct wire_addr."""
    host, port = s.getsockname()
    addr = struct.pack("=H", socket.AF_INET) + struct.pack("!H", port) + \
        socket.inet_aton(host) + bytes(8)
    return struct.pack("=I", len(addr)) + addr.ljust(110, b"\0") + b"\0\0"


def former(admin, address, *steps):
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    listener = listening(address)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(admin)
        s.listen(1)
        print("listening on unix:" + admin, flush=True)
        connection, _ = s.accept()
    name = connection.recv(1000).decode().split()[1]
    channel = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    channel.connect("\0" + name[1:])
    tell(channel, SOCKETS, wire_address(listener), [listener.fileno()])
    tell(channel, COMMIT)
    kind, _ = hear(channel)
    print("ready" if kind == READY else f"heard {kind}", flush=True)
    counted = {}
    for step in steps:
        signal.sigwait({signal.SIGUSR1})
        if step == "left":
            listener.close()
            tell(channel, LEFT)
            names = b""
            while (heard := hear(channel))[0] == NAMES:
                names += heard[1]
            for number, line in enumerate(names.decode().splitlines(), 1):
                counted.setdefault(line.split()[0], []).append(number)
        elif step.startswith(("counts=", "web=")):
            kind = "server" if step[0] == "c" else "frontend"
            tell(channel, COUNTS, "".join(
                f"{number} {step.split('=')[1]}\n"
                for number in counted[kind]).encode())
        elif step.startswith("passed="):
            tell(channel, PASSED, step[7:].encode())
        elif step == "end":
            channel.close()
        print(step, flush=True)


def successor():
    channel = socket.socket(fileno=int(os.environ["LFPROXY_TAKEOVER"]))
    while hear(channel)[0] != COMMIT:
        pass
    tell(channel, READY, b"sessions")
    while hear(channel)[0] != LEFT:
        pass


def descriptors(n):
    channel = socket.socket(fileno=int(os.environ["LFPROXY_TAKEOVER"]))
    tell(channel, SESSION, b"", [0] * int(n))
    while channel.recv(65536):
        pass


def stands_still(pid):
    states = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/stat", encoding="utf-8") as f:
            states.append(f.read().rsplit(")", 1)[1].split()[0])
    return set(states) == {"T"}


def stranger():
    name = f"lfproxy-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
        s.bind("\0" + name)
        s.listen(1)
        print(f"listening on @{name}", flush=True)
        channel, _ = s.accept()
    while hear(channel)[0] != COMMIT:
        pass
    former = struct.unpack("=iII", channel.getsockopt(
        socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    os.kill(former, signal.SIGSTOP)
    while not stands_still(former):
        pass
    tell(channel, READY, b"sessions")
    channel.close()
    os.kill(former, signal.SIGCONT)


def meddle(program, admin, path):
    stopped, done = threading.Event(), 0

    def ctl(*words):
        nonlocal done
        p = subprocess.run([program, "-S", admin, *words], check=False,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = p.stdout.decode().strip()
        if p.returncode == 0:
            done += 1
        elif "and there are" in said or "cannot serve" in said:
            # A reload, or another process, has set the threads back, or an
            # upgrade has refused a change of the shards.
            pass
        elif ("n upgrade is under way" not in said and
              "lfproxy is stopping" not in said):
            print(*words, p.returncode, said, flush=True)

    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    print("begun", flush=True)
    number = 0
    while not stopped.wait(0.1):
        number += 1
        ctl("set", "pool", "main", "threads", str(1 + number % 4))
        ctl("set", "pool", "main", "shards",
            str(min(1 + number % 4, 1 + number % 3)))
        ctl("set", "pool", "main", "promotion",
            ("adaptive", "always", "kernel")[number % 3])
        with open(path, encoding="utf-8") as f:
            text = re.sub(r"(?m)^drain_timeout = .*",
                          f"drain_timeout = {10 + number % 50}m", f.read())
        with open(path + ".new", "w", encoding="utf-8") as f:
            f.write(text)
        os.rename(path + ".new", path)
        ctl("reload")
    print(f"done={done}", flush=True)


def keep_http(address):
    host, port = address.rsplit(":", 1)
    kept = http.client.HTTPConnection(host, int(port), timeout=60)
    kept.auto_open = 0
    kept.connect()
    try:
        while True:
            kept.request("GET", "/metrics")
            kept.getresponse().read()
            time.sleep(0.1)
    except (OSError, http.client.HTTPException):
        print("http closed", flush=True)


def keep(admin, address):
    other = threading.Thread(target=keep_http, args=(address,))
    other.start()
    with connected("unix:" + admin) as s:
        pids, data = set(), b"prompt\n"
        s.sendall(data)
        while data:
            text = b""
            while not text.endswith(b"> ") and (data := s.recv(65536)):
                text += data
            for pid in re.findall(rb"(?m)^Pid: (\d+)", text):
                if pid not in pids:
                    print(pid.decode(), "answers", flush=True)
                pids.add(pid)
            time.sleep(0.1)
            try:
                s.sendall(b"show info\n")
            except OSError:
                break
    print("admin closed", flush=True)
    other.join()


def scrape(address):
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    host, port = address.rsplit(":", 1)
    before, n = {}, 0
    print("begun", flush=True)
    while not stopped.is_set():
        c = http.client.HTTPConnection(host, int(port), timeout=60)
        c.request("GET", "/metrics")
        text = c.getresponse().read().decode()
        c.close()
        for name, value in re.findall(
                r"(?m)^((?:haproxy|lfproxy)_(?:frontend|backend|server)"
                r"_\w+_total{.*?}) ([0-9.e+]+)$", text):
            if float(value) < before.get(name, 0):
                print(name, before[name], "->", value, flush=True)
            before[name] = float(value)
        n += 1
    print(f"scrapes={n}", flush=True)


def main():
    mode, words = sys.argv[1], sys.argv[2:]
    if mode == "activate":
        at = words.index("--")
        activate(words[:at], words[at + 1:])
    else:
        {"connect": connect, "speak": speak, "server": server, "ask": ask,
         "descriptors": descriptors,
         "hello": hello, "keep": keep, "scrape": scrape, "meddle": meddle,
         "former": former, "successor": successor,
         "stranger": stranger}[mode](*words)


main()
