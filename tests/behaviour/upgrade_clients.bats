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
