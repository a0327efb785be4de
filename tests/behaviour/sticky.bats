#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sticky choices: a client stays at its last server while that is usable.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load ctl
load upgrade

# begin_sticky [LINE...]: two backups, of which the first one alone serves, and
# further lines of the backend.
begin_sticky() {
	start_app a
	start_app b
	site | sed '/^server = /d; /^check = /d' >"$T/lfproxy.ini"
	cat >>"$T/lfproxy.ini" <<-END
		check = connect interval=100ms fall=1 rise=1 timeout=1m
		sticky = stay
		$(printf '%s\n' "$@")
		server = a ${ADDRS[a]} backup
		server = b ${ADDRS[b]} backup
	END
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
}

# serves NAME: three sessions, one after the other.
serves() {
	equal "servers" "$1 $1 $1" "$(fetch -H 'Connection: close' \
	    "http://$PORT/?[1-3]" | xargs)"
}

# is NAME STATUS: whether checks have found the server so.
is() {
	[ "$(stat_of app "$1" status)" = "$2" ]
}

# moves: the first server goes, and is back.
moves() {
	serves a
	end a
	wait_for 10 is a DOWN
	serves b
	restart_app a
	wait_for 10 is a UP
	serves b
}

# entry FIELD: of the one entry in the table.
entry() {
	ctl show table app/sticky | sed -n "s/^0x.* $1=\([^ ]*\).*/\1/p"
}

# bats test_tags=covered
@test "sticky: sessions stay at the second server when the first is back" {
	begin_sticky
	moves
	equal "the table" b "$(entry server_key)"
	equal "its number" 2 "$(entry server_id)"
	run -0 ctl explain 127.0.0.1
	[[ $output == *" b: the client's last server"* ]] || fail "$output"
	run -0 ctl explain 127.0.0.2
	[[ $output == *"> a "* ]] || fail "$output"
	[[ $output != *"last server"* ]] || fail "$output"
	# The second goes, and the first keeps what it gets.
	end b
	wait_for 10 is b DOWN
	serves a
	restart_app b
	wait_for 10 is b UP
	serves a
}

# bats test_tags=covered
@test "sticky: a session that is retried elsewhere takes the choice with it" {
	begin_sticky 'balance = first' 'retries = 3'
	sed -i 's/ backup$//; s/^check = .*/check = off/' "$T/lfproxy.ini"
	ctl reload
	serves a
	end a
	serves b
	equal "retries" 1 "$(stat_of app BACKEND wredis)"
	restart_app a
	serves b
}

# bats test_tags=covered
@test "sticky: a full server is passed over, and keeps its clients" {
	begin_sticky 'balance = first'
	sed -i 's/^\(server = a .*\) backup/\1 maxconn=1/; s/ backup$//' \
	    "$T/lfproxy.ini"
	ctl reload
	serves a
	exec {held}<>"/dev/tcp/${PORT%:*}/${PORT##*:}"
	has_session() { [ "$(stat_of app a scur)" = 1 ]; }
	wait_for 10 has_session
	serves b
	exec {held}>&-
	has_none() { [ "$(stat_of app a scur)" = 0 ]; }
	wait_for 10 has_none
	serves a
}

# bats test_tags=covered
@test "sticky: operators take a server out, set a choice and clear it" {
	begin_sticky
	serves a
	ctl set server app/a state maint
	serves b
	ctl set server app/a state ready
	serves b
	# A drain and a weight of 0 keep other clients away.
	ctl set server app/b state drain
	serves b
	ctl set server app/b state ready
	ctl set server app/b weight 0
	serves b
	ctl set server app/a state drain
	serves b
	run -56 fetch --interface 127.0.0.2 "http://$PORT/"
	ctl set server app/a state ready
	ctl set server app/b weight 100%
	ctl set table app/sticky key 127.0.0.1 data.server_key a
	serves a
	ctl set table app/sticky key 127.0.0.1 data.server_id 2
	serves b
	run -1 ctl set table app/sticky key 127.0.0.1 data.server_key c
	equal "the refusal" "backend app has no server c" "$output"
	run -1 ctl set table app/sticky key 127.0.0.1 data.conn_cnt 1
	[[ $output == *"not stored in this table"* ]] || fail "$output"
	ctl clear table app/sticky data.server_id eq 1
	serves b
	ctl clear table app/sticky data.server_id eq 2
	serves a
}

# bats test_tags=covered
@test "sticky: a reload keeps the choice, also where servers change places" {
	begin_sticky
	moves
	sed -i 's/^sticky = .*/&\nretries = 2/' "$T/lfproxy.ini"
	ctl reload
	serves b
	sed -i "/^server = a/d" "$T/lfproxy.ini"
	ctl reload
	sed -i "s|^server = b.*|server = c ${ADDRS[a]} backup\n&|" \
	    "$T/lfproxy.ini"
	ctl reload
	serves b
	# Without the key nothing is kept.
	becomes sticky off
	serves a
	becomes sticky stay
	serves a
}

# bats test_tags=covered
@test "sticky: an upgrade keeps the choice" {
	begin_sticky
	moves
	upgrade
	serves b
	equal "the table" b "$(entry server_key)"
	add_old
	upgrade
	is_old
	upgrade
	serves b
	stop_newest
}

@test "sticky: a state file keeps the choice over a restart" {
	begin_sticky
	sed -i "s|^admin = .*|&\nstate_file = $T/state|" "$T/lfproxy.ini"
	stop_lfproxy
	launch_lfproxy -c "$T/lfproxy.ini"
	PORT=$(listening web)
	moves
	add_old
	stop_lfproxy
	launch_lfproxy -c "$T/lfproxy.ini"
	PORT=$(listening web)
	is_old
	serves b
}

# add_old: choices that were used last half an hour and two hours ago, of which
# an hour keeps one.
add_old() {
	local now

	now=$(date +%s)
	sed -i 's/^sticky = .*/&\nsticky_expire = 1h/' "$T/lfproxy.ini"
	ctl reload
	ctl set table app/sticky key 192.0.2.1 data.server_key b \
	    data.last_use $((now - 1800))000
	ctl set table app/sticky key 192.0.2.2 data.server_key b \
	    data.last_use $((now - 7200))000
	is_old
}

# is_old: the choices have kept their age, in text and in JSON.
is_old() {
	[[ $(ctl show table) == *", used:2" ]] ||
	    fail "$(ctl show table)"
	ctl show table app/sticky json | python3 -c '
import json, sys
entries = json.load(sys.stdin)[0]["entries"]
assert len(entries) == 2, entries
exp, = [e["exp"] for e in entries if e["key"] == "192.0.2.1"]
assert exp <= 1800000, exp
assert all(e["use"] == 0 for e in entries), entries'
}

# bats test_tags=covered
@test "sticky: the first choice is the algorithm's, and a backup keeps its clients" {
	begin_sticky 'balance = first'
	sed -i 's/^\(server = a .*\) backup/\1/' "$T/lfproxy.ini"
	ctl reload
	moves
	# Clients that have no choice yet go to the server that is no backup.
	equal "another client" a "$(fetch --interface 127.0.0.2 "http://$PORT/")"
}

# bats test_tags=covered
@test "sticky: by the address that clients connect to" {
	begin_sticky 'hash_key = destination'
	serves a
	ctl set server app/a state maint
	serves b
	ctl set server app/a state ready
	# The whole table has one entry, for all clients.
	equal "another client" b "$(fetch --interface 127.0.0.2 "http://$PORT/")"
	equal "entries" 1 "$(ctl show table app/sticky | grep -c '^0x')"
	[[ $(ctl show table) == *"# table: app/sticky, type: integer"* ]]
	key=$(entry_key)
	ctl set table app/sticky key "$key" data.server_key a
	serves a
	run -1 ctl set table app/sticky key 127.0.0.1 data.server_key a
	[[ $output == *"hexadecimal"* ]] || fail "$output"
}

entry_key() {
	ctl show table app/sticky | sed -n 's/^0x.* key=\([^ ]*\).*/\1/p'
}

# bats test_tags=covered
@test "sticky: a choice expires, and a small table forgets the oldest" {
	begin_sticky 'sticky_expire = 1s' 'sticky_size = 1'
	ctl set table app/sticky key 127.0.0.1 data.server_key b
	[ "$(entry exp)" -le 1000 ]
	gone() { [ -z "$(entry exp)" ]; }
	wait_for 10 gone
	serves a
	becomes sticky_expire 1d
	ctl set table app/sticky key 127.0.0.1 data.server_key b
	serves b
	ctl set table app/sticky key 127.0.0.2 data.server_key b
	equal "entries" 1 "$(ctl show table app/sticky | grep -c '^0x')"
	serves a
}
