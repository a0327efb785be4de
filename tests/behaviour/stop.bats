# SPDX-License-Identifier: MIT
# How lfproxy ends.

load helpers

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

@test "stop: nothing under way, at once" {
	start_app a
	DRAIN_TIMEOUT=1h web a
	fetch -o /dev/null "$(url)"
	stop_lfproxy
}

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

@test "stop: unix sockets are removed" {
	start_app a
	WEB="unix:$T/web.sock" web a
	[ -S "$T/web.sock" ]
	fetch -o /dev/null --unix-socket "$T/web.sock" http://web/
	stop_lfproxy
	[ ! -e "$T/web.sock" ]
}

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
