# SPDX-License-Identifier: MIT
"""What a user does on the page, and what can be read there."""

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
    if (e.checkVisibility() && !e.textContent.trim() && !e.ariaLabel) wrong.push("a button or a link without a name");
  for (const e of document.querySelectorAll("input, select"))
    if (!e.labels.length && !e.ariaLabel) wrong.push("an input without a label");
  for (const e of document.querySelectorAll("svg, [role=img]"))
    if (!e.getAttribute("aria-label")) wrong.push("a picture without a name");
  for (const e of document.querySelectorAll("th"))
    if (!e.scope) wrong.push("a table's head without a scope");
  if (!document.documentElement.lang) wrong.push("no language");
  const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
  if (new Set(ids).size !== ids.length) wrong.push("an id occurs twice");
  return wrong;
})()"""


def cell(name, column):
    """The text of a cell: of the server, frontend or backend of that name."""
    return (f"document.querySelector('#proxies tr[data-name=\"{name}\"] "
            f"[data-column={column}]')?.textContent.trim()")


# How many rows the table has, of a kind: server, frontend or group.
ROWS = "document.querySelectorAll('#proxies tbody tr.{}').length"
THREADS = "document.querySelectorAll('#stands .thread').length"
LIVE = "document.getElementById('state').textContent === 'live'"


def press(browser, name):
    """Clicks on the button of that name when it shows, as a pointer does; in a
    dialog, if one is open."""
    button = (
        "[...([...document.querySelectorAll('dialog[open]')].at(-1) || document)"
        ".querySelectorAll('button')].find((b) => b.checkVisibility() && "
        f"(b.getAttribute('aria-label') || b.textContent) === {name!r})")
    browser.wait(f"!!{button}")
    browser.evaluate(f"{button}.click()")


def buttons(browser):
    """The names of all buttons that show."""
    return browser.evaluate(
        "[...document.querySelectorAll('button')].filter((b) => "
        "b.checkVisibility()).map((b) => b.getAttribute('aria-label') || "
        "b.textContent)")


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


def sign_in(browser, name, password="secret"):
    press(browser, "Sign in")
    fill(browser, "name", name)
    fill(browser, "password", password)
    browser.evaluate("document.getElementById('sign-ok').click()")


def redrawn(browser):
    """Waits until the page has been drawn again, twice: all of what was sent
    before is in the second one."""
    for _ in range(2):
        time_ms = browser.evaluate("document.body.dataset.time")
        browser.wait(f"document.body.dataset.time !== '{time_ms}'")


def accessible(browser, before=None, after=None):
    """Raises an error with what is wrong in the light or the dark page."""
    for theme in ("light", "dark"):
        browser.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
        if before:
            before()
        wrong = browser.evaluate(ACCESSIBLE)
        if after:
            after()
        assert not wrong, f"{theme}: {wrong[:5]}"
