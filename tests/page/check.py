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


class Stage:
    """lfproxy with two servers, in a folder of its own."""

    def __init__(self, build, folder):
        self.build, self.folder, self.processes = build, pathlib.Path(folder), []
        self.apps = [self.start_app(name) for name in ("app1", "app2")]
        self.lfproxy, self.log = self.start_lfproxy("small", self.small())
        self.http = self.address("monitoring at http://", self.log)
        self.web = self.address("listening on ", self.log)

    def spawn(self, name, *command):
        out = open(self.folder / f"{name}.log", "w+", encoding="utf-8")
        process = subprocess.Popen(command, stdout=out, stderr=out)
        self.processes.append(process)
        return process, pathlib.Path(out.name)

    @staticmethod
    def address(before, log, seconds=30):
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

    def start_lfproxy(self, name, text):
        path = self.folder / f"{name}.ini"
        path.write_text(text, encoding="utf-8")
        return self.spawn(name, f"{self.build}/lfproxy", "-c", str(path))

    def small(self):
        (_, one), (_, two) = self.apps
        return f"""[global]
log = off
admin = {self.folder}/admin.sock
http = 127.0.0.1:0
[pool main]
threads = 4
[frontend web]
listen = 127.0.0.1:0
backend = app
[backend app]
check = connect interval=200ms fall=1 rise=1
server = app1 {one}
server = app2 {two}
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
        subprocess.run([f"{self.build}/lfproxyctl", "-S",
                        f"{self.folder}/admin.sock", *words], check=True,
                       stdout=subprocess.DEVNULL)

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


def traffic(stage, stop):
    while not stop.is_set():
        try:
            urllib.request.urlopen(f"http://{stage.web}/", timeout=5).read()
        except OSError:
            pass


def look(browser, stage, checks):
    browser.call("Page.navigate", url=f"http://{stage.http}/")

    def shows():
        browser.wait("document.getElementById('state').textContent === 'live'")
        assert browser.evaluate(row("app1", 2)) == "UP"
        assert browser.evaluate(row("FRONTEND", 2)) == "OPEN"
        assert browser.evaluate(
            "document.querySelectorAll('.thread').length") == 4

    def down():
        stage.apps[0][0].terminate()
        seconds = browser.wait(row("app1", 2) + " === 'DOWN'")
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


def look_at_many(browser, stage, checks):
    _, log = stage.start_lfproxy("large", stage.large())
    browser.call("Page.navigate",
                 url=f"http://{stage.address('monitoring at http://', log)}/")

    def quick():
        browser.wait("document.getElementById('state').textContent === 'live'"
                     " && document.getElementById('shown').textContent"
                     ".endsWith('of 10021')", 60)
        ms = browser.evaluate(
            "(() => { const f = document.getElementById('filter'); let most = 0;"
            "for (const text of ['s1', 's19-4', 'b7 s7-3', '']) {"
            "const t = performance.now(); f.value = text;"
            "f.dispatchEvent(new Event('input')); document.body.offsetHeight;"
            "most = Math.max(most, performance.now() - t); } return most; })()")
        assert ms < 1000, f"{ms:.0f} ms"
        return f"{ms:.0f} ms at most"

    checks.run("10000 servers: a filter takes no while", quick)


def main():
    build = sys.argv[1]
    checks = Checks(11)
    stop = threading.Event()
    with tempfile.TemporaryDirectory(prefix="lfproxy-page-",
                                     ignore_cleanup_errors=True) as folder:
        stage = Stage(build, folder)
        browser = None
        try:
            browser = Browser(os.path.join(folder, "chromium"))
            threading.Thread(target=traffic, args=[stage, stop],
                             daemon=True).start()
            if len(sys.argv) > 2:
                browser.call("Page.navigate", url=f"http://{stage.http}/")
                time.sleep(2 if os.environ.get("SHORT") else 45)
                browser.picture(sys.argv[2])
            look(browser, stage, checks)
            look_at_many(browser, stage, checks)
        finally:
            stop.set()
            if browser:
                browser.close()
            stage.end()
    return 1 if checks.failed else 0


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
sys.exit(main())
