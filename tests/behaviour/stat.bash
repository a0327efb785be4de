# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Tests that ask lfproxy what it has counted: `load stat` after helpers.

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = stderr
		admin = $ADMIN mode=0600
		drain_timeout = 10m
		${MAXCONN:+maxconn = $MAXCONN}
		[pool main]
		threads = 2
	END
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# column NAME SERVER: of `show stat`.
column() {
	ctl show stat | column_of "$1" "$2"
}

# has NAME SERVER VALUE
has() {
	[ "$(column "$1" "$2")" = "$3" ]
}

# An event is like PATTERN.
eventful() {
	ctl show events | grep -qE -- "$1"
}
