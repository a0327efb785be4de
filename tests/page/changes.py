# SPDX-License-Identifier: MIT
"""What those may do on the page who have signed in."""
import contextlib
import socket
import urllib.request

from page import (CLOSED, LIVE, THREADS, accessible, buttons, cell, choose,
                  fill, press, redrawn, sign_in, text_of)
from stage import MARKUP, client_hello


FOR_OPERATORS = {"Reset peaks", "Show the sessions of now"}
TAKES_ADMIN = ". Changing servers and threads takes the level admin: write "
FOR_ADMINS = {"Reload the configuration", "Change server app/app1",
              "Change pool main"}


@contextlib.contextmanager
def idle_session(stage):
    """A session of the frontend web that says nothing; its client's port."""
    host, port = stage.web.split(":")
    with socket.create_connection((host, int(port)), 120) as idle:
        yield idle.getsockname()[1]


def change(browser, stage, checks, stop):
    """What those may do who have signed in."""
    browser.call("Page.navigate", url=f"http://{stage.http}/")
    stage.start_app_again()

    def names():
        return set(buttons(browser))

    def stranger():
        browser.wait(f"{LIVE} && !document.getElementById('level').hidden")
        assert not FOR_OPERATORS & names() and not FOR_ADMINS & names()
        assert "Sign in to see sessions" in text_of(browser, "level")

    def reader():
        sign_in(browser, "rita")
        browser.wait("document.getElementById('user').textContent === "
                     "'rita, user'")
        assert not FOR_OPERATORS & names() and not FOR_ADMINS & names()
        assert TAKES_ADMIN in text_of(browser, "level")
        press(browser, "Sign out")

    def operator():
        sign_in(browser, "olga")
        browser.wait("document.getElementById('user').textContent === "
                     "'olga, operator'")
        assert FOR_OPERATORS <= names() and not FOR_ADMINS & names()
        assert "olga has the level operator, which reads sessions" in text_of(
            browser, "level")
        assert TAKES_ADMIN in text_of(browser, "level")
        press(browser, "Reset peaks")
        press(browser, "Reset peaks")
        browser.wait(CLOSED.format("act-d"))

    def top_clients():
        for by in ("sessions", "errors", "bytes"):
            fill(browser, "clients-by", by, "change")
            browser.wait("document.querySelector('#clients tbody tr')"
                         "?.cells[0].textContent === '127.0.0.1'")
            browser.wait("document.getElementById('clients-t').textContent"
                         ".startsWith('counted over ')")
        assert browser.evaluate("Number.parseInt(document.querySelector("
                                "'#clients tbody tr').cells[2].textContent)") > 0

    def sessions_of_server():
        with idle_session(stage) as port:
            for server, there in (("app/app1", True), ("evil/evil", False)):
                press(browser, f"Details of {server}")
                browser.wait("document.getElementById('server-t').textContent"
                             " !== ''")
                rows = browser.evaluate(
                    "document.getElementById('server-sessions').textContent")
                assert (f"port {port}" in rows) == there, (server, rows)
                press(browser, "Done")
        press(browser, "Sign out")
        browser.wait("document.getElementById('user').textContent === ''")

    def wrong_password():
        sign_in(browser, "alice", "guess")
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
        assert browser.evaluate("document.getElementById('level').hidden")
        browser.wait(cell("app/app1", "status") + " === 'UP'")
        assert FOR_OPERATORS <= names() and FOR_ADMINS <= names()

    def drained():
        browser.wait(cell("app/app2", "status") + "?.startsWith('DRAIN')")
        press(browser, "Change server app/app2")
        choose(browser, "Ready")
        press(browser, "Ready")
        browser.wait(cell("app/app2", "status") + " === 'UP'")
        press(browser, "Change server app/app2")
        assert "gets no new sessions" in text_of(browser, "act-t")
        press(browser, "Drain")
        seconds = browser.wait(
            cell("app/app2", "status") + "?.startsWith('DRAIN')")
        browser.wait(CLOSED.format("act-d"))
        return f"shown {seconds:.1f} s after the click"

    def weighed():
        press(browser, "Change server app/app1")
        choose(browser, "Weight")
        fill(browser, "number", "17")
        assert "weight 17" in text_of(browser, "act-t")
        press(browser, "Weight")
        browser.wait(CLOSED.format("act-d"))
        assert "17 (initial 100)" in stage.ctl("get", "weight", "app/app1")
        assert "alice at 127.0.0.1:" in stage.ctl("show", "changes")

    def limited():
        press(browser, "Change server app/app1")
        choose(browser, "Limit of sessions")
        fill(browser, "number", "250")
        fill(browser, "until", "1h", "change")
        press(browser, "Limit of sessions")
        browser.wait(CLOSED.format("act-d"))
        browser.wait(cell("app/app1", "sessions") + ".endsWith('of 250')")
        assert "app/app1" in stage.ctl("show", "expiring")

    def several():
        for name in ("app/app1", "app/app2"):
            browser.evaluate(
                f"document.querySelector('[aria-label=\"Choose {name}\"]').click()")
        assert text_of(browser, "batch-n") == "2 servers chosen"
        assert browser.evaluate("document.querySelector('[aria-label=\""
                                "Choose the servers of app\"]').checked")
        redrawn(browser)
        press(browser, "Maintenance…")
        assert text_of(browser, "act-e") == "No usable server is left in app."
        press(browser, "Maintenance")
        for name in ("app/app1", "app/app2"):
            browser.wait(cell(name, "status") + " === 'MAINT'")
        browser.wait(CLOSED.format("act-d"))
        press(browser, "Weight…")
        fill(browser, "number", "23")
        press(browser, "Weight")
        browser.wait(CLOSED.format("act-d"))
        for name in ("app/app1", "app/app2"):
            assert stage.ctl("get", "weight", name).startswith("23 "), name
        press(browser, "Ready…")
        press(browser, "Ready")
        for name in ("app/app1", "app/app2"):
            browser.wait(cell(name, "status") + " === 'UP'")
        browser.wait(CLOSED.format("act-d"))
        assert stage.ctl("show", "servers", "evil").count("maint") == 0

    def several_refused():
        press(browser, "Weight…")
        fill(browser, "number", "-3")
        browser.evaluate("document.querySelector('#act-d form').noValidate = true")
        press(browser, "Weight")
        browser.wait("document.getElementById('act-w').textContent"
                     ".startsWith('2 of 2 failed. set weight app/app1 -3: ')")
        press(browser, "Cancel")
        press(browser, "Choose none")
        assert browser.evaluate("document.getElementById('batch').hidden")
        browser.complaints.clear()

    def refused():
        press(browser, "Change server app/app1")
        choose(browser, "Weight")
        fill(browser, "number", "-3")
        browser.evaluate("document.querySelector('#act-d form').noValidate = true")
        press(browser, "Weight")
        browser.wait("document.getElementById('act-w').textContent !== ''")
        press(browser, "Cancel")
        browser.complaints.clear()

    def resized():
        press(browser, "Change pool main")
        fill(browser, "number", "3")
        press(browser, "Threads")
        return "%.1f s" % browser.wait(f"{THREADS} === 3")

    def reloaded():
        ini = stage.folder / "small.ini"
        ini.write_text(ini.read_text(encoding="utf-8").replace(
            "threads = 4", "threads = 5"), encoding="utf-8")
        press(browser, "Reload the configuration")
        press(browser, "Reload")
        browser.wait("document.getElementById('act-t').textContent"
                     ".includes('threads: 3 -> 5')")
        press(browser, "Cancel")

    def session_closed():
        with idle_session(stage) as port:
            mine = f"Close the session of 127.0.0.1 port {port}"
            browser.wait("(() => { document.getElementById('sessions-b').click();"
                         "return [...document.querySelectorAll('#sessions button')]"
                         f".some((b) => b.getAttribute('aria-label') === '{mine}'); }})()")
            press(browser, mine)
            press(browser, "Close")
            browser.wait(CLOSED.format("act-d"))
            browser.wait("!document.getElementById('sessions').textContent"
                         f".includes('port {port}')")

    def failures():
        row = ("[...document.querySelectorAll('#failures tbody tr')].find((r) => "
               "r.cells[4]?.textContent === 'app/app1' && "
               "r.cells[1].textContent.includes('operator'))")
        for last in ("1d", "1h", "5m"):
            fill(browser, "failures-last", last, "change")
            browser.wait("document.getElementById('failures-t').textContent"
                         ".includes('complete since')")
            browser.wait(f"!!{row}")
        texts = browser.evaluate(f"[...{row}.cells].map((c) => c.textContent)")
        assert texts[0] == "1" and texts[2:4] == ["rule", "web"], texts
        assert "127.0.0.1 port " in texts[6], texts

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
                     "(r) => r.cells[2]?.textContent === 'names')")
        browser.wait(cell("evil/evil", "check") + f"?.includes({MARKUP!r})")
        assert browser.evaluate("document.querySelectorAll('img').length") == 0
        assert browser.evaluate("document.title").endswith(": lfproxy")
        page = urllib.request.urlopen(f"http://{stage.http}/").read().decode()
        assert "<img" not in page

    def focus_stays():
        name = "Change server app/app1"
        browser.evaluate("[...document.querySelectorAll('button')].find((b) => "
                         f"b.getAttribute('aria-label') === '{name}').focus()")
        redrawn(browser)
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

    def dialogs():
        accessible(browser, lambda: press(browser, "Change server app/app1"),
                   lambda: press(browser, "Cancel"))
        for name in ("Details of app/app1", "Columns…"):
            accessible(browser, lambda n=name: press(browser, n),
                       lambda: press(browser, "Done"))

    checks.run("who has not signed in is told why nothing can be changed",
               stranger)
    checks.run("a user of the level user is told the same", reader)
    checks.run("an operator may do some things, and is told of the rest",
               operator)
    checks.run("the clients with the most traffic", top_clients)
    checks.run("the sessions of one server", sessions_of_server)
    checks.run("a wrong password", wrong_password)
    checks.run("signing in", signed_in)
    checks.run("a drain started by a click", drained)
    checks.run("a weight, audited under the user's name", weighed)
    checks.run("a limit of sessions for an hour", limited)
    checks.run("a command that fails says why", refused)
    checks.run("several servers at once, with a warning", several)
    checks.run("several commands that fail", several_refused)
    checks.run("a resize by a click", resized)
    checks.run("a reload by a click", reloaded)
    checks.run("a session closed by a click", session_closed)
    checks.run("why sessions failed: cause, server, count, example", failures)
    checks.run("markup in names and texts of others is text", markup)
    checks.run("labels and contrast of what is for some", dialogs)
    checks.run("the focus stays while the page is drawn again", focus_stays)
    checks.run("signing out", signed_out)
    checks.run("no error of what is for some", silent)
