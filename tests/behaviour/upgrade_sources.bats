#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades: what sources have used of their limits counts in the other process.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load ctl
load upgrade

# begin_limited LINE...: lfproxy with further lines of its frontend.
begin_limited() {
	start_app a
	site >"$T/lfproxy.ini"
	for line; do
		sed -i "s|^\[frontend web\]|&\n$line|" "$T/lfproxy.ini"
	done
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
}

# value NAME [KEY]: of the entry.
value() {
	ctl show table web key "${2:-127.0.0.1}" |
	    sed -n "s/^0x.* $1=\([0-9]*\).*/\1/p"
}

value_is() {
	[ "$(value "$1" "${3:-127.0.0.1}")" = "$2" ]
}

# bats test_tags=covered
@test "upgrade: a source has no more connections than its rate allows" {
	begin_limited 'limit = rate=1/h burst=5'
	for _ in 1 2 3; do
		fetch "http://$PORT/" >/dev/null
	done
	wait_for 10 value_is tokens 2
	upgrade
	wait_for 10 value_is tokens 2
	value_is conn_cnt 3
	for _ in 1 2; do
		fetch "http://$PORT/" >/dev/null
	done
	# The sixth is refused, and again by the next process.
	run curl -s -m 10 "http://$PORT/"
	[ "$status" -ne 0 ]
	upgrade
	wait_for 10 value_is refused 1
	equal "connections" 5 "$(value conn_cnt)"
	run curl -s -m 10 "http://$PORT/"
	[ "$status" -ne 0 ]
	stop_newest
}

@test "upgrade: the bytes of sources go over, and a session counts once" {
	serve s "${UPGRADE_TOOL[@]}" server
	ADDRS[a]=$(addr s)
	site >"$T/lfproxy.ini"
	sed -i 's|^\[frontend web\]|&\nlimit = sessions=9 bytes=1G/h|' \
	    "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
	spawn c "${UPGRADE_TOOL[@]}" ask "$PORT" counted
	wait_for 10 has_line s 'got counted'
	ctl set table web key 192.0.2.7 data.bytes_in_cnt 12345
	ctl set table web key 192.0.2.7 data.conn_cnt 6
	upgrade
	[[ $UPGRADED == *" and 1 session" ]] || fail "$UPGRADED"
	wait_for 10 value_is bytes_in_cnt 12345 192.0.2.7
	equal "connections" 6 "$(value conn_cnt 192.0.2.7)"
	equal "connections and sessions" "1 1" "$(value conn_cnt) $(
		ctl show table web key 127.0.0.1 | sed -n 's/.*conn_cur=\([0-9]*\).*/\1/p')"
	signal s USR1
	finish c 30
	stop_newest
}

# begin_behind_proxy LINE: lfproxy with PROXY headers and a further line of its
# frontend; connections to it are made by hand.
begin_behind_proxy() {
	start_app a
	site | sed -e "s|^\[frontend web\]|&\n$1\ntimeout_hello = 10m|" \
	    -e 's/^listen = 127.*/& accept_proxy/' >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
}

# request CLIENT: on descriptor 7, with a header that names the client.
request() {
	printf 'PROXY TCP4 %s 192.0.2.1 1 2\r\nGET / HTTP/1.0\r\n\r\n' "$1" >&7
}

# Symptom: the proxy had a session too many in the table, for ever.
@test "upgrade: a client that a header has still to name counts once it has come" {
	begin_behind_proxy 'limit = sessions=9 rate=100/s'
	exec 7<>"/dev/tcp/127.0.0.1/${PORT##*:}"
	wait_for 10 in_state INSPECTING 1
	upgrade
	wait_for 10 ended "$FIRST"
	in_state INSPECTING 1
	equal "the table" "" "$(ctl show table web | grep -v '^#')"
	request 192.0.2.7
	[[ $(cat <&7) == *" 200 "* ]]
	exec 7>&-
	value_is conn_cnt 1 192.0.2.7
	equal "the proxy" "" "$(value conn_cnt)"
	stop_newest
}

# Symptom: such a client was reset.
@test "upgrade: a client that a header has named is delayed on, and served" {
	begin_behind_proxy 'limit = rate=20/m burst=1 action=delay'
	exec 7<>"/dev/tcp/127.0.0.1/${PORT##*:}"
	request 192.0.2.7
	[[ $(cat <&7) == *" 200 "* ]]
	exec 7<>"/dev/tcp/127.0.0.1/${PORT##*:}"
	request 192.0.2.7
	wait_for 10 in_state HELD 1
	upgrade
	wait_for 10 ended "$FIRST"
	equal "reset" 0 "$(of_info FormerSessionsReset)"
	[[ $(cat <&7) == *" 200 "* ]]
	exec 7>&-
	stop_newest
}

# fill_table N: so many sources, by commands.
fill_table() {
	python3 - "$ADMIN" "$1" <<-'END'
		import socket, sys
		for first in range(0, int(sys.argv[2]), 100):
		    s = socket.socket(socket.AF_UNIX)
		    s.connect(sys.argv[1])
		    s.sendall("; ".join(
		        f"set table web key 10.{n >> 16}.{n >> 8 & 255}.{n & 255} "
		        f"data.conn_cnt {n % 9 + 1}"
		        for n in range(first, first + 100)).encode() + b"\n")
		    s.shutdown(socket.SHUT_WR)
		    while s.recv(65536):
		        pass
	END
}

used() {
	ctl show table | sed -n 's/^# table: web, .*used:\([0-9]*\).*/\1/p'
}

used_is() {
	[ "$(used)" = "$1" ]
}

# bats test_tags=slow
@test "upgrade: 100 000 sources go over, and no more" {
	begin_limited 'limit = rate=1/h burst=5 size=200000'
	fill_table 101000
	used_is 101000
	upgrade
	wait_for 20 used_is 100000
	wait_for 10 ended "$FIRST"
	used_is 100000
	ctl show table web key 10.0.0.5 | grep -q 'conn_cnt=6 ' ||
	    fail "$(ctl show table web key 10.0.0.5)"
	# In this time the other process takes them in many turns.
	cpu=$(ctl show info | sed -n 's/^LoopMaxCpu_us: //p')
	[ "$cpu" -lt $((5000 * PATIENCE)) ] || fail "a turn took $cpu us"
	stop_newest
}
