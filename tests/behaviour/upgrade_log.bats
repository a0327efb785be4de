#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades: the access logs of the processes.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load ctl
load upgrade

# rotate PID: as logrotate does it, with the signal to that process.
rotate() {
	mv "$T/access.log" "$T/access.log.1"
	kill -USR1 "$1"
}

# reopened N: so many processes have opened the file again.
reopened() {
	[ "$(grep -c "reopened log file $T/access.log" "$LFPROXY_LOG")" = "$1" ]
}

logged() {
	has_match ' web app/. ' "$T/access.log"
}

# Symptom: the former process wrote to a file that had been renamed, and perhaps
# compressed: the service manager signals the main process alone.
@test "upgrade: processes that still have sessions follow a rotation of the log" {
	start_app a
	serve s "${UPGRADE_TOOL[@]}" server
	LOG=file=$T/access.log begin_with s
	spawn c "${UPGRADE_TOOL[@]}" ask "$PORT" late
	wait_for 10 has_line s 'got late'
	sed -i "s/^server = s .*/server = a $(addr a)/" "$T/lfproxy.ini"
	upgrade
	upgrade
	rotate "$LFPROXY_PID"
	wait_for 10 reopened 3
	signal s USR1
	finish c
	wait_for 10 logged
	equal "the old file" "" "$(cat "$T/access.log.1")"
	stop_newest
}

# Symptom: the other process had opened the file, and was told of nothing.
@test "upgrade: the other process follows a rotation that comes before it serves" {
	start_app a
	LOG=file=$T/access.log begin_unconfirmed
	spawn asked "$CTL" -S "$ADMIN" upgrade
	wait_for 10 has_line manager '^BARRIER=1'
	rotate "$FIRST"
	signal manager USR1
	finish asked
	LFPROXY_PID=$(pid_now)
	wait_for 10 reopened 2
	equal "answer" a "$(fetch "http://$PORT/")"
	wait_for 10 logged
	stop_newest
}
