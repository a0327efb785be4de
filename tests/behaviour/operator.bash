# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Helpers for the tests of commands that run for a while: `load operator` after
# `load helpers`.

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = stderr${FORMAT:+ format=$FORMAT}
		drain_timeout = 10m
		admin = $ADMIN mode=0600
		admin = $T/operator.sock level=operator
		[pool main]
		threads = 2
	END
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# ask LINE: several commands at once, with `;` between, so that no time passes
# between them however slow this machine is; the answers without empty lines.
ask() {
	printf '%s\n' "$1" | socat -t 60 - "UNIX-CONNECT:$ADMIN" | sed '/^$/d'
}

# answers PATTERN LINE: one of these answers has such a line.
answers() {
	ask "$2" >"$T/answers"
	grep -qE -- "$1" "$T/answers" ||
	    fail "no '$1' in the answers to $2: $(cat "$T/answers")"
}

# done_ COMMAND...: it has no answer.
done_() {
	equal "the answer to $*" "" "$(ctl "$@" 2>&1)"
}

# refused_with TEXT COMMAND...: an error that has this text in it.
refused_with() {
	local text=$1

	shift
	run ! ctl "$@"
	# shellcheck disable=SC2154 # run sets it.
	[[ $output == *"$text"* ]] ||
	    fail "the answer to $*: expected '$text' in '$output'"
}

# column NAME SERVER: of `show stat`.
column() {
	ctl show stat | column_of "$1" "$2"
}

is() {
	[ "$(column "$1" "$2")" = "$3" ]
}

at_most() {
	[ "$(column "$1" "$2")" -le "$3" ]
}

# json_of COMMAND EXPRESSION: a Python expression of its JSON, j.
json_of() {
	# shellcheck disable=SC2086
	ctl --json $1 | python3 -c "import json, sys
j = json.load(sys.stdin)
print($2)"
}

# shows COMMAND PATTERN: its answer has such a line.
shows() {
	# shellcheck disable=SC2086
	ctl $1 | grep -qE -- "$2"
}

nothing_of() {
	# shellcheck disable=SC2086
	[ -z "$(ctl $1)" ]
}

# hold NAME N [--verify]: sessions; with it they must still be alive at `release
# NAME`.
hold() {
	spawn "$1" "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count "$2" ${3:+"$3"} --deadline 200
}

release() {
	signal "$1" TERM
	finish "$1"
}

# change_file PATTERN REPLACEMENT: in the configuration, and reload.
change_file() {
	sed -i "s/$1/$2/" "$T/lfproxy.ini"
	ctl reload
}

# ends_of CODE: when the sessions with this code ended, in ms of the day.
ends_of() {
	sessions | awk -v code=" $1 " 'index($0, code) {
		split($2, t, "[:\\].]")
		split($5, d, "/")
		print ((t[2] * 60 + t[3]) * 60 + t[4]) * 1000 + t[5] + d[3]
	}' | sort -n
}

# longest_turn_us COMMAND: the CPU time of the longest turn of the control loop
# while it is answered.
longest_turn_us() {
	ask "clear loop; $1" >"$T/shown"
	ctl show info | sed -n 's/^LoopMaxCpu_us: //p'
}
