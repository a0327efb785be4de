#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: MIT
"""What `lfproxyctl top` shows in a terminal of 80x24 while a pool is resized
under load: makes the pictures in src/lf/README.md.

    scripts/top-picture.py BUILD [FILE]

With FILE the pictures replace those between the two lines that name this
script; else they are printed.  The terminal is tmux's, the load wrk's.  A failed
request fails the script.
"""
import contextlib
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
from measuring.process import (  # noqa: E402
    AppServer, MeasuringError, Process, wait_line, wait_until)

CONFIG = """[global]
log = off
node = edge-1
admin = {run}/admin.sock
[pool main]
threads = 2
promotion = always
[pool batch]
threads = 1
[frontend web]
listen = 127.0.0.1:0
backend = app
[frontend nightly]
listen = 127.0.0.1:0
backend = jobs
pool = batch
[backend app]
check = connect interval=500ms
server = app1 {app1}
server = app2 {app2} weight=50
server = app3 127.0.0.1:1
[backend jobs]
check = connect interval=500ms
server = job1 {app2}
"""
BEGIN, END = "<!-- scripts/top-picture.py: from here -->", \
    "<!-- scripts/top-picture.py: to here -->"


class Terminal:
    def __init__(self, run, command):
        self.tmux = ["tmux", "-S", f"{run}/tmux.sock", "-f", "/dev/null"]
        self.call("new-session", "-d", "-s", "it", "-x", "80", "-y", "24",
                  command)

    def call(self, *args):
        env = {**os.environ, "LC_ALL": "C.UTF-8"}
        env.pop("TMUX", None)
        return subprocess.run(self.tmux + list(args), env=env, check=True,
                              capture_output=True, encoding="utf-8").stdout

    def screen(self):
        return self.call("capture-pane", "-p", "-t", "it")

    def wait_to_see(self, *patterns):
        """The screen that has all of them."""
        seen = [""]

        def there():
            seen[0] = self.screen()
            return all(re.search(p, seen[0], re.M) for p in patterns)
        wait_until(there, f"the screen ({patterns})")
        return seen[0]

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.call("kill-server")


class Load(Process):
    """wrk, which says at its end whether something went wrong."""

    def __init__(self, address, *args):
        super().__init__(["wrk", "-t1", "-d600", *args, f"http://{address}/"],
                         stdout=subprocess.PIPE)

    def judge(self):
        self.child.send_signal(signal.SIGINT)
        text = self.child.communicate()[0].decode()
        if "requests in" not in text or re.search("Socket err|Non-2xx", text):
            raise MeasuringError(f"requests failed: {text}")


def take(build, run):
    """The screen with eight threads, and the pool's line with one and two."""
    with contextlib.ExitStack() as stack:
        enter = stack.enter_context
        app1, app2 = enter(AppServer(build)), enter(AppServer(build))
        path = pathlib.Path(run, "lfproxy.ini")
        path.write_text(CONFIG.format(run=run, app1=app1.address,
                                      app2=app2.address))
        proxy = enter(Process([build / "lfproxy", "-c", path],
                              stderr=subprocess.PIPE))
        web = wait_line(proxy.child.stderr,
                        r"listening on (\S+) \(frontend web", "lfproxy")[1]
        ctl = [build / "lfproxyctl", "-S", f"{run}/admin.sock"]
        loads = [enter(Load(web, "-c40")),
                 enter(Load(web, "-c2", "-H", "Connection: close"))]
        top = enter(Terminal(
            run, f"{ctl[0]} -S {run}/admin.sock top -d 0.5"))
        top.wait_to_see(r"^! *app3 +DOWN", r"^[1-9][0-9.]* sessions/s .* 1 down")

        def resize(threads):
            subprocess.run([*ctl, "set", "pool", "main", "threads",
                            str(threads)], check=True, capture_output=True)
            return top.wait_to_see(rf"^main +{threads} .* [LP.]{{{threads}}}$",
                                   r"^main .* \S*[LP]\S*$")
        rows = [re.search("^main .*$", resize(n), re.M)[0] for n in (1, 2)]
        resize(8)
        screen = top.wait_to_see(r"^main .* \S*[LP]\S*$")
        for load in loads:
            load.judge()
    return screen, rows


def text_of(screen, rows):
    """The head, the pools, and the pool before; the rest is left out."""
    lines = screen.rstrip("\n").split("\n")
    pools = next(i for i, line in enumerate(lines) if line.startswith("POOL"))
    shown = [*lines[:2], "...", *lines[pools:pools + 2],
             *(f"{row}    <- a moment before" for row in reversed(rows))]
    return "".join(f"    {line}".rstrip() + "\n" for line in shown)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as run:
        text = text_of(*take(build, run))
    if len(sys.argv) < 3:
        print(text, end="")
        return
    file = pathlib.Path(sys.argv[2])
    before, rest = file.read_text().split(BEGIN)
    after = rest.split(END)[1]
    file.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")


if __name__ == "__main__":
    main()
