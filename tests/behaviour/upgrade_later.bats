#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades: changes that expire and drains go on in the other process.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load ctl
load upgrade

weight_is() {
	[ "$(ctl get weight app/"${2:-a}")" = "$1 (initial 100)" ]
}

# begin_two: lfproxy with the servers a and b.
begin_two() {
	start_app a
	start_app b
	site >"$T/lfproxy.ini"
	echo "server = b $(addr b)" >>"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
}

shows_none() {
	[ -z "$(ctl show "$1")" ]
}

# expiring_has PATTERN: a pending change is so.
expiring_has() {
	ctl show expiring | grep -qE "$1"
}

@test "upgrade: a change for a time ends in the successor" {
	begin_two
	ctl set weight app/a 50
	ctl set weight app/a 20 for 20s
	ctl set weight app/b 30 for 1h
	ctl disable server app/b for 1h
	ctl disable frontend web for 1h
	ctl set pool main threads 3 for 1h
	before=$(ctl show expiring | sed 's/ in .*: /: /')
	[ "$(wc -l <<<"$before")" = 5 ]
	upgrade
	wait_for 10 expiring_has 'pool main threads'
	equal "changes that wait" "$before" \
	    "$(ctl show expiring | sed 's/ in .*: /: /')"
	expiring_has 'app/a weight: 20 -> 50 in [0-9.]+s'
	equal "weight" "20 (initial 100)" "$(ctl get weight app/a)"
	wait_for 30 weight_is 50
	ctl show changes | grep -qF 'expired: server app/a weight: 20 -> 50' ||
	    fail "$(ctl show changes)"
	# A second process hands over what it has got, and a later command holds.
	ctl set weight app/b 31
	upgrade
	wait_for 10 expiring_has 'pool main threads'
	refute expiring_has 'app/[ab] weight'
	equal "weight" "31 (initial 100)" "$(ctl get weight app/b)"
	stop_newest
}

phase_of() {
	ctl show drains json | python3 -c 'import json, sys
for d in json.load(sys.stdin):
	print(d["server"].strip("/"), d["phase"].strip(), d["over_ms"], d["then"],
	    d["sessions_began"].strip("/") if isinstance(d["sessions_began"], str)
	    else d["sessions_began"])'
}

drain_is() {
	[ "$(phase_of)" = "$1" ]
}

left_ms() {
	ctl show drains json | sed -n 's/.*"left_ms":\([0-9]*\).*/\1/p'
}

# bats test_tags=covered
@test "upgrade: a list entry for a time ends in the successor" {
	start_app a
	{
		site
		printf '[list banned]\nentry = 192.0.2.9\n'
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
	ctl add acl banned 192.0.2.1 for 1h
	ctl add acl banned 192.0.2.2 for 20s
	ctl add acl banned 192.0.2.3
	# An entry of the file that was deleted is put back for a time.
	ctl del acl banned 192.0.2.9
	ctl add acl banned 192.0.2.9 for 20s
	# An entry that the file gains meanwhile stays.
	ctl add acl banned 192.0.2.8 for 1h
	sed -i 's/^entry = /&192.0.2.8 /' "$T/lfproxy.ini"
	upgrade
	wait_for 10 expiring_has 'acl banned 192.0.2.1'
	equal "entries" "- 192.0.2.3" \
	    "$(ctl show acl banned | grep -v ' for \|192.0.2.8$')"
	equal "at first" 5 "$(ctl show acl banned | wc -l)"
	lfproxy_said 'acl banned 192.0.2.8 stays added: the file has set it since then'
	refute expiring_has 'acl banned 192.0.2.8'
	expired() {
		[ "$(ctl show acl banned | wc -l)" = 3 ]
	}
	wait_for 30 expired
	[[ $(ctl show drift) == *"list banned: 192.0.2.9 -> deleted"* ]] ||
		fail "$(ctl show drift)"
	expiring_has 'acl banned 192.0.2.1: added -> absent in 5[0-9]m'
	stop_newest
}

@test "upgrade: a drain over time goes on where it was, and then has its end" {
	begin_two
	ctl drain server app/a over 20s then maint
	drain_is "a fading 20000 maint 0"
	upgrade
	wait_for 5 drain_is "a fading 20000 maint 0"
	[ "$(left_ms)" -lt 20000 ] || fail "$(left_ms)"
	wait_for 40 shows_none drains
	equal "state" maint "$(stat_of app a lf_admin)"
	stop_newest
}

one_session() {
	[ "$(ctl show info | sed -n 's/^CurrConns: //p')" = 1 ]
}

@test "upgrade: a drain that waits for sessions waits for those that have come over" {
	serve s "${UPGRADE_TOOL[@]}" server
	begin_with s
	spawn idle "${UPGRADE_TOOL[@]}" ask "$PORT" hello
	wait_for 10 has_line s 'got hello'
	ctl drain server app/s then maint
	drain_is "s waiting 0 maint 1"
	upgrade
	[[ $UPGRADED == *" and 1 session" ]] || fail "$UPGRADED"
	wait_for 10 ended "$FIRST"
	wait_for 5 drain_is "s waiting 0 maint 1"
	one_session
	equal "state" drain "$(stat_of app s lf_admin)"
	signal s USR1
	finish idle 30
	wait_for 10 shows_none drains
	equal "state" maint "$(stat_of app s lf_admin)"
	# Cancelling gives back the state from before the drain.
	ctl enable server app/s
	ctl drain server app/s over 1h
	upgrade
	wait_for 5 drain_is "s fading 3600000 None 0"
	ctl cancel drain app/s
	equal "state" ready "$(stat_of app s lf_admin)"
	stop_newest
}

# Symptom: the other process had the operator's value again.
@test "upgrade: a value that the file has replaced does not come back" {
	begin_two
	ctl set weight app/a 50
	ctl set weight app/b 0
	ctl set weight app/a 20 for 1h
	ctl set maxconn server app/b 7
	sed -i 's/^server = b .*/& weight=80/' "$T/lfproxy.ini"
	ctl reload
	equal "weight" "80 (initial 80)" "$(ctl get weight app/b)"
	# The other process finds this change.
	sed -i 's/^server = a .*/& weight=60/' "$T/lfproxy.ini"
	upgrade
	equal "weight" "60 (initial 60)" "$(ctl get weight app/a)"
	equal "weight" "80 (initial 80)" "$(ctl get weight app/b)"
	wait_for 10 shows_none expiring
	equal "drift" 'server app/b maxconn: 0 -> 7' "$(ctl show drift | grep -v '^#')"
	stop_newest
}

# Symptom: the other process took it for open, without a socket.
@test "upgrade: a frontend that was shut down stays so until a reload" {
	site >"$T/lfproxy.ini"
	printf '%s\n' '[frontend other]' 'listen = 127.0.0.1:0' 'backend = app' \
	    >>"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	ctl shutdown frontend other
	ctl show drift | grep -qx 'frontend other: enabled -> shut down'
	for _ in 1 2; do
		upgrade
		equal "status" STOP "$(stat_of other FRONTEND status)"
		ctl show drift | grep -qx 'frontend other: enabled -> shut down'
	done
	ctl reload
	equal "status" OPEN "$(stat_of other FRONTEND status)"
	port=$(sed -n 's/.* on 127.0.0.1:\([0-9]*\) (frontend other)$/\1/p' \
	    "$LFPROXY_LOG" | tail -n 1)
	ss -ltnH "sport = :$port" | grep -q .
	stop_newest
}
