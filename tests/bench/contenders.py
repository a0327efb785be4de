# SPDX-License-Identifier: MIT
"""The proxies that are compared, each with two threads (or worker processes) in
front of the same servers, none with an access log.  lfproxy has two further
threads where it ends TLS, as it has by default on two CPUs.

Each has one listener for each server it is given: `proxy.addresses[n]` leads to
`servers[n]`.  With `tls`, a file with a certificate and its key, the listeners
are those of TLS 1.2 and 1.3, with session tickets, one group for the key exchange
and otherwise the proxy's own defaults; the servers are plain in any case.  What
a proxy costs is read from /proc, of all its processes."""

import contextlib
import os
import pathlib
import re
import resource
import socket
import tempfile
import time

import peers
from measuring.process import (
    MeasuringError, Process, descendants, wait_until)
from peers import HAPROXY, NGINX, PATH, kind_of

THREADS = 2
TRIES = 5
# The key exchange of all: the defaults of other versions are other groups, which
# cost more or less.
GROUP = "X25519"


def free_ports(host, n):
    """Ports that are free at the moment; the kernel does not give them out
    again soon."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(n)]
        for s in held:
            s.bind((host, 0))
        return [s.getsockname()[1] for s in held]


def sessions():
    """As many as the limit of descriptors allows, for all proxies alike: two
    for each, and HAProxy takes half a one for the pipes of splice."""
    return (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 500) // 3


def answers(address):
    """Whether a process accepts there."""
    host, port = address.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 1).close()
        return True
    except OSError:
        return False


class Proxy(Process):
    """One running proxy; `name` says which, in the tables."""

    def __init__(self, name, argv, addresses, directory, **pipes):
        self.directory, self.name = directory, name
        self.addresses = addresses
        self.began = time.monotonic()
        super().__init__(argv, env={**os.environ, "PATH": PATH}, **pipes)
        self.pid = self.child.pid

    @property
    def address(self):
        return self.addresses[0]

    def stop(self):
        super().stop()
        self.directory.cleanup()

    def pids(self):
        if self.child.poll() is not None:
            raise MeasuringError(f"{self.name} has ended")
        return descendants(self.pid)

    def cpu_s(self):
        """User and system time so far, of all processes and threads.  The
        scheduler's own clock counts nanoseconds, stat only ticks of 10 ms."""
        total_ns = 0
        for pid in self.pids():
            for task in os.listdir(f"/proc/{pid}/task"):
                path = f"/proc/{pid}/task/{task}/schedstat"
                try:
                    with open(path, encoding="ascii") as file:
                        total_ns += int(file.read().split()[0])
                except FileNotFoundError:
                    return self.cpu_ticks_s()
        return total_ns / 1e9

    def cpu_ticks_s(self):
        ticks = 0
        for pid in self.pids():
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                words = file.read().rsplit(")", 1)[1].split()
            ticks += int(words[11]) + int(words[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def pss_kib(self):
        """Memory of all processes; what they share counts once.  Without the
        pages of programs and libraries: how many others have these mapped
        changes with everything that starts on this machine."""
        total = 0
        for pid in self.pids():
            with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
                total += sum(int(kib) for kib in re.findall(
                    r"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+)",
                    file.read(), re.M))
        return total

    def descriptors(self):
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.pids())


def lfproxy_ini(servers, addresses, pool=(), defaults=(), tls=None,
                listen=()):
    # With TLS as many threads as `threads = auto` has on THREADS CPUs: as many
    # again, which wait unless handshakes compute.
    lines = ["[global]", "log = off", "[pool main]",
             f"threads = {2 * THREADS if tls else THREADS}",
             *pool, "[defaults]", *defaults]
    if tls:
        lines += ["[tls bench]", f"cert = {tls}", f"curves = {GROUP}"]
    for n, server in enumerate(servers):
        lines += [f"[frontend f{n}]",
                  f"listen = {addresses[n]}{' tls=bench' if tls else ''}",
                  f"backend = b{n}", "pool = main", *listen, f"[backend b{n}]",
                  "check = off", f"server = s{n} {server}"]
    return "\n".join(lines) + "\n"


def start_lfproxy(name, program, servers, host="127.0.0.1", pool=(),
                  defaults=(), tls=None, listen=()):
    directory = tempfile.TemporaryDirectory(prefix="lfproxy-bench.")
    ini = pathlib.Path(directory.name, "lfproxy.ini")
    ini.write_text(lfproxy_ini(servers, [f"{host}:0"] * len(servers), pool,
                               defaults, tls, listen))
    with open(f"{directory.name}/log", "w", encoding="utf-8") as log:
        proxy = Proxy(name, [program, "-c", ini], [], directory,
                      stderr=log)
    with proxy.unless_it_fails():
        wait_until(lambda: read_addresses(proxy, len(servers)), name)
    return proxy


def read_addresses(proxy, wanted):
    """lfproxy logs the ports that the kernel has chosen."""
    text = pathlib.Path(proxy.directory.name, "log").read_text(
        encoding="utf-8")
    if proxy.child.poll() is not None:
        raise MeasuringError(f"{proxy.name} has ended: {text}")
    proxy.addresses[:] = re.findall(r"listening on (\S+) \(frontend", text)
    return len(proxy.addresses) == wanted


def haproxy_cfg(servers, addresses, splice, tls, listen=()):
    lines = ["global", f"  nbthread {THREADS}", f"  maxconn {sessions()}",
             "defaults", "  mode tcp", "  timeout connect 5s",
             "  timeout client 5m", "  timeout server 5m"]
    if splice:
        lines.append("  option splice-auto")
    secured = f" ssl crt {tls} curves {GROUP}" if tls else ""
    for n, server in enumerate(servers):
        lines += [f"listen l{n}", f"  bind {addresses[n]}{secured}",
                  *listen, f"  server s{n} {server}"]
    return "\n".join(lines) + "\n"


def nginx_conf(module, servers, addresses, directory, tls, stream=(),
               listen=(), target=None):
    lines = [f"load_module {module};"] if os.path.exists(module) else []
    lines += [f"worker_processes {THREADS};", "daemon off;",
              f"pid {directory}/pid;", f"error_log {directory}/log;",
              f"events {{ worker_connections {2 * sessions()}; }}",
              "stream {",
              "  access_log off; proxy_connect_timeout 5s;",
              "  proxy_timeout 5m;", *stream]
    if tls:
        lines += [f"  ssl_certificate {tls}; ssl_certificate_key {tls};",
                  "  ssl_protocols TLSv1.2 TLSv1.3;",
                  f"  ssl_ecdh_curve {GROUP};",
                  "  ssl_session_cache shared:tls:20m;"]
    for n, server in enumerate(servers):
        address = f"{addresses[n]} {'ssl ' if tls else ''}backlog=4096"
        lines += [f"  server {{ listen {address};", *listen,
                  f"    proxy_pass {target or server}; }}"]
    return "\n".join(lines + ["}"]) + "\n"


def start_on_ports(name, servers, host, render, argv, wait=True):
    """One that cannot let the kernel choose its ports: another process may be
    quicker to take them, then it is tried again."""
    for _ in range(TRIES):
        directory = tempfile.TemporaryDirectory(prefix="lfproxy-bench.")
        addresses = [f"{host}:{port}"
                     for port in free_ports(host, len(servers))]
        conf = pathlib.Path(directory.name, "conf")
        conf.write_text(render(addresses, directory.name))
        with open(f"{directory.name}/said", "w", encoding="utf-8") as said:
            proxy = Proxy(name, [*argv, conf], addresses, directory,
                          stdout=said, stderr=said)
        if not wait:
            return proxy
        with proxy.unless_it_fails():
            wait_until(lambda p=proxy: p.child.poll() is not None or
                       all(answers(a) for a in p.addresses), name)
        if proxy.child.poll() is None:
            return proxy
        text = pathlib.Path(directory.name, "said").read_text(
            encoding="utf-8")
        proxy.stop()
    raise MeasuringError(f"{name} does not start: {text}")


def start_haproxy(name, program, servers, host="127.0.0.1", splice=False,
                  wait=True, tls=None, listen=()):
    return start_on_ports(
        name, servers, host,
        lambda addresses, _: haproxy_cfg(servers, addresses, splice, tls,
                                         listen),
        [program, "-db", "-f"], wait)


def start_nginx(name, program, module, servers, host="127.0.0.1", wait=True,
                tls=None, **more):
    return start_on_ports(
        name, servers, host,
        lambda addresses, directory: nginx_conf(
            module, servers, addresses, directory, tls, **more),
        [program, "-e", "stderr", "-c"], wait)


def start_cold(name, build, servers):
    """Started, and not waited for: the ports are known beforehand."""
    if kind_of(name) in peers.KINDS:
        return contenders(build)[name](name, servers, wait=False)
    return start_on_ports(
        name, servers, "127.0.0.1",
        lambda addresses, _: lfproxy_ini(servers, addresses),
        [peers.lfproxy(build), "-c"], False)


def starter(peer, **always):
    """start(name, servers, **more) of a peer."""
    if peer.kind == HAPROXY:
        return lambda name, servers, **more: start_haproxy(
            name, peer.program, servers, **always, **more)
    return lambda name, servers, **more: start_nginx(
        name, peer.program, peer.module, servers, **always, **more)


def contenders(build):
    """{name: start(name, servers, **more)} of all that are ever compared."""
    def ours(*pool):
        return lambda name, servers, **more: start_lfproxy(
            name, peers.lfproxy(build), servers, pool=pool, **more)

    haproxy, nginx = peers.newest(HAPROXY), peers.newest(NGINX)
    return {
        "lfproxy": ours(),
        "reactor per thread": ours(f"shards = {THREADS}"),
        "always": ours("promotion = always"),
        "kernel": ours("promotion = kernel"),
        **{peer.name: starter(peer) for peer in peers.peers()},
        f"{haproxy.name}, splice-auto": starter(haproxy, splice=True),
        f"{nginx.name}, geo": starter(nginx),
    }


def columns(names):
    """The names of contenders: of a kind there are all peers, of its variants
    ('nginx, geo') only that of the newest."""
    chosen = []
    for name in names:
        kind, comma, variant = name.partition(", ")
        if kind not in peers.KINDS:
            chosen.append(name)
        elif comma:
            chosen.append(f"{peers.newest(kind).name}, {variant}")
        else:
            chosen += [p.name for p in peers.peers() if p.kind == kind]
    return chosen


def newest_of_each():
    """The names of lfproxy and its newest peers."""
    return ["lfproxy", *(peers.newest(kind).name for kind in peers.KINDS)]
