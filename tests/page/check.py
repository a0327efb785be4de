#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The status page in a real browser: check.py BUILD [PICTURE].

Starts lfproxy, application servers and a headless Chromium, looks at what the
page draws, and prints a line for each check, as TAP.  PICTURE: writes that file
and others beside it, screenshots after a while of traffic.  Exit status 1: a
check has failed.
"""
import os
import signal
import sys
import tempfile
import threading
import time

from browser import Browser
from changes import change
from exact import exact
from looks import look, look_at_many
from page import CLOSED, LIVE, press, redrawn, sign_in
from stage import Stage, resets, traffic


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


# What a picture's name has behind its first part, colours, size, and what is at
# its top.
PICTURES = (("", "light", 1300, 1000, "body"),
            ("-dark", "dark", 1300, 1000, "body"),
            ("-failures", "light", 1300, 700, "#failures-h"),
            ("-phone", "light", 390, 1400, "body"))


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
            threading.Thread(target=resets, daemon=True, args=[
                line.split("listening on ", 1)[1].split()[0], stop]).start()
    browser.call("Page.navigate", url=f"http://{http}/")
    browser.wait(LIVE)
    sign_in(browser, "alice")
    browser.wait("document.body.classList.contains('admin')")
    press(browser, "Change server api/api3")
    press(browser, "Drain")
    browser.wait(CLOSED.format("act-d"))
    time.sleep(seconds)
    browser.call("Emulation.setScrollbarsHidden", hidden=True)
    for name, theme, width, height, place in PICTURES:
        browser.call("Emulation.setDeviceMetricsOverride", width=width,
                     height=height, deviceScaleFactor=1, mobile=width < 500)
        browser.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        redrawn(browser)
        browser.evaluate(
            f"document.querySelector('{place}').scrollIntoView("
            "{ behavior: 'instant' })")
        browser.picture(path.replace(".png", f"{name}.png"))
    browser.evaluate("document.documentElement.dataset.theme = 'light'")
    browser.call("Emulation.clearDeviceMetricsOverride")
    stop.set()


def main():
    build = sys.argv[1]
    checks = Checks(48)
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
            exact(browser, checks)
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
