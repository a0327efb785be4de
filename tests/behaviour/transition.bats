#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A reload in which one part of the process cannot prepare changes nothing.

load helpers
load ctl

INI=$T/lfproxy.ini
PARTS=6 # with a prepare, in src/control/transition.c

# old: the configuration in force.
old() {
	cat >"$INI" <<-END
		[global]
		log = stderr
		admin = $ADMIN
		[pool main]
		threads = 2
		[frontend web]
		listen = 127.0.0.1:$1
		backend = app
		[backend app]
		check = connect interval=1h
		server = a $(addr a)
	END
}

# new: the next one, which changes something for each part.
new() {
	printf '%s\n' "127.0.0.1:$2" >"$T/members"
	cat >"$INI" <<-END
		[global]
		log = stderr
		admin = $ADMIN mode=0640
		admin = $T/second.sock
		http = 127.0.0.1:0
		closed_sessions = 100
		maxconn = 900
		[pool main]
		threads = 3
		[pool more]
		threads = 2
		[frontend web]
		listen = 127.0.0.1:$1 backlog=77
		backend = app
		maxconn = 50
		[frontend other]
		listen = unix:$T/other.sock
		pool = more
		backend = app
		[backend app]
		check = connect interval=1h
		server = a $(addr a) weight=7
		servers = m 4 file=$T/members
	END
}

# state: all that a reload changes, and the counters.
state() {
	# Without the seconds since the last change.
	ctl show servers state | cut -d' ' -f1-9,11-
	ctl show changes
	ctl show pool json | grep -oE '"(name|threads|shards|sessions)":[^,}]*'
	ctl show sets
	ctl show stat | cut -d, -f1-10,18-20
	ctl show info | grep -E '^(Maxconn|CurrConns|CumConns|Nbthread):'
	stat -c '%n %a %U' "$T"/*.sock
	ss -Hlnt | awk -v port=":$PORT" '$4 ~ port "$" { print $3, $4 }'
	find "/proc/$LFPROXY_PID/fd" -lname 'socket:*' | wc -l
	cat /proc/"$LFPROXY_PID"/task/*/comm | sort
}

is_settled() {
	[ "$(state)" = "$1" ]
}

# refuses_at N: the part after N others cannot prepare.
refuses_at() {
	local before

	old "$PORT"
	LFPROXY_FAULT_PREPARE=ENOMEM:after=$1:count=1 \
	    launch_lfproxy -c "$INI"
	equal "answer" a "$(fetch "http://127.0.0.1:$PORT/")"
	checked() { [[ $(ctl show servers) == *L4OK* ]]; }
	wait_for 10 checked
	ctl set weight app/a 50
	before=$(state)
	new "$PORT" "$(addr a | sed 's/.*://')"
	run -1 ctl reload
	[[ $output == *": Cannot allocate memory"* ]] || fail "$output"
	echo "${output##*$'\n'}" >>"$T/refusals"
	wait_for 10 is_settled "$before" ||
	    fail "$(diff <(echo "$before") <(state))"
	equal "answer" a "$(fetch "http://127.0.0.1:$PORT/")"
	# What was cancelled can be prepared again.
	run -0 ctl reload
	[ -S "$T/second.sock" ] && [ -S "$T/other.sock" ]
	[[ $(ctl show servers) == *m1* ]] || fail "$(ctl show servers)"
	equal "sets" 1 "$(ctl show sets | grep -c "file=$T/members")"
	stop_lfproxy
}

@test "transition: a part that cannot prepare leaves everything as it was" {
	local LFPROXY=$ROOT/build/fault/lfproxy n

	[ -x "$LFPROXY" ] || skip "no $LFPROXY; make MODE=fault builds it"
	start_app a
	PORT=$(free_port)
	for ((n = 0; n < PARTS; n++)); do
		refuses_at $n
	done
	equal "parts that have failed" $PARTS "$(sort -u "$T/refusals" | wc -l)"
	# There is no further part.
	old "$PORT"
	LFPROXY_FAULT_PREPARE=ENOMEM:after=$PARTS launch_lfproxy -c "$INI"
	new "$PORT" "$(addr a | sed 's/.*://')"
	run -0 ctl reload
	stop_lfproxy
}
