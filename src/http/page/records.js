// Events, failures, clients, sessions of now, sessions that have ended, capacity; one server.

const to = (s) => s.backend ? s.backend + "/" + (s.server || "-") : "-";
const SHOWN = 2000;

const drawEvents = (s) => fill("events", s.events.slice().reverse().map((e) => [[when(e.time), "text"],
  [e.event, e.level === "error" ? "status down" : e.level === "warning" ? "status held" : ""], [e.about], [e.text, "long"]]),
"No event since the start.");

// -- capacity: asked for now and then, because with many servers it is long --

const drawCapacity = () => get("capacity").then((c) => {
  const full = c.rows.filter((r) => r.limit !== null && r.percent !== null).sort((a, b) => b.percent - a.percent);
  fill("capacity", full.slice(0, 10).map((r) => {
    const show = r.unit === "bytes" ? bytes : count, part = make("span", r.percent.toFixed(1) + " %");
    const bar = make("i", undefined, r.percent > 80 ? "bar full" : "bar");
    const both = make("span", undefined, "part");
    bar.style.setProperty("--part", Math.min(100, r.percent).toFixed(1) + "%");
    both.append(part, bar);
    return [[r.resource], [r.of], [show(r.used), "number"], [show(r.limit), "number"], [both, "number"], [r.note || "", "long"]];
  }), "No limited resource is in use.");
}).catch(() => {});

// -- sessions --

const drawClosed = () => get("closed/15").then((list) => fill("closed", list.map((s) => [[when(s.ended)], [s.client], [s.frontend],
  [to(s)], [s.sni || "", "long"], [bytes(s.bytes_in), "number"], [bytes(s.bytes_out), "number"], [millis(s.total_ms), "number"],
  [s.reason, "long"]]), "No session has ended.")).catch(() => {});

const closer = (s, then) => button("Close", "Close the session of " + s.client + " port " + s.client_port,
  () => askSession(s, then), "admin");

const drawSessions = () => {
  $("sessions-w").hidden = false;
  if (before && before.info.CurrConns > SHOWN) {
    setText($("sessions-t"), "more than " + SHOWN + "; lfproxyctl show sess has filters");
    return;
  }
  get("sess").then((list) => {
    setText($("sessions-t"), plural(list.length, "session") + ", at " + new Date().toLocaleTimeString());
    fill("sessions", list.map((s) => [[when(s.time)], [s.client], [s.frontend], [to(s)], [s.sni || "", "long"],
      [bytes(s.bytes_in), "number"], [bytes(s.bytes_out), "number"], [s.state], [closer(s, drawSessions)]]), "No session.");
  }).catch((error) => setText($("sessions-t"), error.message));
};

// -- failures --

const exampleOf = (s) => !s ? "" : [s.client + (s.client_port ? " port " + s.client_port : ""),
  bytes(s.bytes_in) + " in", bytes(s.bytes_out) + " out", "after " + millis(s.total_ms)].join(", ");

const drawFailures = () => get("failures/20/last/" + $("failures-last").value).then((f) => {
  setText($("failures-t"), plural(f.failures, "failure") + " since " + when(f.since) + ", complete since " + when(f.complete_since) +
    (f.others ? "; " + exact(f.others) + " are in no row, because the table is full" : ""));
  fill("failures", f.rows.map((r) => [[count(r.count), "number some"], [r.reason + " (" + r.code + ")", "long"], [r.blame],
    [r.frontend || "-"], [to(r)], [when(r.last)], [exampleOf(r.examples[0]), "long"]]), "No session failed in this time.");
}).catch((error) => setText($("failures-t"), error.message));

// -- top clients --

// A number that is only known within bounds shows both.
const bound = (c, name, text) => c[name + "_more_max"] > 0 ?
  text(c[name]) + " to " + text(c[name] + c[name + "_more_max"]) : text(c[name]);

const drawClients = () => get("top-clients/" + $("clients-by").value + "/last/" + $("clients-last").value).then((top) => {
  const show = top.by === "bytes" ? bytes : count;
  setText($("clients-t"), "counted over " + span(top.span_ms / 1000) + "; any other client has at most " + show(top.others_max));
  fill("clients", top.clients.map((c) => [[c.client], [bound(c, "bytes", bytes), "number"], [bound(c, "sessions", count), "number"],
    [bound(c, "errors", count), c.errors > 0 ? "number some" : "number"]]), "No client in this time.");
}).catch((error) => setText($("clients-t"), error.message));

const drawRecords = () => {
  if (!may("operator")) return;
  drawClosed();
  drawFailures();
  drawClients();
};

// -- one server --

let server = "";
const serverRow = () => rows.find((r) => r.type === 2 && nameOf(r) === server);

const drawServer = () => {
  const r = serverRow();
  if (!$("server-d").open) return;
  setText($("server-h"), server);
  $("server-gone").hidden = Boolean(r);
  if (!r) return;
  const facts = COLUMNS.filter((c) => c.of.includes("s") && textOf(c, r) !== "");
  sync($("server-l"), facts, (c) => c.key, (c) => {
    const box = make("div");
    box.append(make("dt", c.label), make("dd"));
    return box;
  }, (box, c) => {
    const soft = [c.soft && c.soft(r), c.title && c.title(r)].filter(Boolean).join(", ");
    setText(box.lastChild, textOf(c, r) + (soft ? " (" + soft + ")" : ""));
    setClass(box.lastChild, c.key === "status" ? "status " + kindOf(r.status) : "");
  });
};

const drawServerSessions = () => {
  const r = serverRow();
  if (!may("operator") || !r) return;
  if (r.scur > SHOWN) {
    setText($("server-t"), "More than " + SHOWN + " sessions: lfproxyctl show sess server " + server + " lists them.");
    return;
  }
  const asked = server;
  run("show sess server " + server + " json").then((answer) => {
    const list = JSON.parse(answer.answer);
    if (asked !== server) return;
    setText($("server-t"), plural(list.length, "session") + ", at " + new Date().toLocaleTimeString());
    fill("server-sessions", list.sort((a, b) => b.bytes_in + b.bytes_out - a.bytes_in - a.bytes_out).map((s) => [
      [s.client + " port " + s.client_port], [s.frontend], [span(s.age_ms / 1000), "number"], [bytes(s.bytes_in), "number"],
      [bytes(s.bytes_out), "number"], [s.state], [closer(s, drawServerSessions)]]), "No session.");
  }).catch((error) => setText($("server-t"), error.message));
};

const showServer = (name) => {
  server = name;
  setText($("server-t"), "");
  fill("server-sessions", []);
  $("server-d").showModal();
  drawServer();
  drawServerSessions();
};

const startRecords = () => {
  $("failures-last").addEventListener("change", drawFailures);
  $("clients-by").addEventListener("change", drawClients);
  $("clients-last").addEventListener("change", drawClients);
  $("sessions-b").addEventListener("click", drawSessions);
  $("server-again").addEventListener("click", drawServerSessions);
  $("server-change").addEventListener("click", () => { const r = serverRow(); if (r) askServers([r]); });
};
