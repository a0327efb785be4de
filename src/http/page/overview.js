// The head of the page: is all well, the figures of the process, the pools.

// -- is all well --

const KINDS = [["up", "up"], ["held", "drain or maint"], ["down", "down"]];
const kindOf = (status) => /^(UP|OPEN|no check)/.test(status) ? "up" : /^(DOWN|STOP)/.test(status) ? "down" : "held";

const nameOf = (r) => r.pxname + "/" + r.svname;

const listNames = (list) => list.slice(0, 5).map(nameOf).join(", ") +
  (list.length > 5 ? " and " + exact(list.length - 5) + " more" : "");

const judge = (rows) => {
  const servers = rows.filter((r) => r.type === 2), dead = rows.filter((r) => r.type === 1 && kindOf(r.status) === "down");
  const down = servers.filter((r) => kindOf(r.status) === "down"), held = servers.filter((r) => kindOf(r.status) === "held");
  const parts = [];
  if (dead.length)
    parts.push(plural(dead.length, "backend has", "backends have") + " no server: " +
      dead.slice(0, 5).map((r) => r.pxname).join(", ") + (dead.length > 5 ? " and more" : ""));
  if (down.length) parts.push(exact(down.length) + " of " + plural(servers.length, "server") + " down: " + listNames(down));
  if (held.length) parts.push(exact(held.length) + " drained or in maintenance: " + listNames(held));
  if (!parts.length)
    parts.push(servers.length === 1 ? "The server is up" : "All " + exact(servers.length) + " servers are up");
  setClass($("verdict"), "status " + (dead.length || down.length ? "down" : held.length ? "held" : "up"));
  setText($("verdict"), parts.join("; "));
  document.title = (down.length ? exact(down.length) + " down: " : "") + "lfproxy";
};

// -- figures --

const FIGURES = [
  { name: "Sessions", series: "sessions", text: count, now: (s) => s.info.CurrConns,
    more: (s) => "of " + count(s.info.Maxconn) + " at most" },
  { name: "Sessions per second", series: "rate", text: count, now: (s) => s.info.SessRate },
  { name: "Bytes per second", series: "kib_per_s", text: bytes, times: 1024, isBytes: true,
    now: (s) => (s.history.kib_per_s.at(-1) || 0) * 1024 },
  { name: "Threads busy", series: "busy_percent", text: (n) => n + " %", top: 100, now: (s) => 100 - s.info.Idle_pct }];

const drawFigure = (box, f, s) => {
  const values = s.history[f.series].map((v) => v * (f.times || 1)), most = Math.max(f.now(s) || 0, ...values);
  const top = f.top || roundUp(Math.max(most, 1), f.isBytes);
  const plot = make("div", undefined, "plot"), head = make("p");
  head.append(make("b", f.text(f.now(s))), " ",
    make("span", (f.more ? f.more(s) + ", " : "") + "peak " + f.text(most), "soft"));
  plot.append(curve(values, top, f.name + ", its curve of the last " + span(axisOf(values) * s.history.step_s) + " on an axis from " + f.text(0) + " to " +
    f.text(top) + ": now " + f.text(f.now(s)) + ", at most " + f.text(most)),
  make("span", f.text(top), "axis top"), make("span", f.text(0), "axis zero"));
  const time = make("div", undefined, "axis time");
  time.append(make("span", span(axisOf(values) * s.history.step_s) + " ago"), make("span", "now"));
  box.replaceChildren(make("h3", f.name), head, plot, time);
};

const drawFigures = (s) => {
  sync($("figures"), FIGURES, (f) => f.series, () => make("div", undefined, "figure"), (box, f) => drawFigure(box, f, s));
  setText($("node"), s.info.node || "");
  setText($("about"), "Version " + s.info.Lfproxy_version + ", process " + s.info.Pid + ", up for " + span(s.info.Uptime_sec));
};

// -- pools: which thread leads, and which ones wait their turn --

const ORDER = ["leading", "processing", "standby", "following"];
let before = null;

const drawThreads = (queue, threads) => sync(queue, threads, (t) => String(t.thread), () => make("span"), (e, t) => {
  setText(e, String(t.thread));
  setClass(e, "thread " + (ORDER.includes(t.role) ? t.role : "following"));
  setTitle(e, "thread " + t.thread + ", shard " + t.shard + ": " + t.role);
});

const makeStand = (pool) => {
  const stand = make("div", undefined, "stand"), queue = make("div", undefined, "queue");
  queue.setAttribute("role", "img");
  stand.append(make("h3", pool.name), make("p", "", "soft"), queue,
    button("Threads…", "Change pool " + pool.name, () => askPool(before.pools.find((p) => p.name === pool.name)), "admin"));
  return stand;
};

const drawPools = (s) => sync($("stands"), s.pools, (pool) => pool.name, makeStand, (stand, pool) => {
  const old = before && before.pools.find((p) => p.name === pool.name);
  const passed = before ? (s.time_ms - before.time_ms) / 1000 : 0;
  const rate = old && passed > 0 ? (pool.promotions - old.promotions) / passed : 0;
  const said = ORDER.map((r) => pool.roles[r] + " " + r).join(", ");
  setText(stand.children[1], plural(pool.threads, "thread") + ": " + said + "; " + count(Math.max(0, rate)) +
    " promotions/s; " + pool.promotion + ", " + pool.order);
  stand.children[2].setAttribute("aria-label", said);
  drawThreads(stand.children[2], s.threads.filter((t) => t.pool === pool.name)
    .sort((a, b) => ORDER.indexOf(a.role) - ORDER.indexOf(b.role) || a.thread - b.thread));
});
