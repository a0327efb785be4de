#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Which servers are chosen from: backups, panic, slow start; and whose sessions
# end when a server goes down or comes up.

load helpers
load checks

fd= # of dial and connect
RAMPTOOL=$ROOT/tests/behaviour/ramptool.py

# Makes connections one at a time; prints each server that answered once.
names() {
	fetch -H 'Connection: close' "$(url)?[1-$1]" | sort -u | xargs
}

# backend_column COLUMN: of the backend itself.
backend_column() {
	"$CTL" -S "$ADMIN" show stat app 2 -1 | column_of "$1"
}

# answers FD NAME: that server is there, and the connection is done with.
answers() {
	printf 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n' >&"$1"
	equal "who answers" "$2" "$(tail -n 1 <&"$1")"
	eval "exec $1>&-"
}

# A session of each; the descriptors are of_a and of_b.
connect_both() {
	connect
	of_a=$fd
	connect
	of_b=$fd
	sessions | head -n 1 | grep -q ' app/b ' || return 0
	of_a=$of_b of_b=$((fd - 1))
}

@test "lineup: a backup takes over when the primary dies, and hands back" {
	start_app a
	start_app b
	start_app c
	BACKEND="$(checked connect fall=1 rise=1)" web a 'b backup' 'c backup'
	equal "at first" a "$(names 20)"
	equal "a's act and bck" "1 0" "$(column a act) $(column a bck)"
	equal "b's act and bck" "0 1" "$(column b act) $(column b bck)"
	equal "act and bck" "1 2" "$(backend_column act) $(backend_column bck)"

	end a
	until_column 10 a status DOWN
	equal "without a" b "$(names 20)"
	equal "act and bck" "0 2" "$(backend_column act) $(backend_column bck)"
	equal "the backend" UP "$(backend_column status)"
	end b
	until_column 10 b status DOWN
	equal "without a and b" c "$(names 20)"

	restart_app a
	until_column 10 a status UP
	equal "at last" a "$(names 20)"
}

@test "lineup: all_backups balances them" {
	start_app a
	start_app b
	start_app c
	BACKEND="$(checked connect fall=1 rise=1)"$'\nall_backups = on' \
	    web a 'b backup weight=10' 'c backup weight=30'
	equal "at first" a "$(names 20)"
	end a
	until_column 10 a status DOWN
	equal "b and c" "10 b 30 c" "$(fetch -H 'Connection: close' \
	    "$(url)?[1-40]" | sort | uniq -c | xargs)"
	equal "their weight" 40 "$(backend_column weight)"
}

# bats test_tags=covered
@test "lineup: on_down = close ends the sessions of a server that goes down" {
	local of_a of_b

	health a b
	DEFAULTS='log_on_connect = on' \
	    BACKEND="$(checked connect fall=1 rise=1)"$'\non_down = close' \
	    web "a $(checked_at a)" "b $(checked_at b)"
	connect_both
	end ha
	reads_end "$of_a"
	wait_for 10 session_like ' app/a .* DD '
	wait_for 10 lfproxy_said '1 session of server app/a is closed: it is down'
	# The other one is as good as new.
	answers "$of_b" b
	# The server returns, with a session that stays open.
	restart_app ha
	until_column 10 a status UP
	equal "both" "a b" "$(names 10)"
	equal "killed" 1 "$(sessions | grep -c ' DD ')"
	# Nor when that is the other one's turn.
	connect
	connect
	end hb
	wait_for 10 session_like ' app/b .* DD '
	until_column 10 b scur 0
	equal "a's" 1 "$(column a scur)"
	equal "killed" 2 "$(sessions | grep -c ' DD ')"
}

# bats test_tags=slow
@test "lineup: on_down = close ends every session, whatever its state" {
	local i

	health a b
	BACKEND="$(checked connect fall=1 rise=1)"$'\non_down = close' \
	    web "a $(checked_at a)" "b $(checked_at b)"
	spawn hold "$ROOT/tests/behaviour/holdtool.py" \
	    "127.0.0.1:$(port web)" 4
	for i in 1 2 3 4 5; do
		wait_for 10 column_like a scur '^[1-9][0-9]'
		end ha
		until_column 10 a status DOWN
		until_column 10 a scur 0
		restart_app ha
		until_column 10 a status UP
	done
	signal hold TERM
}

# bats test_tags=covered
@test "lineup: on_down = keep leaves them" {
	health a b
	DEFAULTS='log_on_connect = on' BACKEND="$(checked connect fall=1 rise=1)" \
	    web "a $(checked_at a)" "b $(checked_at b) backup"
	connect
	end ha
	until_column 10 a status DOWN
	equal "new ones" b "$(names 3)"
	answers "$fd" a
}

# bats test_tags=covered
@test "lineup: on_down = close takes a session that is connecting to another server" {
	start_bad a full
	start_app ha
	start_app b
	DEFAULTS=$'timeout_connect = 100s\nlog_on_connect = on' \
	    BACKEND="$(checked connect fall=1)"$'\non_down = close' \
	    web "a $(checked_at a)" "b backup"
	dial
	wait_for 10 column_is a scur 1
	end ha
	wait_for 10 session_like ' app/b '
	answers "$fd" b
}

@test "lineup: on_up = close_backup ends the backup's sessions when another is back" {
	health a b
	DEFAULTS='log_on_connect = on' \
	    BACKEND="$(checked connect fall=1 rise=1)"$'\non_up = close_backup' \
	    web "a $(checked_at a)" "b $(checked_at b) backup"
	end ha
	until_column 10 a status DOWN
	connect
	wait_for 10 session_like ' app/b '
	restart_app ha
	reads_end "$fd"
	wait_for 10 session_like ' app/b .* UD '
	equal "new ones" a "$(names 3)"
}

@test "lineup: a server's own on_down and on_up go before the backend's" {
	local of_a of_b

	health a b c
	DEFAULTS='log_on_connect = on' \
	    BACKEND="$(checked connect fall=1 rise=1)"$'\non_up = close_backup' \
	    web "a $(checked_at a) on_down=close on_up=keep" \
	    "b $(checked_at b)" "c $(checked_at c) backup"
	connect_both
	end ha
	end hb
	reads_end "$of_a"
	wait_for 10 session_like ' app/a .* DD '
	until_column 10 b status DOWN
	connect
	wait_for 10 session_like ' app/c '
	restart_app ha
	until_column 10 a status UP
	equal "new ones" a "$(names 3)"
	answers "$of_b" b
	equal "the backup's" 1 "$(column c scur)"
	restart_app hb
	reads_end "$fd"
	wait_for 10 session_like ' app/c .* UD '
	sed -i 's/ on_down=close//' "$T/lfproxy.ini"
	run -0 "$CTL" -S "$ADMIN" reload
	[[ $output == *"server a: on_down: close -> (the backend's)"* ]]
}

@test "lineup: in a panic all servers are tried, and that is logged" {
	health a b c d
	BACKEND="$(checked connect fall=1 rise=1)"$'\npanic_percent = 50' \
	    web "a $(checked_at a)" "b $(checked_at b)" "c $(checked_at c)" \
	    "d $(checked_at d)"
	end ha
	end hb
	until_column 10 a status DOWN
	until_column 10 b status DOWN
	equal "half" "c d" "$(names 20)"
	equal "panic" 0 "$(backend_column lf_panic)"
	end hc
	until_column 10 c status DOWN
	equal "a quarter" "a b c d" "$(names 20)"
	equal "panic" 1 "$(backend_column lf_panic)"
	wait_for 10 lfproxy_said 'backend app is in a panic: fewer than 50 % .* all 4 are tried'
	end hd
	until_column 10 d status DOWN
	equal "none" "a b c d" "$(names 20)"
	wait_for 10 lfproxy_said 'has no usable server; its sessions are tried on servers'
	restart_app hb
	restart_app hd
	until_column 10 b status UP
	until_column 10 d status UP
	equal "half again" "b d" "$(names 20)"
	equal "panic" 0 "$(backend_column lf_panic)"
	wait_for 10 lfproxy_said 'backend app is not in a panic any more'
}

# bats test_tags=covered
@test "lineup: a drained server keeps its sessions, and a backup gets the new ones" {
	health a b
	DEFAULTS='log_on_connect = on' \
	    BACKEND="$(checked connect fall=1 rise=1)"$'\non_down = close' \
	    web 'a weight=1' 'b backup'
	connect
	sed -i 's/ weight=1/ weight=0/' "$T/lfproxy.ini"
	"$CTL" -S "$ADMIN" reload
	equal "new ones" b "$(names 3)"
	answers "$fd" a
}

# bats test_tags=covered
@test "lineup: a reload makes a backup of a server, and no backup of a backup" {
	start_app a
	start_app b
	web a 'b backup'
	equal "at first" a "$(names 10)"
	sed -i '/^server = a/s/$/ backup/; /^server = b/s/ backup//' \
	    "$T/lfproxy.ini"
	run -0 "$CTL" -S "$ADMIN" reload
	[[ $output == *"backend app: server a: backup: (no) -> on"* ]]
	[[ $output == *"backend app: server b: backup: on -> (no)"* ]]
	equal "afterwards" b "$(names 10)"
}

# bats test_tags=timing
@test "lineup: a slow start is linear within 5 percent" {
	start_app a
	start_app b
	BACKEND="$(checked connect fall=1 rise=1)"$'\nslow_start = 6s' web a b
	equal "at the start" "a b" "$(names 10)"
	equal "throttle at the start" "" "$(column b throttle)"
	tries 3 grows_linearly
}

# 5 percent of it are 300 ms, and a machine may stall for longer.
grows_linearly() {
	end b
	until_column 10 b status DOWN || return 2
	equal "throttle while down" "" "$(column b throttle)" || return 2
	spawn ramp "$RAMPTOOL" "$ADMIN" "127.0.0.1:$(port web)" b 6
	wait_for 10 has_line ramp ready || return 2
	restart_app b
	finish ramp 60 || { echo "$output"; return 1; }
	equal "weight afterwards" 100 "$(column b weight)" || return 2
}

# bats test_tags=covered
@test "lineup: a slow start throttles maxconn" {
	start_app a
	BACKEND="$(checked connect fall=1 rise=1)"$'\nslow_start = 1d' \
	    DEFAULTS=$'timeout_queue = 100s\nlog_on_connect = on' \
	    web 'a maxconn=100'
	end a
	until_column 10 a status DOWN
	restart_app a
	until_column 10 a status UP
	equal "throttle" 2 "$(column a throttle)"
	equal "weight and uweight" "2 100" \
	    "$(column a weight) $(column a uweight)"
	# A fiftieth of 100.
	spawn idle "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --count 5
	wait_for 10 eval '[ "$(backend_column qcur)" = 3 ]'
	equal "sessions" 2 "$(column a scur)"
}
