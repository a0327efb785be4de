"use strict";
// Elements, numbers as texts, memory of the browser.  The files of this folder
// are one script, in the order of assets.c.  All texts are set by textContent.

const $ = (id) => document.getElementById(id);

const make = (tag, text, name) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (name) e.className = name;
  return e;
};

const button = (text, label, act, name) => {
  const b = make("button", text, name);
  b.type = "button";
  if (label) b.setAttribute("aria-label", label);
  b.addEventListener("click", act);
  return b;
};

// Assigns only what differs, so that a selection of text stays.
const setText = (e, text) => { if (e.textContent !== text) e.textContent = text; };
const setClass = (e, name) => { if (e.className !== name) e.className = name; };
const setTitle = (e, text) => { if (e.title !== text) e.title = text; };

const count = (n) => n === undefined || n === null ? "" :
  n < 10000 ? String(Math.round(n)) :
  n < 1e7 ? (n / 1e3).toFixed(0) + " k" : n < 1e10 ? (n / 1e6).toFixed(0) + " M" : (n / 1e9).toFixed(0) + " G";

const bytes = (n) => {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let i = 0;
  if (n === undefined || n === null) return "";
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return (n < 10 && i > 0 ? n.toFixed(1) : Math.round(n)) + " " + units[i];
};

const span = (s) => s === undefined ? "" :
  s >= 86400 ? Math.floor(s / 86400) + " d " + Math.floor(s % 86400 / 3600) + " h" :
  s >= 3600 ? Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " min" :
  s >= 60 ? Math.floor(s / 60) + " min" : Math.floor(s) + " s";

const millis = (ms) => ms === undefined ? "" : ms >= 10000 ? span(ms / 1000) : ms + " ms";

const exact = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const plural = (n, one, many) => exact(n) + " " + (n === 1 ? one : many || one + "s");

const when = (text) => text.replace("T", " ").replace(/\.\d+Z$/, "").replace(/Z$/, "");

// What the user has chosen for this page, in the browser; a private window may
// refuse to keep it.
const recall = (name, otherwise) => {
  try {
    const kept = localStorage.getItem("lfproxy-" + name);
    return kept === null ? otherwise : JSON.parse(kept);
  } catch (e) { return otherwise; }
};
const remember = (name, value) => {
  try { localStorage.setItem("lfproxy-" + name, JSON.stringify(value)); } catch (e) { /* private */ }
};

// -- rows that stay the same elements --

// Gives parent a child for each item, in their order.  A child of an earlier
// call with the same key is used again, so that the focus and a click that is
// under way are not lost.
const sync = (parent, items, keyOf, create, update) => {
  const had = new Map(), focused = document.activeElement;
  let at = null;
  for (const child of [...parent.children]) had.set(child.dataset.key, child);
  const wanted = items.map((item) => {
    const key = keyOf(item);
    let child = had.get(key);
    if (child) had.delete(key);
    else { child = create(item); child.dataset.key = key; }
    update(child, item);
    return child;
  });
  had.forEach((child) => child.remove());
  at = parent.firstElementChild;
  for (const child of wanted) {
    if (child === at) at = at.nextElementSibling;
    else parent.insertBefore(child, at);
  }
  if (focused && focused !== document.activeElement && parent.contains(focused)) focused.focus();
};

// The roles keep a table a table for screen readers where the style makes
// cards of its rows.
const cell = (text, name, label) => {
  const td = make("td", text, name);
  td.setAttribute("role", "cell");
  if (label) td.dataset.label = label;
  return td;
};
const lineOf = () => {
  const tr = make("tr");
  tr.setAttribute("role", "row");
  return tr;
};
const roles = (table) => {
  table.setAttribute("role", "table");
  table.querySelectorAll("thead, tbody").forEach((e) => e.setAttribute("role", "rowgroup"));
  table.querySelectorAll("tr").forEach((e) => e.setAttribute("role", "row"));
  table.querySelectorAll("th").forEach((e) => e.setAttribute("role", "columnheader"));
};

// Fills a table with lines of cells, [text, class]; an element stands for itself.
const fill = (id, lines, none) => {
  const table = $(id), heads = [...table.tHead.rows[0].cells].map((th) => th.textContent);
  table.tBodies[0].replaceChildren(...lines.map((cells) => {
    const tr = lineOf();
    cells.forEach(([text, name], i) => {
      const td = cell(text instanceof Node ? undefined : text, name, heads[i]);
      if (text instanceof Node) td.append(text);
      tr.append(td);
    });
    return tr;
  }));
  if (lines.length || !none) return;
  const tr = lineOf(), td = cell(none, "none");
  td.colSpan = heads.length;
  tr.append(td);
  table.tBodies[0].append(tr);
};

// -- curves --

const SVG = "http://www.w3.org/2000/svg", SAMPLES = 120;
const shape = (tag, attributes) => {
  const e = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
};

// The end of an axis: 1, 2 or 5 times a power of ten, or of a unit of bytes.
const roundUp = (v, isBytes) => {
  let unit = 1;
  while (isBytes && v / unit >= 1024) unit *= 1024;
  const ten = 10 ** Math.floor(Math.log10(Math.max(v / unit, 1)));
  const end = ten * [1, 2, 5, 10].find((m) => m * ten >= v / unit);
  return unit * (isBytes && end === 1000 ? 1024 : end);
};

// How many samples an axis of time has: ten minutes, or less of a young process.
const axisOf = (values) => Math.min(SAMPLES, Math.max(24, values.length));

const curve = (values, top, title, name) => {
  const svg = shape("svg", { viewBox: "0 0 100 40", preserveAspectRatio: "none", role: "img", "aria-label": title });
  const x = (i) => (100 - (values.length - 1 - i) * 100 / (axisOf(values) - 1)).toFixed(2);
  const y = (v) => (39.5 - Math.min(v / top, 1) * 39).toFixed(2);
  const points = values.map((v, i) => x(i) + "," + y(v));
  if (name) svg.setAttribute("class", name);
  if (!points.length) return svg;
  svg.append(shape("polygon", { points: [x(0) + ",39.5", ...points, "100,39.5"].join(" ") }),
    shape("polyline", { points: points.join(" ") }));
  return svg;
};
