# SPDX-License-Identifier: MIT
"""What the page has to show to anybody."""
import re

from page import LIVE, ROWS, THREADS, accessible, cell, fill, press

# The samples of a figure, and where its curve has them, in percent of the axis.
DRAWN = """(() => {
  const box = document.querySelector('[data-key="%s"]');
  const points = box.querySelector("polyline").getAttribute("points").split(" ");
  return { values: before.history["%s"], top: box.querySelector(".top").textContent,
    drawn: points.map((p) => (39.5 - Number(p.split(",")[1])) / 39 * 100) };
})()"""

# The cells of a server's card that have a text: column, label, left, right,
# height, and what is said above the text.
CARD = """[...document.querySelectorAll('[data-name="app/app1"] [data-column]')]
  .filter((td) => td.textContent.trim()).map((td) => {
    const r = td.getBoundingClientRect();
    return [td.dataset.column, td.dataset.label, r.left, r.right, r.height,
      getComputedStyle(td, "::before").content, r.top];
  })"""


def look(browser, stage, checks):
    browser.call("Page.navigate", url=f"http://{stage.http}/")
    app1, app2 = (lambda column, s=s: cell(f"app/{s}", column)
                  for s in ("app1", "app2"))

    def shows():
        browser.wait(LIVE)
        assert browser.evaluate(app1("status")) == "UP"
        assert browser.evaluate(cell("web", "status")) == "OPEN"
        assert browser.evaluate(THREADS) == 4
        browser.wait("document.getElementById('verdict').textContent === "
                     "'1 backend has no server: evil; "
                     "1 of 3 servers down: evil/evil'")

    def says():
        browser.wait(f"!['', '0', undefined].includes({app1('total')})")
        said = browser.evaluate(
            "Object.fromEntries([...document.querySelectorAll('#proxies "
            "[data-name=\"app/app1\"] [data-column]')]"
            ".map((td) => [td.dataset.column, td.textContent.trim()]))")
        for column, form in (
                ("weight", "100"), ("sessions", r"\d+ of 300"),
                ("since", r"\d+ (s|min|h)"), ("check", r"L4OK in \d+ ms"),
                ("in", r"[\d.]+ (B|[KM]iB)"), ("out", r"[\d.]+ (B|[KM]iB)"),
                ("retries", r"\d+"), ("errors", r"\d+")):
            assert re.fullmatch(form, said[column]), (column, said[column])
        text = browser.evaluate("document.querySelector('[data-name=\"app/app2\"]"
                                " .name').textContent")
        assert text == "app2backup", text

    def down():
        stage.apps[0][0].terminate()
        seconds = browser.wait(app1("status") + " === 'DOWN'")
        browser.wait("document.getElementById('events').textContent"
                     ".includes('app/app1')")
        browser.wait("document.getElementById('verdict').textContent"
                     ".includes('2 of 3 servers down: app/app1')")
        assert browser.evaluate("document.title") == "2 down: lfproxy"
        return f"{seconds:.1f} s after it has ended"

    def resized():
        stage.ctl("set", "pool", "main", "threads", "7")
        return "%.1f s" % browser.wait(f"{THREADS} === 7")

    def drained():
        stage.ctl("set", "server", "app/app2", "state", "drain")
        return "%.1f s" % browser.wait(app2("status") + "?.startsWith('DRAIN')")

    def axes():
        browser.wait("before.history.busy_percent.length > 1")
        busy = browser.evaluate(DRAWN % (("busy_percent",) * 2))
        assert busy["top"] == "100 %", busy
        for value, drawn in zip(busy["values"], busy["drawn"], strict=True):
            assert abs(value - drawn) < 1, busy
        rate = browser.evaluate(DRAWN % (("rate",) * 2))
        top = float(rate["top"].replace(" k", "000"))
        assert top >= max(rate["values"]), rate
        for value, drawn in zip(rate["values"], rate["drawn"], strict=True):
            assert abs(value / top * 100 - drawn) < 1, rate

    def filtered():
        fill(browser, "filter", "app2")
        n = browser.evaluate(ROWS.format("server"))
        assert n == 1, f"{n} rows"
        fill(browser, "filter", "")
        for kind, names in (("down", ["app/app1", "evil/evil"]),
                            ("held", ["app/app2"])):
            browser.evaluate(f"document.querySelector('#kinds .{kind}').click()")
            shown = browser.evaluate(
                "[...document.querySelectorAll('#proxies .server')]"
                ".map((r) => r.dataset.name)")
            assert shown == names, shown
            pressed = browser.evaluate(
                "[...document.querySelectorAll('#kinds [aria-pressed=true]')]"
                ".map((b) => b.classList[b.classList.length - 1])")
            assert pressed == [kind], pressed
        browser.evaluate("document.querySelector('#kinds .held').click()")
        assert browser.evaluate(ROWS.format("server")) == 3

    def sorted_by_name():
        press(browser, "By backend")
        for order, reverse in (("ascending", False), ("descending", True)):
            browser.evaluate(
                "document.querySelector('#proxies [data-sort=name]').click()")
            names = browser.evaluate(
                "[...document.querySelectorAll('#proxies tbody .name button')]"
                ".map((b) => b.textContent)")
            assert names == sorted(["app/app1", "app/app2", "evil/evil"],
                                   reverse=reverse), names
            assert browser.evaluate("document.querySelectorAll("
                                    f"'[aria-sort={order}]').length") == 1
        press(browser, "By backend")

    def folded():
        group = "document.querySelector('[aria-label=\"Servers of app\"]')"
        assert browser.evaluate(ROWS.format("server")) == 3
        browser.evaluate(f"{group}.click()")
        assert browser.evaluate(ROWS.format("server")) == 1
        again(browser)
        assert browser.evaluate(ROWS.format("server")) == 1
        assert browser.evaluate(f"{group}.getAttribute('aria-expanded')") == "false"
        press(browser, "Fold all")
        assert browser.evaluate(ROWS.format("server")) == 0
        assert browser.evaluate(ROWS.format("frontend")) == 0
        assert browser.evaluate(cell("app", "total")) != "0"
        # A filter shows what is folded.
        fill(browser, "filter", "app2")
        assert browser.evaluate(ROWS.format("server")) == 1
        fill(browser, "filter", "")
        assert browser.evaluate(ROWS.format("server")) == 0
        press(browser, "Unfold all")
        assert browser.evaluate(ROWS.format("server")) == 3

    def chosen_columns():
        heads = ("[...document.querySelectorAll('#proxies th [data-sort]')]"
                 ".map((b) => b.textContent)")
        usual = browser.evaluate(heads)
        press(browser, "Columns…")
        for label in ("Weight", "Downtime"):
            browser.evaluate("[...document.querySelectorAll('#columns-l label')]"
                             f".find((l) => l.textContent.trim() === '{label}')"
                             ".querySelector('input').click()")
        press(browser, "Done")
        again(browser)
        mine = browser.evaluate(heads)
        assert set(mine) ^ set(usual) == {"Weight", "Downtime"}, mine
        assert browser.evaluate(app1("weight")) is None
        press(browser, "Columns…")
        press(browser, "Reset the columns")
        press(browser, "Done")
        assert browser.evaluate(heads) == usual
        again(browser)
        assert browser.evaluate(heads) == usual

    def details():
        press(browser, "Details of app/app1")
        facts = browser.evaluate("Object.fromEntries([...document.querySelectorAll("
                                 "'#server-l div')].map((d) => [...d.children]"
                                 ".map((e) => e.textContent)))")
        assert facts["State"] == "DOWN", facts
        assert facts["Role"] == "active", facts
        assert facts["Times down"] == "1", facts
        press(browser, "Done")

    def keyboard():
        for key in ("keyDown", "keyUp"):
            browser.call("Input.dispatchKeyEvent", type=key, key="/", text="/")
        assert browser.evaluate("document.activeElement.id") == "filter"

    def narrow():
        browser.call("Emulation.setDeviceMetricsOverride", width=360,
                     height=800, deviceScaleFactor=1, mobile=True)
        try:
            wide = browser.evaluate("document.documentElement.scrollWidth")
            assert wide <= 360, f"{wide} pixels wide"
            card = browser.evaluate(CARD)
            for column, label, left, right, height, said, _ in card:
                assert left >= 0 and right <= 360 and height > 0, (column, left)
                assert said == f'"{label}"' or column == "status", (column, said)
            assert {"status", "errors", "check"} <= {c[0] for c in card}
            # Several beside each other.
            assert len({c[6] for c in card}) < len(card) - 2, card
            assert not browser.evaluate(
                "document.querySelector('#proxies thead').checkVisibility()")
        finally:
            browser.call("Emulation.clearDeviceMetricsOverride")

    def silent():
        assert not browser.complaints, browser.complaints

    checks.run("it shows what is there, and is live", shows)
    checks.run("what a server has: bytes, limit, weight, retries, check", says)
    checks.run("a server that goes down", down)
    checks.run("a resize, as it happens", resized)
    checks.run("a server that is drained", drained)
    checks.run("shares on an axis to 100 %, values below their axis' end", axes)
    checks.run("the filter, by text and by state", filtered)
    checks.run("sorting", sorted_by_name)
    checks.run("backends fold, and stay folded", folded)
    checks.run("columns are chosen, and remembered", chosen_columns)
    checks.run("the details of a server", details)
    checks.run("the keyboard", keyboard)
    checks.run("labels and contrast, light and dark",
               lambda: accessible(browser))
    checks.run("a phone: a card with errors and the last check", narrow)
    checks.run("no error, and nothing that the policy refuses", silent)


def again(browser):
    """Loads the page again, as the user does."""
    browser.evaluate("delete document.body.dataset.time")
    browser.call("Page.reload")
    browser.wait(f"document.body.dataset.time && {LIVE}")


def look_at_many(browser, stage, checks):
    _, log = stage.start_lfproxy("large", stage.large())
    browser.call("Page.navigate",
                 url=f"http://{stage.address('monitoring at http://', log)}/")

    def quick():
        browser.wait(f"{LIVE} && document.getElementById('shown').textContent"
                     ".startsWith('10\u202f001 ')")
        most = 0
        for text in ("s1", "s19-4", "b7 s7-3", ""):
            busy = browser.busy_ms()
            fill(browser, "filter", text)
            browser.evaluate("document.body.offsetHeight")
            most = max(most, browser.busy_ms() - busy)
        assert most < 1000, f"{most:.0f} ms"
        return f"{most:.0f} ms of CPU time at most"

    def paged():
        assert browser.evaluate(ROWS.format("group")) == 21
        assert browser.evaluate(ROWS.format("server")) == 0
        press(browser, "Servers of b1")
        press(browser, "Next")
        heads = browser.evaluate("[...document.querySelectorAll('#proxies .group')]"
                                 ".map((r) => r.dataset.name)")
        assert heads[0] == "b1", heads
        assert browser.evaluate(ROWS.format("server")) == 200

    checks.run("10000 servers: a filter takes no while", quick)
    checks.run("10000 servers: folded, and in pages", paged)
