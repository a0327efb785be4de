# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# The options of lfproxy's sockets, as the kernel has them.

# kernel KIND PATTERN: a socket of lfproxy, with PATTERN in its line, that is a
# listen or connection; its line is in $line, see tests/tools/sockopts.c.
kernel() {
	line=$("$TOOLS/sockopts" "$LFPROXY_PID" | grep -E -- "^$1 .*$2" |
	    head -n 1)
	[ -n "$line" ]
}

# has OPTION=VALUE...: in $line.
has() {
	local option

	for option in "$@"; do
		[[ " $line " == *" $option "* ]] ||
		    fail "not $option in: $line"
	done
}

# Reading another process's sockets takes the right to trace it.
readable() {
	need "CAP_SYS_PTRACE or pidfd_getfd (to read lfproxy's sockets)" \
	    "$TOOLS/sockopts" "$LFPROXY_PID"
}
