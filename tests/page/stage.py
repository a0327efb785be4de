# SPDX-License-Identifier: MIT
"""What the page shows: lfproxy, application servers, and traffic."""
import pathlib
import socket
import struct
import subprocess
import threading
import time
import urllib.request

# Were it ever taken for markup, the title would change and there were a picture.
MARKUP = "<img src=x onerror=document.title='taken'>"


def client_hello(name):
    """A ClientHello of TLS 1.2 with that server name (RFC 5246, RFC 6066)."""
    host = name.encode()
    entry = b"\0" + struct.pack("!H", len(host)) + host
    sni = struct.pack("!H", len(entry)) + entry
    extensions = struct.pack("!HH", 0, len(sni)) + sni
    body = (b"\x03\x03" + bytes(32) + b"\0" + b"\0\x02\xc0\x2f" + b"\x01\0"
            + struct.pack("!H", len(extensions)) + extensions)
    hello = b"\x01" + struct.pack("!I", len(body))[1:] + body
    return b"\x16\x03\x01" + struct.pack("!H", len(hello)) + hello


def answer_with_markup(server):
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.recv(4096)
            connection.sendall(f"HTTP/1.1 500 {MARKUP}\r\n\r\n".encode())


class Stage:
    """lfproxy with two servers, in a folder of its own."""

    def __init__(self, build, folder):
        self.build, self.folder, self.processes = build, pathlib.Path(folder), []
        self.evil = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=answer_with_markup, args=[self.evil],
                         daemon=True).start()
        self.write_users()
        self.apps = [self.start_app(name) for name in ("app1", "app2")]
        self.lfproxy, self.log = self.start_lfproxy("small", self.small())
        self.http = self.address("monitoring at http://", self.log)
        self.web, self.names = [
            line.split("listening on ", 1)[1].split()[0]
            for line in self.log.read_text(encoding="utf-8").splitlines()
            if "listening on " in line]

    def spawn(self, name, *command):
        out = open(self.folder / f"{name}.log", "w+", encoding="utf-8")
        process = subprocess.Popen(command, stdout=out, stderr=out)
        self.processes.append(process)
        return process, pathlib.Path(out.name)

    def write_users(self):
        users = self.folder / "users"
        made = subprocess.run(["openssl", "passwd", "-6", "secret"], check=True,
                              capture_output=True, text=True)
        hashed = made.stdout.strip()
        users.write_text(
            f"alice:{hashed}:admin\nolga:{hashed}\nrita:{hashed}:user\n",
            encoding="utf-8")
        users.chmod(0o600)

    @staticmethod
    def address(before, log, seconds=120):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for line in log.read_text(encoding="utf-8").splitlines():
                if before in line:
                    return line.split(before, 1)[1].split()[0].rstrip("/")
            time.sleep(0.02)
        raise TimeoutError(f"no '{before}': {log.read_text(encoding='utf-8')}")

    def start_app(self, name):
        process, log = self.spawn(
            name, f"{self.build}/tools/appserver", "--name", name, "--listen",
            "127.0.0.1:0", "--deadline", "600")
        return process, self.address("listening on ", log)

    def start_app_again(self):
        """The first one, which was terminated, at its address."""
        process, _ = self.spawn(
            "again", f"{self.build}/tools/appserver", "--name", "app1",
            "--listen", self.apps[0][1], "--deadline", "600")
        self.apps[0] = process, self.apps[0][1]

    def start_lfproxy(self, name, text):
        path = self.folder / f"{name}.ini"
        path.write_text(text, encoding="utf-8")
        return self.spawn(name, f"{self.build}/lfproxy", "-c", str(path))

    def small(self):
        (_, one), (_, two) = self.apps
        return f"""[global]
log = off
admin = {self.folder}/admin.sock
http = 127.0.0.1:0 users={self.folder}/users
[pool main]
threads = 4
[frontend web]
listen = 127.0.0.1:0
backend = app
[frontend names]
listen = 127.0.0.1:0
backend = app
sni = *.example.com backend=app
[backend app]
check = connect interval=200ms fall=1 rise=1 timeout=20s
server = app1 {one} maxconn=300
server = app2 {two} backup
[backend evil]
check = http interval=200ms fall=1 rise=1 timeout=20s
server = evil 127.0.0.1:{self.evil.getsockname()[1]}
"""

    def pictured(self):
        (_, one), (_, two) = self.apps
        servers = lambda n, at: "\n".join(  # noqa: E731
            f"server = {n}{i} {at} maxconn={100 * i}" for i in range(1, 4))
        return f"""[global]
log = off
node = edge1
admin = {self.folder}/picture.sock
http = 127.0.0.1:0 users={self.folder}/users
[pool main]
threads = 6
[frontend shop]
listen = 127.0.0.1:0
backend = shop
[frontend api]
listen = 127.0.0.1:0
backend = api
[backend shop]
check = connect interval=200ms fall=1 rise=1 timeout=20s
{servers('shop', one)}
server = shop4 127.0.0.1:1
[backend api]
balance = leastconn
check = http interval=200ms fall=1 rise=1 timeout=20s
{servers('api', two)}
server = spare {two} backup
"""

    def large(self):
        lines = ["[global]\nlog = off\nhttp = 127.0.0.1:0\n[frontend web]\n"
                 "listen = 127.0.0.1:0\nbackend = b0"]
        for b in range(20):
            lines.append(f"[backend b{b}]\ncheck = off")
            lines += [f"server = s{b}-{i} 127.0.0.1:{10000 + i}"
                      for i in range(500)]
        return "\n".join(lines) + "\n"

    def ctl(self, *words):
        return subprocess.run(
            [f"{self.build}/lfproxyctl", "-S", f"{self.folder}/admin.sock",
             *words], check=True, capture_output=True, text=True).stdout

    def end(self):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def traffic(address, stop):
    while not stop.is_set():
        try:
            urllib.request.urlopen(f"http://{address}/", timeout=5).read()
        except OSError:
            pass


def resets(address, stop):
    """A client that resets its connection when an answer begins, now and then."""
    host, port = address.split(":")
    while not stop.wait(1):
        with socket.create_connection((host, int(port)), 60) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            s.recv(1)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                         struct.pack("ii", 1, 0))
