#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Filters of system calls.

  try       makes system calls and prints a line for each: NAME and its error
  unable COMMAND...
            runs the command where no filter can be set, as in a container that
            does not permit it
  unowned COMMAND...
            runs the command where no file gets another owner, as in the unit
"""

import ctypes
import errno
import os
import socket
import sys

libc = ctypes.CDLL(None, use_errno=True)
seccomp = ctypes.CDLL("libseccomp.so.2", use_errno=True)
seccomp.seccomp_init.restype = ctypes.c_void_p

ALLOW = 0x7FFF0000
ERRNO_EPERM = 0x00050000 | errno.EPERM
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
EQ = 4  # SCMP_CMP_EQ


class Compared(ctypes.Structure):
    _fields_ = [
        ("arg", ctypes.c_uint),
        ("op", ctypes.c_int),
        ("a", ctypes.c_uint64),
        ("b", ctypes.c_uint64),
    ]


def number(name):
    return seccomp.seccomp_syscall_resolve_name(name.encode())


def call(name, *arguments):
    result = libc.syscall(number(name), *[ctypes.c_long(a) for a in arguments])
    return errno.errorcode[ctypes.get_errno()] if result < 0 else "ok"


def family(name):
    try:
        socket.socket(getattr(socket, name), socket.SOCK_DGRAM).close()
        return "ok"
    except OSError as e:
        return errno.errorcode[e.errno]


def attempt():
    """Each call is harmless where it is not refused."""
    print("ptrace", call("ptrace", -1, 0, 0, 0))
    print("bpf", call("bpf", -1, 0, 0))
    print("unshare", call("unshare", 0))
    print("keyctl", call("keyctl", -1, 0, 0, 0, 0))
    print("clone3", call("clone3", 0, 0))
    print("getppid", call("getppid"))
    print("inet", family("AF_INET"))
    print("packet", family("AF_PACKET"))


def run_without(rules, command):
    context = ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(ALLOW)))
    for name, n, arguments in rules:
        rc = seccomp.seccomp_rule_add_array(
            context, ctypes.c_uint32(ERRNO_EPERM), number(name), n, arguments
        )
        assert rc == 0, (name, rc)
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    rc = seccomp.seccomp_load(context)
    if rc != 0:
        sys.exit("no filter can be set: " + os.strerror(-rc))
    os.execvp(command[0], command)


def unable(command):
    compared = Compared(0, EQ, PR_SET_SECCOMP, 0)
    rules = [("seccomp", 0, None), ("prctl", 1, ctypes.byref(compared))]
    run_without(rules, command)


def unowned(command):
    names = ["chown", "fchown", "lchown", "fchownat"]
    run_without([(name, 0, None) for name in names], command)


if __name__ == "__main__":
    if sys.argv[1:] == ["try"]:
        attempt()
    elif sys.argv[1] == "unable":
        unable(sys.argv[2:])
    elif sys.argv[1] == "unowned":
        unowned(sys.argv[2:])
    else:
        sys.exit(__doc__)
