#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Frontends that the file disables, ranges of ports, and servers that have no port
# of their own.

# bats file_tags=onethread

load helpers
load operator

# front LINE...: lfproxy with a frontend `web` that has these lines, and the
# server a.
front() {
	{
		common
		printf '[frontend web]\n'
		printf '%s\n' "$@" 'backend = app'
		printf '[backend app]\ncheck = off\nserver = a %s\n' "$(addr a)"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# status_of_web TEXT
status_of_web() {
	equal "the frontend's status" "$1" "$(ctl show stat |
	    awk -F, '$1 == "web" && $2 == "FRONTEND" { print $18 }')"
}

# is_refused PORT: nobody listens there.
is_refused() {
	run -7 curl -sS -m 60 "http://127.0.0.1:$1/"
}

# answered PORT: by the server a.
answered() {
	equal "the answer at port $1" a "$(fetch "http://127.0.0.1:$1/")"
}

# set_line KEY VALUE: of the configuration, and reload; the answer is in
# $output.
set_line() {
	sed -i "s/^$1 = .*/$1 = $2/" "$T/lfproxy.ini"
	run -0 ctl reload
}

# bats test_tags=covered
@test "words: a disabled frontend refuses clients until it is enabled" {
	local port

	start_app a
	port=$(free_port)
	front "listen = 127.0.0.1:$port" "disabled = on"
	lfproxy_said "disabled, not listening on 127.0.0.1:$port \(frontend web\)"
	status_of_web PAUSED
	is_refused "$port"
	run -0 ctl explain 127.0.0.1 web
	[[ $output == *'frontend is disabled'* ]]
	done_ enable frontend web
	status_of_web OPEN
	answered "$port"
}

# bats test_tags=covered
@test "words: what enable frontend has set holds until disabled changes" {
	local port

	start_app a
	port=$(free_port)
	front "listen = 127.0.0.1:$port" "disabled = on"
	done_ enable frontend web
	set_line threads 3
	answered "$port"
	set_line disabled off
	[[ $output == *'frontend web: disabled: on -> off'* ]]
	answered "$port"
	set_line disabled on
	status_of_web PAUSED
	is_refused "$port"
	done_ shutdown frontend web
	set_line threads 2
	status_of_web PAUSED
	set_line disabled off
	answered "$port"
	done_ disable frontend web
	set_line threads 3
	is_refused "$port"
}

# bats test_tags=covered
@test "words: an address that a disabled frontend gets is not open" {
	local ports

	start_app a
	ports=("$(free_port)" "$(free_port)")
	front "listen = 127.0.0.1:${ports[0]}" "disabled = on"
	set_line listen "127.0.0.1:${ports[1]}"
	is_refused "${ports[0]}"
	is_refused "${ports[1]}"
	done_ enable frontend web
	answered "${ports[1]}"
}

# -- ranges of ports --

# in_ns COMMAND...: in a network of its own, where all ports are free.
in_ns() {
	# shellcheck disable=SC2086
	${NS[ports]} "$@"
}

# front_in_ns LINE...: as front, in a network of its own; the server answers
# there, too.
front_in_ns() {
	netns ports
	# shellcheck disable=SC2086
	serve a ${NS[ports]} "$TOOLS/appserver" --name a \
	    --listen 127.0.0.1:0 --deadline 600
	LIMIT=${NS[ports]} front "$@"
}

# asked PORT...: their answers.
asked() {
	for port in "$@"; do
		in_ns curl -sS -m 60 "http://127.0.0.1:$port/" 2>&1 |
		    sed 's/.*Connection refused.*/refused/; s/.*Failed to connect.*/refused/'
	done | xargs
}

# bats test_tags=covered
@test "words: a range of ports is one line everywhere, and each port answers" {
	front_in_ns 'listen = 127.0.0.1:8000-8009 backlog=99' \
	    'listen = 127.0.0.1:9000'
	equal "the answers" "a a a refused a" "$(asked 8000 8005 8009 8010 9000)"
	lfproxy_said 'listening on 127.0.0.1:8000-8009 \(frontend web\)'
	equal "lines" 2 "$(grep -c 'listening on .*frontend' "$LFPROXY_LOG")"
	run -0 "$LFPROXY" -T -c "$T/lfproxy.ini"
	[[ $output == *$'\nlisten = 127.0.0.1:8000-8009 backlog=99\nlisten = 127.0.0.1:9000\n'* ]]
}

# Those who are connected to a port that stays notice nothing.
@test "words: a reload opens and closes single ports of a range" {
	front_in_ns 'listen = 127.0.0.1:8000-8009' 'listen = 127.0.0.1:9000'
	set_line threads 3
	refute grep -q 'no longer listening' "$LFPROXY_LOG"
	sed -i 's/8000-8009$/8004-8014/' "$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *'frontend web: listen: 127.0.0.1:8000-8003 is removed'* ]]
	[[ $output == *'frontend web: listen: 127.0.0.1:8010-8014 is new'* ]]
	equal "the answers" "refused a a a a refused" \
	    "$(asked 8003 8004 8009 8010 8014 8015)"
	lfproxy_said 'no longer listening on 127.0.0.1:8000-8003 \(frontend web\)'
	lfproxy_said 'listening on 127.0.0.1:8010-8014 \(frontend web\)'
	sed -i 's/8004-8014$/8004-8014 backlog=77/' "$T/lfproxy.ini"
	run -0 ctl reload
	equal "sentences about backlog" 1 "$(grep -c backlog <<<"$output")"
	equal "sockets with that backlog" 11 \
	    "$(in_ns ss -Hltn | awk '$3 == 77' | wc -l)"
}

# bats test_tags=covered
@test "words: a disabled range is closed, and opens" {
	front_in_ns 'listen = 127.0.0.1:8000-8002' 'disabled = on'
	lfproxy_said 'disabled, not listening on 127.0.0.1:8000-8002'
	equal "the answers" "refused refused" "$(asked 8000 8002)"
	done_ enable frontend web
	equal "the answers" "a a" "$(asked 8000 8002)"
}

# bats test_tags=covered
@test "words: a range that is wrong, or overlaps, is one error with its line" {
	start_app a
	{
		printf '[frontend web]\nbackend = app\n'
		printf 'listen = %s\n' :8000-8009 127.0.0.1:8009-8000 \
		    0.0.0.0:0-5 :70000-70001 'unix:/tmp/a-b' :8005-8020
		printf '[backend app]\nserver = a %s\n' "$(addr a)"
	} >"$T/lfproxy.ini"
	run -78 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *"lfproxy.ini:4: listen: '8009-8000' is not a range of ports; write LOW-HIGH, from 1 to 65535, as in :8000-8099"* ]]
	[[ $output == *"lfproxy.ini:5: listen: '0-5' is not"* ]]
	[[ $output == *"lfproxy.ini:6: listen: '70000-70001' is not"* ]]
	sed -i '4,7d' "$T/lfproxy.ini"
	run -78 "$LFPROXY" -t -c "$T/lfproxy.ini"
	equal "errors" 1 "$(grep -c 'lfproxy.ini:4: listen' <<<"$output")"
	[[ $output == *"':8005-8020' is listened on already"* ]]
}

# -- servers without a port --

# mapped SERVER [LISTEN...]: in a network of its own, lfproxy at these addresses
# in front of the server, whose options follow its address; applications a and b
# answer at the ports 9001 and 9002 of 127.0.0.1.
mapped() {
	local server=$1 name

	shift
	netns ports
	for name in a:9001 b:9002; do
		# shellcheck disable=SC2086
		serve "${name%:*}" ${NS[ports]} "$TOOLS/appserver" --deadline 600 \
		    --name "${name%:*}" --listen "127.0.0.1:${name#*:}"
	done
	{
		FORMAT=json common
		printf '[frontend web]\n'
		printf 'listen = %s\n' "${@:-127.0.0.2:9000-9009}"
		printf 'backend = app\n'
		printf '[backend app]\nretries = 0\nserver = s %s\n' "$server"
	} >"$T/lfproxy.ini"
	LIMIT=${NS[ports]} launch_lfproxy -c "$T/lfproxy.ini"
}

# got ADDRESS: the answer there, or nothing.
got() {
	in_ns curl -s -m 60 "http://$1/" || :
}

# logged_at ADDRESS: the last session went to the server's address.
logged_at() {
	wait_for 10 has_match "\"server_address\": ?\"$1\"" "$LFPROXY_LOG"
}

@test "words: a server without a port gets that of the client's connection" {
	mapped '127.0.0.1 check=off'
	equal "at 9001" a "$(got 127.0.0.2:9001)"
	logged_at 127.0.0.1:9001
	equal "at 9002" b "$(got 127.0.0.2:9002)"
	logged_at 127.0.0.1:9002
	equal "at 9003" "" "$(got 127.0.0.2:9003)"
	equal "addr of show stat" 127.0.0.1 "$(column addr s)"
	run -0 ctl explain 127.0.0.1 web to 127.0.0.2:9001
	[[ $output == *' 127.0.0.1:9001'* ]]
	run -0 "$LFPROXY" -T -c "$T/lfproxy.ini"
	[[ $output == *$'\nserver = s 127.0.0.1 weight=100 maxconn=0 check=off'* ]]
}

@test "words: a server's port is the client's, with a difference" {
	mapped '127.0.0.1:-7000 check=off' 127.0.0.2:16001-16003 127.0.0.2:7000
	lfproxy_said "warning: server: '127.0.0.1:-7000' takes the client's port, and for port 7000 of \[frontend web\] that would be 0"
	equal "at 16001" a "$(got 127.0.0.2:16001)"
	equal "at 16002" b "$(got 127.0.0.2:16002)"
	equal "at 7000" "" "$(got 127.0.0.2:7000)"
	lfproxy_said 'the server has no port'
	equal "addr of show stat" 127.0.0.1:-7000 "$(column addr s)"
	sed -i 's/:-7000/:-7001/' "$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *'server s: 127.0.0.1:-7000 -> 127.0.0.1:-7001, another server'* ]]
	equal "at 16002" a "$(got 127.0.0.2:16002)"
}

@test "words: the port in a PROXY header is the client's" {
	mapped '127.0.0.1 check=off' '127.0.0.2:80 accept_proxy'
	run -0 in_ns python3 -B -c '
import socket
s = socket.create_connection(("127.0.0.2", 80))
s.sendall(b"PROXY TCP4 10.0.0.1 10.0.0.2 1234 9002\r\nGET / HTTP/1.0\r\n\r\n")
data = b""
while chunk := s.recv(4096):
    data += chunk
print(data.decode().split("\r\n")[-1])'
	[[ $output == b* ]]
	logged_at 127.0.0.1:9002
}

# The name is in /etc/hosts.
@test "words: a server with a name and no port gets the client's" {
	mapped 'localhost check=off source=127.0.0.1'
	equal "at 9002" b "$(got 127.0.0.2:9002)"
	logged_at 127.0.0.1:9002
	equal "addr of show stat" 127.0.0.1 "$(column addr s)"
}

@test "words: set server addr gives a port and takes it back" {
	mapped '127.0.0.1 check=off'
	run -0 ctl set server app/s addr 127.0.0.1 port 9002
	[[ $output == *"port changed from '+0' to '9002'"* ]]
	equal "at 9001" b "$(got 127.0.0.2:9001)"
	run -0 ctl set server app/s addr 127.0.0.1 port +0
	[[ $output == *"port changed from '9002' to '+0'"* ]]
	equal "at 9001" a "$(got 127.0.0.2:9001)"
	refused_with "can't change <port> to port map" \
	    set server app/s addr 127.0.0.1 port +5
	run -0 ctl set server app/s addr 127.0.0.3
	equal "at 9001" "" "$(got 127.0.0.2:9001)"
	logged_at 127.0.0.3:9001
	run -0 ctl set server app/s addr 127.0.0.1 port 9002 for 10m
	equal "at 9001" b "$(got 127.0.0.2:9001)"
}

# bats test_tags=covered
@test "words: a server without a port is checked at check_port" {
	mapped '127.0.0.1 check_port=9001 check_interval=20ms'
	wait_for 10 is check_status s L4OK
	equal "at 9002" b "$(got 127.0.0.2:9002)"
	sed -i 's/ check_port=9001//' "$T/lfproxy.ini"
	run -78 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *"lfproxy.ini:"*": server: '127.0.0.1' has no port, so its check has no port either; write check_port=PORT, check=off, or the server's own port as 127.0.0.1:PORT"* ]]
	sed -i 's/^server = .*/server = s 127.0.0.1:+70000 check=off/' \
	    "$T/lfproxy.ini"
	run -78 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *"'+70000' is not a difference of ports"* ]]
}
