#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sockets that a service manager passes by name: listen = fd:NAME.

load helpers
load ctl
load upgrade

# activated NAME=ADDRESS... : lfproxy with these sockets, which runs
# or has ended; what waits in each backlog is answered.
activated() {
	setsid "${UPGRADE_TOOL[@]}" activate "$@" -- "$LFPROXY" \
	    -c "$T/lfproxy.ini" </dev/null >"$T/lfproxy.out" \
	    2>"$LFPROXY_LOG" 3>&- &
	LFPROXY_PID=$!
	FIRST=$LFPROXY_PID
	wait_for 10 lfproxy_ready_or_ended
}

# names LINE...: the configuration, with these lines in [frontend web].
names() {
	site | sed '/^listen/d' >"$T/lfproxy.ini"
	for _; do
		sed -i "/^\[frontend web\]/a $1" "$T/lfproxy.ini"
		shift
	done
}

answered() {
	[ "$(grep -c '^answered$' "$T/lfproxy.out")" -eq "$1" ]
}

inode() {
	readlink /proc/"$1"/fd/* | grep '^socket:' | sort -u
}

# listening_inode PORT
listening_inode() {
	awk -v port="$(printf ':%04X' "$1")" \
	    '$4 == "0A" && index($2, port) { print "socket:[" $10 "]" }' \
	    /proc/net/tcp
}

@test "activation: a listen takes every socket of the name" {
	local one two

	start_app a
	one=127.0.0.1:$(free_port)
	two=127.0.0.1:$(free_port)
	names "listen = fd:web keepalive=on"
	activated "web=$one" "other=127.0.0.1:0" "web=$two" "web=unix:$T/web.sock"
	wait_for 10 answered 3
	equal "second" a "$(fetch "http://$two/")"
	equal "unix" a "$(fetch --unix-socket "$T/web.sock" http://x/)"
	grep -q "listening on $one (frontend web, fd:web)" "$LFPROXY_LOG"
	grep -q "1 listening socket that lfproxy was given is closed" "$LFPROXY_LOG"
	run -0 "$LFPROXY" -T -c "$T/lfproxy.ini"
	[[ $output == *"listen = fd:web keepalive=on"* ]] || fail "$output"
	# The file is the manager's.
	kill -TERM "$LFPROXY_PID"
	wait "$LFPROXY_PID"
	LFPROXY_PID=
	[ -S "$T/web.sock" ]
}

@test "activation: a reload and an upgrade keep the sockets" {
	local at web

	start_app a
	at=127.0.0.1:$(free_port)
	names "listen = fd:web"
	activated "web=$at" "web=unix:$T/web.sock"
	web=$(listening_inode "${at##*:}")
	names "listen = fd:web keepalive=on" "maxconn = 90"
	run -0 ctl reload
	upgrade
	wait_for 10 ended "$FIRST"
	equal "inode" "$web" "$(listening_inode "${at##*:}")"
	inode "$LFPROXY_PID" | grep -qF "$web"
	equal "TCP" a "$(fetch "http://$at/")"
	equal "unix" a "$(fetch --unix-socket "$T/web.sock" http://x/)"
	equal "reload" "No change." "$(ctl reload)"
	# Another frontend may have them.
	sed -i 's/^\[frontend web\]/[frontend site]/' "$T/lfproxy.ini"
	run -0 ctl reload
	equal "renamed" a "$(fetch "http://$at/")"
	equal "same" "$web" "$(listening_inode "${at##*:}")"
	stop_newest
}

# Symptom: the upgrade removed the file.
# bats test_tags=covered
@test "activation: an upgrade that leaves a name out leaves its file" {
	start_app a
	names "listen = fd:web" "listen = fd:api"
	activated "web=127.0.0.1:0" "api=unix:$T/api.sock"
	names "listen = fd:web"
	upgrade
	wait_for 10 ended "$FIRST"
	[ -S "$T/api.sock" ]
	stop_newest
}

@test "activation: an error has the names that there are" {
	local at

	at=127.0.0.1:$(free_port)
	names "listen = fd:wbe"
	activated "web=$at" "api=127.0.0.1:0"
	grep -q "listen: no socket has the name 'wbe'; the service manager has passed web, api" \
	    "$LFPROXY_LOG" || fail "$(cat "$LFPROXY_LOG")"
	wait_for 10 ended "$LFPROXY_PID"
	LFPROXY_PID=
	run -71 "$LFPROXY" -c "$T/lfproxy.ini"
	[[ $output == *"start lfproxy by a socket unit with FileDescriptorName=wbe"* ]] ||
	    fail "$output"
}

@test "activation: a name that a reload leaves out comes back by a restart only" {
	local at

	start_app a
	at=127.0.0.1:$(free_port)
	names "listen = fd:web"
	activated "web=$at"
	names "listen = 127.0.0.1:0"
	run -0 ctl reload
	names "listen = fd:web"
	run -1 ctl reload
	[[ $output == *"a restart brings them back"* ]] || fail "$output"
	names "listen = fd:api"
	run -1 ctl reload
	[[ $output == *"the service manager has passed web"* ]] || fail "$output"
}

@test "activation: connections to a disabled frontend wait, also over an upgrade" {
	local at

	start_app a
	at=127.0.0.1:$(free_port)
	names "listen = fd:web" "disabled = on"
	activated "web=$at"
	upgrade
	spawn client curl -sS --max-time 30 "http://$at/"
	answered 0
	run -0 ctl enable frontend web
	wait_for 10 answered 1
	finish client 10
	equal "client" a "$output"
	stop_newest
}

@test "activation: what the socket unit decides is no option" {
	names "listen = fd:web v6only=on"
	run -78 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *"the option 'v6only' is for addresses that lfproxy binds itself"* ]] ||
	    fail "$output"
	names "listen = fd:"
	run -78 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *"names no descriptor"* ]] || fail "$output"
	names "listen = fd:web" "listen = fd:web"
	run -78 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *"'fd:web' is listened on already"* ]] || fail "$output"
}

# bats test_tags=covered
@test "activation: systemd-socket-activate starts lfproxy at the first client" {
	local at

	[ -x "$(command -v systemd-socket-activate)" ] ||
	    skip "systemd-socket-activate is not installed"
	start_app a
	at=127.0.0.1:$(free_port)
	names "listen = fd:web"
	spawn activator systemd-socket-activate -l "$at" --fdname=web \
	    "$LFPROXY" -c "$T/lfproxy.ini"
	answers() { [ "$(fetch "http://$at/")" = a ]; }
	wait_for 10 answers
	signal activator TERM
	finish activator 15
}
