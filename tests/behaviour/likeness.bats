#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The admin sockets beside Debian's HAProxy: the same lines, right and wrong,
# get the same answers.  The cases are in likeness/, likenesstool.py compares.

# bats file_tags=onethread

load helpers

twins_ready() {
	[ -S "$T/ha/user" ] && curl -s -o /dev/null -m 1 "http://127.0.0.1:$1/"
}

# twins: both in front of the same servers, with the same names, and with a
# socket for each level in $T/ha and $T/lf.
twins() {
	local nobody

	command -v haproxy >/dev/null || skip "no haproxy to compare with"
	start_app a
	start_app b
	start_app c
	nobody=$(free_port)
	mkdir "$T/ha" "$T/lf"
	cat >"$T/ha.in" <<-END
		global
		 nbthread 2
		 node edge-1
		 stats socket $T/ha/admin level admin
		 stats socket $T/ha/operator level operator
		 stats socket $T/ha/user level user
		 stats socket ipv4@127.0.0.1:$(free_port) level user
		defaults
		 mode tcp
		 timeout client 1m
		 timeout server 1m
		 timeout connect 5s
		frontend web
		 bind 127.0.0.1:@LISTEN@
		 default_backend app
		backend app
		 server a $(addr a)
		 server b $(addr b) weight 50
		backend other
		 server c $(addr c)
		backend checked
		 default-server check inter 100 fastinter 100 downinter 20s
		 server up $(addr a)
		 server down 127.0.0.1:$nobody
		${HA_MORE:-}
	END
	on_free_port haproxy twins_ready sh -c "
		sed 's/@LISTEN@/PORT/' '$T/ha.in' >'$T/ha.cfg'
		exec haproxy -db -q -f '$T/ha.cfg'"
	cat >"$T/lfproxy.ini" <<-END
		[global]
		log = stderr
		drain_timeout = 1s
		node = edge-1
		admin = $T/lf/admin level=admin
		admin = $T/lf/operator level=operator
		admin = $T/lf/user level=user
		admin = 127.0.0.1:0
		[pool main]
		threads = 2
		[defaults]
		check = off
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		balance = roundrobin
		server = a $(addr a) weight=1
		server = b $(addr b) weight=50
		[backend other]
		balance = roundrobin
		server = c $(addr c) weight=1
		[backend checked]
		balance = roundrobin
		check = connect interval=100ms
		server = up $(addr a) weight=1
		server = down 127.0.0.1:$nobody weight=1
		${LF_MORE:-}
	END
	launch_lfproxy -c "$T/lfproxy.ini"
	# HAProxy has had a session and the next tick of the rates, too.
	fetch "$(url)" >/dev/null
	wait_for 10 is_checked "$T/ha/admin"
	wait_for 10 is_checked "$T/lf/admin"
	wait_for 10 rates_are_back "$T/ha/admin"
	wait_for 10 rates_are_back "$T/lf/admin"
}

is_checked() {
	[ "$(printf 'show stat checked 4 -1\n' |
	    socat -t 60 - "UNIX-CONNECT:$1" |
	    awk -F, 'NR > 1 { print $18 $37 }' | xargs)" = "UPL4OK DOWNL4CON" ]
}

rates_are_back() {
	[ "$(printf 'show stat -1 7 -1\n' | socat -t 60 - "UNIX-CONNECT:$1" |
	    awk -F, '$56 ~ /^[0-9]/ && $34 == 0 && $5 == 0' | wc -l)" -eq 2 ]
}

# alike CASES: each case of likeness/CASES.cases.
alike() {
	run python3 "$ROOT/tests/behaviour/likenesstool.py" "$T/ha" "$T/lf" \
	    "$ROOT/tests/behaviour/likeness/$1.cases"
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "likeness: the wire and the commands about the connection" {
	twins
	alike cli
}

@test "likeness: the commands that show" {
	twins
	alike show
}

@test "likeness: the commands that change servers, frontends and sessions" {
	local agent

	# No check that fails is to make a difference.  HAProxy starts all
	# checks within the longest interval of one.
	start_app d
	agent=$(free_port)
	HA_MORE="backend chk
 server d $(addr d) check inter 1s fall 100 agent-check agent-port $agent agent-inter 1s"
	LF_MORE="[backend chk]
balance = roundrobin
check = connect interval=1s fall=100
server = d $(addr d) weight=1 agent=on agent_port=$agent agent_interval=1s"
	twins
	alike servers
}

@test "likeness: servers that are added and deleted" {
	twins
	alike dynamic
}

@test "likeness: versions of address lists" {
	echo 10.0.0.0/8 >"$T/office.list"
	HA_MORE="frontend listed
 bind 127.0.0.1:$(free_port)
 tcp-request connection reject if { src -f $T/office.list }
 default_backend other"
	LF_MORE="[list office]
file = $T/office.list
[frontend listed]
listen = 127.0.0.1:0
deny = list:office
backend = other"
	twins
	alike lists
}

@test "likeness: the tables of sources" {
	HA_MORE="frontend limited
 bind unix@$T/ha/limited
 stick-table type ip size 100 expire 1h store conn_cnt,conn_cur,bytes_in_cnt,bytes_out_cnt
 tcp-request connection track-sc0 src
 default_backend app"
	LF_MORE="[frontend limited]
listen = unix:$T/lf/limited
limit = sessions=10 bytes=1GiB/h prefix6=128 size=100
backend = app"
	twins
	alike tables
}
