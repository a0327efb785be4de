// The columns of the servers' table, and which of them are shown.

// of: the rows that have it: f frontends, b backends, s servers.  value: what
// sorting compares; text: what is shown, by default the value; soft: behind it.
// plain: a text.  on: shown unless the user chooses otherwise.
let passedS = 0, earlier = new Map();
const keyOfRow = (r) => ["f/" + r.pxname, "b/" + r.pxname, "s/" + nameOf(r)][r.type];
const perSecond = (name) => (r) => {
  const old = earlier.get(keyOfRow(r));
  return old && passedS > 0 ? Math.max(0, (r[name] - old[name]) / passedS) : undefined;
};
const sum = (...values) => values.every((v) => v === undefined) ? undefined :
  values.reduce((total, v) => total + (v || 0), 0);
const split = (r, names) => Object.entries(names).filter(([n]) => r[n] !== undefined)
  .map(([n, said]) => said + ": " + r[n]).join(", ");

const COLUMNS = [
  { key: "status", label: "State", of: "fbs", plain: true, on: true, value: (r) => r.status || "" },
  { key: "since", label: "For", about: "time since the last change between up and down", of: "bs", on: true,
    value: (r) => r.lastchg, text: span },
  { key: "sessions", label: "Sessions", of: "fbs", on: true, value: (r) => r.scur || 0,
    soft: (r) => r.slim && r.type !== 1 ? "of " + count(r.slim) : "", bar: (r) => r.type === 2 && r.slim ? r.scur / r.slim : undefined },
  { key: "peak", label: "Peak", of: "fbs", value: (r) => r.smax },
  { key: "rate", label: "Rate", about: "sessions per second", of: "fbs", on: true, value: (r) => r.rate || 0,
    soft: (r) => r.rate_lim ? "of " + count(r.rate_lim) : "", title: (r) => "peak: " + (r.rate_max || 0) },
  { key: "queue", label: "Queue", of: "b", on: true, value: (r) => r.qcur, title: (r) => "peak: " + (r.qmax || 0) },
  { key: "total", label: "Total", of: "fbs", on: true, value: (r) => r.stot || 0 },
  { key: "in", label: "In", about: "bytes from clients", of: "fbs", on: true, value: (r) => r.bin, text: bytes },
  { key: "out", label: "Out", about: "bytes to clients", of: "fbs", on: true, value: (r) => r.bout, text: bytes },
  { key: "in_s", label: "In/s", of: "fbs", value: perSecond("bin"), text: bytes },
  { key: "out_s", label: "Out/s", of: "fbs", value: perSecond("bout"), text: bytes },
  { key: "errors", label: "Errors", of: "fbs", on: true, value: (r) => sum(r.econ, r.eresp, r.ereq), wrong: true,
    title: (r) => split(r, { econ: "connects failed", eresp: "aborted by the server", ereq: "aborted early by the client" }) },
  { key: "retries", label: "Retries", of: "bs", on: true, value: (r) => sum(r.wretr, r.wredis),
    title: (r) => split(r, { wretr: "on the same server", wredis: "on another server" }) },
  { key: "denied", label: "Denied", of: "fb", value: (r) => r.dreq },
  { key: "aborts", label: "Aborts", of: "bs", value: (r) => sum(r.cli_abrt, r.srv_abrt),
    title: (r) => split(r, { cli_abrt: "by clients", srv_abrt: "by servers" }) },
  { key: "weight", label: "Weight", of: "bs", on: true, value: (r) => r.weight,
    soft: (r) => r.throttle !== undefined ? "slow start, " + r.throttle + " %" : "",
    title: (r) => r.uweight !== r.weight && r.uweight !== undefined ? "configured: " + r.uweight : "" },
  { key: "role", label: "Role", of: "bs", plain: true,
    value: (r) => r.type === 1 ? r.act + " active" + (r.bck ? ", " + r.bck + " backup" : "") : r.bck ? "backup" : "active" },
  { key: "check", label: "Last check", of: "s", plain: true, on: true,
    value: (r) => [r.check_status, r.check_code || "", r.last_chk].filter(Boolean).join(" ") || (r.tracked ? "tracks " + r.tracked : ""),
    soft: (r) => r.check_duration === undefined ? "" : "in " + millis(r.check_duration) },
  { key: "took", label: "Check took", of: "s", value: (r) => r.check_duration, text: millis },
  { key: "failed", label: "Failed checks", of: "s", value: (r) => r.chkfail },
  { key: "downs", label: "Times down", of: "bs", value: (r) => r.chkdown },
  { key: "downtime", label: "Downtime", of: "bs", value: (r) => r.downtime, text: span },
  { key: "agent", label: "Agent", of: "s", plain: true, value: (r) => [r.agent_status, r.last_agt].filter(Boolean).join(" ") },
  { key: "ejected", label: "Ejections", of: "s", value: (r) => r.lf_ejections },
  { key: "connect", label: "Connect time", of: "bs", value: (r) => r.ctime, text: millis },
  { key: "lasts", label: "Session time", of: "bs", value: (r) => r.ttime, text: millis },
  { key: "last", label: "Last session", of: "bs", value: (r) => Number(r.lastsess) < 0 ? undefined : Number(r.lastsess),
    text: (s) => span(s) + " ago" },
  { key: "limits", label: "Limits", of: "fbs", plain: true,
    value: (r) => [r.slim && plural(r.slim, "session"), r.rate_lim && r.rate_lim + "/s", r.lf_bw_in && bytes(r.lf_bw_in) + "/s in",
      r.lf_bw_out && bytes(r.lf_bw_out) + "/s out"].filter(Boolean).join(", ") },
  { key: "address", label: "Address", of: "s", plain: true, on: true, value: (r) => r.addr || "" }];

const letterOf = (r) => "fbs"[r.type];
const textOf = (c, r) => {
  const v = c.of.includes(letterOf(r)) ? c.value(r) : undefined;
  return v === undefined || v === null ? "" : c.plain ? v : (c.text || count)(v);
};

let chosenKeys = null;
const shownColumns = () => COLUMNS.filter((c) => chosenKeys ? chosenKeys.includes(c.key) : c.on);

const readColumns = () => {
  const kept = recall("columns", null);
  chosenKeys = Array.isArray(kept) ? kept.filter((key) => COLUMNS.some((c) => c.key === key)) : null;
};

// The chooser: a check box for each column, at once in force.
const askColumns = () => {
  $("columns-l").replaceChildren(...COLUMNS.map((c) => {
    const label = make("label"), box = make("input");
    box.type = "checkbox";
    box.checked = shownColumns().includes(c);
    box.addEventListener("change", () => {
      const now = shownColumns().map((other) => other.key).filter((key) => key !== c.key);
      chosenKeys = box.checked ? [...now, c.key] : now;
      remember("columns", chosenKeys);
      drawHeads();
      drawTable();
    });
    label.append(box, " " + c.label);
    label.title = c.about || "";
    return label;
  }));
  if (!$("columns-d").open) $("columns-d").showModal();
};
const resetColumns = () => {
  chosenKeys = null;
  try { localStorage.removeItem("lfproxy-columns"); } catch (e) { /* private */ }
  drawHeads();
  drawTable();
  askColumns();
};
