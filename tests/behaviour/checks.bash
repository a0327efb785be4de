# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Helpers for the tests of health checks; `load checks` after helpers.

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = stderr
		drain_timeout = 10m
		admin = $ADMIN
		[pool main]
		threads = 2
	END
}

# column NAME COLUMN: of server NAME in `show stat`.
column() {
	"$CTL" -S "$ADMIN" show stat app 4 -1 |
	    column_of "$2" "$1"
}

column_is() {
	[ "$(column "$1" "$2")" = "$3" ]
}

column_like() {
	[[ $(column "$1" "$2") =~ $3 ]]
}

# until_column SECONDS NAME COLUMN VALUE
until_column() {
	wait_for "$1" column_is "$2" "$3" "$4" ||
	    fail "$2's $3 is '$(column "$2" "$3")', not '$4'"
}

# until_check NAME STATUS [CODE]: its check ended so; the code is 0 where there
# is no better one.
until_check() {
	until_column 10 "$1" check_status "$2" ||
	    fail "said: $(column "$1" last_chk)"
	equal "the code" "${3:-$(none_of "$2")}" "$(column "$1" check_code)"
}

# until_failed NAME STATUS: it is down, and its last check ended so: an earlier
# one may have met a machine that was too busy for its timeout.
until_failed() {
	until_column 20 "$1" check_status "$2"
	until_column 10 "$1" status DOWN
}

none_of() {
	case $1 in
	L7OK | L7STS | PROC*) echo 0 ;;
	esac
}

# checked CHECK...: with a timeout that passes on no busy machine.
checked() {
	echo "check = $* interval=100ms timeout=20s"
}

# impatient CHECK...: with one that passes soon, for servers that do not answer.
impatient() {
	echo "check = $* interval=100ms timeout=$((300 * PATIENCE))ms"
}

# start_script NAME COMMAND: a server that runs it for each connection, which
# is its stdin and stdout.
start_script() {
	serve "$1" python3 -u "$ROOT/tests/tools/inetd.py" "$2"
}

# health NAME...: for each something that only its checks talk to, so that a
# server can go down and still serve.
health() {
	local name

	for name in "$@"; do
		start_app "$name"
		start_app "h$name"
	done
}

checked_at() {
	echo "check_port=${ADDRS[h$1]##*:}"
}

# reads_end FD: what was open there has ended, without a byte.
reads_end() {
	local text

	IFS= read -r -t $((60 * PATIENCE)) -u "$1" text && return 1
	[ $? -le 128 ] && [ -z "$text" ]
}

# dial: opens $fd to lfproxy.
dial() {
	# shellcheck disable=SC2034 # fd is for the tests.
	exec {fd}<>"/dev/tcp/127.0.0.1/$(port web)"
}

# connect: opens $fd to lfproxy, and waits until a server is connected.
connect() {
	local n

	n=$(sessions | wc -l)
	dial
	wait_for 10 sessions_ended $((n + 1))
}
