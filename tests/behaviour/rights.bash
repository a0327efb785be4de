# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The rights of a test depend on the user, the capabilities and the container it
# runs in.  Each function here tries the real thing and skips the test, with the
# right that is missing and what was said, where it is refused.

T=${T:-$BATS_TEST_TMPDIR}

# need RIGHT COMMAND...: skips the test unless COMMAND succeeds.
need() {
	local right=$1 said

	shift
	said=$("$@" 2>&1 3>&-) || skip "needs $right: ${said:-$* failed}"
}

# need_root RIGHT: for what only root tries.
need_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root: $1"
}

set_transparent() {
	python3 -c '
import socket
with socket.socket() as s:
    try:
        s.setsockopt(socket.IPPROTO_IP, 19, 1)
    except OSError as e:
        raise SystemExit(f"IP_TRANSPARENT: {e.strerror}")'
}

# need_foreign_address: a socket may have an address that is not this host's,
# as `source = client` asks for, or a mark.
need_foreign_address() {
	need "CAP_NET_RAW or CAP_NET_ADMIN" set_transparent
}

change_interface() {
	python3 -c '
import socket
with socket.socket() as s:
    try:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"lo")
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"")
    except OSError as e:
        raise SystemExit(f"SO_BINDTODEVICE: {e.strerror}")'
}

# need_other_interface: a socket may leave the interface it is bound to.
need_other_interface() {
	need CAP_NET_RAW change_interface
}

give_away() {
	: >"$T/given.away" && chown "$1" "$T/given.away" &&
	    rm -f "$T/given.away"
}

# need_to_give OWNER:GROUP...: a file may be given to each.
need_to_give() {
	local to

	need_root "files are given to another user"
	for to in "$@"; do
		need "CAP_CHOWN (a file for $to)" give_away "$to"
	done
}

# nobody COMMAND...: runs it as the user nobody.
nobody() {
	setpriv --reuid nobody --regid nogroup --clear-groups "$@"
}

# need_nobody: root may become the user nobody, who may then use $T.
need_nobody() {
	need_root "another user is needed"
	need "CAP_SETUID and CAP_SETGID (to become nobody)" nobody true
	chmod 755 "$T" "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test"
	need "a directory of tests that nobody may enter (TMPDIR)" \
	    nobody test -x "$T"
}

# without CAPABILITY...: $WITHOUT is a command that runs others without them;
# root's are taken away, an ordinary user has none.  Skips the test when they
# cannot be taken away.
without() {
	local list

	WITHOUT=()
	[ "$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)" != \
	    0000000000000000 ] || return 0
	list=$(printf ',-%s' "$@")
	WITHOUT=(setpriv "--bounding-set=${list#,}" "--inh-caps=${list#,}")
	need "CAP_SETPCAP (to do without $*)" "${WITHOUT[@]}" true
}

# need_descriptors N: a process may have that many.
need_descriptors() {
	need "a limit of $1 descriptors (ulimit -Hn)" \
	    prlimit "--nofile=$1:$1" true
}

less_nice() {
	# shellcheck disable=SC2016 # the inner shell's own id
	nice -n 5 sh -c 'renice -n "$1" -p $$ >/dev/null' sh "$(nice)"
}

# need_less_nice: a thread may become less nice than it is.
need_less_nice() {
	need "CAP_SYS_NICE or a limit of nice (ulimit -e)" less_nice
}
