#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `show top clients`: who has the most bytes, sessions and errors.

load helpers
load stat

# start_talkers FRONTEND_LINES [LISTEN_WORDS]
start_talkers() {
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0 %s\n' "${2:-}"
		printf 'backend = app\n%s\n' "$1"
		printf '[backend app]\ncheck = off\nserver = s %s\n' "$(addr s)"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# from ADDRESS CONNECTIONS DOWN
from() {
	streams "$(listening web)" --bind "$1:0" --connections "$2" --up 7 \
	    --down "$3"
	[[ $output == *"ok=$2 "*"failed=0 "* ]] || fail "$output"
}

# refused_from ADDRESS: a connection that gets no byte.
refused_from() {
	python3 - "$(listening web)" "$1" <<-'PY'
		import socket, sys
		address, port = sys.argv[1].rsplit(":", 1)
		try:
		    with socket.create_connection((address, int(port)),
		            source_address=(sys.argv[2], 0)) as s:
		        assert s.recv(1) == b""
		except ConnectionResetError:
		    pass
	PY
}

# top MEMBER BY CLIENT: of the answer's row; `absent` without one.
top() {
	ctl show top clients "$2" last 5m json | python3 -c '
import json, sys
rows = json.load(sys.stdin)["clients"]
print(next((r[sys.argv[1]] for r in rows if r["client"] == sys.argv[2]),
    "absent"))' "$1" "$3"
}

is_top() {
	[ "$(top "${@:2}")" = "$1" ]
}

# first BY: the client of the first row.
first() {
	ctl show top clients "$1" last 5m | awk 'NR == 2 { print $1 }'
}

@test "talkers: the clients with the most bytes, sessions and errors" {
	start_streams s
	start_talkers $'limit = sessions=100\ndeny = 127.0.0.9'
	from 127.0.0.2 1 3000000
	from 127.0.0.3 5 1000
	for ((i = 0; i < 2; i++)); do
		refused_from 127.0.0.9
	done
	equal bytes 127.0.0.2 "$(first bytes)"
	equal sessions 127.0.0.3 "$(first sessions)"
	equal errors 127.0.0.9 "$(first errors)"
	[ "$(top bytes bytes 127.0.0.2)" -ge 3000007 ]
	[ "$(top bytes bytes 127.0.0.2)" -lt 3001000 ]
	equal 'its sessions' 5 "$(top sessions sessions 127.0.0.3)"
	equal 'its errors' 2 "$(top errors sessions 127.0.0.9)"
	equal exact 0 "$(top bytes_more_max bytes 127.0.0.2)"
	run -0 ctl show top clients
	[[ ${lines[0]} == "# clients with the most bytes in "*"; any other has at most 0" ]]
	run ! ctl show top clients last 1s
	[[ $output == *"last: '1s' is out of range"* ]]
	run ! ctl show top clients loudest
}

@test "talkers: bytes of a session that goes on are counted" {
	start_streams s
	start_talkers ''
	"$TOOLS/streamer" client "$(listening web)" --bind 127.0.0.4:0 \
	    --up 7 --down 8000000000 --deadline $((200 * PATIENCE)) \
	    >"$T/stream" 2>&1 3>&- &
	STREAM=$!
	has_bytes() {
		[ "$(top bytes bytes 127.0.0.4 | tr -d a-z)0" -gt 10000000 ]
	}
	wait_for 30 has_bytes
	equal sessions 1 "$(top sessions bytes 127.0.0.4)"
	kill "$STREAM"
	if wait "$STREAM"; then fail "the session had an end"; fi
	wait_for 30 is_top 1 errors bytes 127.0.0.4
}

@test "talkers: the client that a PROXY header names counts, IPv6 by its /64" {
	start_greeter s
	start_talkers 'proxy_from = 127.0.0.1' accept_proxy
	for host in 2001:db8:0:1::5 2001:db8:0:1::6 192.0.2.7; do
		python3 - "$(listening web)" "$host" <<-'PY'
			import socket, sys
			at, host = sys.argv[1:]
			family = "TCP6" if ":" in host else "TCP4"
			own = "::1" if ":" in host else "192.0.2.1"
			address, port = at.rsplit(":", 1)
			with socket.create_connection((address, int(port))) as s:
			    s.sendall(f"PROXY {family} {host} {own} 1 2\r\n".encode())
			    assert s.recv(1)
		PY
	done
	wait_for 10 is_top 2 sessions sessions 2001:db8:0:1::/64
	equal other 1 "$(top sessions sessions 192.0.2.7)"
	equal proxy absent "$(top sessions sessions 127.0.0.1)"
}
