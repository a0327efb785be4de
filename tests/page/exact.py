# SPDX-License-Identifier: MIT
"""What the page makes of given figures: each text is known beforehand.

The script of the page has its state in variables of the document, which an
evaluation may set.  What one evaluation does, nothing that arrives interrupts."""
import json
import re

from page import fill, press

# Every figure is another one, so that none is taken for its neighbour.
SERVER = {
    "type": 2, "pxname": "b", "svname": "one", "status": "UP", "lastchg": 3700,
    "scur": 3, "smax": 4, "slim": 5, "rate": 6, "rate_max": 7, "qcur": 8,
    "qmax": 9, "stot": 10, "bin": 2048, "bout": 4096, "econ": 11, "eresp": 13,
    "wretr": 17, "wredis": 19, "dreq": 23, "cli_abrt": 29, "srv_abrt": 31,
    "weight": 37, "uweight": 41, "act": 1, "bck": 0, "check_status": "L7STS",
    "check_code": 503, "last_chk": "why", "check_duration": 43, "chkfail": 47,
    "chkdown": 53, "downtime": 90000, "agent_status": "L4OK", "last_agt": "fine",
    "lf_ejections": 59, "ctime": 61, "ttime": 67, "lastsess": 71,
    "lf_bw_in": 1024, "lf_bw_out": 3072, "addr": "10.0.0.1:80"}
BACKEND = dict(SERVER, type=1, svname="BACKEND", act=1, bck=1, lf_usable=1,
               algo="roundrobin")
FRONTEND = dict(SERVER, type=0, svname="FRONTEND", pxname="f", ereq=73,
                rate_lim=79, status="OPEN")
OTHERS = [dict(SERVER, svname=name, weight=weight, scur=0, bck=1)
          for name, weight in (("two", 100), ("three", 9))]
# The texts of the cells, by column: of the server, the backend, the frontend;
# None: no column of such a row.
TEXTS = {
    "status": ("UP", "UP", "OPEN"), "since": ("1 h 1 min", "1 h 1 min", ""),
    "sessions": ("3 of 5", "3", "3 of 5"), "peak": ("4", "4", "4"),
    "rate": ("6", "6", "6 of 79"), "queue": ("", "8", ""),
    "total": ("10", "10", "10"), "in": ("2.0 KiB",) * 3,
    "out": ("4.0 KiB",) * 3, "in_s": ("512 B", "", ""),
    "out_s": ("1.5 KiB", "", ""), "errors": ("24", "24", "97"),
    "retries": ("36", "36", ""), "denied": ("", "23", "23"),
    "aborts": ("60", "60", ""), "weight": ("37", "37", ""),
    "role": ("active", "1 active, 1 backup", ""),
    "check": ("L7STS 503 why in 43 ms", "", ""), "took": ("43 ms", "", ""),
    "failed": ("47", "", ""), "downs": ("53", "53", ""),
    "downtime": ("1 d 1 h", "1 d 1 h", ""), "agent": ("L4OK fine", "", ""),
    "ejected": ("59", "", ""), "connect": ("61 ms", "61 ms", ""),
    "lasts": ("67 ms", "67 ms", ""), "last": ("1 min ago", "1 min ago", ""),
    "limits": ("5 sessions, 1.0 KiB/s in, 3.0 KiB/s out",) * 2 +
              ("5 sessions, 79/s, 1.0 KiB/s in, 3.0 KiB/s out",),
    "address": ("10.0.0.1:80", "", "")}

# Draws the table of the rows above with all columns, evaluates, and restores.
DRAWN = f"""(() => {{
  const former = [rows, chosenKeys, passedS, earlier, sortBy, down];
  rows = {json.dumps([FRONTEND, BACKEND, SERVER, *OTHERS])};
  chosenKeys = COLUMNS.map((c) => c.key);
  passedS = 2;
  earlier = new Map([["s/b/one", {{ bin: 1024, bout: 1024 }}]]);
  drawHeads();
  drawTable();
  const cells = (name) => Object.fromEntries([...document.querySelectorAll(
    `#proxies [data-name="${{name}}"] [data-column]`)].map((td) => [td.dataset.column, td.textContent.trim()]));
  const names = () => [...document.querySelectorAll("#proxies .server")].map((tr) => tr.dataset.name);
  const head = (key) => document.querySelector(`#proxies [data-sort=${{key}}]`);
  try {{ %s }}
  finally {{
    [rows, chosenKeys, passedS, earlier, sortBy, down] = former;
    drawHeads();
    drawTable();
  }}
}})()"""

FAILED = {
    "failures": 12345, "since": "2026-01-02T03:04:05.6Z", "others": 3,
    "complete_since": "2026-01-02T04:05:06.7Z", "rows": [{
        "count": 7, "reason": "it failed", "code": "SC", "blame": "server",
        "frontend": "f", "backend": "b", "server": "s",
        "last": "2026-01-02T05:06:07.8Z", "examples": [
            {"client": "10.0.0.1", "client_port": 81, "bytes_in": 5,
             "bytes_out": 6, "total_ms": 7},
            {"client": "10.0.0.2", "client_port": 82, "bytes_in": 8,
             "bytes_out": 9, "total_ms": 10}]}]}
TALKERS = {
    "by": "sessions", "span_ms": 60000, "others_max": 4, "clients": [{
        "client": "10.0.0.9", "bytes": 2048, "bytes_more_max": 1024,
        "sessions": 5, "sessions_more_max": 0, "errors": 1,
        "errors_more_max": 2}]}


def answered(browser, answer, act):
    """Has the page's requests answered so while act runs.  Returns the paths."""
    browser.evaluate(f"""(() => {{
      window.asked = [];
      window.realFetch = window.fetch;
      window.fetch = (path) => {{
        window.asked.push(path);
        return Promise.resolve(new Response(JSON.stringify({json.dumps(answer)})));
      }};
    }})()""")
    try:
        act()
        return browser.evaluate("window.asked")
    finally:
        browser.evaluate("window.fetch = window.realFetch")


def table(browser, name):
    return browser.evaluate(
        f"[...document.querySelectorAll('#{name} tbody tr')].map((r) => "
        "[...r.cells].map((c) => c.textContent))")


def exact(browser, checks):
    def cells():
        drawn = browser.evaluate(
            DRAWN % "return ['b/one', 'b', 'f'].map(cells);")
        for i, row in enumerate(drawn):
            assert set(row) == set(TEXTS), set(row) ^ set(TEXTS)
            for column, texts in TEXTS.items():
                assert row[column] == texts[i], (column, row[column], texts[i])

    def heads():
        said = browser.evaluate(
            DRAWN % "return document.querySelector('#proxies [data-name=b]"
            " .name').textContent;")
        assert said == "b 1 of 3 usable", said

    def orders():
        for key, first in (("weight", ["two", "one", "three"]),
                           ("name", ["one", "three", "two"]),
                           ("sessions", ["one"])):
            down, up = browser.evaluate(
                DRAWN % f"head('{key}').click(); const first = names();"
                f"head('{key}').click(); return [first, names()];")
            assert down[:len(first)] == [f"b/{n}" for n in first], (key, down)
            assert up[-1] == f"b/{first[0]}", (key, up)

    def ends_of_axes():
        for is_bytes in ("true", "false"):
            for value in (1, 3, 9, 37, 999, 1001, 1500, 70000, 1100000, 3e9):
                top, text = browser.evaluate(
                    f"(() => {{ const top = roundUp({value}, {is_bytes});"
                    f"return [top, ({is_bytes} ? bytes : count)(top)]; }})()")
                assert value <= top <= 2.5 * value, (value, top)
                if is_bytes == "true":
                    assert re.fullmatch(r"(1|2|5)(\.0|0|00)? .?i?B", text), text

    def times():
        for n, step, said, name in browser.evaluate(
                "FIGURES.map((f, i) => [before.history[f.series].length, "
                "before.history.step_s, document.querySelectorAll("
                "'#figures .time')[i].textContent, document.querySelectorAll("
                "'#figures svg')[i].getAttribute('aria-label')])"):
            seconds = max(24, min(120, n)) * step
            ago = f"{seconds // 60} min" if seconds >= 60 else f"{seconds} s"
            assert said == f"{ago} agonow", (n, step, said)
            assert f"of the last {ago} on an axis from 0" in name, (n, name)

    def failures():
        asked = answered(browser, FAILED, lambda: (
            fill(browser, "failures-last", "1d", "change"),
            browser.evaluate("drawFailures()")))
        assert asked[-1] == "/api/v1/failures/20/last/1d", asked
        said = browser.evaluate(
            "document.getElementById('failures-t').textContent")
        assert said == (
            "12\u202f345 failures since 2026-01-02 03:04:05, complete since "
            "2026-01-02 04:05:06; 3 are in no row, because the table is full"), said
        rows = table(browser, "failures")
        assert rows == [["7", "it failed (SC)", "server", "f", "b/s",
                         "2026-01-02 05:06:07", "10.0.0.1 port 81, 5 B in, "
                         "6 B out, after 7 ms"]], rows

    def talkers():
        asked = answered(browser, TALKERS, lambda: (
            fill(browser, "clients-by", "sessions", "change"),
            fill(browser, "clients-last", "5m", "change"),
            browser.evaluate("drawClients()")))
        assert asked[-1] == "/api/v1/top-clients/sessions/last/5m", asked
        said = browser.evaluate(
            "document.getElementById('clients-t').textContent")
        assert said == ("counted over 1 min; any other client has at most 4"), said
        [row] = table(browser, "clients")
        assert row[:4] == ["10.0.0.9", "2.0 KiB to 3.0 KiB", "5", "1 to 3"], row
        fill(browser, "clients-by", "bytes", "change")

    def marks():
        looks = browser.evaluate(
            "['up', 'held', 'down'].map((kind) => { const e = document"
            ".querySelector('#kinds .' + kind), mark = getComputedStyle(e, "
            "'::before'); return [getComputedStyle(e).color, mark.clipPath + "
            "mark.borderRadius, mark.width]; })")
        usual = browser.evaluate("getComputedStyle(document.body).color")
        assert len({look[0] for look in looks} | {usual}) == 4, looks
        assert len({look[1] for look in looks}) == 3, looks
        assert all(look[2] not in ("auto", "0px") for look in looks), looks

    def remembered():
        press(browser, "By backend")
        kept = browser.evaluate("[grouped, recall('grouped', true), document"
                                ".querySelectorAll('#proxies .group').length]")
        press(browser, "By backend")
        assert kept == [False, False, 0], kept
        assert browser.evaluate("recall('grouped', true)") is True

    checks.run("each column has its figure", cells)
    checks.run("a backend says how many servers are usable", heads)
    checks.run("numbers are sorted as numbers, names as names", orders)
    checks.run("an axis ends at a round value above the samples", ends_of_axes)
    checks.run("an axis of time begins where its text says", times)
    checks.run("the table of failures, word by word", failures)
    checks.run("the table of clients, with its bounds", talkers)
    checks.run("states differ by colour and by shape", marks)
    checks.run("the list without backends is remembered", remembered)
