#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Clients that were not let in so far, and take no place for good: those that owe
# a hello, a PROXY header or their part of a handshake, while others wait.

load helpers
load stat
load tls

TOOL=$ROOT/tests/behaviour/newcomertool.py
MAXCONN=20
# A test that waited for these would not end.
UNHURRIED=$'timeout_hello = 10m\ntimeout_handshake = 10m'

# front NAME LINE...: a frontend, in $T/lfproxy.ini.  LISTEN: of its listen.
front() {
	printf '%s\n' "[frontend $1]" "listen = 127.0.0.1:0 ${LISTEN:-}" \
	    'backend = app' "${@:2}" "$UNHURRIED" >>"$T/lfproxy.ini"
}

# A hello is read, and any other client goes to the same backend.
RULES='sni = www.example backend=app'

begin() {
	[ -n "${PIDS[app]:-}" ] || start_app app
	common >"$T/lfproxy.ini"
}

# launch [LINE...]: of the backend.
launch() {
	printf '%s\n' '[backend app]' 'check = off' "$@" \
	    "server = s $(addr app) ${SERVER:-}" >>"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# silent NAME COUNT [BYTES]: clients that send the first bytes of a hello.
silent() {
	spawn "$1" python3 -B "$ROOT/tests/behaviour/tlsloadtool.py" silent \
	    "$(listening "${FRONT:-web}")" "${@:2}"
	wait_for 30 has_line "$1" "^established $2\$"
}

# present N: sessions.
present() {
	[ "$(ctl show info | sed -n 's/^CurrConns: //p')" = "$1" ]
}

# evicted [FRONTEND]: how many newcomers were, of this frontend or of all.
evicted() {
	ctl show stat | awk -F, -v name="${1:-}" '
	    NR == 1 { for (i = 1; i <= NF; i++) if ($i == "lf_evicted") c = i }
	    $2 == "FRONTEND" && (!name || $1 == name) { n += $c }
	    END { print n + 0 }'
}

# evicted_is N [M]: in time, N or M of all.
evicted_is() {
	local n

	n=$(evicted)
	[ "$n" -ge "$1" ] && [ "$n" -le "${2:-$1}" ]
}

# plain [OPTION...]: what an honest client gets from a plain frontend.
plain() {
	equal "an honest client" app "$(fetch "$(url "${FRONT:-web}")" "$@")"
}

@test "newcomers: clients that send no hello make room for one that does" {
	begin
	front web "$RULES"
	launch
	silent crowd 20
	wait_for 10 present 20
	# Nothing happens to them while no other client comes.
	pause 1.5
	evicted_is 0 || fail "$(evicted) were evicted, and no client waited"
	plain
	evicted_is 1 || fail "$(evicted) were evicted for one"
	wait_for 10 lfproxy_said ' web web/<NOSRV> .* RR '
	wait_for 10 lfproxy_said \
	    'frontend web: ended the session of client 127\.0\.0\.1:[0-9]+, which had not completed its first bytes [0-9.]+ s after the accept, '
	ctl show closed cause RR json | grep -q 'its place was needed' ||
	    fail "$(ctl show closed)"
	# Some places are free now; none more is needed.
	plain
	evicted_is 1 || fail "$(evicted) were evicted, a place was free"
}

@test "newcomers: half a hello, byte by byte, keeps no place" {
	begin
	front web "$RULES"
	launch
	spawn crowd python3 -B "$TOOL" trickle "$(listening web)" 20
	wait_for 30 has_line crowd established
	wait_for 10 present 20
	plain
	evicted_is 1 || fail "$(evicted) were evicted for one"
}

@test "newcomers: clients that owe a PROXY header make room" {
	begin
	LISTEN=accept_proxy front web
	launch
	silent crowd 20
	wait_for 10 present 20
	plain --haproxy-protocol
	evicted_is 1 || fail "$(evicted) were evicted for one"
}

@test "newcomers: a PROXY header alone keeps no place" {
	begin
	LISTEN=accept_proxy front web "$RULES"
	launch
	spawn crowd python3 -B "$TOOL" trickle "$(listening web)" 20 header
	wait_for 30 has_line crowd established
	wait_for 10 present 20
	plain --haproxy-protocol
	evicted_is 1 || fail "$(evicted) were evicted for one"
}

# tls_front LINE...: a frontend web with TLS.
tls_front() {
	printf '[tls public]\ncert = %s\n' "$T/www.example.pem" \
	    >>"$T/lfproxy.ini"
	LISTEN='tls=public' front web "$@"
}

@test "newcomers: clients that do not go on with a TLS handshake make room" {
	local size

	make_site www.example
	begin
	tls_front
	launch
	for size in 0 100; do
		silent crowd 20 $size
		wait_for 10 present 20
		equal "an honest client" app "$(https www.example)"
		end crowd
		wait_for 10 present 0
	done
	evicted_is 2 || fail "$(evicted) were evicted for two"
	wait_for 10 lfproxy_said 'had not completed its TLS handshake '
}

@test "newcomers: a frontend's maxconn is a limit of its own newcomers" {
	begin
	MAXCONN=200
	common >"$T/lfproxy.ini"
	front web "$RULES" 'maxconn = 8'
	front other "$RULES"
	launch
	FRONT=other silent others 30
	silent crowd 8
	wait_for 10 present 38
	plain
	equal "evicted at web" 1 "$(evicted web)"
	evicted_is 1 || fail "$(evicted) were evicted for one"
}

@test "newcomers: those of one frontend leave the process's places to others" {
	begin
	front web "$RULES"
	front other
	launch
	silent crowd 20
	wait_for 10 present 20
	FRONT=other plain
	evicted_is 1 || fail "$(evicted) were evicted for one"
}

@test "newcomers: handshakes is a limit that they do not use up" {
	make_site www.example
	begin
	MAXCONN=200
	common >"$T/lfproxy.ini"
	tls_front 'handshakes = 3'
	launch
	silent crowd 3 50
	wait_for 10 present 3
	equal "an honest client" app "$(https www.example)"
	evicted_is 1 || fail "$(evicted) were evicted for one"
}

@test "newcomers: a client that is denied evicts nobody" {
	begin
	front web "$RULES" 'deny = 127.0.0.2' 'on_deny = tarpit 10m'
	launch
	silent crowd 20
	wait_for 10 present 20
	# Longer than the grace.
	pause 1.5
	equal "a denied client" reset "$(python3 -B \
	    "$ROOT/tests/behaviour/accesstool.py" knock "$(listening web)" \
	    --source 127.0.0.2)"
	evicted_is 0 || fail "$(evicted) were evicted for one that is denied"
	plain
	evicted_is 1 || fail "$(evicted) were evicted for one"
}

@test "newcomers: a crowd that comes again keeps nobody out" {
	local i

	begin
	front web "$RULES"
	launch
	spawn crowd python3 -B "$ROOT/tests/behaviour/accesstool.py" crowd \
	    "$(listening web)" 50
	wait_for 60 has_line crowd ready
	for i in 1 2 3; do
		plain
	done
	evicted_is 3 100000 || fail "$(evicted)"
}

info_above() {
	[ "$(ctl show info | sed -n "s/^$1: //p")" -gt "$2" ]
}

# asks NAME: a client with TLS that gets an answer in the end.
asks() {
	spawn "$1" curl -sS -m $((200 * PATIENCE)) --cacert "$T/ca.pem" \
	    --resolve "www.example:$(port web):127.0.0.1" \
	    "https://www.example:$(port web)/"
}

# holds N: so many sessions with TLS that are established, and idle.
holds() {
	spawn idle "$TOOLS/tlsload" idle --connections "$1" \
	    --deadline 600 "$(listening web)"
	wait_for 30 has scur s "$1"
}

# late: a client that comes when all places are taken; nobody is evicted for it.
late() {
	asks late
	wait_for 10 info_above MaxconnReached 0
	# Longer than the grace.
	pause 2.5
	refute ended "${PIDS[late]}"
	wait_for 30 present 20
	evicted_is 0 || fail "$(evicted) were evicted"
	end idle
	finish late
	equal "the late client" app "$output"
}

@test "newcomers: sessions that were let in are never evicted" {
	make_site www.example
	begin
	tls_front
	launch
	holds 20
	late
}

@test "newcomers: sessions that wait in the queue are never evicted" {
	local i

	make_site www.example
	begin
	tls_front
	SERVER='maxconn=1' launch 'timeout_queue = 10m'
	holds 1
	for i in {1..19}; do
		asks "queued$i"
	done
	wait_for 30 has qcur BACKEND 19
	late
	for i in {1..19}; do
		finish "queued$i"
		equal "a client that waited" app "$output"
	done
}

@test "newcomers: a storm of honest handshakes loses none at maxconn" {
	local MAXCONN=8

	make_site www.example
	begin
	tls_front
	launch
	run -0 timeout $((300 * PATIENCE)) python3 -B "$TOOL" storm \
	    "$(listening web)" 24 25 "$T/ca.pem"
	equal "the storm" 'served 600, failed 0' "$output"
	info_above MaxconnReached 0
	evicted_is 0 || fail "$(evicted) were evicted"
}

@test "newcomers: the counter is a metric" {
	local http

	begin
	sed -i 's|^admin = .*|&\nhttp = 127.0.0.1:0|' "$T/lfproxy.ini"
	front web "$RULES"
	launch
	silent crowd 20
	wait_for 10 present 20
	plain
	http=$(sed -n 's|.*monitoring at \(http://.*/\)$|\1|p' "$LFPROXY_LOG")
	fetch "${http}metrics" |
	    grep -q '^lfproxy_frontend_evicted_total{proxy="web"} 1$'
}
