# SPDX-License-Identifier: MIT
# How lfproxy ends.

# bats file_tags=basic

load helpers

# bats test_tags=covered
@test "stop: SIGTERM lets a download finish and takes nothing new" {
	start_bad s slow --bytes 60000 --rate 30000
	web s
	url=$(url)
	spawn client curl -sS -m $((60 * PATIENCE)) --http0.9 "$url"
	wait_for 10 test -s "$T/client.out"
	# However long a look may take.
	stop_process "${PIDS[s]}"
	kill -TERM "$LFPROXY_PID"
	wait_for 10 refused "$url"
	[ -d "/proc/$LFPROXY_PID" ]
	signal s CONT
	finish client
	equal "bytes" 60000 "$(wc -c <"$T/client.out")"
	await_lfproxy 5
	last_session
	equal "code" -- "${S[code]}"
	equal "bytes in the log" 60000 "${S[bytes]}"
}

# bats test_tags=covered
@test "stop: nothing under way, at once" {
	start_app a
	DRAIN_TIMEOUT=1h web a
	fetch -o /dev/null "$(url)"
	stop_lfproxy
}

# bats test_tags=covered
@test "stop: SIGINT as SIGTERM" {
	start_app a
	web a
	fetch -o /dev/null "$(url)"
	kill -INT "$LFPROXY_PID"
	await_lfproxy 5
}

@test "stop: drain_timeout bounds it, what is left is killed" {
	local began

	start_app a
	DRAIN_TIMEOUT=1s web a
	spawn idle "$TOOLS/badclient" silent "127.0.0.1:$(port web)" \
	    --count 3 --deadline 200
	wait_for 10 has_line idle established
	fetch -o /dev/null "$(url)"
	began=$(now_ms)
	kill -TERM "$LFPROXY_PID"
	await_lfproxy 10
	[ $(($(now_ms) - began)) -ge 900 ]
	finish idle
	[[ $output == *"open 0"* ]]
	equal "killed sessions" 3 "$(sessions | grep -cE ' K[CD-] ')"
}

# bats test_tags=covered
@test "stop: a second SIGTERM does not wait" {
	local began

	start_app a
	DRAIN_TIMEOUT=1h web a
	url=$(url)
	spawn idle "$TOOLS/badclient" silent "127.0.0.1:$(port web)" \
	    --count 3 --deadline 200
	wait_for 10 has_line idle established
	fetch -o /dev/null "$url"
	kill -TERM "$LFPROXY_PID"
	wait_for 10 refused "$url"
	[ -d "/proc/$LFPROXY_PID" ]
	kill -TERM "$LFPROXY_PID"
	await_lfproxy 10
	finish idle
	equal "killed sessions" 3 "$(sessions | grep -cE ' K[CD-] ')"
}

# bats test_tags=covered
@test "stop: unix sockets are removed" {
	start_app a
	WEB="unix:$T/web.sock" web a
	[ -S "$T/web.sock" ]
	fetch -o /dev/null --unix-socket "$T/web.sock" http://web/
	stop_lfproxy
	[ ! -e "$T/web.sock" ]
}

# bats test_tags=covered
@test "stop: a socket left by a killed lfproxy does not hinder the next" {
	start_app a
	WEB="unix:$T/web.sock" web a
	kill -KILL "$LFPROXY_PID"
	wait_for 10 ended "$LFPROXY_PID"
	LFPROXY_PID=
	[ -S "$T/web.sock" ]
	WEB="unix:$T/web.sock" web a
	equal "the answer" a "$(fetch --unix-socket "$T/web.sock" http://web/)"
}

# bats test_tags=covered
@test "stop: the port is free for the next at once" {
	local address

	start_app a
	web a
	fetch -o /dev/null "$(url)"
	address=$(listening web)
	stop_lfproxy
	WEB=$address web a
	equal "the answer" a "$(fetch "$(url)")"
}

# -- shutdown_delay --

readyz() {
	curl -s -m 60 -o /dev/null -w '%{http_code}' \
	    "http://$(said_http)/readyz"
}

said_http() {
	sed -n 's|.*monitoring at http://\(.*\)/$|\1|p' "$LFPROXY_LOG"
}

readyz_is() {
	[ "$(readyz)" = "$1" ]
}

@test "stop: during shutdown_delay /readyz is 503 and clients are accepted" {
	start_app a
	GLOBAL=$'shutdown_delay = 10m\nhttp = 127.0.0.1:0' web a
	wait_for 10 readyz_is 200
	kill -TERM "$LFPROXY_PID"
	wait_for 10 readyz_is 503
	wait_for 10 lfproxy_said 'stopping in 10m \(shutdown_delay\)'
	equal "the answer" a "$(fetch "$(url)")"
	equal "the answer to another" a "$(fetch "$(url)")"
	refute lfproxy_said draining
	# A reload would open what is about to be closed.
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said 'not reloaded.*lfproxy is stopping'
	# The second signal does not wait.
	kill -TERM "$LFPROXY_PID"
	await_lfproxy 10
	wait_for 10 lfproxy_said 'stopping now'
}

@test "stop: after shutdown_delay the listeners close and sessions drain" {
	start_bad s slow --bytes 60000 --rate 30000
	GLOBAL='shutdown_delay = 300ms' web s
	spawn client curl -sS -m $((60 * PATIENCE)) --http0.9 "$(url)"
	wait_for 10 test -s "$T/client.out"
	stop_process "${PIDS[s]}"
	kill -TERM "$LFPROXY_PID"
	wait_for 10 lfproxy_said 'draining: 1 session may end'
	wait_for 10 refused "$(url)"
	[ -d "/proc/$LFPROXY_PID" ]
	signal s CONT
	finish client
	equal "bytes" 60000 "$(wc -c <"$T/client.out")"
	await_lfproxy 10
}

# -- idle sessions --

# ended_idle N: N sessions were ended for being idle while lfproxy drained.
ended_idle() {
	refute lfproxy_said 'drain_timeout has passed'
	equal "idle sessions that were ended" "$1" \
	    "$(sessions | grep -c ' KD ')"
}

@test "stop: idle sessions are ended after drain_idle_timeout" {
	start_app a
	DRAIN_TIMEOUT=10m DRAIN_IDLE=200ms web a
	spawn silent "$TOOLS/badclient" silent "127.0.0.1:$(port web)" \
	    --count 3 --deadline 200
	wait_for 10 has_line silent established
	fetch -o /dev/null "$(url)"
	kill -TERM "$LFPROXY_PID"
	await_lfproxy 20
	finish silent
	ended_idle 3
}

# bats test_tags=covered
@test "stop: an idle session delays the end by two seconds by default" {
	local began

	start_app a
	DRAIN_TIMEOUT=10m DRAIN_IDLE=2s web a
	sed -i '/^drain_idle_timeout/d' "$T/lfproxy.ini"
	stop_lfproxy
	launch_lfproxy -c "$T/lfproxy.ini"
	spawn silent "$TOOLS/badclient" silent "127.0.0.1:$(port web)" \
	    --count 1 --deadline 200
	wait_for 10 has_line silent established
	began=$(now_ms)
	kill -TERM "$LFPROXY_PID"
	await_lfproxy 30
	finish silent
	ended_idle 1
	wait_for 10 lfproxy_said 'idle ones 2s after their last byte'
}

# ask NAME: a client that sends a request and keeps its connection.
ask() {
	spawn "$1" sh -c "{ printf 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
	    exec tail -f /dev/null; } | socat - TCP:127.0.0.1:$(port web)"
}

# bats test_tags=covered
@test "stop: a session that waits for its answer is not idle" {
	start_app a
	DRAIN_TIMEOUT=10m DRAIN_IDLE=100ms web a
	stop_process "${PIDS[a]}"
	ask client
	spawn silent "$TOOLS/badclient" silent "127.0.0.1:$(port web)" \
	    --count 2 --deadline 200
	wait_for 10 has_line silent established
	wait_for 10 has_bytes a
	kill -TERM "$LFPROXY_PID"
	# Two are idle; the one that asked outlasts them.
	wait_for 20 idle_sessions_are_gone 2
	[ -d "/proc/$LFPROXY_PID" ]
	signal a CONT
	# Answered, the session is as idle as the others were.
	wait_for 20 has_line client '^a$'
	await_lfproxy 20
	ended_idle 3
}

# has_bytes NAME: the server, which is stopped, has bytes that it has not read.
has_bytes() {
	ss -Htn sport = ":${ADDRS[$1]##*:}" | awk '
		$2 > 0 { found = 1 }
		END { exit !found }'
}

idle_sessions_are_gone() {
	[ "$(sessions | grep -c ' KD ')" -eq "$1" ]
}
