#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A reload, a new server, a change of a set or an upgrade in which one part of the
# process cannot prepare changes nothing.

load helpers
load ctl
load upgrade

INI=$T/lfproxy.ini
# Those with a prepare, in src/live/transition.c and transition_servers.c.
PARTS=6
SERVER_PARTS=3

# fleet: the sections of a set, which are in both configurations.
fleet() {
	cat <<-END
		[backend fleet]
		check = off
		servers = n 4 file=$T/fleet confirm=off
		[frontend fleet]
		listen = unix:$T/fleet.sock
		backend = fleet
	END
}

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
		$(fleet)
	END
	[ -f "$T/fleet" ] || printf '127.0.0.1:1\n' >"$T/fleet"
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
		$(fleet)
	END
}

# columns: the columns of `show stat` that do not tell the time.
columns() {
	awk -F, -v not='^(lastchg|lastsess|check_duration|last_chk|agent_duration)$|rate|time' '
	NR == 1 { for (i = 1; i <= NF; i++) keeps[i] = $i !~ not }
	{
		for (i = 1; i <= NF; i++)
			if (keeps[i])
				printf "%s,", $i
		print ""
	}'
}

# state: all that a change of the configuration may change: settings, servers,
# sets, lists of changes, counters, checks, threads; sockets with their options,
# owners and descriptors; other descriptors.
state() {
	ctl show drift json | sed 's/"left_ms":[0-9]*//'
	# Without the seconds since the last change.
	ctl show servers state | cut -d' ' -f1-9,11-
	ctl show servers conn | cut -d' ' -f1-4
	ctl show changes | grep -v ': upgrade: no upgrade'
	ctl show expiring | sed 's/ in [0-9dhms]*:/:/'
	ctl show pool json |
	    grep -oE '"(name|threads|shards|sessions|promotion|order|cpus)":[^,}]*'
	ctl show sets | sed 's/, [0-9]* left out.*//'
	ctl show stat | columns
	ctl show info | grep -E '^(Maxconn|CurrConns|CumConns|Nbthread|[A-Za-z]*Limit):'
	stat -c '%n %i %a %U %G' "$T"/*.sock
	# The sockets of all programs decide how wide the columns are.
	ss -Hlntempo | awk -v port=":$PORT" '$4 ~ port "$" { $1 = $1; print }'
	ss -Hlxem | awk -v folder="$T/" 'index($0, folder) { $1 = $1; print }' |
	    sort
	find "/proc/$LFPROXY_PID/fd" -printf '%l\n' | sed 's/\[[0-9]*\]//' |
	    sort | uniq -c | grep -v pipe:
	cat /proc/"$LFPROXY_PID"/task/*/comm | sort
}

is_settled() {
	[ "$(state)" = "$1" ]
}

# stays STATE: it is as before.
stays() {
	wait_for 10 is_settled "$1" || fail "$(diff <(echo "$1") <(state))"
	equal "answer" a "$(fetch "http://127.0.0.1:$PORT/")"
}

checked() {
	[[ $(ctl show servers) == *L4OK* ]]
}

has_fleet() {
	[ "$(ctl show servers state fleet | grep -c ' n[0-9]* ')" = "$1" ]
}

# is_idle: all sessions have ended, and are counted.
is_idle() {
	[ "$(ctl show info | sed -n 's/^CurrConns: //p')" = 0 ] &&
	    [ "$(sessions_logged)" = 1 ]
}

# sessions_logged: the lines of the log about ended sessions.
sessions_logged() {
	grep -c ' web app/a ' "$LFPROXY_LOG"
}

# begins [VARIABLE]: with that fault, and something that was set.
begins() {
	rm -f "$T/fleet"
	old "$PORT"
	if [ $# -gt 0 ]; then
		local -x "LFPROXY_FAULT_${1?}"
	fi
	launch_lfproxy -c "$INI"
	equal "answer" a "$(fetch "http://127.0.0.1:$PORT/")"
	wait_for 10 checked
	wait_for 10 has_fleet 1
	wait_for 10 is_idle
	ctl set weight app/a 50
	ctl set maxconn frontend web 70 for 1h
}

# says_why: the answer names the part, and memory.
says_why() {
	[[ $output == *": Cannot allocate memory"* ]] || fail "$output"
	echo "${output##*$'\n'}" >>"$T/refusals"
}

parts_failed() {
	equal "parts that have failed" "$1" "$(sort -u "$T/refusals" | wc -l)"
}

needs_faults() {
	[ -x "$ROOT/build/fault/lfproxy" ] ||
	    skip "no build/fault/lfproxy; make MODE=fault builds it"
	LFPROXY=$ROOT/build/fault/lfproxy
	start_app a
	PORT=$(free_port)
}

# refuses_reload_at N: the part after N others cannot prepare.
refuses_reload_at() {
	local before

	begins "PREPARE=ENOMEM:after=$1:count=1"
	before=$(state)
	new "$PORT" "$(addr a | sed 's/.*://')"
	run -1 ctl reload
	says_why
	old "$PORT" # for show drift
	stays "$before"
	# What was cancelled can be prepared again.
	new "$PORT" "$(addr a | sed 's/.*://')"
	run -0 ctl reload
	[ -S "$T/second.sock" ] && [ -S "$T/other.sock" ]
	[[ $(ctl show servers) == *m1* ]] || fail "$(ctl show servers)"
	equal "sets" 1 "$(ctl show sets | grep -c "file=$T/members")"
	stop_lfproxy
}

@test "transition: a reload whose part cannot prepare leaves everything as it was" {
	local LFPROXY n

	needs_faults
	for ((n = 0; n < PARTS; n++)); do
		refuses_reload_at $n
	done
	parts_failed $PARTS
	# There is no further part.
	old "$PORT"
	LFPROXY_FAULT_PREPARE=ENOMEM:after=$PARTS launch_lfproxy -c "$INI"
	new "$PORT" "$(addr a | sed 's/.*://')"
	run -0 ctl reload
	stop_lfproxy
}

@test "transition: so does a new server" {
	local LFPROXY n before

	needs_faults
	for ((n = 0; n < SERVER_PARTS; n++)); do
		begins "PREPARE=ENOMEM:after=$n:count=1"
		before=$(state)
		run -1 ctl add server app/z 127.0.0.1:1 check weight 7
		says_why
		stays "$before"
		run -0 ctl add server app/z 127.0.0.1:1 check weight 7
		[[ $(ctl show servers) == *z* ]]
		stop_lfproxy
	done
	parts_failed $SERVER_PARTS
}

@test "transition: so does a server that cannot be deleted" {
	local LFPROXY n before

	needs_faults
	for ((n = 0; n < SERVER_PARTS; n++)); do
		begins "PREPARE=ENOMEM:after=$((SERVER_PARTS + n)):count=1"
		ctl add server app/z 127.0.0.1:1
		before=$(state)
		run -1 ctl del server app/z
		says_why
		stays "$before"
		run -0 ctl del server app/z
		stop_lfproxy
	done
	parts_failed $SERVER_PARTS
}

refused_a_set() {
	lfproxy_said 'servers that have come or gone are not taken over: .*: Cannot allocate memory'
}

@test "transition: so does a change of a set" {
	local LFPROXY n before

	needs_faults
	for ((n = 0; n < SERVER_PARTS; n++)); do
		begins "PREPARE=ENOMEM:after=$n:count=1"
		before=$(state)
		printf '127.0.0.1:%d\n' 1 2 3 >"$T/fleet"
		wait_for 20 refused_a_set
		stays "$before"
		printf '127.0.0.1:%d\n' 1 2 >"$T/fleet"
		wait_for 20 has_fleet 2
		stop_lfproxy
	done
}

@test "transition: so does an upgrade whose next process fails" {
	local LFPROXY before

	needs_faults
	begins
	printf '#!/bin/sh\nLFPROXY_FAULT_EPOLL_CTL=ENOMEM exec "%s" "$@"\n' \
	    "$LFPROXY" >"$T/next"
	chmod +x "$T/next"
	before=$(state)
	run -1 ctl upgrade "$T/next"
	[[ $output == *"no upgrade, this process goes on: pool main "* ]] ||
	    fail "$output"
	stays "$before"
	FIRST=$LFPROXY_PID
	upgrade "$LFPROXY"
	stop_newest
}
