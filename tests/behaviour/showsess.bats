#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `show sess`: what its fields say, in the text and in JSON.

# bats file_tags=onethread

load helpers

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = stderr
		drain_timeout = 1s
		admin = $ADMIN mode=0600
	END
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# one FIELD...: of the only session.
one() {
	ctl show sess json | python3 -c 'import json, sys
print(*[session[name] for session in json.load(sys.stdin)
        for name in sys.argv[1:]])' "$@"
}

state_is() {
	[ "$(one state)" = "$1" ]
}

# hold: a client that sends a request and stays.
hold() {
	spawn held timeout 60 python3 -c "import socket, time
s = socket.create_connection(('127.0.0.1', $(port web)))
s.sendall(b'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
time.sleep(60)"
}

has_answer() {
	[ "$(one bytes_out | grep -c '^[1-9]')" -eq 1 ]
}

# bats test_tags=covered
@test "show sess: bytes of either side, of a session that has had an answer" {
	local id

	start_app a
	web a
	hold
	wait_for 10 has_answer
	id=$(one id)
	read -r in out <<<"$(one bytes_in bytes_out)"
	[ "$in" -ne "$out" ]
	[[ "$(ctl show sess "$id")" == *"
  req= (total=$in)
  res= (total=$out)" ]]
	equal "its slot" "$((id & 0xffffffff))" \
	    "$(($(ctl show sess "$id" | sed -nE 's/.* id=([0-9]+) .*/\1/p') + 1))"
	[[ "$(ctl show sess)" == "$id: proto=tcpv4 src=127.0.0.1:$(one client_port)\
 fe=web be=app srv=a ts=00 "*" rc=0 c_exp= in=$in out=$out" ]]
	run -1 ctl show sess 0x1234567800000001
	equal "of one that is not there" "Session not found." "$output"
}

# named FIELDS [ARGUMENT...]: of each session, a line each.
named() {
	ctl show sess "${@:2}" json | python3 -c 'import json, sys
for session in json.load(sys.stdin):
    print(*[session[field] for field in sys.argv[1].split(",")])' "$1"
}

has_sessions() {
	[ "$(named id "${@:2}" | wc -l)" -eq "$1" ]
}

# Each client sends 1000 bytes for each number of its address in 127.0.0.0/8.
@test "show sess: by client, by bytes, and the largest or the oldest first" {
	start_bad silent silent
	web silent
	spawn held timeout 60 python3 -c "import socket, time
held = []
for number in (2, 4, 3):
    s = socket.create_connection(('127.0.0.1', $(port web)),
                                 source_address=('127.0.0.%d' % number, 0))
    s.sendall(bytes(1000 * number))
    held.append(s)
time.sleep(60)"
	wait_for 10 has_sessions 3 min-bytes 2000
	wait_for 10 has_sessions 1 min-bytes 4000
	wait_for 10 has_sessions 2 min-bytes 3000
	equal "by bytes" "127.0.0.4 127.0.0.3 127.0.0.2" \
	    "$(named client sort bytes | xargs)"
	equal "by bytes of the other direction" "0 0 0" \
	    "$(named bytes_out sort bytes-out | xargs)"
	equal "by age" "127.0.0.2 127.0.0.4 127.0.0.3" \
	    "$(named client sort duration | xargs)"
	equal "of a client" "3000" "$(named bytes_in client 127.0.0.3)"
	equal "of a range" "127.0.0.3 127.0.0.2" \
	    "$(named client client 127.0.0.2/31 sort bytes-in | xargs)"
	equal "of both" "" "$(named client client 127.0.0.2/31 min-bytes 3001)"
	equal "detailed" 3 "$(ctl show sess all sort bytes | grep -c '  req= ')"
	run -1 ctl show sess sort nothing
	[[ $output == "Sessions cannot be sorted by 'nothing'; the keys are "* ]]
	run -1 ctl show sess client 127.0.0.3/8
	[[ $output == "client: "* ]] || fail "$output"
	run -1 ctl show sess min-bytes many
	[[ $output == "min-bytes: "* ]] || fail "$output"
	run -1 ctl show sess cause SC
	[[ $output == "Unexpected argument 'cause'"* ]]
}

# bats test_tags=covered
@test "show sess: a session that waits for a server" {
	start_app a
	BACKEND=$'check = off\ntimeout_queue = 1m' web a
	ctl disable server app/a
	hold
	wait_for 10 state_is QUEUED
	[[ "$(ctl show sess)" == *" srv=<none> "*" scb=[2,1h,fd=-1] "*" c_exp= in="*" out=0" ]]
	equal "in JSON" "None -1" "$(one server server_fd)"
	run -0 ctl show sess all
	[[ $output == *" waiting=1 "*"
  server=<NONE> (id=-1)
  task=QUEUED "*"
  scb= state=QUE fd=-1"* ]]
}

@test "show sess: a session that is being connected, and one that is tried again" {
	start_bad full full
	DEFAULTS=$'timeout_connect = 119s\nretries = 0' web full
	hold
	wait_for 10 state_is CONNECTING
	[[ "$(ctl show sess)" =~ \ scb=\[5,1h,fd=[0-9]+\]\ exp=1m[0-9]+s\ rc=0\ c_exp=1m[0-9]+s\ in=0\ out=0$ ]]
	[[ "$(ctl show sess all)" == *" conn_exp=1m"*" state=CON fd="* ]]
	ctl shutdown sessions server app/full
}

# The text, between two looks at the number.
looks_within_a_second() {
	before=$(one expires_ms)
	text=$(ctl show sess | sed -nE 's/.* exp=([^ ]*) .*/\1/p')
	after=$(one expires_ms)
	[ $((before / 1000)) -eq $((after / 1000)) ]
}

# bats test_tags=covered
@test "show sess: times have their two largest units" {
	start_app a
	for times in '119s ^1m[345][0-9]s$ 90000' '2h ^1h59m$ 7160000' \
	    '3d ^2d23h$ 259160000' '50s ^([234][0-9]|50)s$ 20000'; do
		read -r timeout regex ms <<<"$times"
		DEFAULTS="timeout_client = $timeout
timeout_server = $timeout" web a
		hold
		wait_for 10 has_answer
		wait_for 10 looks_within_a_second
		[[ $text =~ $regex ]] || fail "$timeout: $text"
		[ "$after" -gt "$ms" ]
		[[ ! $text =~ ^1m(.*)s$ ]] || equal "the seconds of $text" \
		    $((after / 1000 - 60)) "${BASH_REMATCH[1]}"
		end held KILL
		stop_lfproxy
	done
}
