#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades: records of ended sessions are shown by the other process.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load ctl
load upgrade

closed_are() {
	[ "$(ctl show closed | grep -c '^0x')" = "$1" ]
}

# is_same TEXT: `show closed` is.
is_same() {
	[ "$(ctl show closed json)" = "$1" ]
}

@test "upgrade: ended sessions are shown in their order, up to the number that is kept" {
	local records

	start_app a
	site >"$T/lfproxy.ini"
	sed -i 's/^\[global\]/&\nclosed_tcp_info = all/' "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
	for _ in 1 2 3 4 5 6; do
		fetch "http://$PORT/" >/dev/null
	done
	ctl set server app/a state maint
	run fetch "http://$PORT/"
	ctl set server app/a state ready
	fetch --unix-socket "$T/web.sock" http://x/ >/dev/null
	wait_for 10 closed_are 8
	records=$(ctl show closed json)
	upgrade
	wait_for 10 ended "$FIRST"
	wait_for 10 is_same "$records"
	# Those of this process come first.
	fetch "http://$PORT/" >/dev/null
	wait_for 10 closed_are 9
	equal "the others" "$(python3 -c 'import json, sys
print(json.loads(sys.argv[1]))' "$records")" "$(ctl show closed json |
	    python3 -c 'import json, sys; print(json.load(sys.stdin)[1:])')"
	# Ids are those of one session each, and a record is found by its id.
	equal "ids" 9 "$(ctl show closed | cut -d: -f1 | sort -u | wc -l)"
	id=$(ctl show closed | tail -1 | cut -d: -f1)
	equal "by its id" 1 "$(ctl show closed "$id" | wc -l)"
	records=$(ctl show closed | head -4)
	sed -i 's/^\[global\]/&\nclosed_sessions = 4/' "$T/lfproxy.ini"
	upgrade
	wait_for 10 closed_are 4
	equal "the last four" "$records" "$(ctl show closed | grep '^0x')"
	[[ "$(ctl show closed)" == *"
# complete since "* ]] || fail "$(ctl show closed)"
	stop_newest
}

# bats test_tags=covered
@test "upgrade: a session that ends in the former process is shown by the other one" {
	start_app a
	serve s "${UPGRADE_TOOL[@]}" server
	begin_with s
	spawn c "${UPGRADE_TOOL[@]}" ask "$PORT" stays
	wait_for 10 has_line s 'got stays'
	# Its server is no server of the other process.
	sed -i "s/^server = s .*/server = a $(addr a)/" "$T/lfproxy.ini"
	upgrade
	fetch "http://$PORT/" >/dev/null
	wait_for 10 closed_are 1
	signal s USR1
	finish c 30
	wait_for 10 ended "$FIRST"
	wait_for 10 closed_are 2
	ctl show closed | head -1 | grep -q 'srv=s ' || fail "$(ctl show closed)"
	stop_newest
}

# rows: count, cause and server of each row of `show failures`.
rows() {
	ctl show failures json | python3 -c 'import json, sys
for row in json.load(sys.stdin)["rows"]:
    print(row["count"], row["cause"], row["server"], len(row["examples"]))'
}

rows_are() {
	[ "$(rows)" = "$1" ]
}

@test "upgrade: failures are counted on, with those of sessions that stay" {
	start_app a
	start_bad dead refuse
	serve s "${UPGRADE_TOOL[@]}" server
	begin_with s
	spawn c "${UPGRADE_TOOL[@]}" ask "$PORT" stays
	wait_for 10 has_line s 'got stays'
	sed -i "s/^server = s .*/server = s $(addr s)\nserver = d $(addr dead)\
\nretries = 0\nbalance = roundrobin/" "$T/lfproxy.ini"
	ctl reload
	ctl disable server app/s
	for _ in 1 2 3 4; do
		run fetch "http://$PORT/"
	done
	wait_for 10 rows_are "4 connect_failed d 3"
	upgrade
	wait_for 10 rows_are "4 connect_failed d 3"
	run fetch "http://$PORT/"
	wait_for 10 rows_are "5 connect_failed d 3"
	equal "complete since the first process began" True \
	    "$(ctl show failures json | python3 -c 'import json, sys
answer = json.load(sys.stdin)
print(answer["complete_since"] <= answer["rows"][0]["first"])')"
	ctl shutdown sessions server app/s
	wait_for 10 ended "$FIRST"
	wait_for 10 rows_are "5 connect_failed d 3
1 killed_data s 1"
	stop_newest
}
