#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# A reload, a new server, a change of a set or an upgrade in which one part of the
# process cannot prepare changes nothing.

load helpers
load ctl
load stat
load tls
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
		[tls site]
		cert = $T/site.pem
		[frontend fleet]
		listen = unix:$T/fleet.sock tls=site
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

# options: those of the sockets, one by one.  A user who may not trace lfproxy
# gets the ones that ss knows alone, see state.
options() {
	if [ "$READS_SOCKETS" = 1 ]; then
		"$TOOLS/sockopts" "$LFPROXY_PID" | sort
	fi
}

# state: all that a change of the configuration may change: the configuration
# itself, settings, servers, sets, lists of changes, counters, checks, threads;
# sockets with their options, owners and descriptors; other descriptors.
state() {
	ctl show config
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
	options
	stat -c '%n %i %a %U %G' "$T"/*.sock
	# The sockets of all programs decide how wide the columns are.
	ss -Hlntempo | awk -v port=":$PORT" '$4 ~ port "$" { $1 = $1; print }'
	ss -Hlxem | awk -v folder="$T/" 'index($0, folder) { $1 = $1; print }' |
	    sort
	find "/proc/$LFPROXY_PID/fd" -printf '%l\n' | sed 's/\[[0-9]*\]//' |
	    sort | uniq -c | grep -v pipe:
	cat /proc/"$LFPROXY_PID"/task/*/comm | sort
}

# looks_alike_twice: sets SEEN to the state, once no client of before is in it.
looks_alike_twice() {
	SEEN=$(state)
	[ "$SEEN" = "$(state)" ]
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

has_session() {
	[[ $(ctl show sess json) == *'"state":"RELAYING"'* ]]
}

# can_read_sockets: sets READS_SOCKETS, and says once why not.
can_read_sockets() {
	local why

	[ -z "${READS_SOCKETS:-}" ] || return 0
	READS_SOCKETS=1
	why=$("$TOOLS/sockopts" "$LFPROXY_PID" 2>&1 >"$T/options") && return 0
	READS_SOCKETS=0
	echo "# without the options of sockets that ss has not: $why" >&3
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
	# A session, whose two connections stay.
	spawn held "$TOOLS/badclient" idle "127.0.0.1:$PORT" --deadline 200
	wait_for 10 has_line held '^established'
	wait_for 10 has_session
	can_read_sockets
	ctl set weight app/a 50
	ctl set maxconn frontend web 70 for 1h
}

# ends: what begins has begun.
ends() {
	signal held TERM
	finish held
	stop_lfproxy
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
	make_site site
	chmod 600 "$T/site.pem"
	PORT=$(free_port)
}

# refuses_reload_at N: the part after N others cannot prepare.
refuses_reload_at() {
	local before

	begins "PREPARE=ENOMEM:after=$1:count=1"
	wait_for 10 looks_alike_twice
	before=$SEEN
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
	ends
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
		wait_for 10 looks_alike_twice
		before=$SEEN
		run -1 ctl add server app/z 127.0.0.1:1 check weight 7
		says_why
		stays "$before"
		run -0 ctl add server app/z 127.0.0.1:1 check weight 7
		[[ $(ctl show servers) == *z* ]]
		ends
	done
	parts_failed $SERVER_PARTS
}

@test "transition: so does a server that cannot be deleted" {
	local LFPROXY n before

	needs_faults
	for ((n = 0; n < SERVER_PARTS; n++)); do
		begins "PREPARE=ENOMEM:after=$((SERVER_PARTS + n)):count=1"
		ctl add server app/z 127.0.0.1:1
		wait_for 10 looks_alike_twice
		before=$SEEN
		run -1 ctl del server app/z
		says_why
		stays "$before"
		run -0 ctl del server app/z
		ends
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
		wait_for 10 looks_alike_twice
		before=$SEEN
		printf '127.0.0.1:%d\n' 1 2 3 >"$T/fleet"
		wait_for 20 refused_a_set
		stays "$before"
		printf '127.0.0.1:%d\n' 1 2 >"$T/fleet"
		wait_for 20 has_fleet 2
		ends
	done
}

# drift: without times, and without what the file's maxconn, none, stands for.
drift() {
	ctl show drift | sed 's/, and [0-9]* in .*//'
}

serves() {
	[ "$(fetch "http://127.0.0.1:$PORT/")" = a ]
}

has_drift() {
	[ "$(drift)" = "$1" ]
}

# next_with [VARIABLE]: the program of an upgrade, with this fault alone.
next_with() {
	printf '#!/bin/sh\nunset LFPROXY_FAULT_HANDOVER\n%s exec "%s" "$@"\n' \
	    "${1:+LFPROXY_FAULT_$1}" "$LFPROXY" >"$T/next"
	chmod +x "$T/next"
}

# upgrades_whole: there is no upgrade and all is as before, or the next process
# has all of it.
upgrades_whole() {
	local before drift former

	drift=$(drift)
	wait_for 10 looks_alike_twice
	before=$SEEN
	run ctl upgrade "$T/next"
	if [ "$status" -eq 1 ]; then
		[[ $output == "no upgrade, this process goes on: "* ]] ||
		    fail "$output"
		FAILED=$((FAILED + 1))
		stays "$before"
		return
	fi
	[[ $output =~ ^process\ ([0-9]+)\ has\ taken\ over ]] || fail "$output"
	former=$LFPROXY_PID
	LFPROXY_PID=${BASH_REMATCH[1]}
	# The next one has the channel until then.
	wait_for 30 ended "$former"
	# The failure may be that of the first session, or of the first answer.
	wait_for 10 serves
	wait_for 10 has_drift "$drift" || fail "$(drift)"
	wait_for 10 has_fleet 1
}

# upgrades_with FAULT N: to a process in which this call fails once, after N
# others.
upgrades_with() {
	next_with "$1=ENOMEM:after=$2:count=1"
	upgrades_whole || fail "$1 $2"
}

# fails_in FAULT FAILURES CALLS...: upgrades_with each of these numbers of calls;
# at least so many of them are no upgrades.
fails_in() {
	local fault=$1 n FAILED=0

	for n in "${@:3}"; do
		upgrades_with "$fault" "$n"
	done
	((FAILED >= $2)) || fail "$FAILED upgrades have failed with $fault"
}

@test "transition: so does an upgrade whose next process fails" {
	local LFPROXY

	needs_faults
	begins
	FIRST=$LFPROXY_PID
	fails_in EPOLL_CTL 3 0 1 2 3
	fails_in TLS_MEMORY 1 0 1 10 100
	# These calls come after the start.
	fails_in SLAB 0 0 1
	fails_in ACCEPT 0 0
	fails_in SOCKET 0 0
	fails_in CONNECT 0 0
	fails_in PIPE 0 0
	fails_in PREPARE 0 0
	fails_in ANSWER 0 0 1
	# Its answer to this process, and what it sends later.
	fails_in HANDOVER 0 0 1 2
	next_with HANDOVER=ENOSPC:count=1
	FAILED=0
	upgrades_whole
	equal "without an answer" 1 "$FAILED"
	stop_newest
}

# hands_over_with FAULT: a process that fails so once, when it sends to the next
# one, is upgraded.
hands_over_with() {
	begins "HANDOVER=$1:count=1"
	FIRST=$LFPROXY_PID
	next_with
	upgrades_whole
	if [ "$LFPROXY_PID" = "$FIRST" ]; then
		ends
	else
		signal held TERM
		finish held
		stop_newest
	fi
}

@test "transition: so does an upgrade whose former process fails to hand over" {
	local LFPROXY n FAILED=0

	needs_faults
	# The sockets, commands, the end of them, and its leave.
	for n in 0 1 2 3; do
		hands_over_with "ENOSPC:after=$n"
		equal "no upgrade" $((n + 1)) "$FAILED"
	done
	# Short of memory it tries again, also behind these.
	for n in 0 1 2 3 4 5 6; do
		hands_over_with "ENOMEM:after=$n"
		equal "no upgrade" 4 "$FAILED"
	done
}

@test "transition: so does a reload whose new socket cannot be watched" {
	local LFPROXY before

	needs_faults
	begins REGISTER=ENOMEM:after=2:count=1
	wait_for 10 looks_alike_twice
	before=$SEEN
	new "$PORT" "$(addr a | sed 's/.*://')"
	run -1 ctl reload
	[[ $output == *"frontend other: cannot wait for connections on unix:$T/other.sock: Cannot allocate memory"* ]] ||
		fail "$output"
	old "$PORT"
	stays "$before"
	new "$PORT" "$(addr a | sed 's/.*://')"
	run -0 ctl reload
	equal "through the new socket" a \
	    "$(curl -s --unix-socket "$T/other.sock" http://x/ | head -n 1)"
	ends
}
