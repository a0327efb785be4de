// The table: frontends, and each backend with its servers below it, or all
// servers in one list; filter, order, pages, choice of several servers.

const PAGE = 200, FRONTENDS = "frontends";
let rows = [], curves = {}, sortBy = null, down = false, from = 0, wantedKind = "";
let grouped = true, folds = {};
const picked = new Set();

// -- which rows --

const matches = (r, words) => {
  const text = (nameOf(r) + " " + (r.status || "") + " " + (r.addr || "")).toLowerCase();
  return words.every((w) => text.includes(w)) && (!wantedKind || kindOf(r.status || "") === wantedKind);
};
const filterWords = () => $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
const isFiltered = () => wantedKind !== "" || filterWords().length > 0;

// Folds are those that the user has changed; with many servers the rest is
// folded.  A filter opens everything.
const isFolded = (name) => !isFiltered() && (name in folds ? folds[name] : rows.length > PAGE);
const setFold = (name, folded) => { folds[name] = folded; remember("folds", folds); };

const sorted = (list) => {
  const column = COLUMNS.find((c) => c.key === sortBy), value = column ? column.value : nameOf;
  if (!sortBy) return list;
  return list.map((r) => [value(r), r]).sort(([a], [b]) =>
    (a === undefined ? (b === undefined ? 0 : 1) : b === undefined ? -1 : a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1))
    .map((pair) => pair[1]);
};

const rowLists = () => {
  const words = filterWords(), servers = new Map(), frontends = [], backends = [];
  let n = 0, all = 0;
  for (const r of rows) {
    const fits = matches(r, words);
    if (r.type === 1) backends.push([r, fits]);
    if (r.type !== 1) all++;
    if (r.type !== 1 && fits) n++;
    if (r.type === 0 && fits) frontends.push(r);
    if (r.type !== 2) continue;
    if (!servers.has(r.pxname)) servers.set(r.pxname, { fit: [], n: 0 });
    servers.get(r.pxname).n++;
    if (fits) servers.get(r.pxname).fit.push(r);
  }
  return { frontends, backends, servers, n, all };
};

// The lines of the table: {key, r} for a row of show stat, {key, head} for the
// frontends' head; below and in say how many servers a backend has.
const lines = (l) => {
  const list = [], line = (r) => ({ key: keyOfRow(r), r });
  if (!grouped) return sorted([...l.servers.values()].flatMap((s) => s.fit)).map(line);
  if (l.frontends.length) {
    list.push({ key: FRONTENDS, head: true, below: l.frontends.length });
    if (!isFolded(FRONTENDS)) list.push(...sorted(l.frontends).map(line));
  }
  for (const [r, fits] of l.backends) {
    const s = l.servers.get(r.pxname) || { fit: [], n: 0 };
    if (!fits && !s.fit.length) continue;
    list.push({ ...line(r), below: s.fit.length, servers: s });
    if (!isFolded(r.pxname)) list.push(...sorted(s.fit).map(line));
  }
  return list;
};

// -- cells --

const foldName = (line) => line.head ? FRONTENDS : line.r.pxname;

const pickBox = (label, change) => {
  const box = make("input");
  box.type = "checkbox";
  box.setAttribute("aria-label", label);
  box.addEventListener("change", () => { change(box.checked); drawTable(); });
  return box;
};
const pickServers = (list, yes) => list.forEach((r) => yes ? picked.add(nameOf(r)) : picked.delete(nameOf(r)));

const makeName = (line) => {
  const td = make("th", undefined, "name");
  td.scope = "row";
  td.setAttribute("role", "rowheader");
  if (line.below !== undefined) {
    const b = button("", undefined, () => {
      const name = foldName(td.line);
      setFold(name, !isFolded(name));
      drawTable();
    }, "fold");
    td.append(b, make("span", line.head ? "Frontends" : line.r.pxname), " ", make("span", "", "soft"));
    b.setAttribute("aria-label", line.head ? "Frontends" : "Servers of " + line.r.pxname);
  } else if (line.r.type === 2) {
    td.append(button("", undefined, () => showServer(nameOf(td.line.r)), "link"), make("span", "", "tag"));
  } else {
    td.append(make("span", line.r.pxname));
  }
  return td;
};

const updateName = (td, line) => {
  td.line = line;
  if (line.below !== undefined) {
    const b = td.firstChild;
    b.setAttribute("aria-expanded", String(!isFolded(foldName(line))));
    b.disabled = isFiltered();
    setText(td.lastChild, line.head ? exact(line.below) : line.r.lf_usable + " of " + line.servers.n + " usable");
    setTitle(td, line.head ? "" : [line.r.algo, line.r.act + " active", line.r.bck + " backup"].filter(Boolean).join(", "));
  } else if (line.r.type === 2) {
    setText(td.firstChild, grouped ? line.r.svname : nameOf(line.r));
    td.firstChild.setAttribute("aria-label", "Details of " + nameOf(line.r));
    setText(td.lastChild, line.r.bck ? "backup" : "");
  }
};

// The parts of a cell, in their order: a curve, the value, what is said behind
// it, a bar.
const partsOf = (td) => {
  if (!td.parts) {
    td.parts = { text: make("span"), soft: make("span", "", "soft") };
    td.append(td.parts.text, td.parts.soft);
  }
  return td.parts;
};

const drawBar = (td, part) => {
  const parts = partsOf(td);
  if (!parts.bar && part !== undefined) td.append(parts.bar = make("i", undefined, "bar"));
  if (!parts.bar) return;
  parts.bar.hidden = part === undefined;
  parts.bar.style.setProperty("--part", Math.min(100, (part || 0) * 100).toFixed(1) + "%");
};

const drawCurve = (td, r) => {
  const past = r.type !== 2 && curves[(r.type === 0 ? "frontend " : "backend ") + r.pxname], most = Math.max(1, ...(past || []));
  const parts = partsOf(td);
  if (parts.curve) parts.curve.remove();
  parts.curve = past && past.length > 1 ? curve(past, most, "curve of the sessions, on an axis from 0 to " + most, "spark") : null;
  if (parts.curve) td.prepend(parts.curve);
};

const drawValue = (td, c, r) => {
  const text = textOf(c, r), soft = text && c.soft ? c.soft(r) : "", parts = partsOf(td);
  setText(parts.text, text);
  setText(parts.soft, soft ? " " + soft : "");
  setTitle(td, text && c.title ? c.title(r) : "");
  setClass(parts.text, c.key === "status" && text ? "status " + kindOf(text) : "");
  setClass(td, (c.plain ? "text" : "number") + (c.wrong && c.value(r) > 0 ? " some" : "") + (text ? "" : " empty") +
    (c.key === "check" ? " long" : ""));
  if (c.bar) drawBar(td, c.bar(r));
  if (c.key === "sessions") drawCurve(td, r);
};

// -- rows --

const makeLine = (line) => {
  const tr = lineOf(), pick = cell(undefined, "pick admin");
  if (line.r && line.r.type === 2)
    pick.append(pickBox("Choose " + nameOf(line.r), (yes) => pickServers([tr.line.r], yes)));
  else if (line.servers)
    pick.append(pickBox("Choose the servers of " + line.r.pxname, (yes) => pickServers(tr.line.servers.fit, yes)));
  tr.append(pick, makeName(line));
  if (line.head) return tr;
  const change = cell(undefined, "change admin");
  if (line.r.type === 2)
    change.append(button("•••", "Change server " + nameOf(line.r), () => askServers([tr.line.r])));
  tr.append(change);
  return tr;
};

const updateLine = (tr, line) => {
  const columns = shownColumns(), stamp = columns.map((c) => c.key).join();
  tr.line = line;
  setClass(tr, line.head || line.servers ? "group" : line.r.type === 2 ? "server" : "frontend");
  if (line.r) tr.dataset.name = line.r.type === 2 ? nameOf(line.r) : line.r.pxname;
  updateName(tr.children[1], line);
  const box = tr.querySelector(".pick input");
  if (box && line.servers) {
    const n = line.servers.fit.filter((r) => picked.has(nameOf(r))).length;
    box.checked = n > 0 && n === line.servers.fit.length;
    box.indeterminate = n > 0 && !box.checked;
  } else if (box) box.checked = picked.has(nameOf(line.r));
  if (!line.r) { tr.children[1].colSpan = columns.length + 2; return; }
  if (tr.dataset.columns !== stamp) {
    tr.dataset.columns = stamp;
    tr.querySelectorAll("[data-column]").forEach((td) => td.remove());
    tr.children[1].after(...columns.map((c) => {
      const td = cell(undefined, c.plain ? "text" : "number", c.label);
      td.dataset.column = c.key;
      return td;
    }));
  }
  columns.forEach((c, i) => drawValue(tr.children[i + 2], c, line.r));
};

const drawTable = () => {
  const l = rowLists(), list = lines(l);
  if (from >= list.length) from = Math.max(0, Math.floor((list.length - 1) / PAGE) * PAGE);
  const page = list.slice(from, from + PAGE);
  // A page that begins among the servers of a backend repeats its head.
  if (grouped && page.length && page[0].r && page[0].r.type === 2)
    page.unshift(list.slice(0, from).findLast((line) => line.servers));
  sync($("proxies").tBodies[0], page, (line) => line.key, makeLine, updateLine);
  setText($("shown"), l.n === l.all ? plural(l.all, "row") : exact(l.n) + " of " + plural(l.all, "row"));
  setText($("where"), "page " + (from / PAGE + 1) + " of " + Math.max(1, Math.ceil(list.length / PAGE)));
  $("pager").hidden = list.length <= PAGE;
  $("back").disabled = from === 0;
  $("on").disabled = from + PAGE >= list.length;
  $("none").hidden = page.length > 0;
  drawKinds();
  drawBatch();
};

// -- heads --

const sortOn = (key, plain) => {
  if (sortBy === key && down === !plain) down = !down;
  else if (sortBy === key) sortBy = null;
  else { sortBy = key; down = !plain; }
  if (!sortBy) down = false;
  drawHeads();
  drawTable();
};

const drawHeads = () => {
  const tr = lineOf(), all = [{ key: "name", label: "Name", plain: true }, ...shownColumns()];
  const th = (text, name) => {
    const e = make("th", text, name);
    e.scope = "col";
    e.setAttribute("role", "columnheader");
    return e;
  };
  const focused = document.activeElement && document.activeElement.dataset.sort;
  tr.append(th("", "pick admin"));
  tr.firstChild.append(make("span", "Choose", "unseen"));
  for (const c of all) {
    const e = th(undefined, c.plain ? "text" : "number"), b = button(c.label, undefined, () => sortOn(c.key, c.plain));
    b.dataset.sort = c.key;
    e.append(b);
    e.title = c.about || "";
    if (sortBy === c.key) e.setAttribute("aria-sort", down ? "descending" : "ascending");
    tr.append(e);
  }
  tr.append(th("", "change admin"));
  tr.lastChild.append(make("span", "Change", "unseen"));
  $("proxies").tHead.replaceChildren(tr);
  $("order").replaceChildren(...[{ key: "", label: "as in the file" }, ...all].map((c) => {
    const o = make("option", c.label);
    o.value = c.key;
    o.selected = c.key === (sortBy || "");
    return o;
  }));
  if (focused) tr.querySelector("[data-sort=" + focused + "]")?.focus();
};

// -- the tools above the table --

const drawKinds = () => {
  const servers = rows.filter((r) => r.type === 2), n = { "": servers.length, up: 0, held: 0, down: 0 };
  servers.forEach((r) => n[kindOf(r.status || "")]++);
  sync($("kinds"), [["", "all"], ...KINDS], ([kind]) => kind || "all", ([kind]) => button("", undefined, () => {
    wantedKind = wantedKind === kind ? "" : kind;
    from = 0;
    drawTable();
  }), (b, [kind, said]) => {
    setText(b, said + " " + exact(n[kind]));
    setClass(b, kind ? "chip status " + kind : "chip");
    b.setAttribute("aria-pressed", String(wantedKind === kind));
  });
};

const drawBatch = () => {
  const there = new Set(rows.filter((r) => r.type === 2).map(nameOf));
  picked.forEach((name) => { if (!there.has(name)) picked.delete(name); });
  $("batch").hidden = !may("admin") || picked.size === 0;
  setText($("batch-n"), plural(picked.size, "server") + " chosen");
};
const pickedRows = () => rows.filter((r) => r.type === 2 && picked.has(nameOf(r)));

const startTable = () => {
  grouped = recall("grouped", true) !== false;
  folds = recall("folds", {}) || {};
  readColumns();
  const again = () => { from = 0; drawTable(); };
  const showGrouped = () => {
    $("grouped").setAttribute("aria-pressed", String(grouped));
    $("fold-all").hidden = $("unfold-all").hidden = !grouped;
  };
  const foldAll = (yes) => {
    [FRONTENDS, ...rows.filter((r) => r.type === 1).map((r) => r.pxname)].forEach((name) => { folds[name] = yes; });
    remember("folds", folds);
    again();
  };
  showGrouped();
  drawHeads();
  $("filter").addEventListener("input", again);
  $("back").addEventListener("click", () => { from -= PAGE; drawTable(); });
  $("on").addEventListener("click", () => { from += PAGE; drawTable(); });
  $("grouped").addEventListener("click", () => {
    grouped = !grouped;
    remember("grouped", grouped);
    showGrouped();
    again();
  });
  $("fold-all").addEventListener("click", () => foldAll(true));
  $("unfold-all").addEventListener("click", () => foldAll(false));
  $("columns-b").addEventListener("click", askColumns);
  $("columns-r").addEventListener("click", resetColumns);
  $("order").addEventListener("change", () => {
    const c = COLUMNS.find((column) => column.key === $("order").value);
    sortBy = $("order").value || null;
    down = Boolean(c && !c.plain);
    drawHeads();
    drawTable();
  });
  $("batch-clear").addEventListener("click", () => { picked.clear(); drawTable(); });
};
