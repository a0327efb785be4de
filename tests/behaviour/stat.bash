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
		[pool main]
		threads = 2
	END
}

ctl() {
	"$BUILD/lfproxyctl" -S "$ADMIN" "$@"
}

# column NAME SERVER: of `show stat`; no value here has a comma.
column() {
	ctl show stat | awk -F , -v name="$1" -v server="$2" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i }
		$2 == server { print $at }'
}

# has NAME SERVER VALUE
has() {
	[ "$(column "$1" "$2")" = "$3" ]
}

# An event is like PATTERN.
eventful() {
	ctl show events | grep -qE -- "$1"
}
