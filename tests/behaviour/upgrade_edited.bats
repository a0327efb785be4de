#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades to a file that has other listeners, frontends, backends and pools.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load ctl
load upgrade

# Symptom: the other process removed the files before it served, so no client
# reached the sockets of the present one.
@test "upgrade: unix sockets that the file has no longer are open until then" {
	start_app a
	begin_unconfirmed
	sed -i -e "s|^listen = unix.*|listen = unix:$T/other.sock|" \
	    -e "s|^admin = .*|admin = $T/moved.sock|" "$T/lfproxy.ini"
	upgrade_in_vain
	equal "unix" a "$(fetch --unix-socket "$T/web.sock" http://x/)"
	signal manager USR1
	run -0 ctl upgrade
	[ ! -e "$T/web.sock" ]
	[ ! -e "$ADMIN" ]
	ADMIN=$T/moved.sock
	LFPROXY_PID=$(pid_now)
	[ "$LFPROXY_PID" != "$FIRST" ]
	equal "unix" a "$(fetch --unix-socket "$T/other.sock" http://x/)"
	stop_newest
}
