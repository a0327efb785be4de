# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Helpers for the tests of one pool, main: `load mainpool` after `load helpers`.

ADMIN=$T/admin.sock

# GLOBAL: further lines of [global].
common() {
	cat <<-END
		[global]
		log = ${LOG:-off}
		admin = $ADMIN mode=0600
		${GLOBAL:-}
		[pool main]
		threads = ${THREADS:-1}
		shards = ${SHARDS:-1}
		promotion = ${PROMOTION:-adaptive}
		order = ${ORDER:-lifo}
	END
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# main EXPRESSION: Python, of the pool main's object p.
main() {
	ctl show pool main json | python3 -c '
import json, sys
p = json.load(sys.stdin)[0]
print(eval("(" + sys.argv[1] + ")"))' "$1"
}

# is EXPRESSION VALUE: of the pool main, now.
is() {
	[ "$(main "$1")" = "$2" ]
}

# set_main WHAT VALUE...: the answer must be empty.
set_main() {
	run -0 ctl set pool main "$@"
	# shellcheck disable=SC2154 # run sets it.
	equal "the answer to set pool main $*" "" "$output"
}
