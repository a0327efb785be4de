#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades: what clients of the admin socket and of the HTTP port notice.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load ctl
load upgrade

http_port() {
	sed -n 's|.*monitoring at http://\(.*\)/$|\1|p' "$LFPROXY_LOG" | tail -n 1
}

one_session() {
	[ "$(of_info CurrConns)" = 1 ]
}

# begin_with_one_that_stays: a session whose server the other process has not.
begin_with_one_that_stays() {
	start_app a
	start_app b
	begin
	spawn idle "$TOOLS/badclient" silent "$PORT" --deadline 200
	wait_for 10 one_session
	sed -i "s/^server = a .*/server = b $(addr b)/" "$T/lfproxy.ini"
}

@test "upgrade: clients that keep their connection get to the other process" {
	begin_with_one_that_stays
	spawn kept "${UPGRADE_TOOL[@]}" keep "$ADMIN" "$(http_port)"
	wait_for 10 has_line kept "$FIRST answers"
	upgrade
	wait_for 20 has_line kept 'admin closed'
	wait_for 20 has_line kept 'http closed'
	# Its session is still there.
	refute ended "$FIRST"
	finish kept
	signal idle KILL
	stop_newest
}

# bats test_tags=covered
@test "upgrade: no counter goes back" {
	start_app a
	begin
	spawn idle "$TOOLS/badclient" silent "$PORT" --deadline 200
	wait_for 10 one_session
	for _ in {1..30}; do
		fetch "http://$PORT/" >/dev/null
	done
	spawn scrapes "${UPGRADE_TOOL[@]}" scrape "$(http_port)"
	wait_for 10 has_line scrapes begun
	for _ in 1 2 3 4 5; do
		upgrade
		fetch "http://$PORT/" >/dev/null
	done
	signal scrapes TERM
	finish scrapes 20
	[[ $(xargs <<<"$output") =~ ^begun\ scrapes=[1-9][0-9]*$ ]] ||
	    fail "$output"
	equal "sessions" 36 "$(stat_of web FRONTEND stot)"
	signal idle KILL
	stop_newest
}

# begin_with_name: lfproxy with the server db, whose name is not resolved from
# now on, so that the next upgrade takes two seconds.
begin_with_name() {
	local port

	start_app a
	port=$(addr a | sed 's/.*://')
	put_names 'db 127.0.0.1'
	serve names python3 -B "$ROOT/tests/behaviour/nametool.py" "$T/names"
	site >"$T/lfproxy.ini"
	cat >>"$T/lfproxy.ini" <<-END
		server = db db:$port
		[resolver]
		nameserver = $(addr names)
		timeout = 5s
	END
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
	put_names 'db silent'
}

more_asked() {
	[ "$(wc -l <"$T/names.asked")" -gt "$ASKED" ]
}

# begin_slow_upgrade: it is under way, and the other process waits.
begin_slow_upgrade() {
	ASKED=$(wc -l <"$T/names.asked")
	spawn upgrade "$BUILD/lfproxyctl" -S "$ADMIN" upgrade
	wait_for 20 more_asked
}

end_slow_upgrade() {
	put_names 'db 127.0.0.1'
	finish upgrade 30
	[[ $output == *" has taken over "* ]] || fail "$output"
	LFPROXY_PID=$(pid_now)
	[ "$LFPROXY_PID" != "$FIRST" ]
}

@test "upgrade: the former process answers until it has left" {
	local began pid

	begin_with_name
	began=$(now_ms)
	begin_slow_upgrade
	for _ in {1..8}; do
		pid=$(pid_now)
		# It waits for two seconds at most.
		[ "$pid" = "$FIRST" ] || [ $(($(now_ms) - began)) -ge 1500 ] ||
		    fail "$pid answers"
	done
	end_slow_upgrade
	stop_newest
}

has_child() {
	[ -n "$(pgrep -P "$FIRST")" ]
}

# begin_late_upgrade: to an lfproxy that begins when there is a file go.
begin_late_upgrade() {
	cat >"$T/late" <<-END
		#!/bin/sh
		until [ -e '$T/go' ]; do sleep 0.05; done
		exec '$BUILD/lfproxy' "\$@"
	END
	chmod +x "$T/late"
	spawn upgrade "$BUILD/lfproxyctl" -S "$ADMIN" upgrade "$T/late"
	wait_for 10 has_child
}

@test "upgrade: no change is lost between the two processes" {
	local word

	start_app a
	begin
	begin_late_upgrade
	for word in 'set server app/a state maint' 'set weight app/a 7' \
	    'disable frontend web for 1h' 'set maxconn frontend web 9' \
	    'drain server app/a' 'add server app/n 127.0.0.1:1'; do
		# shellcheck disable=SC2086 # words
		run -1 ctl $word
		equal "$word" "An upgrade is under way, and its successor would not get the change; try again later." "$output"
	done
	equal "what can be seen" "$FIRST" "$(pid_now)"
	ctl clear counters
	touch "$T/go"
	finish upgrade 30
	LFPROXY_PID=$(pid_now)
	[ "$LFPROXY_PID" != "$FIRST" ]
	ctl set weight app/a 7
	equal "weight" 7 "$(stat_of app a weight)"
	stop_newest
}

# Symptom: the client was answered nothing at all.
# bats test_tags=covered
@test "upgrade: a client that waits is told when lfproxy is stopped" {
	start_app a
	begin
	begin_late_upgrade
	kill -TERM "$FIRST"
	wait_for 20 ended "${PIDS[upgrade]}"
	equal "answer" 'no upgrade: lfproxy is stopping' \
	    "$(cat "$T/upgrade.out" "$T/upgrade.err")"
	unset 'PIDS[upgrade]'
	await_lfproxy 20
}
