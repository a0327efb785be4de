#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The container image, built from a tree of mmdebstrap without a registry, and run
by podman: read-only, without capabilities, as 65532.  Speaks TAP.

    tests/image/check.py                    (make check-image)

Needs root; skips with the reason where podman cannot run containers.  The base and
podman's layers are kept below build/image.
"""
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KEEP = os.path.join(ROOT, "build/image")
BASE = "localhost/debian:13-slim"
IMAGE = "localhost/lfproxy:check"
DEADLINE = 60
BARE = """
[global]
admin = /nowhere/lfproxy/admin.sock
log = file=/dev/stdout format=logfmt
[frontend main]
listen = :8080
backend = app
[backend app]
check = off
server = a 127.0.0.1:9
"""


class Failure(Exception):
    """Preparations have failed; the text has the log."""


def run(*command, check=False, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False,
                          cwd=ROOT, **more)
    if check and done.returncode != 0:
        raise Failure(f"{' '.join(command)}\n{done.stdout}")
    return done


def within(condition):
    """Whether it becomes true."""
    until = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


class Results:
    def __init__(self):
        self.n = self.bad = 0

    def put(self, ok, what, why=""):
        self.n += 1
        self.bad += not ok
        print(f"{'ok' if ok else 'not ok'} {self.n} image: {what}", flush=True)
        for line in [] if ok else str(why).splitlines():
            print("#", line, flush=True)

    def equal(self, what, expected, got):
        self.put(expected == got, what, f"expected {expected!r}, got {got!r}")


class Podman:
    """An engine with its own storage, without systemd and a network of its own."""

    def __init__(self, work):
        self.limits = []
        # podman wants the same runroot for a storage each time, of at most 50
        # characters.
        run_root = "/run/lfproxy-image-" + \
            hashlib.sha256(KEEP.encode()).hexdigest()[:8]
        self.words = ["podman", "--root", f"{KEEP}/storage", "--runroot",
                      run_root, "--runtime", "runc", "--cgroup-manager",
                      "cgroupfs", "--events-backend", "none"]
        # scripts/image takes the engine's name.
        self.program = f"{work}/podman"
        with open(self.program, "w", encoding="ascii") as out:
            out.write(f"#!/bin/sh\nexec {' '.join(self.words)} \"$@\"\n")
        os.chmod(self.program, 0o755)

    def __call__(self, *words, **more):
        return run(*self.words, *words, **more)

    def find_limits(self):
        """Where limits may not be raised, containers get those of this process.
        Returns None, or why no container runs."""
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        said = ""
        for limits in ([], [f"--ulimit=nofile={files}:{files}",
                            "--ulimit=nproc=4096:4096"]):
            done = self("run", "--rm", "--network=none", *limits, BASE, "true")
            if done.returncode == 0:
                self.limits = limits
                return None
            said = done.stdout
        return said.strip().splitlines()[-1]


class Container:
    def __init__(self, podman, name, *options):
        self.podman, self.name = podman, name
        podman("run", "-d", "--name", name, "--network=none", "--read-only",
               "--cap-drop=all", "--security-opt=no-new-privileges",
               "--log-driver=k8s-file", *podman.limits, *options, IMAGE,
               check=True)
        self.pid = int(self.inspect(".State.Pid"))

    def inspect(self, what):
        return self.podman("inspect", "-f", f"{{{{{what}}}}}",
                           self.name).stdout.strip()

    def inside(self, *command):
        """The command, on the container's network."""
        return ["nsenter", f"--net=/proc/{self.pid}/ns/net", *command]

    def status(self, field):
        """What /proc says of the first process."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
            return re.search(rf"^{field}:\s*(.*)$", f.read(), re.M)[1].split()

    def logs(self):
        return self.podman("logs", self.name).stdout

    def says(self, pattern):
        return within(lambda: re.search(pattern, self.logs(), re.M))

    def ready(self):
        """Exit status and text of `lfproxyctl ready`."""
        done = self.podman("exec", self.name, "lfproxyctl", "ready")
        return done.returncode, done.stdout

    def healthy(self):
        """podman runs health checks by itself only with systemd."""
        return self.podman("healthcheck", "run", self.name).returncode == 0

    def stop(self):
        """As `docker stop`: SIGKILL after ten seconds.  Returns the status."""
        self.podman("stop", self.name)
        return self.inspect(".State.ExitCode")


def prepare(podman):
    if podman("image", "exists", BASE).returncode != 0:
        tar = f"{KEEP}/base.tar"
        run("mmdebstrap", "--variant=minbase", "trixie", tar, check=True)
        podman("import", tar, BASE, check=True)
        os.unlink(tar)
    why = podman.find_limits()
    if why:
        print(f"1..1\nok 1 image # skip podman runs no containers here: {why}")
        sys.exit(0)
    print("# the image, which takes some minutes the first time", flush=True)
    run("make", "-s", "image", f"IMAGE={IMAGE}", f"BASE={BASE}",
        "BUILD_OPTIONS=--isolation chroot --network host", check=True,
        env={**os.environ, "ENGINE": podman.program})


def revision():
    """The commit that the image is built from, or nothing."""
    done = run("git", "rev-parse", "HEAD")
    return done.stdout.strip() if done.returncode == 0 else ""


def check_image(podman, commit, results):
    about = json.loads(podman("inspect", IMAGE, check=True).stdout)[0]
    config = about["Config"]
    prefix = "org.opencontainers.image."
    labels = {k[len(prefix):]: v for k, v in config["Labels"].items()
              if k.startswith(prefix)}
    with open(f"{ROOT}/Makefile", encoding="utf-8") as f:
        version = re.search(r"^VERSION\s*:= (.*)$", f.read(), re.M)[1]
    results.equal("version", version, labels.get("version"))
    results.equal("revision", commit, labels.get("revision"))
    results.equal("licence", "MIT", labels.get("licenses"))
    results.equal("user", "65532:65532", config["User"])
    results.equal("signal", "SIGTERM", config["StopSignal"])
    results.equal("ports", ["8080/tcp", "8404/tcp"],
                  sorted(config["ExposedPorts"]))
    results.equal("health check", ["CMD", "/usr/bin/lfproxyctl", "ready"],
                  about["Healthcheck"]["Test"])
    done = podman("run", "--rm", "--network=none", *podman.limits,
                  "--entrypoint=sh", IMAGE, "-c",
                  "command -v gcc git make; ls /usr/include/ev.h 2>/dev/null")
    results.put(not re.search(r"^/", done.stdout, re.M), "no build tools",
                done.stdout)


def start_server(container):
    """The server of load.py, on the container's network."""
    server = subprocess.Popen(container.inside(
        "python3", "-B", f"{ROOT}/tests/image/load.py", "serve", "9001"))
    return server


def check_service(container, results):
    results.put(within(lambda: container.ready()[0] == 0), "ready",
                container.ready()[1] + container.logs())
    results.equal("user in force", ["65532"] * 4, container.status("Uid"))
    results.equal("capabilities", ["0" * 16] * 2,
                  container.status("CapPrm") + container.status("CapBnd"))
    results.equal("the engine's filter of system calls, and ours", "2",
                  container.status("Seccomp")[0])
    results.put(container.healthy(), "health check passes", container.logs())
    results.put(container.says(
        r'^\{"time":.*"frontend":"main".*"backend":"app"'),
        "logs have sessions as JSON", container.logs())


def check_upgrade(container, results):
    done = container.podman("exec", container.name, "lfproxyctl", "upgrade")
    results.put(done.returncode == 0 and "has taken over" in done.stdout,
                "an upgrade", done.stdout)
    results.equal("the container after it", "running",
                  container.inspect(".State.Status"))
    results.equal("ready after it", 0, container.ready()[0])


def check_stop_under_load(container, results):
    load = subprocess.Popen(
        container.inside("python3", "-B", f"{ROOT}/tests/image/load.py",
                         "8080", "8404"),
        stdout=subprocess.PIPE, text=True)
    results.equal("load", "started\n", load.stdout.readline())
    check_upgrade(container, results)
    check_service(container, results)
    results.equal("stop: the exit status", "0", container.stop())
    said = load.communicate()[0].strip()
    results.put(re.fullmatch(r"sessions=[1-9]\d* refused=0 cut=0", said),
                f"stop under load: {said}", said)


def check_unready(podman, results):
    lonely = Container(podman, "lonely", "-e", "UPSTREAM=localhost:9001")
    results.put(within(lambda: lonely.ready()[1].startswith(
        "not ready: no usable server\n")), "without a server: not ready",
        lonely.ready())
    results.equal("without a server: exit status", 1, lonely.ready()[0])
    results.put(not lonely.healthy(), "without a server: not healthy")
    results.equal("without a server: stops", "0", lonely.stop())


def check_bare(podman, work, results):
    """With no setting for containers, and no place for the admin socket."""
    path = f"{work}/bare.ini"
    with open(path, "w", encoding="ascii") as out:
        out.write(BARE)
    os.chmod(path, 0o644)
    os.chmod(work, 0o755)
    bare = Container(podman, "bare", "-v",
                     f"{path}:/etc/lfproxy/lfproxy.ini:ro")
    results.put(bare.says(r"^lfproxy: ready"), "no admin socket: it runs",
                bare.logs())
    results.put(bare.says(r"running without the admin socket: .*/nowhere/"),
                "no admin socket: it says so", bare.logs())
    results.put(not bare.healthy(), "no admin socket: not healthy")
    run(*bare.inside("curl", "-s", "-m", "60", "http://127.0.0.1:8080/"))
    results.put(bare.says(r"frontend=main"), "/dev/stdout has the session",
                bare.logs())
    results.equal("nothing configured: stops by itself", "0", bare.stop())


def check_all(podman, work, results):
    server = None
    try:
        commit = revision()
        prepare(podman)
        check_image(podman, commit, results)
        main = Container(podman, "main", "-e", "UPSTREAM=localhost:9001")
        server = start_server(main)
        if within(lambda: main.ready()[0] == 0):
            check_stop_under_load(main, results)
        else:
            results.put(False, "ready", main.ready()[1] + main.logs())
        check_unready(podman, results)
        check_bare(podman, work, results)
    finally:
        if server:
            server.kill()
            server.wait()
        podman("rm", "-f", "-t", "0", "-v", "-a")


def main():
    if os.geteuid() != 0:
        print("1..1\nok 1 image # skip only root can run these containers")
        return 0
    os.makedirs(KEEP, exist_ok=True)
    results = Results()
    work = tempfile.mkdtemp(prefix="lfproxy-image-")
    try:
        check_all(Podman(work), work, results)
    except Failure as failure:
        results.put(False, "preparations", failure)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"1..{results.n}")
    return 1 if results.bad else 0


if __name__ == "__main__":
    sys.exit(main())
