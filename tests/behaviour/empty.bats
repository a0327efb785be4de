#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Backends without servers in the file.

load helpers
load operator

warning='warning: \[backend app\] has no server, so its sessions wait for timeout_queue and are closed'

# bats test_tags=covered
@test "empty: a backend without servers is taken with a warning" {
	web
	has_warning "$LFPROXY_LOG"
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *"lfproxy.ini:"[0-9]*": warning: [backend app] has no server"*"configuration is valid"* ]]
	run -0 ctl reload
	[[ $output == *'warning: [backend app] has no server'* ]]
}

has_warning() {
	grep -q "$warning" "$1" || fail "no warning in $1: $(cat "$1")"
}

# bats test_tags=covered
@test "empty: a session waits for timeout_queue and is closed, SC" {
	DEFAULTS='timeout_queue = 200ms' web
	run curl -sS -m $((60 * PATIENCE)) "$(url)"
	[ "$status" -ne 0 ]
	wait_for 10 session_like ' app/<NOSRV> .* sQ '
	equal "usable" 0 "$(column act BACKEND)"
}

# bats test_tags=covered
@test "empty: queued sessions get the server that add server brings" {
	start_app a
	DEFAULTS='timeout_queue = 100s' web
	spawn one curl -sS -m 60 "$(url)"
	wait_for 20 is qcur BACKEND 1
	ctl add server app/a "$(addr a)"
	done_ enable server app/a
	finish one
	equal "who answers" a "$output"
}

# bats test_tags=covered
@test "empty: a reload that takes the last server away, and brings one back" {
	start_app a
	web a
	equal "who answers" a "$(fetch "$(url)")"
	run -0 change_file '^server' '; server'
	[[ $output == *'backend app: server a is removed'*'warning: [backend app] has no server'* ]]
	spawn one curl -sS -m 60 "$(url)"
	wait_for 20 is qcur BACKEND 1
	change_file '^; server' 'server' >/dev/null
	finish one
	equal "who answers" a "$output"
}
