#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The status page in a real browser: check.py BUILD [PICTURE].

Starts lfproxy, application servers and a headless Chromium, looks at what the
page draws, and prints a line for each check, as TAP.  PICTURE: writes a
screenshot there, after a while of traffic.  Exit status 1: a check has failed.
"""
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from browser import Browser

# Contrast of the texts against what is behind them (WCAG 2, 1.4.3), and names
# for what can be used.
ACCESSIBLE = """(() => {
  const wrong = [];
  const parse = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const back = (e) => {
    for (; e; e = e.parentElement) {
      const c = parse(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    if (!e.checkVisibility() || e.disabled || ["SCRIPT", "STYLE"].includes(e.tagName)) continue;
    const a = light(parse(getComputedStyle(e).color)), b = light(back(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) wrong.push(`contrast ${ratio.toFixed(1)}: ${e.textContent.slice(0, 20)}`);
  }
  for (const e of document.querySelectorAll("button, a"))
    if (!e.textContent.trim()) wrong.push("a button or a link without a name");
  for (const e of document.querySelectorAll("input"))
    if (!e.labels.length) wrong.push("an input without a label");
  for (const e of document.querySelectorAll("svg, [role=img]"))
    if (!e.getAttribute("aria-label")) wrong.push("a picture without a name");
  for (const e of document.querySelectorAll("th"))
    if (!e.scope) wrong.push("a table's head without a scope");
  if (!document.documentElement.lang) wrong.push("no language");
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  if (new Set(ids).size !== ids.length) wrong.push("an id occurs twice");
  return wrong;
})()"""


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
        users.write_text(f"alice:{made.stdout.strip()}:admin\n",
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
server = app1 {one}
server = app2 {two}
[backend evil]
check = http interval=200ms fall=1 rise=1 timeout=20s
server = evil 127.0.0.1:{self.evil.getsockname()[1]}
"""

    def pictured(self):
        (_, one), (_, two) = self.apps
        servers = lambda n, at: "\n".join(  # noqa: E731
            f"server = {n}{i} {at}" for i in range(1, 4))
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
check = connect interval=200ms fall=1 rise=1 timeout=20s
{servers('api', two)}
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


class Checks:
    def __init__(self, n):
        self.n, self.done, self.failed = n, 0, 0
        print(f"1..{n}")

    def run(self, name, function):
        self.done += 1
        try:
            said = function()
            print(f"ok {self.done} page: {name}{': ' + said if said else ''}",
                  flush=True)
        except (AssertionError, TimeoutError, RuntimeError) as error:
            self.failed += 1
            print(f"not ok {self.done} page: {name}\n# {error}", flush=True)


def row(server, column):
    return (f"[...document.querySelectorAll('#proxies tbody tr')]"
            f".find((r) => r.cells[1].textContent === '{server}')"
            f"?.cells[{column}].textContent.trim()")


def traffic(address, stop):
    while not stop.is_set():
        try:
            urllib.request.urlopen(f"http://{address}/", timeout=5).read()
        except OSError:
            pass


def take_picture(browser, stage, path, seconds):
    _, log = stage.start_lfproxy("picture", stage.pictured())
    http = stage.address("monitoring at http://", log)
    stage.address("up to ", log)
    stop = threading.Event()
    for line in log.read_text(encoding="utf-8").splitlines():
        if "listening on " in line:
            for _ in range(2):
                threading.Thread(
                    target=traffic, daemon=True, args=[
                        line.split("listening on ", 1)[1].split()[0],
                        stop]).start()
    browser.call("Page.navigate", url=f"http://{http}/")
    browser.wait("document.getElementById('state').textContent === 'live'")
    press(browser, "Sign in")
    fill(browser, "name", "alice")
    fill(browser, "password", "secret")
    browser.evaluate("document.getElementById('sign-ok').click()")
    browser.wait("document.body.classList.contains('admin')")
    press(browser, "Change server api/api3")
    press(browser, "Do it")
    time.sleep(seconds)
    browser.picture(path)
    stop.set()


def look(browser, stage, checks):
    browser.call("Page.navigate", url=f"http://{stage.http}/")

    def shows():
        browser.wait("document.getElementById('state').textContent === 'live'")
        assert browser.evaluate(row("app1", 2)) == "UP"
        assert browser.evaluate(row("FRONTEND", 2)) == "OPEN"
        assert browser.evaluate(
            "document.querySelectorAll('.thread').length") == 4

    def down():
        # Promised in time, which a machine that others use may spoil.
        for _ in range(3):
            stage.apps[0][0].terminate()
            seconds = browser.wait(row("app1", 2) + " === 'DOWN'")
            if seconds < 5:
                break
            stage.start_app_again()
            browser.wait(row("app1", 2) + " === 'UP'")
        browser.wait("document.getElementById('events').textContent"
                     ".includes('app/app1')")
        assert seconds < 5, f"{seconds:.1f} s"
        return f"{seconds:.1f} s after it has ended"

    def resized():
        stage.ctl("set", "pool", "main", "threads", "7")
        return "%.1f s" % browser.wait(
            "document.querySelectorAll('.thread').length === 7")

    def drained():
        stage.ctl("set", "server", "app/app2", "state", "drain")
        return "%.1f s" % browser.wait(row("app2", 2) + "?.startsWith('DRAIN')")

    def filtered():
        browser.evaluate("(() => { const f = document.getElementById('filter');"
                         "f.value = 'app2'; f.dispatchEvent(new Event('input')); })()")
        n = browser.evaluate(
            "document.querySelectorAll('#proxies tbody tr').length")
        assert n == 1, f"{n} rows"
        browser.evaluate("(() => { const f = document.getElementById('filter');"
                         "f.value = ''; f.dispatchEvent(new Event('input')); })()")

    def sorted_by_name():
        browser.evaluate(
            "document.querySelectorAll('#proxies th button')[1].click()")
        names = browser.evaluate("[...document.querySelectorAll("
                                 "'#proxies tbody tr')].map((r) => r.cells[1].textContent)")
        assert names == sorted(names), names
        assert browser.evaluate("document.querySelectorAll("
                                "'[aria-sort=ascending]').length") == 1

    def keyboard():
        for key in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=key, key="/", text="/")
        assert browser.evaluate("document.activeElement.id") == "filter"

    def accessible():
        for theme in ("light", "dark"):
            browser.evaluate(
                f"document.documentElement.dataset.theme = '{theme}'")
            wrong = browser.evaluate(ACCESSIBLE)
            assert not wrong, f"{theme}: {wrong[:5]}"

    def narrow():
        browser.call("Emulation.setDeviceMetricsOverride", width=360,
                     height=800, deviceScaleFactor=1, mobile=True)
        wide = browser.evaluate("document.documentElement.scrollWidth")
        browser.call("Emulation.clearDeviceMetricsOverride")
        assert wide <= 360, f"{wide} pixels wide"

    def silent():
        assert not browser.complaints, browser.complaints

    checks.run("it shows what is there, and is live", shows)
    checks.run("a server that goes down", down)
    checks.run("a resize, as it happens", resized)
    checks.run("a server that is drained", drained)
    checks.run("the filter", filtered)
    checks.run("sorting", sorted_by_name)
    checks.run("the keyboard", keyboard)
    checks.run("labels and contrast, light and dark", accessible)
    checks.run("a narrow screen", narrow)
    checks.run("no error, and nothing that the policy refuses", silent)


def press(browser, name):
    """Clicks on the button of that name when it shows, as a pointer does."""
    button = (
        "[...document.querySelectorAll('button')].find((b) => b.checkVisibility()"
        f" && (b.getAttribute('aria-label') || b.textContent) === {name!r})")
    browser.wait(f"!!{button}")
    browser.evaluate(f"{button}.click()")


def fill(browser, name, text, event="input"):
    browser.evaluate(
        f"(() => {{ const e = document.getElementById('{name}'); e.value = {text!r};"
        f"e.dispatchEvent(new Event('{event}')); }})()")


def choose(browser, name):
    browser.evaluate(
        "(() => { const s = document.getElementById('act'); s.selectedIndex ="
        f"[...s.options].findIndex((o) => o.textContent === {name!r});"
        "s.dispatchEvent(new Event('change')); })()")


def text_of(browser, name):
    return browser.evaluate(f"document.getElementById('{name}').textContent")


CLOSED = "!document.getElementById('{}').open"


def change(browser, stage, checks, stop):
    """What those may do who have signed in."""
    browser.call("Page.navigate", url=f"http://{stage.http}/")
    stage.start_app_again()

    def stranger():
        browser.wait("document.getElementById('state').textContent === 'live'"
                     " && !document.getElementById('who').hidden")
        assert not browser.evaluate(
            "[...document.querySelectorAll('button')].some((b) => "
            "b.checkVisibility() && ['Change', 'Reload the configuration',"
            "'Show the sessions of now'].includes(b.textContent))")

    def wrong_password():
        press(browser, "Sign in")
        fill(browser, "name", "alice")
        fill(browser, "password", "guess")
        browser.evaluate("document.getElementById('sign-ok').click()")
        browser.wait("document.getElementById('sign-w').textContent"
                     ".includes('wrong')")
        # The browser reports the status as an error.
        browser.complaints.clear()

    def signed_in():
        fill(browser, "password", "secret")
        browser.evaluate("document.getElementById('sign-ok').click()")
        browser.wait(CLOSED.format("sign-d"))
        browser.wait("document.body.classList.contains('admin')")
        assert text_of(browser, "user") == "alice, admin"

    def drained():
        browser.wait(row("app2", 2) + "?.startsWith('DRAIN')")
        press(browser, "Change server app/app2")
        choose(browser, "Ready")
        press(browser, "Do it")
        browser.wait(row("app2", 2) + " === 'UP'")
        press(browser, "Change server app/app2")
        assert "gets no new sessions" in text_of(browser, "act-t")
        press(browser, "Do it")
        seconds = browser.wait(row("app2", 2) + "?.startsWith('DRAIN')")
        browser.wait(CLOSED.format("act-d"))
        return f"shown {seconds:.1f} s after the click"

    def weighed():
        press(browser, "Change server app/app1")
        choose(browser, "Weight")
        fill(browser, "number", "17")
        assert "weight 17" in text_of(browser, "act-t")
        press(browser, "Do it")
        browser.wait(CLOSED.format("act-d"))
        assert "17 (initial 100)" in stage.ctl("get", "weight", "app/app1")
        assert "alice at 127.0.0.1:" in stage.ctl("show", "changes")

    def refused():
        press(browser, "Change server app/app1")
        choose(browser, "Weight")
        fill(browser, "number", "-3")
        browser.evaluate("document.querySelector('#act-d form').noValidate = true")
        press(browser, "Do it")
        browser.wait("document.getElementById('act-w').textContent !== ''")
        press(browser, "Cancel")
        browser.complaints.clear()

    def resized():
        press(browser, "Change pool main")
        fill(browser, "number", "3")
        press(browser, "Do it")
        return "%.1f s" % browser.wait(
            "document.querySelectorAll('.thread').length === 3")

    def reloaded():
        ini = stage.folder / "small.ini"
        ini.write_text(ini.read_text(encoding="utf-8").replace(
            "threads = 4", "threads = 5"), encoding="utf-8")
        press(browser, "Reload the configuration")
        press(browser, "Do it")
        browser.wait("document.getElementById('act-t').textContent"
                     ".includes('threads: 3 -> 5')")
        press(browser, "Cancel")

    def session_closed():
        host, port = stage.web.split(":")
        with socket.create_connection((host, int(port)), 120) as idle:
            idle.settimeout(120)
            mine = f"Close the session of 127.0.0.1 port {idle.getsockname()[1]}"
            browser.wait("(() => { document.getElementById('sessions-b').click();"
                         "return [...document.querySelectorAll('#sessions button')]"
                         f".some((b) => b.getAttribute('aria-label') === '{mine}'); }})()")
            press(browser, mine)
            press(browser, "Do it")
            try:
                assert idle.recv(1) == b""
            except ConnectionResetError:
                pass
        browser.wait(CLOSED.format("act-d"))

    def markup():
        stop.set()
        host, port = stage.names.split(":")
        with socket.create_connection((host, int(port)), 120) as s:
            s.sendall(client_hello(f"{MARKUP}.example.com"))
            s.shutdown(socket.SHUT_WR)
            while s.recv(4096):
                pass
        browser.call("Page.navigate", url=f"http://{stage.http}/")
        # A name that no host can have is not taken for one.
        browser.wait("[...document.querySelectorAll('#closed tbody tr')].some("
                     "(r) => r.cells[2].textContent === 'names')")
        browser.wait(row("evil", 9) + f"?.includes({MARKUP!r})")
        assert browser.evaluate("document.querySelectorAll('img').length") == 0
        assert browser.evaluate("document.title") == "lfproxy"
        page = urllib.request.urlopen(f"http://{stage.http}/").read().decode()
        assert "<img" not in page

    def accessible():
        for theme in ("light", "dark"):
            browser.evaluate(
                f"document.documentElement.dataset.theme = '{theme}'")
            press(browser, "Change server app/app1")
            wrong = browser.evaluate(ACCESSIBLE)
            press(browser, "Cancel")
            assert not wrong, f"{theme}: {wrong[:5]}"

    def focus_stays():
        name = "Change server app/app1"
        browser.evaluate("[...document.querySelectorAll('button')].find((b) => "
                         f"b.getAttribute('aria-label') === '{name}').focus()")
        time_ms = browser.evaluate("document.body.dataset.time")
        browser.wait(f"document.body.dataset.time !== '{time_ms}'")
        assert browser.evaluate(
            "document.activeElement.getAttribute('aria-label')") == name

    def signed_out():
        press(browser, "Sign out")
        browser.wait("!document.body.classList.contains('admin')")
        assert browser.evaluate("fetch('/api/v1/closed').then((r) => r.status)"
                                ) == 403
        browser.complaints.clear()

    def silent():
        assert not browser.complaints, browser.complaints

    checks.run("who has not signed in sees no way to change anything", stranger)
    checks.run("a wrong password", wrong_password)
    checks.run("signing in", signed_in)
    checks.run("a drain started by a click", drained)
    checks.run("a weight, audited under the user's name", weighed)
    checks.run("a command that fails says why", refused)
    checks.run("a resize by a click", resized)
    checks.run("a reload by a click", reloaded)
    checks.run("a session closed by a click", session_closed)
    checks.run("markup in names and texts of others is text", markup)
    checks.run("labels and contrast of what is for some", accessible)
    checks.run("the focus stays while the page is drawn anew", focus_stays)
    checks.run("signing out", signed_out)
    checks.run("no error of what is for some", silent)


def look_at_many(browser, stage, checks):
    _, log = stage.start_lfproxy("large", stage.large())
    browser.call("Page.navigate",
                 url=f"http://{stage.address('monitoring at http://', log)}/")

    def quick():
        browser.wait("document.getElementById('state').textContent === 'live'"
                     " && document.getElementById('shown').textContent"
                     ".endsWith('of 10021')")
        most = 0
        for text in ("s1", "s19-4", "b7 s7-3", ""):
            before = browser.busy_ms()
            fill(browser, "filter", text)
            browser.evaluate("document.body.offsetHeight")
            most = max(most, browser.busy_ms() - before)
        assert most < 1000, f"{most:.0f} ms"
        return f"{most:.0f} ms of CPU time at most"

    checks.run("10000 servers: a filter takes no while", quick)


def main():
    build = sys.argv[1]
    checks = Checks(25)
    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="lfproxy-page-",
                                     ignore_cleanup_errors=True) as folder:
        stage = Stage(build, folder)
        browser = None
        try:
            browser = Browser(os.path.join(folder, "chromium"))
            if len(sys.argv) > 2:
                take_picture(browser, stage, sys.argv[2],
                             2 if os.environ.get("SHORT") else 60)
            threading.Thread(target=traffic, args=[stage.web, stop],
                             daemon=True).start()
            look(browser, stage, checks)
            change(browser, stage, checks, stop)
            look_at_many(browser, stage, checks)
        finally:
            stop.set()
            if browser:
                browser.close()
            stage.end()
    return 1 if checks.failed else 0


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
sys.exit(main())
