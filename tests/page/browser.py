# SPDX-License-Identifier: MIT
"""A headless Chromium that a program drives by the DevTools protocol."""
import base64
import json
import os
import socket
import struct
import subprocess
import time
import urllib.request


class WebSocket:
    """What RFC 6455 needs of a client for texts."""

    def __init__(self, url):
        host, path = url.removeprefix("ws://").split("/", 1)
        name, port = host.split(":")
        self.s = socket.create_connection((name, int(port)), timeout=300)
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall(
            f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            self.read()
        self.data = self.data.split(b"\r\n\r\n", 1)[1]

    def read(self):
        more = self.s.recv(1 << 16)
        if not more:
            raise EOFError("the browser has gone")
        self.data += more

    def take(self, n):
        while len(self.data) < n:
            self.read()
        taken, self.data = self.data[:n], self.data[n:]
        return taken

    def send(self, text):
        body, mask = text.encode(), os.urandom(4)
        n = len(body)
        head = b"\x81" + (bytes([0x80 | n]) if n < 126 else
                          b"\xfe" + struct.pack("!H", n) if n < 65536 else
                          b"\xff" + struct.pack("!Q", n))
        self.s.sendall(head + mask + bytes(b ^ mask[i % 4]
                                           for i, b in enumerate(body)))

    def receive(self):
        text = b""
        while True:
            first, n = self.take(2)
            n = struct.unpack("!H", self.take(2))[0] if n == 126 else \
                struct.unpack("!Q", self.take(8))[0] if n == 127 else n
            text += self.take(n)
            if first & 0x80 and first & 0x0f in (0, 1):
                return text.decode()
            if first & 0x0f not in (0, 1):
                text = b""


class Browser:
    def __init__(self, folder, *options):
        port_file = os.path.join(folder, "DevToolsActivePort")
        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu",
             "--no-first-run", "--disable-background-networking",
             "--disable-dev-shm-usage",
             "--remote-debugging-port=0", f"--user-data-dir={folder}",
             "--window-size=1300,1000", *options, "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        until = time.monotonic() + 300
        while not (os.path.exists(port_file) and open(port_file).read()):
            if time.monotonic() > until or self.process.poll() is not None:
                raise TimeoutError("chromium does not start")
            time.sleep(0.05)
        port = open(port_file).read().split()[0]
        while not (pages := self.pages(port)):
            if time.monotonic() > until:
                raise TimeoutError("chromium opens no page")
            time.sleep(0.05)
        self.socket = WebSocket(pages[0]["webSocketDebuggerUrl"])
        self.number, self.complaints = 0, []
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")
        self.call("Performance.enable", timeDomain="threadTicks")

    @staticmethod
    def pages(port):
        """The page is there some time after the port."""
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
            return [t for t in json.load(answer) if t["type"] == "page"]

    def call(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps(
            {"id": self.number, "method": method, "params": params}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]
            self.note(message)

    def note(self, message):
        """Errors of the page, and what its policy has refused."""
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(
                params["exceptionDetails"].get("exception", {}).get("description"))
        if method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.complaints.append(params["entry"]["text"])

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression,
                           returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def is_true(self, expression):
        """A page that is not loaded yet lacks what the expression asks for."""
        try:
            return self.evaluate(expression)
        except RuntimeError:
            return False

    def wait(self, expression, seconds=120):
        """Waits until the expression is true.  Returns the seconds it took."""
        begun = time.monotonic()
        while not self.is_true(expression):
            if time.monotonic() - begun > seconds:
                raise TimeoutError(f"not within {seconds} s: {expression}")
            time.sleep(0.02)
        return time.monotonic() - begun

    def busy_ms(self):
        """The CPU time of the page's own thread."""
        metrics = self.call("Performance.getMetrics")["metrics"]
        return 1000 * next(
            m["value"] for m in metrics if m["name"] == "TaskDuration")

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
