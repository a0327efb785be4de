#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills either side of upgrades, at random moments.

    upgradekilltool.py DIRECTORY LFPROXY FETCH PORTS KILLS SEED

A small service manager that runs `LFPROXY -c DIRECTORY/lfproxy.ini` as systemd
runs a unit of Type=notify with a store of descriptors: it keeps the listening
sockets that its main process gives it, believes no one but the main process,
takes another process for the main one only while that lives, and starts lfproxy
again, with these sockets, when the main process has died.  In half of the
rounds it kills the other processes then, as KillMode=mixed does; in the others
they live on.

Prints `ready`, then has KILLS upgrades begun, each with a kill -9 of one side.
After each there has to be a process that serves FETCH, an address, and each
accepted connection at one of PORTS, separated by commas, has to belong to
exactly one process.  If the upgrade has failed the sessions at the first port
have to be there still.  Prints figures of the rounds and, after the last,
`done`; ends upon SIGTERM.
"""
import array
import ctypes
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
LISTEN = "0A"  # in /proc/net/tcp
ONCE_FROM = 10  # 127.0.0.10 and the next are those of ONCE in upgradeload.c
DEADLINE = 60
ATTEMPT = 10


class Failed(Exception):
    pass


def now():
    return time.monotonic()


def stat_of(pid):
    """The state, the parent, the session and the number of threads of a
    process; None: it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            words = f.read().rsplit(")", 1)[1].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return words[0], int(words[1]), int(words[3]), int(words[17])


def alive(pid):
    """As systemd looks at it: the first thread alone."""
    stat = stat_of(pid)
    return stat is not None and stat[0] not in "ZX"


def ended(pid):
    """As a parent learns it: all threads have ended, and sockets are closed
    that no other process has.  kill -9 ends one thread after the other, which
    takes a while on a busy machine."""
    stat = stat_of(pid)
    return stat is None or (stat[0] in "ZX" and stat[3] <= 1)


def kill(pid, number=signal.SIGKILL):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def inodes_of(pid):
    """The sockets of a process."""
    found = set()
    try:
        names = os.listdir(f"/proc/{pid}/fd")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return found
    for name in names:
        try:
            target = os.readlink(f"/proc/{pid}/fd/{name}")
        except FileNotFoundError:
            continue
        if target.startswith("socket:["):
            found.add(int(target[8:-1]))
    return found


class Manager:
    def __init__(self, directory, program):
        self.directory, self.program = directory, program
        self.store, self.main, self.kills_group = {}, 0, True
        self.ready, self.starts, self.refused_main = False, 0, 0
        self.foreign, self.known = set(), set()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.socket.bind(f"{directory}/notify")
        self.log = open(f"{directory}/lfproxy.log", "ab")

    def start(self):
        fds = list(self.store.values())
        env = {**os.environ, "NOTIFY_SOCKET": f"{self.directory}/notify",
               "LISTEN_FDS": str(len(fds))}
        self.ready = False
        self.starts += 1
        pid = os.fork()
        if pid:
            self.main = pid
            return
        env["LISTEN_PID"] = str(os.getpid())
        os.dup2(self.log.fileno(), 2)
        for at, fd in enumerate(fds):
            os.dup2(fd, 100 + at)
        for at in range(len(fds)):
            os.dup2(100 + at, 3 + at)
            os.set_inheritable(3 + at, True)
        os.closerange(3 + len(fds), 1000)
        os.execve(self.program, [self.program, "-c",
                                 f"{self.directory}/lfproxy.ini"], env)

    def family(self):
        """All processes of lfproxy that have not ended."""
        own, found = os.getsid(0), []
        names = {name for name in os.listdir("/proc") if name.isdigit()}
        # No process of another session ever joins this one, so that only new
        # processes have to be looked at.
        self.foreign &= names
        self.known &= names
        for name in names - self.foreign:
            stat = stat_of(name)
            if stat is not None and stat[2] != own:
                self.foreign.add(name)
                continue
            if ended(name) or int(name) == os.getpid():
                self.known.discard(name)
                continue
            # While it ends it has no program any more, but sockets.
            try:
                if os.readlink(f"/proc/{name}/exe") == self.program:
                    self.known.add(name)
            except (FileNotFoundError, PermissionError):
                pass
            if name in self.known:
                found.append(int(name))
        return found

    def take(self, text, sender, fds):
        lines = text.split("\n")
        fields = dict(line.split("=", 1) for line in lines if "=" in line)
        if sender != self.main:
            for fd in fds:
                os.close(fd)
            return
        if "FDSTORE" in fields and fds:
            old = self.store.pop(fields["FDNAME"], None)
            if old is not None:
                os.close(old)
            self.store[fields["FDNAME"]] = fds.pop()
        for fd in fds:  # BARRIER=1
            os.close(fd)
        if "FDSTOREREMOVE" in fields:
            old = self.store.pop(fields["FDNAME"], None)
            if old is not None:
                os.close(old)
        if "MAINPID" in fields:
            if alive(int(fields["MAINPID"])):
                self.main, self.ready = int(fields["MAINPID"]), False
            else:
                self.refused_main += 1
        if "READY" in fields:
            self.ready = True

    def hear(self):
        while True:
            try:
                data, ancillary, _, _ = self.socket.recvmsg(
                    4096, 4096, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            sender, fds = 0, array.array("i")
            for level, kind, body in ancillary:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    fds.frombytes(body[:len(body) - len(body) % 4])
                elif level == socket.SOL_SOCKET and kind == 2:
                    sender = struct.unpack("=iII", body[:12])[0]
            self.take(data.decode(), sender, list(fds))

    def poll(self):
        self.hear()
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
        if self.main and ended(self.main):
            self.hear()
        if self.main and ended(self.main):
            if self.kills_group:
                for pid in self.family():
                    kill(pid)
                self.until(lambda: not self.family_but_main(), "all are gone")
            self.start()

    def family_but_main(self):
        return [pid for pid in self.family() if pid != self.main]

    def until(self, condition, what, seconds=DEADLINE):
        end = now() + seconds
        while not condition():
            if now() > end:
                raise Failed(f"not within {seconds} s: {what}")
            time.sleep(0.002)
            self.hear()

    def wait(self, condition, what, seconds=DEADLINE, pause=0.002):
        """As until, while the main process may end."""
        end = now() + seconds
        while True:
            self.poll()
            if condition():
                return
            if now() > end:
                raise Failed(f"not within {seconds} s: {what}")
            time.sleep(pause)


class Rounds:
    def __init__(self, manager, fetch, ports):
        self.manager, self.ports = manager, ports
        self.fetch = fetch
        self.took, self.answered = 0.0, False
        self.figures, self.story = {}, ""

    def count(self, name):
        self.figures[name] = self.figures.get(name, 0) + 1

    def served(self):
        """A new session is served; a refusal is a failure at once."""
        host, port = self.fetch.rsplit(":", 1)
        try:
            with socket.create_connection((host, int(port)), ATTEMPT) as s:
                s.sendall(b"GET / HTTP/1.0\r\n\r\n")
                return s.recv(1000).startswith(b"HTTP/1.")
        except ConnectionRefusedError as error:
            raise Failed("a listener is lost") from error
        except OSError:
            return False

    def accepted(self, ports=None, once=True):
        """The inodes of connections at the ports, in the processes' hands;
        once: also those of sessions that end by themselves."""
        found, ports = set(), ports or set(self.ports)
        with open("/proc/net/tcp", encoding="ascii") as f:
            next(f)
            for line in f:
                words = line.split()
                port = int(words[1].rsplit(":", 1)[1], 16)
                source = int(words[2][:2], 16)  # the last byte
                # Of any state, for halves end before the other one.
                if port in ports and words[3] != LISTEN and \
                        words[9] != "0" and (once or source < ONCE_FROM):
                    found.add(int(words[9]))
        return found

    def wrong_owners(self):
        before = self.accepted()
        owners = {}
        for pid in self.manager.family():
            for inode in inodes_of(pid):
                owners.setdefault(inode, []).append(pid)
        both = before & self.accepted()
        return {inode: owners.get(inode, []) for inode in both
                if len(owners.get(inode, [])) != 1}

    def check_owners(self):
        """Sessions come and go meanwhile: what is wrong has to stay wrong."""
        end, wrong = now() + DEADLINE, self.wrong_owners()
        while wrong:
            if now() > end:
                raise Failed(f"connections with other than one process: {wrong}")
            self.manager.poll()
            time.sleep(0.05)
            again = self.wrong_owners()
            wrong = {i: again[i] for i in wrong if i in again}

    def successor(self, former):
        for pid in self.manager.family():
            if pid != former:
                return pid
        return 0

    def upgrade(self, former, victim, after):
        """Returns what lfproxyctl has said."""
        m = self.manager
        said = open(f"{m.directory}/said", "w+b")
        began = now()
        ctl = subprocess.Popen(
            [m.program + "ctl", "-S", f"{m.directory}/admin.sock", "upgrade"],
            stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        other = 0
        while now() < began + after or (victim == "new" and not other):
            m.hear()
            other = other or self.successor(former)
            if ctl.poll() is not None and victim == "new" and not other:
                break
            time.sleep(0.0005)
        self.answered = ctl.poll() is not None
        if victim == "new":
            kill(other) if other else self.count("none to kill")
        else:
            kill(former)
        m.wait(lambda: ctl.poll() is not None, "lfproxyctl answers")
        said.seek(0)
        text = said.read().decode()
        said.close()
        return text

    def measure(self):
        """How long an upgrade takes that nothing disturbs."""
        m = self.manager
        former, began = m.main, now()
        ctl = subprocess.Popen(
            [m.program + "ctl", "-S", f"{m.directory}/admin.sock", "upgrade"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        m.wait(lambda: ctl.poll() is not None, "lfproxyctl answers")
        self.took = now() - began
        m.wait(lambda: ended(former), "the former process ends")

    def lasting(self):
        """The inodes of sessions that do not end by themselves."""
        first = self.accepted({self.ports[0]}, once=False)
        end = now() + 0.3
        self.manager.wait(lambda: now() > end, "a moment")
        return first & self.accepted({self.ports[0]}, once=False)

    def round(self, random):
        m = self.manager
        m.kills_group = random.random() < 0.5
        former, starts = m.main, m.starts
        victim = random.choice(("old", "new"))
        after = random.random() * self.took * 1.2
        before = self.lasting()
        self.story = (f"{victim} killed after {after * 1000:.1f} ms, former "
                      f"{former}, others {'killed' if m.kills_group else 'live on'}")
        text = self.upgrade(former, victim, after)
        self.story += f", {text.strip()!r}"
        print(self.story, file=sys.stderr, flush=True)
        failed = "this process goes on" in text
        m.poll()
        # The channel of a process that was killed may be closed, and lfproxy
        # goes on, before the manager is told that it has ended.
        if failed and m.main != former:
            m.wait(lambda: m.starts > starts, "the main process is replaced")
        m.wait(lambda: self.pid_now() in m.family(), "a process answers",
               pause=0.02)
        m.wait(self.served, "a session is served")
        if failed and m.starts > starts:
            self.count("new was the main process and is dead, failed")
        elif failed:
            self.check_kept(before, former, text)
        self.count(f"{victim} killed, " + (
            "failed" if failed else
            "no answer" if "has taken over" not in text else
            "after the answer" if self.answered else "done"))
        if m.starts > starts:
            self.count("started again")
        self.check_owners()
        self.end_others(former)

    def check_kept(self, before, former, text):
        if self.manager.main != former:
            raise Failed(f"process {former} does not go on: {text}")
        lost = before - self.accepted()
        # A look while other sessions come and go may miss one.
        lost -= self.accepted() if lost else set()
        if lost:
            raise Failed(f"{len(lost)} of {len(before)} sessions are gone "
                         f"after {text}")

    def pid_now(self):
        p = subprocess.run(
            [self.manager.program + "ctl", "-S",
             f"{self.manager.directory}/admin.sock", "show", "info"],
            check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        found = re.search(rb"(?m)^Pid: (\d+)", p.stdout)
        return int(found.group(1)) if found else 0

    def end_others(self, former):
        """Those that a manager would have killed, and a former process that
        keeps sessions since the other one has died."""
        m = self.manager
        end = now() + 1
        while m.family_but_main() and now() < end:
            m.poll()
            time.sleep(0.005)
        for pid in m.family_but_main():
            self.count("former left" if pid == former else "other left")
            kill(pid)
        m.wait(lambda: not m.family_but_main(), "the others are gone")
        m.wait(lambda: alive(m.main) and self.pid_now() == m.main,
               "the main process answers", pause=0.02)


def run(rounds, kills, seed):
    m = rounds.manager
    choices = random.Random(seed)
    rounds.measure()
    for number in range(kills):
        try:
            rounds.round(choices)
        except Failed as error:
            print(f"failed: round {number}, {rounds.story}: {error}; "
                  f"{m.main} is the main process of {m.family()}, and "
                  f"{rounds.pid_now()} answers", flush=True)
            return False
    print("rounds", ", ".join(f"{name}: {n}" for name, n in
                              sorted(rounds.figures.items())),
          f"MAINPID of a dead process: {m.refused_main}", flush=True)
    return True


def main():
    directory, program, fetch, ports, kills, seed = sys.argv[1:]
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    m = Manager(directory, os.path.realpath(program))
    rounds = Rounds(m, fetch, [int(p) for p in ports.split(",")])
    m.start()
    ok = True
    going = True

    def stop(*_):
        nonlocal going
        going = False

    signal.signal(signal.SIGTERM, stop)
    try:
        # A new listener is stored within a second.
        m.wait(lambda: m.ready and len(m.store) >= len(rounds.ports),
               "lfproxy is ready, and its sockets are kept")
        print("ready", flush=True)
        m.wait(lambda: os.path.exists(f"{directory}/begin"), "begin", 600)
        ok = run(rounds, int(kills), int(seed))
        print("done", flush=True)
        while going:
            m.poll()
            time.sleep(0.01)
    finally:
        m.kills_group = False
        pids = m.family()
        for pid in pids:
            kill(pid, signal.SIGTERM)
        end = now() + 15
        while m.family() and now() < end:
            m.hear()
            time.sleep(0.01)
        for pid in m.family():
            kill(pid)
    sys.exit(0 if ok else 1)


main()
