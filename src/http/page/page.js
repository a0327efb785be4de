"use strict";
// The status page: draws what /api/v1/live sends, or what /api/v1/snapshot says
// where that fails.  All texts are set by textContent.
(() => {
  const PAGE = 200, SVG = "http://www.w3.org/2000/svg";
  const $ = (id) => document.getElementById(id);
  const make = (tag, text, name) => {
    const e = document.createElement(tag);
    if (text !== undefined) e.textContent = text;
    if (name) e.className = name;
    return e;
  };
  const count = (n) => n === undefined || n === null ? "" :
    n < 10000 ? String(Math.round(n)) :
    n < 1e7 ? (n / 1e3).toFixed(0) + " k" : n < 1e10 ? (n / 1e6).toFixed(0) + " M" : (n / 1e9).toFixed(0) + " G";
  const bytes = (n) => {
    const units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let i = 0;
    for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
    return (n < 10 && i > 0 ? n.toFixed(1) : Math.round(n)) + " " + units[i];
  };
  const span = (s) => s >= 86400 ? Math.floor(s / 86400) + " d" : s >= 3600 ? Math.floor(s / 3600) + " h" :
    s >= 60 ? Math.floor(s / 60) + " min" : s + " s";

  const spark = (values, title, name) => {
    const svg = document.createElementNS(SVG, "svg"), line = document.createElementNS(SVG, "polyline");
    const top = Math.max(1, ...values), n = Math.max(values.length - 1, 1);
    svg.setAttribute("viewBox", "0 0 100 20");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", title);
    if (name) svg.setAttribute("class", name);
    line.setAttribute("points", values.map((v, i) => (i * 100 / n).toFixed(1) + "," + (19 - v * 18 / top).toFixed(1)).join(" "));
    svg.append(line);
    return svg;
  };

  // -- figures --
  const figure = (name, value, values, unit) => {
    const box = make("div", name, "figure");
    box.append(make("b", value), spark(values, name + ", the last ten minutes, up to " + Math.max(0, ...values) + " " + unit));
    return box;
  };
  const drawFigures = (s) => {
    const h = s.history, last = (a) => a.length ? a[a.length - 1] : 0;
    $("figures").replaceChildren(
      figure("Sessions", count(s.info.CurrConns), h.sessions, "sessions"),
      figure("Sessions per second", count(s.info.SessRate), h.rate, "per second"),
      figure("Bytes per second", bytes(last(h.kib_per_s) * 1024), h.kib_per_s, "KiB per second"),
      figure("Threads busy", (100 - s.info.Idle_pct) + " %", h.busy_percent, "percent"));
    $("node").textContent = s.info.node || "";
    $("about").textContent = "version " + s.info.Lfproxy_version + ", process " + s.info.Pid + ", up " +
      span(s.info.Uptime_sec) + ", " + count(s.info.Maxconn) + " sessions at most";
  };

  // -- pools: the taxi stand --
  let before = null;
  const ORDER = ["leading", "processing", "standby", "following"];
  const drawPools = (s) => {
    const stands = s.pools.map((pool) => {
      const stand = make("div", undefined, "stand"), queue = make("div", undefined, "queue");
      const old = before && before.pools.find((p) => p.name === pool.name);
      const passed = before ? (s.time_ms - before.time_ms) / 1000 : 0;
      const rate = old && passed > 0 ? (pool.promotions - old.promotions) / passed : 0;
      const roles = ORDER.map((r) => pool.roles[r] + " " + r).join(", ");
      stand.append(make("p", "Pool " + pool.name + ": " + pool.threads + " threads, " + roles + "; " +
        count(Math.max(0, rate)) + " promotions/s; " + pool.promotion + ", " + pool.order));
      s.threads.filter((t) => t.pool === pool.name)
        .sort((a, b) => ORDER.indexOf(a.role) - ORDER.indexOf(b.role) || a.thread - b.thread)
        .forEach((t) => {
          const e = make("span", t.thread, "thread " + (ORDER.includes(t.role) ? t.role : "following"));
          e.title = "thread " + t.thread + ", shard " + t.shard + ": " + t.role;
          queue.append(e);
        });
      queue.setAttribute("role", "img");
      queue.setAttribute("aria-label", roles);
      stand.append(queue);
      return stand;
    });
    $("stands").replaceChildren(...stands);
  };

  // -- the table --
  const COLUMNS = [
    ["Proxy", (r) => r.pxname], ["Name", (r) => r.svname], ["State", (r) => r.status || ""],
    ["Sessions", (r) => r.scur || 0, true], ["Per second", (r) => r.rate || 0, true], ["Queue", (r) => r.qcur, true],
    ["Total", (r) => r.stot || 0, true], ["Errors", (r) => (r.econ || 0) + (r.eresp || 0), true],
    ["Address", (r) => r.addr || ""], ["Last check", (r) => r.type === 2 ? (r.check_status || "") + " " + (r.last_chk || "") : ""]];
  let rows = [], history = {}, sortBy = -1, down = false, from = 0;
  const stateClass = (text) => /^(UP|OPEN)/.test(text) ? "up" : /^(DOWN|STOP)/.test(text) ? "down" : "held";
  const order = () => {
    const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    let list = rows.filter((r) => {
      const text = (r.pxname + " " + r.svname + " " + (r.status || "") + " " + (r.addr || "")).toLowerCase();
      return words.every((w) => text.includes(w)) &&
        (!$("troubled").checked || stateClass(r.status || "") !== "up" || r.qcur > 0);
    });
    if (sortBy >= 0) {
      const value = COLUMNS[sortBy][1], number = COLUMNS[sortBy][2];
      list = list.map((r) => [value(r), r]);
      list.sort((a, b) => (number ? (a[0] || 0) - (b[0] || 0) : a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0) * (down ? -1 : 1));
      list = list.map((p) => p[1]);
    }
    return list;
  };
  const drawRow = (r) => {
    const tr = make("tr", undefined, r.type === 2 ? "" : "proxy");
    COLUMNS.forEach(([name, value, number], i) => {
      const v = value(r), td = make("td", number ? count(v) : v, number ? "number" : i === 2 ? stateClass(v) : "");
      const past = i === 3 && r.type !== 2 && history[(r.type === 0 ? "frontend " : "backend ") + r.pxname];
      if (past && past.length > 1) td.prepend(spark(past, "sessions of the last ten minutes", "spark"), " ");
      if (i === 3 && r.slim) td.title = "at most " + r.slim;
      tr.append(td);
    });
    return tr;
  };
  const drawTable = () => {
    const list = order();
    if (from >= list.length) from = Math.max(0, Math.floor((list.length - 1) / PAGE) * PAGE);
    $("proxies").tBodies[0].replaceChildren(...list.slice(from, from + PAGE).map(drawRow));
    $("shown").textContent = list.length === 0 ? "none" :
      (from + 1) + " to " + Math.min(from + PAGE, list.length) + " of " + list.length;
    $("back").disabled = from === 0;
    $("on").disabled = from + PAGE >= list.length;
  };
  const heads = () => {
    [...$("proxies").tHead.rows[0].cells].forEach((th, i) => {
      const button = make("button", th.textContent);
      button.type = "button";
      button.addEventListener("click", () => {
        down = sortBy === i ? !down : Boolean(COLUMNS[i][2]);
        sortBy = i;
        [...th.parentNode.cells].forEach((c) => c.removeAttribute("aria-sort"));
        th.setAttribute("aria-sort", down ? "descending" : "ascending");
        drawTable();
      });
      th.replaceChildren(button);
    });
  };

  // -- events and capacity --
  const fill = (id, lines) => $(id).tBodies[0].replaceChildren(...lines.map((cells) => {
    const tr = make("tr");
    cells.forEach(([text, name]) => tr.append(make("td", text, name)));
    return tr;
  }));
  const drawRest = (s) => {
    fill("events", s.events.slice().reverse().map((e) => [[e.time.replace("T", " ").replace(/\.\d+Z$/, " UTC")],
      [e.event, e.level === "error" ? "down" : e.level === "warning" ? "held" : ""], [e.about], [e.text, "long"]]));
  };
  // Asked for now and then: with many servers it is long.
  const drawCapacity = () => fetch("/api/v1/capacity", { cache: "no-store" }).then((r) => r.json()).then((c) => {
    const full = c.rows.filter((r) => r.limit !== null && r.percent !== null).sort((a, b) => b.percent - a.percent);
    fill("capacity", full.slice(0, 20).map((r) => {
      const show = r.unit === "bytes" ? bytes : count;
      return [[r.resource], [r.of], [show(r.used), "number"], [show(r.limit), "number"],
        [r.percent.toFixed(1), r.percent > 80 ? "number down" : "number"], [r.note || "", "long"]];
    }));
  }).catch(() => {});

  const show = (s) => {
    rows = s.stat;
    history = s.history.proxies;
    drawFigures(s);
    drawPools(s);
    drawTable();
    drawRest(s);
    before = s;
    document.body.dataset.time = s.time_ms;
  };

  // -- where it comes from --
  const say = (text) => { if ($("state").textContent !== text) $("state").textContent = text; };
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

  for (const id of ["figures", "pools", "tools", "events-s", "capacity-s", "theme"]) $(id).hidden = false;
  heads();
  $("filter").addEventListener("input", () => { from = 0; drawTable(); });
  $("troubled").addEventListener("change", () => { from = 0; drawTable(); });
  $("back").addEventListener("click", () => { from -= PAGE; drawTable(); });
  $("on").addEventListener("click", () => { from += PAGE; drawTable(); });
  $("theme").addEventListener("click", () => {
    const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = (root.dataset.theme || (dark ? "dark" : "light")) === "dark" ? "light" : "dark";
    try { localStorage.setItem("lfproxy-theme", root.dataset.theme); } catch (e) { /* private windows */ }
  });
  try { const kept = localStorage.getItem("lfproxy-theme"); if (kept) document.documentElement.dataset.theme = kept; } catch (e) { /* likewise */ }
  document.addEventListener("keydown", (e) => {
    if (e.key === "/" && document.activeElement !== $("filter")) { e.preventDefault(); $("filter").focus(); }
    else if (e.key === "Escape" && document.activeElement === $("filter")) { $("filter").value = ""; drawTable(); }
  });
  drawCapacity();
  setInterval(drawCapacity, 10000);
  say("connecting");
  if (window.EventSource) stream();
  else { poll(); polling = setInterval(poll, 2000); }
})();
