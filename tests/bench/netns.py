# SPDX-License-Identifier: MIT
"""Two network namespaces of our own with a veth between them that loses packets
(nftables): the caller's side, and the far side.

The whole program moves to a namespace of its own, so the machine's network is
never touched; both namespaces are gone when the program and the far side's
holder have ended."""

import contextlib
import ctypes
import os
import subprocess

from measuring.process import MeasuringError, Process, wait_until

CLONE_NEWNET = 0x40000000
NEAR, FAR = "10.213.0.1", "10.213.0.2"
LIBC = ctypes.CDLL(None, use_errno=True)


class NoNamespaces(Exception):
    """This machine, or this user, cannot have any."""


def enter(fd):
    if LIBC.setns(fd, CLONE_NEWNET) != 0:
        raise NoNamespaces(f"setns: {os.strerror(ctypes.get_errno())}")


def command(*argv, text=None):
    done = subprocess.run(
        argv, input=text, capture_output=True, text=True, check=False,
        env={**os.environ, "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"})
    if done.returncode != 0:
        raise NoNamespaces(f"{' '.join(argv)}: {done.stderr.strip()}")


def namespace_of(process):
    return os.readlink(f"/proc/{process.child.pid}/ns/net")


def holder():
    """A process whose network namespace is new."""
    process = Process(["unshare", "--net", "sleep", "600"],
                      stderr=subprocess.DEVNULL)
    mine = os.readlink("/proc/self/ns/net")

    def moved():
        if process.child.poll() is not None:
            raise NoNamespaces("unshare --net is not allowed")
        return namespace_of(process) != mine

    try:
        wait_until(moved, "unshare")
    except (NoNamespaces, MeasuringError):
        process.stop()
        raise
    return process


class Link:
    address = FAR

    def __init__(self, near, far):
        self.near_pid, self.far_pid = near.child.pid, far.child.pid

    @contextlib.contextmanager
    def within(self, pid):
        before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
        try:
            enter(there)
            yield
        finally:
            enter(before)
            os.close(before)
            os.close(there)

    def far(self, start):
        """What start() starts lives on the far side."""
        with self.within(self.far_pid):
            return start()


def lay(link, loss):
    """The veth, its addresses, and the rule that loses packets: of those that
    arrive on either side."""
    rule = (f"table inet lossy {{ chain input {{ type filter hook input "
            f"priority 0; iifname \"veth*\" numgen random mod 100 < {loss} "
            "drop; }; }\n")
    with link.within(link.near_pid):
        command("ip", "link", "add", "veth0", "type", "veth", "peer", "name",
                "veth1", "netns", str(link.far_pid))
    for pid, device, address in ((link.near_pid, "veth0", NEAR),
                                 (link.far_pid, "veth1", FAR)):
        with link.within(pid):
            command("ip", "link", "set", "lo", "up")
            command("ip", "address", "add", f"{address}/24", "dev", device)
            command("ip", "link", "set", device, "up")
            if loss:
                command("nft", "-f", "-", text=rule)


@contextlib.contextmanager
def lossy_link(loss):
    """The caller is on the near side while it lasts."""
    near = holder()
    try:
        far = holder()
    except NoNamespaces:
        near.stop()
        raise
    try:
        link = Link(near, far)
        lay(link, loss)
        with link.within(near.child.pid):
            yield link
    finally:
        far.stop()
        near.stop()


def supported():
    """None, or why packets cannot be lost here."""
    try:
        with lossy_link(1):
            return None
    except (NoNamespaces, MeasuringError, OSError) as error:
        return str(error)
