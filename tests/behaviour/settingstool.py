#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Settings that commands change, by the rules of lfproxyctl(8), SETTINGS.

settingstool.py DIRECTORY STEP,STEP,STEP...: plays each sequence of steps with a
lfproxy of its own, in whose configuration each row below has an object.  A step
is done for all rows; then what runs, `show drift`, `show expiring` and `show
changes` have to be as the oracle says, Row.after.  Prints each difference, and
`ok N sequences` at the end.  `other`, `former` and `move`, which
edit the file, are followed by a reload, or by what stands behind a hyphen, as
in `other-upgrade`.

settingstool.py DIRECTORY every N: the same with each N-th of the sequences of
three steps.

settingstool.py DIRECTORY extremes: gives each row each of EXTREMES, and saves
what was accepted, or what `show drift` says can be saved.

settingstool.py DIRECTORY rows: prints the command of each row in the form of
lfproxy's table of settings, with @ for the object and = for the value.

LFPROXY_BUILD is the folder of the programs.
"""

import csv
import ctypes
import itertools
import json
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time

BUILD = os.environ["LFPROXY_BUILD"]
DEADLINE_S = 60
WORKERS = 8  # each mostly waits
PR_SET_CHILD_SUBREAPER = 36


class Wrong(Exception):
    pass


# -- certificates --


CERTIFICATES = ["one", "two", "three", "four", "five"]


def pem_of(name):
    with open(f"{sys.argv[1]}/{name}.pem", encoding="ascii") as file:
        return file.read()


def make_certificate(name):
    """A file with a key and its certificate."""
    path = f"{sys.argv[1]}/{name}.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ed25519", "-nodes"]
        + ["-subj", f"/CN={name}", "-keyout", path, "-out", f"{path}.cert"],
        capture_output=True,
        check=True,
    )
    with open(path, "ab") as whole, open(f"{path}.cert", "rb") as cert:
        whole.write(cert.read())


# -- rows --


class Row:
    """A setting.

    what: its name in drift and audit.  command: with @ for the object `of`
    and = for the value.
    at: the section and, in brackets behind it, the server, which have the key.
    ours: values for the file, the first one at the start.  theirs: values that
    the operator sets.  text: a value of a command in the words of the file, or
    None if the file cannot say it.  shown: how `show drift` has a value.
    now: the present value, from what was asked.  timed: takes `for`.
    secret: no value is shown, nor saved.  audits: `show changes` has its name.
    """

    def __init__(self, what, command, of, at, key, ours, theirs, now, **more):
        self.what, self.at, self.key = what, at, key
        self.form = command
        self.command = command and command.replace("@", of)
        self.ours, self.theirs, self.now = ours, theirs, now
        self.timed = more.get("timed", True)
        self.secret = more.get("secret", False)
        self.audits = more.get("audits", True)
        self.text = more.get("text", lambda value: value)
        self.shown = more.get("shown", self.masked)

    def begin(self):
        self.loaded, self.own, self.brief = self.ours[0], None, None
        self.audited = False

    def write(self, folder):
        """Writes what the file of a key has to have."""

    def line(self, value):
        """A command that sets the value."""
        return self.command.replace("=", value)

    def masked(self, value):
        return "(not shown)" if self.secret and value else value

    def saved(self, value):
        """The text that is saved, or None."""
        return None if self.secret else self.text(value)

    def permanent(self):
        return self.loaded if self.own is None else self.own

    def value(self):
        return self.permanent() if self.brief is None else self.brief

    def next(self, values, n):
        """The n-th of the values, or the one behind it: another than that of
        the file."""
        value = values[n % len(values)]
        return value if value != self.loaded else values[(n + 1) % len(values)]

    # The oracle: what a step does to a setting.
    def after(self, step, value):
        if step in ("set", "undo"):
            self.own = None if value == self.loaded else value
            self.brief = None
        elif step == "unset" and self.form:
            self.own = self.brief = None
        elif step == "for" and self.timed and value != self.value():
            self.brief = value
        elif step == "brief" and self.timed:
            self.brief = None
        elif step == "save" and self.own and self.saved(self.own) is not None:
            self.loaded, self.own = self.own, None
        elif step in ("other", "former") and value != self.loaded:
            if value != self.permanent():
                self.brief = None
            self.loaded, self.own = value, None
        elif step == "move" and self.at[1] not in (None, "place"):
            self.own = self.brief = None


class Certificate(Row):
    """The certificate of a section; the values are names of make_certificate."""

    def __init__(self, section, ours, theirs):
        super().__init__(
            "",
            None,
            section,
            (f"tls {section}", None),
            "cert",
            ours,
            theirs,
            lambda asked: asked.tls[section],
            timed=False,
            audits=False,
            text=lambda value: None,
            shown=lambda value: f"CN={value}",
        )
        self.section, self.written = section, None

    def write(self, folder):
        self.path = f"{folder}/{self.section}.pem"
        self.what = f"tls {self.section} certificate '{self.path}'"
        if self.written != self.loaded:
            with open(self.path, "w", encoding="ascii") as out:
                out.write(pem_of(self.loaded))
            self.written = self.loaded

    def line(self, value):
        return f"set tls cert {self.section} {self.path} <<\n{pem_of(value)}\n"


class ClientBand(Row):
    """The bandwidth of a client range, which no file has."""

    def __init__(self, client, theirs):
        super().__init__(
            f"bandwidth client {client}",
            "set bandwidth client @ =",
            client,
            ("global", None),
            None,
            ["off"],
            theirs,
            lambda asked: asked.bands.get(client, "off"),
            text=lambda value: None,
        )
        self.form = None


def server_row(name, what, command, key, ours, theirs, now, **more):
    return Row(
        f"server app/{name} {what}",
        command,
        f"app/{name}",
        ("backend app", name),
        key,
        ours,
        theirs,
        lambda asked: now(asked, name),
        **more,
    )


def of_state(column):
    return lambda asked, name: str(asked.servers[name][column])


def of_stat(column):
    return lambda asked, name: asked.stat["app", name][column]


def switch(column):
    return lambda asked, name: (
        "enable" if int(asked.servers[name][column]) & 4 else "disable"
    )


def address(asked, name):
    s = asked.servers[name]
    return f"{s['srv_addr']} port {s['srv_port']}"


def numbers(*values):
    return [str(n) for n in values]


def pool_row(pool, key, ours, theirs, now):
    return Row(
        f"pool {pool} {key}",
        f"set pool @ {key} =",
        pool,
        (f"pool {pool}", None),
        key,
        ours,
        theirs,
        lambda asked: str(now(asked.pools[pool])),
    )


ENABLED = {"enable": "enabled", "disable": "disabled"}


def rows(cpus=numbers(*sorted(os.sched_getaffinity(0)))):
    state = {"ready": "off", "maint": "on"}.get
    web = {"enable": "off", "disable": "on"}
    places = [f"127.0.0.1 port {n}" for n in (1, 2, 3)]
    moved = [f"127.0.0.{n} port 9{n}" for n in (7, 8, 9)]
    hosts = [f"127.0.0.{n}" for n in (2, 3, 4)]
    other_hosts = [f"127.0.0.{n}" for n in (12, 13, 14)]
    every = [
        server_row("weight", "weight", "set weight @ =", "weight",
                   numbers(20, 30, 40), numbers(50, 0, 70), of_stat("weight")),
        server_row("limit", "maxconn", "set maxconn server @ =", "maxconn",
                   numbers(11, 12, 13), numbers(21, 22, 23), of_stat("slim")),
        server_row("state", "state", "set server @ state =", "disabled",
                   ["ready", "maint"], ["maint", "drain", "maint"],
                   of_stat("lf_admin"), text=state),
        server_row("place", "addr", "set server @ addr =", "", places, moved,
                   address, text=lambda v: v.replace(" port ", ":")),
        # The address that was set is that of the same server.
        server_row("place", "weight", "set weight @ =", "weight",
                   numbers(60, 61, 62), numbers(71, 72, 73),
                   of_stat("weight")),
        server_row("check", "health checks", "= health @", None, ["enable"],
                   ["disable"], switch("srv_check_state"),
                   text=lambda v: None, shown=ENABLED.get),
        server_row("agent", "agent", "= agent @", None, ["enable"],
                   ["disable"], switch("srv_agent_state"),
                   text=lambda v: None, shown=ENABLED.get),
        server_row("cport", "check-port", "set server @ check-port =",
                   "check_port", numbers(81, 82, 83), numbers(91, 92, 93),
                   of_state("srv_check_port")),
        server_row("chost", "check-addr", "set server @ check-addr =",
                   "check_addr", hosts, other_hosts,
                   of_state("srv_check_addr")),
        server_row("aport", "agent-port", "set server @ agent-port =",
                   "agent_port", numbers(84, 85, 86), numbers(94, 95, 96),
                   of_state("srv_agent_port")),
        server_row("ahost", "agent-addr", "set server @ agent-addr =",
                   "agent_addr", hosts, other_hosts,
                   of_state("srv_agent_addr")),
        server_row("send", "agent-send", "set server @ agent-send =",
                   "agent_send", ["one", "two", "three"],
                   ["a\\ b\\\\c", "hex 0a00ff", "\\;"],
                   lambda asked, name: asked.heard, secret=True),
        Row("frontend door", "= frontend @", "door", ("frontend door", None),
            "disabled", ["enable", "disable"], ["disable", "enable"],
            lambda asked: "enable" if asked.stat["door", "FRONTEND"]["status"]
            == "OPEN" else "disable", text=web.get, shown=ENABLED.get),
        Row("frontend web maxconn", "set maxconn frontend @ =", "web",
            ("frontend web", None), "maxconn", numbers(31, 32, 33),
            numbers(41, 42, 43),
            lambda asked: asked.stat["web", "FRONTEND"]["slim"]),
        Row("global maxconn", "set maxconn global =", "", ("global", None),
            "maxconn", numbers(299, 298, 297, 296), numbers(103, 102, 101),
            lambda asked: asked.info["Maxconn"]),
        Row("connections per second", "set rate-limit connections global =", "",
            ("global", None), "rate_connections", numbers(5001, 5002, 5003),
            numbers(6001, 6002, 6003),
            lambda asked: asked.info["ConnRateLimit"]),
        Row("sessions per second", "set rate-limit sessions global =", "",
            ("global", None), "rate_sessions", numbers(7001, 7002, 7003),
            numbers(8001, 0, 8003), lambda asked: asked.info["SessRateLimit"]),
        pool_row("threads", "threads", numbers(2, 3, 4), numbers(5, 6, 1),
                 lambda p: p["threads"]),
        pool_row("shards", "shards", numbers(1, 2, 3), numbers(4, 5, 6),
                 lambda p: p["shards"]),
        pool_row("main", "promotion", ["adaptive", "always"],
                 ["kernel", "always"], lambda p: p["promotion"]),
        pool_row("main", "order", ["lifo", "fifo"], ["priority", "fifo"],
                 lambda p: p["order"]),
        pool_row("main", "handshake_threads", numbers(1, 2), numbers(3, 4),
                 lambda p: p["long_limit"]),
        # 20 may be 10 in force.
        pool_row("spare", "handshake_nice", numbers(5, 6, 7),
                 numbers(8, 0, 9), lambda p: p["long_nice"]),
        Certificate("side", CERTIFICATES[:3], CERTIFICATES[3:]),
        ClientBand("10.1.0.0/16", ["in=1MiB/s", "in=9kbit/s out=3GiB/s"]),
        ClientBand("2001:db8::7", ["out=1025B/s", "out=2KiB/s"]),
    ]
    if len(cpus) > 1:
        both = f"{cpus[0]}-{cpus[1]}"
        every.append(pool_row("main", "cpus", [both, cpus[0]],
                              [cpus[1], cpus[0]], lambda p: p["cpus"]))
    return every


# -- an agent --


WORDS = {b"a b\\c": "a\\ b\\\\c", b"\n\0\xff": "hex 0a00ff", b";": "\\;"}


class Agent:
    """Keeps what the agent of the server `send` was sent last."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.asked, self.sent = 0, b""
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                with self.listener.accept()[0] as client:
                    self.sent = client.recv(1000)
                    self.asked += 1
                    client.sendall(b"up\n")
            except OSError:
                if self.listener.fileno() < 0:
                    return

    def heard(self):
        """What it is sent from now on, in the words of the command."""
        before = self.asked
        # One may have been under way.
        Site.wait(lambda: self.asked > before + 1, "the agent is not asked")
        sent = self.sent
        return WORDS[sent] if sent in WORDS else sent.decode()


# -- lfproxy --


class Asked:
    """What lfproxy answers."""

    def __init__(self, site):
        self.servers = {
            row["srv_name"]: row for row in site.json("show servers state app")
        }
        stat = site.ask("show stat").lstrip("# ").strip().splitlines()
        self.stat = {
            (row["pxname"], row["svname"]): row for row in csv.DictReader(stat)
        }
        info = site.ask("show info").splitlines()
        self.info = dict(s.split(": ", 1) for s in info if ": " in s)
        self.pools = {p["name"]: p for p in site.json("show pool")}
        self.drift = site.json("show drift")
        self.expiring = site.json("show expiring")
        self.changes = site.json("show changes")
        self.tls = {
            section["name"]: section["certificates"][0]["subject"][3:]
            for section in site.json("show tls")
        }
        self.bands = bands_of(site.ask("show bandwidth clients"))
        self.heard = site.agent.heard()


def bands_of(answer):
    """The limits by range, in the words of the command."""
    bands = {}
    for line in answer.splitlines():
        words = line.split(",")[0].split()
        if words and words[0] != "#":
            rates = [w for w in words[1:3] if not w.endswith("=none")]
            bands[words[0]] = " ".join(rates)
    return bands


class Site:
    def __init__(self, folder, every):
        self.every, self.folder = every, folder
        self.ini = f"{folder}/lfproxy.ini"
        self.socket = f"{folder}/admin.sock"
        self.state = f"{folder}/state"
        self.pid, self.marks, self.port = None, 0, 1
        self.agent = Agent()
        for name in (self.state, self.ini):
            if os.path.exists(name):
                os.unlink(name)
        for row in every:
            row.begin()
        self.write()
        self.start()

    def line(self, name):
        keys, place = [], f"127.0.0.1:{self.port}"
        for row in self.every:
            if row.at != ("backend app", name) or row.key is None:
                continue
            if row.key == "":
                place = row.text(row.loaded)
            else:
                keys.append(f"{row.key}={row.text(row.loaded)}")
        if name == "send":
            keys.append(f"agent_port={self.agent.port} agent_interval=20ms")
        return f"server = {name} {place} " + " ".join(keys)

    def keys(self, section):
        return "".join(
            f"{row.key} = {row.text(row.loaded)}\n"
            for row in self.every
            if row.at == (section, None) and row.text(row.loaded)
        )

    def write(self):
        for row in self.every:
            row.write(self.folder)
        servers = {r.at[1]: True for r in self.every if r.at[1]}
        with open(self.ini, "w", encoding="ascii") as out:
            out.write(
                f"[global]\nlog = off\nadmin = {self.socket}\n"
                f"state_file = {self.state}\n{self.keys('global')}"
                f"[pool main]\nthreads = 6\n{self.keys('pool main')}"
                f"[pool threads]\nshards = 1\n{self.keys('pool threads')}"
                f"[pool shards]\nthreads = 8\n{self.keys('pool shards')}"
                "[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n"
                f"pool = main\n{self.keys('frontend web')}"
                "[frontend door]\nlisten = 127.0.0.1:0\nbackend = app\n"
                f"pool = threads\n{self.keys('frontend door')}"
                "[frontend gate]\nlisten = 127.0.0.1:0\nbackend = app\n"
                "pool = shards\n"
                # Spare threads need no right to be less nice again.
                f"[pool spare]\nthreads = auto\n{self.keys('pool spare')}"
                f"[tls side]\ncert = {self.folder}/side.pem\n"
                "[frontend side]\nlisten = 127.0.0.1:0 tls=side\n"
                "backend = app\npool = spare\n"
                "[backend app]\ncheck = connect interval=1h\n"
                "agent = on port=1 interval=1h\n"
                + "".join(self.line(name) + "\n" for name in [*servers, "mark"])
            )

    def start(self):
        with open(f"{self.folder}/log", "a", encoding="utf-8") as log:
            self.pid = subprocess.Popen(
                [f"{BUILD}/lfproxy", "-c", self.ini], stdout=log, stderr=log
            ).pid
        self.wait(self.answers, "lfproxy does not answer")

    def answers(self):
        if os.waitpid(self.pid, os.WNOHANG)[0]:
            with open(f"{self.folder}/log", encoding="utf-8") as log:
                raise Wrong("lfproxy has ended: " + log.read())
        try:
            return self.ask("show info")
        except OSError:
            return False

    @staticmethod
    def wait(condition, what):
        end = time.monotonic() + DEADLINE_S
        while not condition():
            if time.monotonic() > end:
                raise Wrong(what)
            time.sleep(0.01)

    def ask(self, line):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(DEADLINE_S)
            s.connect(self.socket)
            s.sendall(line.encode() + b"\n")
            parts = []
            while part := s.recv(65536):
                parts.append(part)
        return b"".join(parts).decode()

    def json(self, command):
        return json.loads(self.ask(command + " json"))

    def ctl(self, *words):
        done = subprocess.run(
            [f"{BUILD}/lfproxyctl", "-S", self.socket, *words],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise Wrong(f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def end(self, how=signal.SIGTERM):
        if self.pid:
            os.kill(self.pid, how)
            os.waitpid(self.pid, 0)
        self.pid = None

    # -- steps --

    def do(self, row, value, suffix=""):
        answer = self.ask(row.line(value) + suffix).strip()
        if answer and not any(
            word in answer for word in ("changed", "already", "is now")
        ):
            raise Wrong(f"{row.what} = {value}{suffix}: {answer}")

    def give(self, step, n):
        """Sets each row; returns the values."""
        values = {}
        for row in self.every:
            value = row.next(row.theirs, n)
            suffix = {"for": " for 1h", "brief": " for 200ms"}.get(step, "")
            if step == "undo":
                value = row.loaded
            if row.timed or not suffix:
                if value != row.value():
                    row.audited = row.audits
                self.do(row, value, suffix)
            values[row] = value
        if step == "brief":
            self.wait(
                lambda: all(
                    e["left_ms"] > 1000 for e in self.json("show expiring")
                ),
                "changes have not ended",
            )
            for row in self.every:
                row.audited = False
        return values

    def step(self, step, n):
        step, *then = step.split("-")
        values = {}
        if step in ("set", "for", "brief", "undo"):
            values = self.give(step, n)
        elif step in ("save", "dry"):
            told = self.ctl("save", "config", *["dry-run"][: step == "dry"])
            saved = sum(
                r.own is not None and r.saved(r.own) is not None
                for r in self.every
            )
            if f"{saved} change" not in told.splitlines()[-1]:
                raise Wrong(f"{step}: expected {saved} changes: {told}")
        elif step == "other":
            values = {row: row.next(row.ours, n + 1) for row in self.every}
        elif step == "former":
            values = {
                row: row.own
                if row.own and row.saved(row.own) is not None
                else row.loaded
                for row in self.every
            }
        elif step == "move":
            self.port += 1
        elif step == "unset":
            self.unset()
        elif step == "again":
            self.again()
        for row in self.every:
            row.after(step, values.get(row))
        if step == "save":
            self.saved()
        elif step in ("other", "former", "move"):
            self.write()
            then = then or ["reload"]
        elif step == "same":
            then = ["reload"]
        elif step in ("upgrade", "restart", "kill"):
            then.insert(0, step)
        for change in then:
            getattr(self, change)()

    def unset(self):
        changed = self.json("show drift")
        for row in self.every:
            if not row.form:
                continue
            answer = self.ask(f"undo drift {row.what}").strip()
            is_changed = row.own is not None or row.brief is not None
            if is_changed == ("No command has changed" in answer):
                raise Wrong(f"undo drift {row.what}: {answer} of {changed}")

    def again(self):
        """Sets what is set, and what is refused: nothing is a change."""
        before = self.json("show changes")
        for row in self.every:
            if row.command and row.brief is None:
                suffixes = ["", " for 1h"] if row.timed else [""]
                for suffix in suffixes:
                    self.ask(row.line(row.value()) + suffix)
                    if not row.secret:
                        self.ask(row.line("?") + suffix)
        if self.json("show changes") != before:
            raise Wrong(f"again: changes: {self.json('show changes')}")

    def reload(self):
        self.ctl("reload")

    def upgrade(self):
        before = self.pid
        self.pid = int(self.ctl("upgrade").split()[1])
        os.waitpid(before, 0)

    def restart(self):
        self.end()
        self.start()

    def crash(self):
        """Ends lfproxy as soon as it answers."""
        self.ask("show info")
        self.end(signal.SIGKILL)
        self.start()

    def kill(self):
        self.mark()
        self.crash()
        self.ask("set weight app/mark 100")

    def saved(self):
        """The files have what the oracle says, in other words."""
        self.write()
        changes = self.json("show drift")["file"]
        if changes:
            raise Wrong(f"the files after a save: {changes}")

    def mark(self):
        """Waits until the state file has all that was done."""
        self.marks += 1
        self.ask(f"set weight app/mark {self.marks}")

        def written():
            with open(self.state, encoding="utf-8") as state:
                return f"set weight app/mark {self.marks}\n" in state.read()

        self.wait(
            lambda: os.path.exists(self.state) and written(),
            "the state file is not written",
        )

    # -- the check --

    def check(self):
        asked = Asked(self)
        drift = {c["what"]: c for c in asked.drift["running"]}
        brief = {c["what"]: c for c in asked.drift["temporary"]}
        ends = {
            c["what"]: c for c in asked.expiring if not c["changed_by"]
        }
        audit = {c["what"].split(" for ")[0]: c for c in asked.changes}
        expected, wrong = set(), []
        if asked.drift["file"] or asked.drift["errors"]:
            wrong.append(f"drift of the files: {asked.drift}")

        def same(row, what, want, got):
            if want != got:
                wrong.append(f"{row.what}: {what}: {got} instead of {want}")

        for row in self.every:
            same(row, "value", row.value(), row.now(asked))
            own = drift.get(row.what)
            want = None if row.own is None else row.shown(row.own)
            told = own and own["value"].split(", until")[0]
            same(row, "drift", want, told)
            if own and row.own:
                has_key = row.saved(row.own) is not None
                same(row, "key", has_key, own["key"] is not None)
            want = None if row.brief is None else row.shown(row.brief)
            got = brief.get(row.what)
            same(row, "temporary", want, got and got["value"])
            got = ends.get(row.what)
            want = row.brief and row.masked(row.brief)
            same(row, "ends", want, got and got["value"])
            if got and row.brief:
                want = row.masked(row.permanent())
                same(row, "former", want, got["former"])
            if row.audited and row.what not in audit:
                # A port is told with its address.
                same(row, "audit", True, row.what[:-5] + "-addr" in audit)
            expected.add(row.what)
        for what in set(drift) - expected - {"server app/mark weight"}:
            wrong.append(f"{what}: drift {drift[what]}")
        if wrong:
            raise Wrong("\n    ".join(wrong))


STEPS = [
    "set",
    "for",
    "brief",
    "undo",
    "dry",
    "save",
    "same",
    "other",
    "upgrade",
    "restart",
    "kill",
]


# Values at the borders of what commands and files take.
EXTREMES = numbers(
    -1, 0, 1, 2, 256, 257, 65535, 65536, 1000000, 1000001, 1048576, 1048577,
    2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**64
) + [
    "+1", "50%", "300%", "1.5", "auto", "all", "on", "off", "file", "none",
    "0.0.0.0", "255.255.255.255", "::", "::1", "::1 port 65535",
    "127.0.0.1 port 0", "127.0.0.1 port 1", "fe80::1", "1..2", "2 nice=19",
    "ready", "drain", "maint", "enable", "disable", "kernel", "fifo", "0-1",
    "hex 00", "x" * 100,
]  # fmt: skip


def may_get(row, value):
    """Not hundreds of threads."""
    return row.command and not (
        row.what.startswith("pool ") and value.isdigit()
        and 64 < int(value) <= 1024
    )


def try_extreme(site, value):
    every = [row for row in site.every if may_get(row, value)]
    for row in every:
        site.ask(row.line(value))
    before, asked = {}, Asked(site)
    for row in every:
        before[row] = row.now(asked)
    left = {
        c["what"]: c["unsaved"]
        for c in asked.drift["running"]
        if c["key"] is None
    }
    dry = site.ctl("save", "config", "dry-run").splitlines()
    told = site.ctl("save", "config").splitlines()
    if dry[:-1] != told[:-1]:
        raise Wrong(f"{value}: dry run {dry}, then {told}")
    for what, why in left.items():
        if not why or not any(
            s.startswith(what + ": ") and s.endswith(why) for s in told
        ):
            raise Wrong(f"{value}: {what} is not told: {told}")
    asked = Asked(site)
    after = {c["what"] for c in asked.drift["running"]}
    if after != set(left) or asked.drift["file"] or asked.drift["errors"]:
        raise Wrong(f"{value}: drift after a save: {asked.drift}")
    for row in every:
        if row.now(asked) != before[row]:
            raise Wrong(f"{value}: {row.what} was {before[row]}, and is "
                        f"{row.now(asked)} after a save")
    return len(told) - 1 - len(left)


def try_extremes():
    become_parent()
    site = Site(sys.argv[1], rows())
    saved = 0
    try:
        for value in EXTREMES:
            saved += try_extreme(site, value)
    finally:
        site.end()
        site.agent.listener.close()
    print(f"ok {len(EXTREMES)} values, {saved} saved")


def play(steps):
    folder = f"{sys.argv[1]}/{os.getpid()}"
    os.makedirs(folder, exist_ok=True)
    site = Site(folder, rows())
    done = []
    try:
        for n, step in enumerate(steps):
            done.append(step)
            site.step(step, n)
            site.check()
    except Wrong as error:
        print(
            f"{','.join(steps)}: after {','.join(done)}\n    {error}",
            flush=True,
        )
        return False
    finally:
        site.end()
        site.agent.listener.close()
    return True


def become_parent():
    """The processes of upgrades become children of this one."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def main():
    given = sys.argv[2:]
    if given == ["rows"]:
        forms = {row.form: True for row in rows(["0", "1"]) if row.form}
        print("\n".join(forms))
        return
    for name in CERTIFICATES:
        make_certificate(name)
    if given == ["extremes"]:
        try_extremes()
        return
    if given[0] == "every":
        orders = list(itertools.product(STEPS, repeat=3))
        sequences = orders[:: int(given[1])]
    else:
        sequences = [steps.split(",") for steps in given]
    with multiprocessing.Pool(WORKERS, become_parent) as pool:
        good = sum(pool.imap_unordered(play, sequences))
    print(f"ok {good} sequences")
    sys.exit(good != len(sequences))


main()
