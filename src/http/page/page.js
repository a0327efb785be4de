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

  // What has the focus keeps it while a part of the page is drawn again, and while
  // a pointer is down nothing is: its click would be lost.
  let held = false;
  addEventListener("pointerdown", () => { held = true; });
  addEventListener("pointerup", () => setTimeout(() => { held = false; }));
  addEventListener("pointercancel", () => { held = false; });
  const redraw = (parent, children) => {
    const a = document.activeElement, name = a && parent.contains(a) && a.getAttribute("aria-label");
    parent.replaceChildren(...children);
    if (name) [...parent.querySelectorAll("button")].find((b) => b.getAttribute("aria-label") === name)?.focus();
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
      if (may("admin")) {
        const b = make("button", "Change");
        b.type = "button";
        b.setAttribute("aria-label", "Change pool " + pool.name);
        b.addEventListener("click", () => askPool(pool));
        stand.append(b);
      }
      return stand;
    });
    redraw($("stands"), stands);
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
    const change = make("td", undefined, "change");
    if (r.type === 2 && may("admin")) {
      const b = make("button", "Change");
      b.type = "button";
      b.setAttribute("aria-label", "Change server " + r.pxname + "/" + r.svname);
      b.addEventListener("click", () => askServer(r));
      change.append(b);
    }
    tr.append(change);
    return tr;
  };
  const drawTable = () => {
    const list = order();
    if (from >= list.length) from = Math.max(0, Math.floor((list.length - 1) / PAGE) * PAGE);
    redraw($("proxies").tBodies[0], list.slice(from, from + PAGE).map(drawRow));
    $("shown").textContent = list.length === 0 ? "none" :
      (from + 1) + " to " + Math.min(from + PAGE, list.length) + " of " + list.length;
    $("back").disabled = from === 0;
    $("on").disabled = from + PAGE >= list.length;
  };
  const heads = () => {
    [...$("proxies").tHead.rows[0].cells].slice(0, COLUMNS.length).forEach((th, i) => {
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

  // -- what those may do who have signed in --
  let me = { level: "user", user: "", csrf: "", sign_in: false };
  const LEVELS = ["user", "operator", "admin"];
  const may = (level) => LEVELS.indexOf(me.level) >= LEVELS.indexOf(level);
  const send = (method, path, body) => fetch(path, { method, cache: "no-store",
    headers: { "Content-Type": "application/json", "X-CSRF-Token": me.csrf }, body: body && JSON.stringify(body) })
    .then((r) => r.json().then((answer) => { if (!r.ok) throw new Error(answer.error || r.status); return answer; }));
  const known = (answer) => {
    me = answer;
    $("user").textContent = me.user ? me.user + ", " + me.level : me.level === "user" ? "" : me.level;
    $("sign").textContent = me.user ? "Sign out" : "Sign in";
    $("sign").hidden = !me.user && !me.sign_in;
    $("who").hidden = $("sign").hidden && me.level === "user";
    $("reload").hidden = !may("admin");
    $("sessions-s").hidden = $("closed-s").hidden = !may("operator");
    document.body.classList.toggle("admin", may("admin"));
    drawClosed();
    if (before) { drawPools(before); drawTable(); }
  };
  const whoAmI = () => send("GET", "/api/v1/session").then(known).catch(() => {});
  const open = (dialog, wrong) => { $(wrong).textContent = ""; $(dialog).showModal(); };
  $("sign").addEventListener("click", () => {
    if (me.user) send("DELETE", "/api/v1/session").then(known).catch(whoAmI);
    else open("sign-d", "sign-w");
  });
  $("sign-d").querySelector("form").addEventListener("submit", (e) => {
    e.preventDefault();
    send("POST", "/api/v1/session", { user: $("name").value, password: $("password").value })
      .then((answer) => { $("sign-d").close(); known(answer); })
      .catch((error) => { $("sign-w").textContent = error.message; })
      .finally(() => { $("password").value = ""; });
  });
  document.querySelectorAll("button.cancel").forEach((b) => b.addEventListener("click", () => b.closest("dialog").close()));

  // A choice: its name, the command for a number, what it means, and the number at first.
  let choices = [];
  const chosen = () => choices[$("act").selectedIndex];
  const explainChoice = () => {
    const c = chosen();
    $("act-n").hidden = c.number === undefined;
    if (c.number !== undefined) { $("number").max = c.max; if (!$("number").value) $("number").value = c.number; }
    $("act-t").textContent = c.means($("number").value);
  };
  const ask = (title, list) => {
    choices = list;
    $("act-h").textContent = title;
    $("act").replaceChildren(...list.map((c) => make("option", c.name)));
    $("act-c").hidden = list.length === 1;
    $("number").value = "";
    $("act-ok").disabled = false;
    explainChoice();
    open("act-d", "act-w");
  };
  $("act").addEventListener("change", () => { $("number").value = ""; explainChoice(); });
  $("number").addEventListener("input", explainChoice);
  $("act-d").querySelector("form").addEventListener("submit", (e) => {
    e.preventDefault();
    $("act-ok").disabled = true;
    send("POST", "/api/v1/command", { command: chosen().command($("number").value) })
      .then((r) => {
        if (r.answer && chosen().answers) { $("act-t").textContent = r.answer; return; }
        $("act-d").close();
      })
      .catch((error) => { $("act-w").textContent = error.message; $("act-ok").disabled = false; whoAmI(); });
  });
  const sessions = (n) => n === 1 ? "1 session" : n + " sessions";
  const askServer = (r) => {
    const name = r.pxname + "/" + r.svname, now = sessions(r.scur || 0);
    ask("Server " + name, [
      { name: "Drain", command: () => "set server " + name + " state drain", means: () => name + " gets no new sessions; its " + now + " go on." },
      { name: "Ready", command: () => "set server " + name + " state ready", means: () => name + " gets sessions again." },
      { name: "Maintenance", command: () => "set server " + name + " state maint", means: () => name + " gets no sessions and no checks; its " + now + " go on." },
      { name: "Weight", number: r.weight, max: 256, command: (n) => "set weight " + name + " " + n, means: (n) => name + " gets the weight " + n + "; it has " + r.weight + "." },
      { name: "Close sessions", command: () => "shutdown sessions server " + name, means: () => "Its " + now + " are cut." }]);
  };
  const askPool = (pool) => ask("Pool " + pool.name, [
    { name: "Threads", number: pool.threads, max: 1024, command: (n) => "set pool " + pool.name + " threads " + n,
      means: (n) => "The pool gets " + n + " threads; it has " + pool.threads + ". Sessions go on." }]);
  $("reload").addEventListener("click", () => ask("Reload", [
    { name: "Reload", answers: true, command: () => "reload", means: () => "lfproxy reads its configuration again; sessions go on. If the file is wrong nothing changes." }]));

  const when = (text) => text.replace("T", " ").replace(/\.\d+Z$/, " UTC");
  const to = (s) => s.backend ? s.backend + "/" + (s.server || "-") : "-";
  const drawClosed = () => may("operator") && fetch("/api/v1/closed/30", { cache: "no-store" }).then((r) => r.json()).then((list) => {
    fill("closed", list.map((s) => [[when(s.ended)], [s.client], [s.frontend], [to(s)], [s.sni || "", "long"],
      [bytes(s.bytes_in), "number"], [bytes(s.bytes_out), "number"], [s.total_ms + " ms", "number"], [s.reason, "long"]]));
  }).catch(() => {});
  const SHOWN = 2000;
  $("sessions-b").addEventListener("click", () => {
    if (before && before.info.CurrConns > SHOWN) {
      $("sessions-t").textContent = "more than " + SHOWN + "; lfproxyctl show sess has filters";
      return;
    }
    fetch("/api/v1/sess", { cache: "no-store" }).then((r) => r.json()).then((list) => {
      $("sessions-t").textContent = sessions(list.length);
      $("sessions").tBodies[0].replaceChildren(...list.slice(0, SHOWN).map((s) => {
        const tr = make("tr"), close = make("td");
        [[when(s.time)], [s.client], [s.frontend], [to(s)], [s.sni || "", "long"], [bytes(s.bytes_in), "number"],
          [bytes(s.bytes_out), "number"], [s.state]].forEach(([text, name]) => tr.append(make("td", text, name)));
        if (may("admin")) {
          const b = make("button", "Close");
          b.type = "button";
          b.setAttribute("aria-label", "Close the session of " + s.client + " port " + s.client_port);
          b.addEventListener("click", () => ask("Session of " + s.client, [
            { name: "Close", command: () => "shutdown session " + s.id, means: () => "The session with " + to(s) + " is cut." }]));
          close.append(b);
        }
        tr.append(close);
        return tr;
      }));
    }).catch((error) => { $("sessions-t").textContent = error.message; });
  });

  const show = (s) => {
    rows = s.stat;
    history = s.history.proxies;
    drawFigures(s);
    if (!held) {
      drawPools(s);
      drawTable();
    }
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
  setInterval(() => { drawCapacity(); drawClosed(); }, 10000);
  whoAmI();
  say("connecting");
  if (window.EventSource) stream();
  else { poll(); polling = setInterval(poll, 2000); }
})();
