#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# TLS towards clients, towards servers and both, under load and while things go
# wrong: every byte is checked, and every session comes to its end.

load helpers

ADMIN=$T/admin.sock
FAULTY=$ROOT/build/fault/lfproxy


# certificates: an authority, and a certificate for 127.0.0.1.
certificates() {
	make_ca ca
	make_cert good ca DNS:app.example,IP:127.0.0.1
	(umask 077 && cat "$T/good.pem" "$T/good.key" >"$T/both.pem")
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# peer KIND: a server that does TLS badly, under the name KIND.
peer() {
	serve "$1" python3 "$ROOT/tests/behaviour/tlsloadtool.py" server "$1" \
	    "$T/good.pem" "$T/good.key"
}

# Options of listens, and lines of all frontends and backends.
LISTEN_OPTIONS='' SERVER_OPTIONS='' FRONTENDS='' BACKENDS=''

# frontend NAME BACKEND [tls=down]
frontend() {
	printf '%s\n' "[frontend $1]" \
	    "listen = ${AT:-127.0.0.1:0} ${3:-} $LISTEN_OPTIONS" \
	    "backend = $2" 'pool = main' "$FRONTENDS"
	unhurried timeout_handshake "$FRONTENDS"
}

# proxied: lfproxy's file: frontends in (TLS towards clients), out (towards
# servers) and both, in front of the streamers plain and secure.
proxied() {
	GLOBAL="admin = $ADMIN"$'\n'"${GLOBAL:-}" common
	printf '%s\n' '[tls down]' "cert = $T/both.pem" \
	    '[tls up]' "ca = $T/ca.pem"
	frontend in plain tls=down
	frontend out secure
	frontend both secure tls=down
	printf '%s\n' '[backend plain]' 'check = off' "$BACKENDS" \
	    "server = p $(addr plain) $SERVER_OPTIONS" \
	    '[backend secure]' 'check = off' 'tls = up' "$BACKENDS" \
	    "server = s $(addr secure) $SERVER_OPTIONS"
	unhurried timeout_connect "$BACKENDS"
}

# streamers: the servers plain and secure, and lfproxy in front of them.
streamers() {
	certificates
	start_streams plain
	start_streams secure --secure --cert "$T/both.pem"
	proxied >"$T/in"
	start_lfproxy <"$T/in"
}

# stream FRONTEND OPTION...: verified streams; they are all well.
stream() {
	local name=$1 secure=(--secure --ca "$T/ca.pem" --sni app.example)

	shift
	[ "$name" != out ] || secure=()
	streams "127.0.0.1:$(port "$name")" "${secure[@]}" "$@"
	[[ $output == *" failed=0 "* ]] || fail "$name: $output"
}

# bats test_tags=slow
@test "tlsload: verified streams, with TLS on either side and both" {
	local name mode

	streamers
	for name in in out both; do
		for mode in both echo first; do
			stream $name --mode $mode --connections 8 --repeat 3 \
			    --up "$(scaled 3000000)" --down "$(scaled 3000000)"
			stream $name --mode $mode --connections 20 --repeat 3 \
			    --up 20000 --down 30000 --chunk 0 --pause 20
		done
		stream $name --connections 4 --up 200000 --down 200000 --tls 1.2
	done
	wait_for 10 sessions_ended 252
	# Every end was announced, and passed on.
	equal "sessions that ended otherwise" "" "$(sessions | grep -v ' -- ')"
}

@test "tlsload: writers of single bytes" {
	local name

	streamers
	for name in in out both; do
		stream $name --connections 4 --up 3000 --down 3000 --chunk 1
	done
	serve echo python3 "$ROOT/tests/behaviour/tlstool.py" serve \
	    "$T/good.pem" "$T/good.key" --plain
	sed "s|^server = p .*|server = p $(addr echo)|" "$T/in" >"$T/echo.ini"
	stop_lfproxy
	launch_lfproxy -c "$T/echo.ini"
	run -0 timeout $((60 * PATIENCE)) python3 \
	    "$ROOT/tests/behaviour/tlsloadtool.py" trickle \
	    "127.0.0.1:$(port in)" "$T/ca.pem" 4
	equal "what the client says" "ok 4" "$output"
}

@test "tlsload: sockets with tiny buffers, and readers that are slow" {
	local name

	LISTEN_OPTIONS='sndbuf=4k rcvbuf=4k' SERVER_OPTIONS=$LISTEN_OPTIONS
	streamers
	for name in in out both; do
		stream $name --connections 8 --up "$(scaled 300000)" \
		    --down "$(scaled 300000)"
		stream $name --connections 4 --up 100000 --down 100000 \
		    --pause 30 --chunk 0
	done
}

# Whatever the operator changes, one thing every 20 ms, until $T/enough.
changes() {
	local change i=0
	local changes=('threads 8' 'shards 4' 'promotion always' 'shards 1'
		'threads 1' 'promotion adaptive' 'threads 3' 'order fifo'
		'shards 2' 'order lifo' 'threads 2')

	while [ ! -e "$T/enough" ]; do
		change=${changes[i % ${#changes[@]}]}
		# shellcheck disable=SC2086 # a word and its value
		ctl set pool main $change >>"$T/changes" 2>&1 || :
		((++i % 8)) || ctl reload >>"$T/reloads" 2>&1 || :
		pause 0.02
	done
}

# bats test_tags=slow
@test "tlsload: the pool changes, and the file is read again, in mid-handshake and mid-stream" {
	local name

	BACKENDS='retries = 3'
	streamers
	# The file that is read again has the addresses that lfproxy listens on.
	sed "/frontend in/,/backend/s|listen = [^ ]*|listen = 127.0.0.1:$(port in)|
	     /frontend out/,/backend/s|listen = [^ ]*|listen = 127.0.0.1:$(port out)|
	     /frontend both/,/backend/s|listen = [^ ]*|listen = 127.0.0.1:$(port both)|" \
	    "$T/in" >"$T/lfproxy.ini"
	declare -f changes ctl pause >"$T/changer"
	spawn changer bash -c "T='$T' CTL='$CTL' ADMIN='$ADMIN'
	    . '$T/changer'; changes"
	for name in in out both; do
		stream $name --connections 16 --duration 2 \
		    --up 40000 --down 40000
		stream $name --connections 8 --duration 2 \
		    --up 2000000 --down 2000000
	done
	touch "$T/enough"
	finish changer
	equal "refused changes" "" "$(head -5 "$T/changes")"
	grep -q . "$T/reloads" || fail "nothing was reloaded"
	refute grep -i 'fail\|refused\|error' "$T/reloads"
}

# bats test_tags=slow
@test "tlsload: a server with TLS that is killed takes its own sessions only" {
	local i

	certificates
	start_streams plain
	start_streams secure --secure --cert "$T/both.pem"
	start_streams doomed --secure --cert "$T/both.pem"
	proxied >"$T/in"
	printf 'server = d %s\nretries = 3\n' "$(addr doomed)" >>"$T/in"
	start_lfproxy <"$T/in"
	for i in 1 2 3; do
		spawn client "$TOOLS/streamer" client "127.0.0.1:$(port both)" \
		    --secure --ca "$T/ca.pem" --connections 20 --repeat 10 \
		    --up 300000 --down 300000 --allow-loss doomed \
		    --deadline $((100 * PATIENCE))
		wait_for 20 said_sessions $((20 * i))
		end doomed
		LISTEN=$(addr doomed) start_streams doomed --secure \
		    --cert "$T/both.pem"
		finish client
		[[ $output == *" failed=0 "* ]] || fail "$output"
	done
}

# said_sessions N: so many have ended in all.
said_sessions() {
	[ "$(sessions | wc -l)" -ge "$1" ]
}

@test "tlsload: a handshake that fails is tried with the next server" {
	local kind before

	certificates
	for kind in refuse fin reset garbage half hang; do
		peer $kind
	done
	start_app a
	{
		GLOBAL="admin = $ADMIN" common
		printf '%s\n' '[tls down]' "cert = $T/both.pem" \
		    '[tls up]' "ca = $T/ca.pem" \
		    '[defaults]' 'timeout_connect = 500ms' 'retries = 1'
		for kind in refuse fin reset garbage half hang; do
			printf '%s\n' "[frontend $kind]" \
			    'listen = 127.0.0.1:0' 'listen = 127.0.0.1:0 tls=down' \
			    "backend = $kind" "[backend $kind]" 'check = off' \
			    'balance = first' \
			    "server = x $(addr $kind) tls=up" "server = a $(addr a)"
		done
	} >"$T/in"
	start_lfproxy <"$T/in"
	before=$(fd_count)
	for kind in refuse fin reset garbage half hang; do
		equal "$kind" a "$(fetch "$(url $kind)")"
		equal "$kind, with TLS" a "$(fetch --cacert "$T/ca.pem" \
		    "https://127.0.0.1:$(port $kind 2)/")"
		grep -q hello "$T/$kind.out" || fail "$kind was not tried"
	done
	equal "sessions" 12 "$(sessions | grep -c ' -- ')"
	# Nothing of it stays.
	wait_for 10 fds_at_most "$before"
}

# The reset may come before the client's data were written, which are then the
# next server's, or behind them.  Symptom: lfproxy aborted.
@test "tlsload: a server that resets the connection once the handshake is made" {
	local i

	certificates
	peer early
	start_app a
	{
		GLOBAL="admin = $ADMIN" common
		printf '%s\n' '[tls up]' "ca = $T/ca.pem" \
		    '[defaults]' 'retries = 1' '[frontend web]' \
		    'listen = 127.0.0.1:0' 'backend = app' '[backend app]' \
		    'check = off' 'balance = first' \
		    "server = x $(addr early) tls=up" "server = a $(addr a)"
	} >"$T/in"
	start_lfproxy <"$T/in"
	for i in $(seq 30); do
		run fetch "$(url)"
		[ "$status" -eq 56 ] || equal "the answer" a "$output"
	done
	refute ended "$LFPROXY_PID"
	equal "hellos" 30 "$(grep -c hello "$T/early.out")"
}

@test "tlsload: a client that says nothing, or half a hello, ends by timeout_handshake" {
	local size

	FRONTENDS='timeout_handshake = 400ms'
	streamers
	for size in 0 100; do
		run -0 timeout $((60 * PATIENCE)) python3 \
		    "$ROOT/tests/behaviour/tlsloadtool.py" silent \
		    "127.0.0.1:$(port in)" 10 $size
		[[ $output == *"ended 10"* ]]
	done
	wait_for 10 sessions_ended 20
	equal "sessions that ended so" 20 \
	    "$(sessions | grep -c 'Timeout during SSL handshake')"
	becomes timeout_handshake 10m
	stream in --connections 4 --up 1000 --down 1000
}

# A hello that has begun in time ends by timeout_handshake.
@test "tlsload: timeout_first_byte does not end a handshake that has begun" {
	FRONTENDS=$'timeout_first_byte = 100ms\ntimeout_handshake = 3s'
	streamers
	run -0 timeout $((60 * PATIENCE)) python3 \
	    "$ROOT/tests/behaviour/tlsloadtool.py" silent \
	    "127.0.0.1:$(port in)" 3 0
	wait_for 10 sessions_ended 3
	sessions | grep -q 'cR' || fail "$(sessions)"
	run -0 timeout $((60 * PATIENCE)) python3 \
	    "$ROOT/tests/behaviour/tlsloadtool.py" silent \
	    "127.0.0.1:$(port in)" 3 50
	wait_for 10 sessions_ended 6
	equal "sessions that ended by timeout_handshake" 3 \
	    "$(sessions | grep -c 'Timeout during SSL handshake')"
}

# current NAME N: so many sessions are present in the frontend.
current() {
	[ "$(ctl show stat | awk -F, -v f="$1" \
	    '$1 == f && $2 == "FRONTEND" { print $5 }')" = "$2" ]
}

# sessions_without_handshake N: so many have ended.
sessions_without_handshake() {
	[ "$(sessions |
	    grep -cE 'Connection closed during SSL handshake| RR ')" -eq "$1" ]
}

@test "tlsload: handshakes leaves the excess in the backlog" {
	FRONTENDS=$'handshakes = 3\ntimeout_handshake = 10m'
	streamers
	spawn silent python3 "$ROOT/tests/behaviour/tlsloadtool.py" silent \
	    "127.0.0.1:$(port in)" 7
	wait_for 10 has_line silent '^established 7$'
	wait_for 10 current in 3
	# Those whose handshake is made do not count, nor other frontends.
	stream out --connections 10 --up 1000 --down 1000
	stream both --connections 10 --up 1000 --down 1000
	current in 3
	# Each that ends makes room, and each that stays silent does so after its
	# grace; all others are served in their turn.
	spawn late "$TOOLS/streamer" client "127.0.0.1:$(port in)" --secure \
	    --ca "$T/ca.pem" --sni app.example --connections 5 --up 1000 \
	    --down 1000 --deadline $((200 * PATIENCE))
	current in 3
	finish late
	[[ $output == *" failed=0 "* ]] || fail "$output"
	end silent
	wait_for 10 sessions_without_handshake 7
}

@test "tlsload: more clients than descriptors" {
	local name

	LIMIT='prlimit --nofile=64'
	streamers
	for name in in out both; do
		stream $name --connections 60 --repeat 3 --up 10000 \
		    --down 10000
	done
	wait_for 10 sessions_ended 540
	equal "sessions that ended otherwise" "" "$(sessions | grep -v ' -- ')"
}

# bats test_tags=slow
@test "tlsload: many sessions at a time" {
	local name n

	n=$(scaled 600)
	streamers
	for name in in out both; do
		stream $name --connections "$n" --up 30000 --down 30000 \
		    --mode echo --pause 50
	done
	wait_for 10 sessions_ended $((3 * n))
}

# in_order: one more round of streams through all three frontends is served.
in_order() {
	local name secure

	for name in in out both; do
		secure=--secure
		[ $name != out ] || secure=
		# shellcheck disable=SC2086 # none, for out
		timeout 100 "$TOOLS/streamer" client \
		    "127.0.0.1:$(port $name)" $secure --connections 10 \
		    --up 300000 --down 300000 --deadline 90 \
		    >"$T/round" 2>&1 || return
	done
}

# faulty VARIABLE=VALUE: streams through an lfproxy some of whose calls fail, a
# few times: it survives that, and serves as before.
faulty() {
	local LFPROXY=$FAULTY

	[ -x "$FAULTY" ] || skip "no $FAULTY; make MODE=fault builds it"
	certificates
	start_streams plain
	start_streams secure --secure --cert "$T/both.pem"
	# A failure that is charged to a server is told.
	BACKENDS=$'retries = 0\neject_after = 1\neject_on = connect,reset'
	proxied >"$T/in"
	export "${1?}"
	start_lfproxy <"$T/in"
	export -n "${1%%=*}"
	(in_order) || :
	wait_for 60 in_order
	grep -q "${TOLD:-Cannot allocate memory\|Too many open files}" "$LFPROXY_LOG" ||
	    fail "nothing has failed"
	! grep 'failures* in a row' "$LFPROXY_LOG" ||
	    fail "a server is blamed"
	stop_lfproxy
	stop_others
	PIDS=()
}

# bats test_tags=unsanitized
@test "tlsload: memory for pending data and sessions runs out, and comes back" {
	faulty LFPROXY_FAULT_SLAB=ENOMEM:after=1:count=4
}

# bats test_tags=unsanitized
@test "tlsload: sockets and registrations that fail end their sessions alone" {
	faulty LFPROXY_FAULT_EPOLL_CTL=ENOMEM:10%:after=10:count=20
	faulty LFPROXY_FAULT_SOCKET=ENFILE:20%:count=10
}

# bats test_tags=unsanitized
@test "tlsload: OpenSSL's allocations that fail end their sessions alone" {
	faulty LFPROXY_FAULT_TLS_MEMORY=ENOMEM:0.3%:after=20000:count=200
}

# bats test_tags=unsanitized
@test "tlsload: memory that is short here is charged to no server" {
	local LFPROXY=$FAULTY

	[ -x "$FAULTY" ] || skip "no $FAULTY; make MODE=fault builds it"
	certificates
	start_streams plain
	start_streams secure --secure --cert "$T/both.pem"
	BACKENDS=$'retries = 0\neject_after = 1\neject_on = connect,reset'
	proxied >"$T/in"
	LFPROXY_FAULT_TLS_MEMORY=ENOMEM:1%:after=20000:count=400 \
	    start_lfproxy <"$T/in"
	for _ in $(seq 30); do
		timeout 100 "$TOOLS/streamer" client "127.0.0.1:$(port out)" \
		    --connections 10 --up 1000 --down 1000 --deadline 90 \
		    >"$T/round" 2>&1 || :
	done
	grep -q 'Cannot allocate memory' "$LFPROXY_LOG" ||
	    fail "nothing has failed"
	! grep 'failures* in a row' "$LFPROXY_LOG" || fail "a server is blamed"
	equal "connect errors of the server" 0 "$(ctl show stat |
	    awk -F, '$1 == "secure" && $2 == "s" { print $14 }')"
}
