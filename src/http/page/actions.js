// The user, what the user's level permits, and the dialogs that change things.

let me = { level: "user", user: "", csrf: "", sign_in: false, why: "" };
const LEVELS = ["user", "operator", "admin"];
const may = (level) => LEVELS.indexOf(me.level) >= LEVELS.indexOf(level);

const send = (method, path, body) => fetch(path, { method, cache: "no-store",
  headers: { "Content-Type": "application/json", "X-CSRF-Token": me.csrf }, body: body && JSON.stringify(body) })
  .then((r) => r.json().then((answer) => { if (!r.ok) throw new Error(answer.error || r.status); return answer; }));
const get = (path) => send("GET", "/api/v1/" + path);
const run = (command) => send("POST", "/api/v1/command", { command });

// -- levels --

// Why buttons are missing, or "" for an admin.
const explainLevel = () => {
  const who = me.user ? me.user + " has the level " + me.level : "Not signed in: level " + me.level;
  if (may("admin")) return "";
  if (!me.user && me.sign_in)
    return who + (may("operator") ? "" : ", which reads figures") + ". Sign in to " +
      (may("operator") ? "" : "see sessions (level operator), or to ") + "change servers and threads (level admin).";
  if (!me.user) return "Nothing can be changed here (level " + me.level + "), because " + me.why + ".";
  return who + (may("operator") ? ", which reads sessions and resets peaks" : ", which reads figures") +
    ". Changing servers and threads takes the level admin: write name:hash:admin in the file of users.";
};

const known = (answer) => {
  me = answer;
  setText($("user"), me.user ? me.user + ", " + me.level : me.level === "user" ? "" : me.level);
  setText($("sign"), me.user ? "Sign out" : "Sign in");
  $("sign").hidden = !me.user && !me.sign_in;
  setText($("level"), explainLevel());
  $("level").hidden = !$("level").textContent;
  document.body.classList.toggle("admin", may("admin"));
  document.body.classList.toggle("operator", may("operator"));
  if (!may("admin")) picked.clear();
  drawRecords();
  if (before) drawTable();
};
const whoAmI = () => get("session").then(known).catch(() => {});

const openDialog = (dialog, wrong) => { setText($(wrong), ""); $(dialog).showModal(); };

const startSignIn = () => {
  $("sign").addEventListener("click", () => {
    if (me.user) send("DELETE", "/api/v1/session").then(known).catch(whoAmI);
    else openDialog("sign-d", "sign-w");
  });
  $("sign-d").querySelector("form").addEventListener("submit", (e) => {
    e.preventDefault();
    send("POST", "/api/v1/session", { user: $("name").value, password: $("password").value })
      .then((answer) => { $("sign-d").close(); known(answer); })
      .catch((error) => setText($("sign-w"), error.message))
      .finally(() => { $("password").value = ""; });
  });
  document.querySelectorAll("button.cancel").forEach((b) => b.addEventListener("click", () => b.closest("dialog").close()));
};

// -- a change: a choice, what it means, and then its commands --

// A choice: its name, commands(number, until), means(number); number and max of
// a choice with a number; warns(): a warning or ""; lasting: it may end by
// itself; answers: the answer is shown.
let choices = [];
const chosen = () => choices[$("act").selectedIndex];

const explainChoice = () => {
  const c = chosen();
  $("act-n").hidden = c.number === undefined;
  $("act-u").hidden = !c.lasting;
  $("number").required = c.number !== undefined;
  if (c.number !== undefined) { $("number").max = c.max; if (!$("number").value) $("number").value = c.number; }
  setText($("act-ok"), c.name);
  setText($("act-t"), c.means($("number").value));
  setText($("act-e"), c.warns ? c.warns() : "");
  $("act-e").hidden = !$("act-e").textContent;
};

const ask = (title, list) => {
  choices = list;
  setText($("act-h"), title);
  $("act").replaceChildren(...list.map((c) => make("option", c.name)));
  $("act-c").hidden = list.length === 1;
  $("number").value = $("until").value = "";
  $("act-ok").disabled = false;
  explainChoice();
  openDialog("act-d", "act-w");
};

// Runs the commands one after the other.  Returns the last answer, or throws
// with what each command that failed has said.
const runAll = async (commands) => {
  const wrong = [];
  let answer = "";
  for (const [i, command] of commands.entries()) {
    if (commands.length > 1) setText($("act-t"), "Command " + (i + 1) + " of " + commands.length);
    try { answer = (await run(command)).answer; }
    catch (error) { wrong.push(command + ": " + error.message); }
  }
  if (wrong.length)
    throw new Error((commands.length > 1 ? wrong.length + " of " + commands.length + " failed. " : "") + wrong.slice(0, 5).join("\n"));
  return answer;
};

const startActions = () => {
  $("act").addEventListener("change", () => { $("number").value = ""; explainChoice(); });
  $("number").addEventListener("input", explainChoice);
  $("act-d").querySelector("form").addEventListener("submit", (e) => {
    e.preventDefault();
    const c = chosen();
    $("act-ok").disabled = true;
    setText($("act-w"), "");
    runAll(c.commands($("number").value, c.lasting && $("until").value ? " for " + $("until").value : ""))
      .then((answer) => {
        if (c.answers && answer) { setText($("act-t"), answer); return; }
        $("act-d").close();
        if (c.then) c.then();
      })
      .catch((error) => { setText($("act-w"), error.message); $("act-ok").disabled = false; whoAmI(); });
  });
  $("reload").addEventListener("click", () => ask("Reload", [
    { name: "Reload", answers: true, commands: () => ["reload"],
      means: () => "lfproxy reads its configuration again; sessions go on. If the file is wrong, nothing changes." }]));
  $("peaks").addEventListener("click", () => ask("Reset peaks", [
    { name: "Reset peaks", commands: () => ["clear counters"],
      means: () => "The highest values so far, such as the peak of sessions, begin again for everyone; totals go on." }]));
  for (const [id, name] of [["batch-drain", "Drain"], ["batch-ready", "Ready"], ["batch-maint", "Maintenance"], ["batch-weight", "Weight"]])
    $(id).addEventListener("click", () => askServers(pickedRows(), name));
};

// -- servers --

// Says which backends would have no server left without these ones.
const emptied = (list) => {
  const names = new Set(list.map(nameOf));
  const empty = [...new Set(list.map((r) => r.pxname))].filter((backend) => !rows.some((r) =>
    r.type === 2 && r.pxname === backend && r.lf_usable && !names.has(nameOf(r))));
  return empty.length ? "No usable server is left in " + empty.slice(0, 5).join(", ") +
    (empty.length > 5 ? " and " + (empty.length - 5) + " more backends" : "") + "." : "";
};

const serverChoices = (list) => {
  const names = list.map(nameOf), one = list.length === 1, who = one ? names[0] : plural(list.length, "server");
  const gets = who + (one ? " gets " : " get "), these = one ? "" : "\n" + listNames(list);
  const n = list.reduce((total, r) => total + (r.scur || 0), 0), now = plural(n, "session");
  const stay = now + (n === 1 ? " goes on." : " go on.");
  const each = (command) => (number, until) => names.map((name) => command(name, number) + until);
  const state = (word) => each((name) => "set server " + name + " state " + word);
  return [
    { name: "Drain", lasting: true, commands: state("drain"),
      means: () => gets + "no new sessions; " + stay + these, warns: () => emptied(list) },
    { name: "Ready", lasting: true, commands: state("ready"), means: () => gets + "sessions again." + these },
    { name: "Maintenance", lasting: true, commands: state("maint"),
      means: () => gets + "no sessions and no checks; " + stay + these, warns: () => emptied(list) },
    { name: "Weight", lasting: true, number: list[0].uweight ?? list[0].weight, max: 256,
      commands: each((name, number) => "set weight " + name + " " + number),
      means: (number) => gets + "the weight " + number + (one ? "; it has " + list[0].weight : "") + "." + these },
    { name: "Limit of sessions", lasting: true, number: list[0].slim || 0, max: 4294967295,
      commands: each((name, number) => "set maxconn server " + name + " " + number),
      means: (number) => gets + (Number(number) ? "at most " + plural(Number(number), "session") + " at a time." :
        "no limit of sessions.") + these },
    { name: "Close sessions", commands: () => names.map((name) => "shutdown sessions server " + name),
      means: () => now + " of " + who + (n === 1 ? " is cut." : " are cut.") + these }];
};

const askServers = (list, name) => {
  if (!list.length) return;
  const all = serverChoices(list), who = list.length === 1 ? "server " + nameOf(list[0]) : plural(list.length, "server");
  ask(name ? name + ": " + who : who[0].toUpperCase() + who.slice(1), name ? all.filter((c) => c.name === name) : all);
};

const askPool = (pool) => ask("Pool " + pool.name, [
  { name: "Threads", lasting: true, number: pool.threads, max: 1024,
    commands: (n, until) => ["set pool " + pool.name + " threads " + n + until],
    means: (n) => "The pool gets " + plural(Number(n), "thread") + "; it has " + pool.threads + ". Sessions go on." }]);

const askSession = (s, then) => ask("Session of " + s.client, [
  { name: "Close", commands: () => ["shutdown session " + s.id], then,
    means: () => "The session of " + s.client + " port " + s.client_port + " with " + to(s) + " is cut." }]);
