// The start: draws what /api/v1/live sends, or /api/v1/snapshot where that fails.

const show = (s) => {
  if (before) {
    earlier = new Map(before.stat.map((r) => [keyOfRow(r), r]));
    passedS = (s.time_ms - before.time_ms) / 1000;
  }
  rows = s.stat;
  curves = s.history.proxies;
  judge(rows);
  drawFigures(s);
  drawPools(s);
  drawTable();
  drawServer();
  drawEvents(s);
  before = s;
  document.body.dataset.time = s.time_ms;
};

const say = (text) => setText($("state"), text);
let polling = null;
const poll = () => fetch("/api/v1/snapshot", { cache: "no-store" })
  .then((r) => r.json()).then((s) => { show(s); say("asked every 2 s"); })
  .catch(() => say("no answer; this is what was last heard"));
const stream = () => {
  const source = new EventSource("/api/v1/live");
  source.addEventListener("snapshot", (e) => {
    if (polling) { clearInterval(polling); polling = null; }
    show(JSON.parse(e.data));
    say("live");
  });
  source.onerror = () => {
    say("connecting again");
    if (!polling) polling = setInterval(poll, 2000);
  };
};

const startTheme = () => {
  const root = document.documentElement, kept = recall("theme", null);
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
  $("theme").addEventListener("click", () => {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = (root.dataset.theme || (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
    remember("theme", root.dataset.theme);
  });
};

const startKeys = () => document.addEventListener("keydown", (e) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement?.tagName) || document.querySelector("dialog[open]");
  if (e.key === "/" && !typing) { e.preventDefault(); $("filter").focus(); }
  else if (e.key === "Escape" && document.activeElement === $("filter")) { $("filter").value = ""; from = 0; drawTable(); }
});

document.body.classList.add("script");
document.querySelectorAll("table").forEach(roles);
startTheme();
startTable();
startKeys();
startSignIn();
startActions();
startRecords();
drawCapacity();
setInterval(() => { drawCapacity(); drawRecords(); }, 10000);
whoAmI();
say("connecting");
if (window.EventSource) stream();
else { poll(); polling = setInterval(poll, 2000); }
