#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades: another process goes on with the sessions.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load ctl
load tls
load upgrade

sessions_are() {
	[ "$(of_info CurrConns)" = "$1" ]
}

# bats test_tags=machine
@test "upgrade: streams go on in the other process, and no byte is lost" {
	start_streams s
	start_app a
	begin
	sed -i "s/^server = a .*/server = s $(addr s)/" "$T/lfproxy.ini"
	ctl reload
	# More than the buffers of the kernel: they fill pipes.
	spawn stream "$TOOLS/streamer" client "$PORT" --connections 4 \
	    --up 1000000 --down 40000000 --hold-reading --deadline 200
	wait_for 10 has_line stream established
	wait_for 10 sessions_are 4
	upgrade
	[[ $UPGRADED == *" and 4 sessions" ]] || fail "$UPGRADED"
	wait_for 10 ended "$FIRST"
	equal "sessions" 4 "$(of_info CurrConns)"
	signal stream USR1
	finish stream 60
	[[ $output == *"ok=4 "*"failed=0 "* ]] || fail "$output"
	wait_for 10 sessions_are 0
	equal "sessions at the server" 0 "$(stat_of app s scur)"
	stop_newest
}

# sums_are "PROXY NAME" "SESSIONS IN OUT": the streams, with their framing, are a
# little longer than what they carry.
sums_are() {
	local proxy=${1% *} name=${1#* } sessions in out

	sessions=$(stat_of "$proxy" "$name" stot)
	in=$(stat_of "$proxy" "$name" bin)
	out=$(stat_of "$proxy" "$name" bout)
	read -r want_sessions want_in want_out <<<"$2"
	[ "$sessions" = "$want_sessions" ] && [ "$in" -ge "$want_in" ] &&
	    [ "$in" -le $((want_in + want_sessions * 1000)) ] &&
	    [ "$out" -ge "$want_out" ] &&
	    [ "$out" -le $((want_out + want_sessions * 1000)) ]
}

# bats test_tags=covered
@test "upgrade: many streams over many upgrades, with a reload and a resize between" {
	start_streams s
	start_app a
	begin
	sed -i "s/^server = a .*/server = s $(addr s)/" "$T/lfproxy.ini"
	ctl reload
	spawn stream "$TOOLS/streamer" client "$PORT" --connections 60 \
	    --up 3000000 --down 3000000 --duration 6 --pause 1000 \
	    --deadline 200
	wait_for 20 has_line stream established
	for i in 1 2 3 4 5 6; do
		upgrade
		ctl set pool main threads $((1 + i % 4))
		sed -i "s/^drain_timeout = .*/drain_timeout = $((i + 5))m/" \
		    "$T/lfproxy.ini"
		ctl reload
	done
	finish stream 120
	[[ $output =~ ok=([0-9]+)\ .*failed=0\ up=([0-9]+)\ down=([0-9]+)\  ]] ||
	    fail "$output"
	# The sums of all these processes.
	wanted="${BASH_REMATCH[1]} ${BASH_REMATCH[2]} ${BASH_REMATCH[3]}"
	for who in "web FRONTEND" "app BACKEND" "app s"; do
		wait_for 10 sums_are "$who" "$wanted"
	done
	stop_newest
}

# bats test_tags=covered
@test "upgrade: an idle session is the other process's, with its age and its bytes" {
	slow_server s
	begin_with s
	asks idle hello
	wait_for 10 has_line s 'got hello'
	before=$(ctl show sess | grep -o 'src=[^ ]*')
	upgrade
	wait_for 10 ended "$FIRST"
	equal "the session" "$before" "$(ctl show sess | grep -o 'src=[^ ]*')"
	equal "sessions" "1 1 1" "$(of_info CurrConns) $(stat_of web FRONTEND scur) $(stat_of app s scur)"
	signal s USR1
	answers idle hello
	# One line for the whole session, with all of its bytes.
	wait_for 10 lfproxy_said ' web app/s [0-9]+/[0-9]+/[0-9]+ 6 '
	stop_newest
}

# ids: of all sessions, in their order.
ids() {
	ctl show sess | cut -d: -f1 | sort
}

# numbers: the low halves of the ids, which processes share out.
numbers() {
	ids | sed 's/.*\(........\)$/\1/' | sort -u
}

# begins NAME: a session that waits for its answer; ID is its id.
begins() {
	local before

	before=$(ids)
	asks "$1" "$1"
	wait_for 10 has_line s "got $1"
	ID=$(comm -13 <(echo "$before") <(ids))
	[[ $ID == 0x* ]] || fail "new sessions: $ID"
}

@test "upgrade: sessions keep their ids, and new ones have others" {
	local before ID a gone

	slow_server s
	begin_with s
	begins gone
	gone=$ID
	begins a
	a=$ID
	begins b
	# The others get other slots than they have here.
	ctl shutdown session "$gone"
	wait_for 10 sessions_are 2
	# Over two upgrades: those of the first process are handed on.
	for who in c d; do
		before=$(ids)
		upgrade
		equal "ids" "$before" "$(ids)"
		begins $who
		equal "numbers" "$(ids | wc -l)" "$(numbers | wc -l)"
	done
	wait_for 10 ended "$FIRST"
	# By its id a session is found, shut down, and shown when it has ended.
	before=$(ids)
	[[ $(ctl show sess "$a") == "$a: "* ]] || fail "$(ctl show sess "$a")"
	ctl shutdown session "$a"
	wait_for 10 sessions_are 3
	equal "the others" "$(grep -vx "$a" <<<"$before")" "$(ids)"
	run -1 ctl shutdown session "$a"
	run -1 ctl show sess "$gone"
	equal "ended ids" "$(printf '%s\n' "$gone" "$a" | sort)" \
	    "$(ctl show closed | cut -d: -f1 | sort)"
	for id in $(ids); do
		ctl shutdown session "$id"
	done
	wait_for 10 sessions_are 0
	stop_newest
}

# bats test_tags=covered
@test "upgrade: a half-closed session still gets its answer" {
	slow_server s
	begin_with s
	asks half bye half
	wait_for 10 in_state CLIENT_EOF 1
	upgrade
	wait_for 10 ended "$FIRST"
	in_state CLIENT_EOF 1
	signal s USR1
	answers half bye
	stop_newest
}

@test "upgrade: those who queue keep their order, and maxconn holds for both processes" {
	slow_server s
	begin_with s maxconn=1
	sed -i "s/^check = off/&\\ntimeout_queue = 10m/" "$T/lfproxy.ini"
	ctl reload
	asks c0 line0
	wait_for 10 has_line s 'got line0, 1 open'
	for i in 1 2 3 4; do
		asks "c$i" "line$i"
		wait_for 10 in_state QUEUED "$i"
	done
	upgrade
	[[ $UPGRADED == *" and 5 sessions" ]] || fail "$UPGRADED"
	wait_for 10 ended "$FIRST"
	equal "at the server" 1 "$(stat_of app s scur)"
	in_state QUEUED 4
	for i in 0 1 2 3 4; do
		wait_for 10 has_line s "got line$i, 1 open"
		signal s USR1
		answers "c$i" "line$i"
	done
	stop_newest
}

# step STEP: the former process takes it.
step() {
	signal former USR1
	wait_for 10 has_line former "^$1\$"
}

# take_over STEPS OPTIONS SED...: lfproxy, with these options of its server and a
# file edited so, takes over from a process that takes these steps, the first of
# which it has taken then.  A client waits in the backlog.
take_over() {
	local steps=$1 options=$2 address

	shift 2
	slow_server s
	address=127.0.0.1:$(free_port)
	# shellcheck disable=SC2086
	serve former "${UPGRADE_TOOL[@]}" former "$T/former.sock" "$address" \
	    $steps
	site >"$T/lfproxy.ini"
	sed -i -e "s/^server = a .*/server = s $(addr s) $options/" \
	    -e "s/^listen = 127.*/listen = $address/" "$@" "$T/lfproxy.ini"
	launch_lfproxy -x "$T/former.sock" -c "$T/lfproxy.ini"
	PORT=$address
	wait_for 10 has_line former '^ready$'
	asks c line
	step "${steps%% *}"
}

# is_served: the client that take_over has left waiting, after the last step.
is_served() {
	wait_for 10 has_line s 'got line'
	step end
	signal s USR1
	answers c line
	finish former
}

# Symptom: until the former process had told how many sessions it had at a
# server, as many again went there.
@test "upgrade: maxconn holds before the former process has told its sessions" {
	take_over "left counts=1 counts=0 end" maxconn=1 \
	    -e 's/^check = off/&\ntimeout_queue = 10m/'
	refute has_line s got
	step counts=1
	wait_for 10 in_state QUEUED 1
	refute has_line s got
	step counts=0
	is_served
}

# has_met_maxconn: it accepts nothing, as there are too many sessions.
has_met_maxconn() {
	[ "$(of_info MaxconnReached)" -gt 0 ]
}

# Symptom: new clients took the room of sessions that were still to come, which
# were reset.
@test "upgrade: new clients leave room for the sessions of the former process" {
	take_over "left counts=0 passed=2 passed=1 end" '' \
	    -e 's/^log = .*/&\nmaxconn = 2/'
	step counts=0
	step passed=2
	wait_for 10 has_met_maxconn
	equal "sessions" 0 "$(of_info CurrConns)"
	step passed=1
	is_served
}

# Symptom: with each upgrade a source had some sessions more than it may have.
# bats test_tags=covered
@test "upgrade: a limit by source holds before the sessions have come" {
	take_over "left counts=0 passed=1 passed=0 end" '' \
	    -e 's/^\[frontend web\]/&\nlimit = sessions=9 per=client/'
	step counts=0
	step passed=1
	pause 0.3
	equal "sessions" 0 "$(of_info CurrConns)"
	step passed=0
	is_served
}

# Symptom: a frontend had as many new sessions as it had in the former process.
# bats test_tags=covered
@test "upgrade: a frontend's maxconn holds for both processes" {
	take_over "left web=1 passed=1 web=0 end" '' \
	    -e 's/^\[frontend web\]/&\nmaxconn = 1/'
	step web=1
	step passed=1
	web_has() { [ "$(stat_of web FRONTEND scur)" = "$1" ]; }
	wait_for 10 web_has 1
	pause 0.3
	equal "sessions" 0 "$(of_info CurrConns)"
	web_has 1
	step web=0
	is_served
	wait_for 10 web_has 0
}

# Symptom: with a lower maxconn the sessions beyond it were reset.
@test "upgrade: sessions beyond a lower maxconn go on" {
	slow_server s
	begin_with s
	for name in c1 c2 c3; do
		asks $name $name
		wait_for 10 has_line s "got $name"
	done
	sed -i 's/^\[global\]/&\nmaxconn = 1/' "$T/lfproxy.ini"
	upgrade
	[[ $UPGRADED == *" and 3 sessions" ]] || fail "$UPGRADED"
	equal "sessions" 3 "$(of_info CurrConns)"
	equal "reset" 0 "$(of_info FormerSessionsReset)"
	equal "maxconn" 1 "$(of_info Maxconn)"
	asks c4 c4
	wait_for 10 has_met_maxconn
	for name in c1 c2 c3; do
		refute has_line s 'got c4'
		signal s USR1
		answers $name $name
	done
	wait_for 10 has_line s 'got c4'
	signal s USR1
	answers c4 c4
	stop_newest
}

# Symptom: the present process left its listeners to one that was dead.
@test "upgrade: a process that ends once it has said READY takes over nothing" {
	start_app a
	begin
	serve stranger "${UPGRADE_TOOL[@]}" stranger
	refused "no upgrade, this process goes on: process [0-9]+ has ended" \
	    "$(addr stranger)"
	finish stranger
	upgrade
	stop_newest
}

# Symptom: the answer was that the other process had taken over.
@test "upgrade: the answer tells of a process that has ended with the listeners" {
	slow_server s
	begin_with s
	asks c line
	printf '#!/bin/sh\nexec %s successor\n' "${UPGRADE_TOOL[*]}" >"$T/other"
	chmod +x "$T/other"
	run -1 ctl upgrade "$T/other"
	[[ $output =~ ^process\ [0-9]+\ has\ ended\ .*\ no\ process\ accepts.*\;\ 1\ session\  ]] ||
	    fail "$output"
	signal s USR1
	answers c line
	wait_for 10 ended "$FIRST"
	wait "$FIRST"
	LFPROXY_PID=
}

# Symptom: this process ended at once, and a service manager then kills what is
# left of the service.
# bats test_tags=covered
@test "upgrade: a process that is stopped waits for the sessions of the former one" {
	slow_server s
	begin_with s
	asks c late
	wait_for 10 has_line s 'got late'
	sed -i 's/^server = s /server = other /' "$T/lfproxy.ini"
	upgrade
	kill -TERM "$LFPROXY_PID"
	wait_for 10 lfproxy_said 'draining: 0 sessions'
	pause 0.5
	refute ended "$LFPROXY_PID"
	signal s USR1
	answers c late
	wait_for 10 ended "$LFPROXY_PID"
	wait_for 10 ended "$FIRST"
	wait "$FIRST"
	LFPROXY_PID=
}

@test "upgrade: a connect that takes long is begun again" {
	serve full "$TOOLS/badserver" full 127.0.0.1:0 --deadline 300
	begin_with full
	sed -i "s/^check = off/&\\ntimeout_connect = 10m/" "$T/lfproxy.ini"
	ctl reload
	spawn c "${UPGRADE_TOOL[@]}" ask "$PORT" late
	wait_for 10 in_state CONNECTING 1
	upgrade
	wait_for 10 ended "$FIRST"
	in_state CONNECTING 1
	signal full KILL
	wait_for 10 ended "${PIDS[full]}"
	serve s "${UPGRADE_TOOL[@]}" server "$(addr full)"
	wait_for 60 has_line s 'got late'
	signal s USR1
	answers c late
	stop_newest
}

@test "upgrade: a client whose first bytes decide is routed by the other process" {
	slow_server s
	slow_server named
	site >"$T/lfproxy.ini"
	cat >>"$T/lfproxy.ini" <<-END
		[backend named]
		check = off
		server = n $(addr named)
	END
	sed -i -e "s/^server = a .*/server = s $(addr s)/" \
	    -e 's/^backend = app/&\nsni = *.example.com backend=named\ntimeout_hello = 10m/' \
	    "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
	spawn c "${UPGRADE_TOOL[@]}" hello "$PORT" www.example.com
	wait_for 10 has_line c connected
	wait_for 10 in_state INSPECTING 1
	upgrade
	wait_for 10 ended "$FIRST"
	in_state INSPECTING 1
	signal c USR1
	wait_for 10 has_line named 'got .*www.example.com'
	# And with the hello read, once more.
	upgrade
	[[ $(ctl show sess json) == *www.example.com* ]] ||
	    fail "$(ctl show sess json)"
	signal named USR1
	finish c 20
	stop_newest
}

@test "upgrade: a client that is delayed waits on, and counts with its source" {
	slow_server s
	begin_with s
	sed -i 's/^backend = app/&\nlimit = sessions=2 rate=20\/m burst=1 per=client action=delay/' \
	    "$T/lfproxy.ini"
	ctl reload
	asks first one
	wait_for 10 has_line s 'got one'
	asks second two
	upgrade
	wait_for 10 ended "$FIRST"
	[[ $(ctl show table web) == *" conn_cur=2 "* ]] ||
	    fail "$(ctl show table web)"
	wait_for 20 has_line s 'got two'
	signal s USR1
	answers first one
	signal s USR1
	answers second two
	in_table() { [[ $(ctl show table web) == *" conn_cur=0 "* ]]; }
	wait_for 10 in_table
	stop_newest
}

# hello_ends: when the time for the hello is over, in ms, as seen before and after
# the question.
hello_ends() {
	local before

	before=$(now_ms)
	ctl show sess json | python3 -c '
import json, sys
left = [s["expires_ms"] for s in json.load(sys.stdin)
        if s["state"] == "INSPECTING"][0]
print(*[int(n) + left for n in sys.argv[1:]])' "$before" "$(now_ms)"
}

# Symptom: the time that a client had been delayed was missing from the time for
# its hello, which was over at once.
@test "upgrade: a client that was delayed has as long for its first bytes" {
	local before after first second

	slow_server s
	begin_with s
	sed -i 's/^backend = app/&\nsni = *.example.com backend=app\ntimeout_hello = 10m\nlimit = rate=6\/m burst=1 per=client action=delay/' \
	    "$T/lfproxy.ini"
	ctl reload
	# One after the other without a pause: the delay ends 10 s after the
	# first has come.
	exec {first}<>"/dev/tcp/127.0.0.1/${PORT##*:}"
	exec {first}>&-
	exec {second}<>"/dev/tcp/127.0.0.1/${PORT##*:}"
	wait_for 10 in_state HELD 1
	upgrade
	wait_for 20 in_state INSPECTING 1
	before=$(hello_ends)
	upgrade
	wait_for 10 in_state INSPECTING 1
	after=$(hello_ends)
	# The delay is up to 10 s.
	[ "${after#* }" -ge $((${before% *} - 100)) ] ||
	    fail "before $before, after $after"
	exec {second}>&-
	stop_newest
}

# secure_frontend: a frontend with TLS, for the certificate of make_site.
secure_frontend() {
	cat <<-END
		[tls web]
		cert = $T/www.example.pem
		[frontend secure]
		listen = 127.0.0.1:0 tls=web
		backend = app
	END
}

# begin_tls_session: a client at that frontend, which ends with descriptor 7.
begin_tls_session() {
	mkfifo "$T/fifo"
	spawn tls sh -c "exec openssl s_client -quiet -connect $(listening secure) <'$T/fifo'"
	exec 7>"$T/fifo"
	echo hello >&7
	wait_for 10 has_line s 'got hello'
}

@test "upgrade: sessions with TLS stay in the former process" {
	unless_emulated "clone with CLONE_PARENT, for a child of the manager"
	make_site www.example
	slow_server s
	site >"$T/lfproxy.ini"
	secure_frontend >>"$T/lfproxy.ini"
	sed -i "s/^server = a .*/server = s $(addr s)/" "$T/lfproxy.ini"
	serve manager python3 -B "$ROOT/tests/behaviour/notifytool.py" "$T/notify"
	NOTIFY_SOCKET=$T/notify launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
	begin_tls_session
	asks plain plain
	wait_for 10 has_line s 'got plain'
	upgrade
	[[ $UPGRADED == *" and 1 session; 1 session of process $FIRST may end within 10m" ]] ||
	    fail "$UPGRADED"
	equal "what stays" 1 "$(of_info FormerSessionsLeft)"
	wait_for 20 has_line manager \
	    '^STATUS=Ready: 1 session, .* usable; 1 session with the former process$'
	equal "at the server" 2 "$(stat_of app s scur)"
	signal s USR1
	wait_for 10 has_line tls hello
	wait_for 15 ended "$FIRST"
	equal "what stays" 0 "$(of_info FormerSessionsLeft)"
	exec 7>&-
	signal s USR1
	answers plain plain
	stop_newest
}

# Symptom: the second process ended before the first one, and the third one knew
# nothing of the first one's sessions: maxconn did not hold, and what they had
# counted was lost.
# bats test_tags=covered
@test "upgrade: the third process knows of the sessions of the first one" {
	local second

	make_site www.example
	slow_server s
	site >"$T/lfproxy.ini"
	{
		echo timeout_queue = 10m
		secure_frontend
	} >>"$T/lfproxy.ini"
	sed -i "s/^server = a .*/server = s $(addr s) maxconn=1/" "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
	begin_tls_session
	upgrade
	second=$LFPROXY_PID
	upgrade
	equal "what stays" 1 "$(of_info FormerSessionsLeft)"
	asks c line
	wait_for 10 in_state QUEUED 1
	refute has_line s 'got line'
	signal s USR1
	wait_for 10 has_line s 'got line'
	wait_for 15 ended "$FIRST"
	wait_for 15 ended "$second"
	equal "bytes" 6 "$(stat_of secure FRONTEND bin)"
	[[ $(ctl show closed) == *" fe=secure "* ]] || fail "$(ctl show closed)"
	exec 7>&-
	signal s USR1
	answers c line
	stop_newest
}

# Symptom: timeout_queue began again with each upgrade.
# bats test_tags=covered
@test "upgrade: a client that queues has waited before" {
	local left

	slow_server s
	begin_with s maxconn=1
	sed -i 's/^check = off/&\ntimeout_queue = 10m/' "$T/lfproxy.ini"
	ctl reload
	asks first one
	wait_for 10 has_line s 'got one'
	asks second two
	wait_for 10 in_state QUEUED 1
	pause 1
	upgrade
	wait_for 10 in_state QUEUED 1
	pause 1
	upgrade
	wait_for 10 in_state QUEUED 1
	left=$(ctl show sess json | python3 -c '
import json, sys
print(*[s["expires_ms"] for s in json.load(sys.stdin)
        if s["state"] == "QUEUED"])')
	# Of 10 minutes; a slow machine may take long.
	[ "$left" -le 598000 ] || fail "$left ms are left"
	signal s USR1
	answers first one
	wait_for 10 has_line s 'got two'
	signal s USR1
	answers second two
	stop_newest
}

# ends: when each session will end, by its id, in units of 100 s.
ends() {
	ctl show sess json | python3 -c '
import json, sys, time
for s in json.load(sys.stdin):
    print(s["id"], round((time.time() * 1000 + s["expires_ms"]) / 100000))'
}

# Symptom: each session got another jitter, and many were too old at once.
@test "upgrade: sessions reach max_age when they would have" {
	slow_server s
	begin_with s
	sed -i -e 's/^backend = app/&\nmax_age = 10h jitter=50%\ntimeout_client = 1d/' \
	    -e 's/^check = off/&\ntimeout_server = 1d/' "$T/lfproxy.ini"
	ctl reload
	for name in 1 2 3 4 5 6 7 8; do
		asks c$name $name
		wait_for 10 has_line s "got $name"
	done
	# The others get other places there.
	for name in 1 2 3; do
		signal s USR1
		answers c$name $name
	done
	wait_for 10 sessions_are 5
	ends >"$T/before"
	upgrade
	ends >"$T/after"
	[ "$(wc -l <"$T/after")" = 5 ]
	# Round-offs and a slow machine apart.
	python3 - "$T/before" "$T/after" <<-'END'
		import sys
		a, b = (dict(l.split() for l in open(p)) for p in sys.argv[1:])
		assert all(abs(int(a[i]) - int(b[i])) <= 1 for i in b), (a, b)
	END
	for name in 4 5 6 7 8; do
		signal s USR1
		answers c$name $name
	done
	stop_newest
}

# keeps_named: a session of a server that has a name.
keeps_named() {
	put_names 'db 127.0.0.1'
	serve names python3 -B "$ROOT/tests/behaviour/nametool.py" "$T/names"
	slow_server s
	site >"$T/lfproxy.ini"
	sed -i "s/^server = a .*/server = s db:$(addr s | sed 's/.*://')/" \
	    "$T/lfproxy.ini"
	printf '[resolver]\nnameserver = %s\ntimeout = 500ms\n' "$(addr names)" \
	    >>"$T/lfproxy.ini"
	echo 'retries = 10' >>"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
	asks c named
	wait_for 10 has_line s 'got named'
	late_names
}

@test "upgrade: the successor waits for the names of its servers" {
	tries 3 keeps_named
	wait_for 10 ended "$FIRST"
	signal s USR1
	answers c named
	stop_newest
}

@test "upgrade: a process that was started from outside takes over with -x" {
	slow_server s
	begin_with s
	asks c outside
	wait_for 10 has_line s 'got outside'
	# A file that is wrong changes nothing.
	cp "$T/lfproxy.ini" "$T/wrong.ini"
	echo 'nonsense = 1' >>"$T/wrong.ini"
	run -78 "$BUILD/lfproxy" -x "$ADMIN" -c "$T/wrong.ini"
	[[ $output == *"unknown key 'nonsense'"* ]] || fail "$output"
	wait_for 10 lfproxy_said "no upgrade, this process goes on: .*unknown key 'nonsense'"
	equal "the process that answers" "$FIRST" "$(pid_now)"
	run -71 "$BUILD/lfproxy" -x "$T/none.sock" -c "$T/lfproxy.ini"
	[[ $output == *"-x '$T/none.sock': No such file or directory; it names "* ]] ||
	    fail "$output"
	run -64 "$BUILD/lfproxy" -x "$ADMIN" -t -c "$T/lfproxy.ini"
	run -1 ctl upgrade @nobody
	[[ $output == "no process waits at '@nobody': Connection refused" ]] ||
	    fail "$output"
	spawn second "$BUILD/lfproxy" -x "$ADMIN" -c "$T/lfproxy.ini"
	wait_for 20 ended "$FIRST"
	wait "$FIRST"
	LFPROXY_PID=
	equal "the process that answers" "${PIDS[second]}" "$(pid_now)"
	signal s USR1
	answers c outside
	signal second TERM
	finish second 20
}
