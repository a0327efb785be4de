#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades: sets of servers, whose members the successor asks for first.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load ctl
load upgrade

# begin_with_set TIMEOUT: lfproxy whose one server s is a member of a set, by a
# name; a name server may take TIMEOUT to answer.
begin_with_set() {
	put_names 'db 127.0.0.1'
	serve names python3 -B "$ROOT/tests/behaviour/nametool.py" "$T/names"
	serve s "${UPGRADE_TOOL[@]}" server
	site >"$T/lfproxy.ini"
	sed -i "s/^server = a .*/servers = m 5 dns=db:$(addr s |
	    sed 's/.*://') confirm=off/" "$T/lfproxy.ini"
	printf '[resolver]\nnameserver = %s\ntimeout = %s\n' \
	    "$(addr names)" "$1" >>"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
	wait_for 10 has_member
	spawn c "${UPGRADE_TOOL[@]}" ask "$PORT" member
	wait_for 10 has_line s 'got member'
}

has_member() {
	[ "$(stat_of app m1 weight)" = 100 ]
}

keeps_the_session() {
	begin_with_set 500ms
	ctl set weight app/m1 7
	ctl set maxconn server app/m1 9 for 1h
	late_names
}

@test "upgrade: the successor waits for the members of its sets" {
	tries 3 keeps_the_session
	wait_for 10 ended "$FIRST"
	# What operators have changed had to wait as well.
	equal "weight" 7 "$(stat_of app m1 weight)"
	expires() { ctl show expiring | grep -q 'server app/m1 maxconn: 9 -> 0'; }
	wait_for 10 expires
	refute lfproxy_said 'could not be done again'
	signal s USR1
	finish c 30
	[[ $output == *"answered member"* ]] || fail "$output"
	stop_newest
}

@test "upgrade: a set that nobody answers for holds up no upgrade" {
	begin_with_set 200ms
	ctl set weight app/m1 7
	put_names 'db silent'
	upgrade
	[[ $UPGRADED == *" and 0 sessions; 1 session of process $FIRST "* ]] ||
	    fail "$UPGRADED"
	wait_for 10 lfproxy_said \
	    "'set weight app/m1 7' could not be done again"
	put_names 'db 127.0.0.1'
	wait_for 30 has_member
	signal s USR1
	finish c 30
	[[ $output == *"answered member"* ]] || fail "$output"
	stop_newest
}
