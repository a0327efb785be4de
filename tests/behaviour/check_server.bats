#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Checks of single servers: their own settings, headers of the PROXY protocol,
# and servers whose health is another's.

# bats file_tags=onethread

load helpers
load checks

reload() {
	"$CTL" -S "$ADMIN" reload
}

# tells NAME COMMAND: a server that runs it for each connection; what it is told
# first, at most 64 bytes in hexadecimal, is in $T/NAME.told, a line each.
tells() {
	cat >"$T/$1.sh" <<-END
		#!/bin/sh
		timeout 1 dd bs=64 count=1 status=none 2>/dev/null |
		    od -An -tx1 -v | tr -d ' \\n' >>'$T/$1.told'
		echo >>'$T/$1.told'
		$2
	END
	chmod +x "$T/$1.sh"
	start_script "$1" "$T/$1.sh"
}

# `PROXY TCP4 127.0.0.1 127.0.0.1 `, two ports, and the end of the line.
V1=$(printf 'PROXY TCP4 127.0.0.1 127.0.0.1 ' | od -An -tx1 -v | tr -d ' \n')
V1="$V1(3[0-9])+20(3[0-9])+0d0a"
V2=0d0a0d0a000d0a515549540a20000000

# told NAME HEX: the server has received just that, or that first.
told() {
	wait_for 10 grep -qE "$2" "$T/$1.told" ||
	    fail "it was told $(cat "$T/$1.told")"
}

# bats test_tags=covered
@test "check: fall, rise, interval and timeout of one server" {
	start_app a
	start_app b
	start_bad c silent
	BACKEND="check = http path=/healthz interval=100ms fall=1000 timeout=20s" \
	    web "a check_fall=2 check_rise=1" b \
	    "c check_timeout=$((100 * PATIENCE))ms check_fall=1"
	until_check a L7OK 200
	until_check b L7OK 200
	until_failed c L7TOUT
	equal "a's fall" 2 "$(column a check_fall)"
	equal "b's fall" 1000 "$(column b check_fall)"
	equal "a's rise" 1 "$(column a check_rise)"
	end a
	end b
	until_column 10 a status DOWN
	equal "a's failures" 2 "$(column a chkfail)"
	wait_for 10 column_like b status '^UP [0-9]+/1000$'
}

# bats test_tags=covered
@test "check: a server may be unchecked, start down, or be checked elsewhere" {
	start_app a
	start_bad b refuse
	start_bad c refuse
	start_app probe
	BACKEND="check = connect interval=100ms fall=1 timeout=5s rise=5" \
	    web a "b check=off" \
	    "c check_addr=127.0.0.1 check_port=$(addr probe | sed 's/.*://')"
	sed -i '/server = c/a server = d 127.0.0.1:1 check_init_state=down' \
	    "$T/lfproxy.ini"
	reload
	until_check a L4OK
	until_check c L4OK
	equal "b's status" "no check" "$(column b status)"
	equal "b's check" "" "$(column b check_status)"
	until_check d L4CON
	equal "d's status" DOWN "$(column d status)"
	equal "d's times down" 0 "$(column d chkdown)"
}

# bats test_tags=covered
@test "check: another address than the server's" {
	local port

	start_app a
	port=$(addr a | sed 's/.*://')
	# No socket listens on this port of the other address.
	BACKEND="$(checked connect fall=1 rise=1 addr=127.0.0.2)" web a
	until_column 10 a status DOWN
	LISTEN=127.0.0.2:$port start_app other
	until_column 10 a status UP
	equal "who answers" a "$(fetch "$(url)")"
}

# bats test_tags=covered
@test "check: a reload with another place and other numbers" {
	start_app a
	start_app b
	BACKEND="check = connect interval=50ms fall=1 timeout=5s rise=1" web a
	until_check a L4OK
	sed -i "/server = a/s/\$/ check_port=$(addr b | sed 's/.*://') check_interval=1h/" \
	    "$T/lfproxy.ini"
	run -0 reload
	[[ $output == *"server a: check_port: (the check's) -> "* ]]
	end b
	# At the new place, at once.
	sed -i 's/check_interval=1h/check_interval=60ms/' "$T/lfproxy.ini"
	reload
	until_column 10 a status DOWN
	sed -i 's/ check_port=.*//' "$T/lfproxy.ini"
	reload
	until_column 10 a status UP
}

@test "check: the agent of one server, and of none" {
	start_app a
	start_app b
	cat >"$T/agent.sh" <<-'END'
		#!/bin/sh
		read -r x
		echo "weight:${#x}"
	END
	chmod +x "$T/agent.sh"
	start_script agent "$T/agent.sh"
	BACKEND="check = off" web "a agent=on agent_addr=127.0.0.1 \
agent_port=$(addr agent | sed 's/.*://') agent_interval=50ms agent_send=12345\\n" b
	until_column 10 a weight 5
	equal "b's agent" "" "$(column b agent_status)"
	equal "b's weight" 100 "$(column b weight)"
}

# bats test_tags=covered
@test "check: the PROXY header of version 1 and 2, before what follows" {
	tells a 'printf "+PONG\r\n"'
	tells b 'printf "+PONG\r\n"'
	tells c 'printf "+PONG\r\n"'
	BACKEND="$(checked redis fall=1 send_proxy=v2)" \
	    web a "b check_send_proxy=v1" "c check_send_proxy=off"
	until_check a L7OK
	until_check b L7OK
	until_check c L7OK
	told a "^$V2(2a31)?"
	told b "^$V1(2a31)?"
	told c "^2a31"
}

# bats test_tags=covered
@test "check: the PROXY header of a check without words" {
	tells a true
	BACKEND="$(checked connect send_proxy=v2)" web a
	until_check a L4OK
	told a "^$V2\$"
}

# nginx that takes nothing without a header of the protocol.
nginx_ready() {
	curl -s -o /dev/null -m 2 --haproxy-protocol "http://127.0.0.1:$1/"
}

nginx_tls_ready() {
	curl -sk -o /dev/null -m 2 --haproxy-protocol "https://127.0.0.1:$1/"
}

# bats test_tags=covered
@test "check: http and https with a PROXY header, against nginx" {
	make_ca ca
	make_cert good ca IP:127.0.0.1
	start_nginx_tls good proxy_protocol
	sed -i 's/@LISTEN@;/@LISTEN@ proxy_protocol;/' "$T/nginx.in"
	start_nginx
	BACKEND="$(checked "http path=/index.html send_proxy=v1 fall=1 rise=1")" \
	    web nginx
	until_check nginx L7OK 200
	sed -i 's/send_proxy=v1/send_proxy=v2/' "$T/lfproxy.ini"
	run -0 reload
	[[ $output == *send_proxy=v2* ]]
	until_check nginx L7OK 200
	sed -i 's/send_proxy=v2/send_proxy=off/' "$T/lfproxy.ini"
	reload
	until_column 10 nginx status DOWN
	stop_lfproxy
	BACKEND="$(checked "https ca=$T/ca.pem send_proxy=v2 path=/index.html \
fall=1")" web tls
	until_check tls L7OK 200
	sed -i 's/send_proxy=v2/send_proxy=off/' "$T/lfproxy.ini"
	reload
	until_failed tls L6RSP
}

@test "check: with a PROXY header, also refused, unanswered and unconnected" {
	start_bad a refuse
	start_bad b silent
	start_bad c full
	BACKEND="$(impatient "http send_proxy=v2 fall=1")" web a b c
	until_failed a L4CON
	until_failed b L7TOUT
	until_failed c L4TOUT
}

# tracking: backend `app` has a and b; `other`, with the servers of the same
# addresses, follows it.
tracking() {
	start_app a
	start_app b
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = other\n'
		printf '[backend app]\ncheck = connect interval=100ms fall=2 rise=1\n'
		printf 'server = a %s\nserver = b %s\n' "$(addr a)" "$(addr b)"
		printf '[backend other]\ncheck = off\n'
		printf 'server = x %s track=app/a\nserver = y %s track=app/b\n' \
		    "$(addr a)" "$(addr b)"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	until_column 10 a check_status L4OK
}

other() {
	"$CTL" -S "$ADMIN" show stat other 4 -1 | python3 -c '
import csv, sys
rows = csv.DictReader(sys.stdin)
print([r[sys.argv[2]] for r in rows if r["svname"] == sys.argv[1]][0])
' "$1" "$2"
}

other_is() {
	[ "$(other "$1" "$2")" = "$3" ]
}

# bats test_tags=covered
@test "track: goes down and up with the other server" {
	tracking
	equal "whom it tracks" app/a "$(other x tracked)"
	equal "its status" UP "$(other x status)"
	equal "its check" "" "$(other x check_status)"
	end a
	until_column 10 a status DOWN
	equal "its status" DOWN "$(other x status)"
	equal "y's status" UP "$(other y status)"
	wait_for 10 lfproxy_said 'server other/x is down: it tracks app/a; 1 of 2 servers'
	for _ in 1 2 3; do
		equal "who answers" b "$(fetch "$(url)")"
	done
	restart_app a
	until_column 10 a status UP
	equal "its status" UP "$(other x status)"
	wait_for 10 lfproxy_said 'server other/x is up: it tracks app/a; 2 of 2 servers'
	equal "who answers" "a b" \
	    "$(for _ in 1 2; do fetch "$(url)"; done | sort | xargs)"
}

# bats test_tags=covered
@test "track: a server keeps following after a reload, and follows another" {
	tracking
	end a
	until_column 10 a status DOWN
	sed -i 's/fall=2/fall=3/' "$T/lfproxy.ini"
	reload
	equal "its status" DOWN "$(other x status)"
	restart_app a
	wait_for 10 other_is x status UP
	# Now y follows a, too.
	sed -i 's|track=app/b|track=app/a|' "$T/lfproxy.ini"
	reload
	equal "whom it tracks" app/a "$(other y tracked)"
	end a
	wait_for 10 other_is y status DOWN
	equal "x's status" DOWN "$(other x status)"
	# Then it tracks no server: without a check of its own it is up.
	sed -i 's| track=app/a||' "$T/lfproxy.ini"
	reload
	equal "x's status" "no check" "$(other x status)"
	equal "whom it tracks" "" "$(other x tracked)"
	equal "who answers" b "$(fetch "$(url)")"
	# A server that is down is tracked from the start.
	sed -i "/server = x/s|\$| track=app/a|" "$T/lfproxy.ini"
	reload
	equal "x's status" DOWN "$(other x status)"
}

# bats test_tags=covered
@test "track: the agent's words hold for the tracker as well" {
	printf '#!/bin/sh\nexec cat %s\n' "$T/answer" >"$T/agent.sh"
	chmod +x "$T/agent.sh"
	echo 'ready' >"$T/answer"
	start_script agent "$T/agent.sh"
	tracking
	sed -i "/server = a/s/\$/ agent=on agent_interval=50ms agent_port=$(addr agent |
	    sed 's/.*://')/" "$T/lfproxy.ini"
	reload
	echo 'maint' >"$T/answer"
	wait_for 10 other_is x status 'MAINT (via app/a)'
	equal "a's status" MAINT "$(column a status)"
	equal "who answers" b "$(fetch "$(url)")"
	echo 'drain' >"$T/answer"
	wait_for 10 other_is x status 'DRAIN (agent)'
	equal "who answers" b "$(fetch "$(url)")"
	echo 'ready down' >"$T/answer"
	wait_for 10 other_is x status 'DOWN (agent)'
	echo 'up' >"$T/answer"
	wait_for 10 other_is x status UP
}

# bats test_tags=covered
@test "track: chains and circles are refused, also by a reload" {
	tracking
	sed -i 's|server = b.*|& track=other/y|' "$T/lfproxy.ini"
	run reload
	[[ $output == *"Nothing was changed:"* ]]
	[[ $output == *"server: track: app/b tracks other/y itself"* ]]
	equal "its status" UP "$(other y status)"
	sed -i 's| track=other/y||; s|track=app/b|track=x|' "$T/lfproxy.ini"
	run reload
	[[ $output == *"server: track: other/x tracks app/a itself; name a server"* ]]
	run "$LFPROXY" -t -c "$T/lfproxy.ini"
	equal "the exit code" 78 "$status"
}
