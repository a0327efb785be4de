#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Limits of the file on sessions and their rate: maxconn and rate of a frontend,
# maxconn, rate_connections and rate_sessions of [global].

load helpers
load operator

common() {
	cat <<-END
		[global]
		log = stderr
		drain_timeout = 20s
		admin = $ADMIN mode=0600
		${GLOBAL:-}
		[pool main]
		threads = 2
	END
}

# with_limits FRONTEND_LINE SERVER...: GLOBAL has further lines of [global].
with_limits() {
	local limits=$1

	shift
	WEB="127.0.0.1:0"$'\n'"$limits" web "$@"
}

info() {
	ctl show info | sed -n "s/^$1: //p"
}

@test "limits: maxconn of a frontend holds, and the rest waits in the backlog" {
	start_app a
	with_limits 'maxconn = 2' a
	equal "slim" 2 "$(column slim FRONTEND)"
	hold first 4
	wait_for 10 is scur FRONTEND 2
	spawn one curl -sS -m $((60 * PATIENCE)) "$(url)"
	run -0 ctl explain 192.0.2.1 web
	[[ $output == *"accept   it waits in the backlog: the frontend is at its maxconn"* ]]
	equal "sessions" "2 2" \
	    "$(column scur FRONTEND) $(column smax FRONTEND)"
	run -0 change_file 'maxconn = 2' 'maxconn = 100'
	[[ $output == *'frontend web: maxconn: 2 -> 100'* ]]
	finish one
	equal "who answers" a "$output"
	equal "slim" 100 "$(column slim FRONTEND)"
}

@test "limits: maxconn of a command holds until the file has another one" {
	start_app a
	with_limits 'maxconn = 50' a
	done_ set maxconn frontend web 7
	change_file 'threads = 2' 'threads = 3' >/dev/null
	equal "after a reload that has the same" 7 "$(column slim FRONTEND)"
	change_file 'maxconn = 50' 'maxconn = 60' >/dev/null
	equal "after one that has another" 60 "$(column slim FRONTEND)"
	done_ set maxconn frontend web 7
	change_file 'maxconn = 60' 'maxconn = auto' >/dev/null
	equal "without one of its own" "$(info Maxconn)" \
	    "$(column slim FRONTEND)"
}

@test "limits: maxconn of [global] follows the file" {
	start_app a
	GLOBAL='maxconn = 100' with_limits 'maxconn = auto' a
	run -0 change_file 'maxconn = 100' 'maxconn = 3'
	[[ $output == *'global: maxconn: 100 -> 3'* ]]
	equal "Maxconn" "3 100" "$(info Maxconn) $(info Hard_maxconn)"
	hold first 5
	wait_for 10 lfproxy_said 'all 3 sessions are in use'
	equal "sessions" 3 "$(column scur FRONTEND)"
	done_ set maxconn global 4
	change_file 'threads = 2' 'threads = 3' >/dev/null
	equal "the operator's" 4 "$(info Maxconn)"
	run -0 change_file 'maxconn = 3' 'maxconn = 5000'
	[[ $output == *'global: maxconn: there is room for 100 sessions since the start; more takes a restart'* ]]
	equal "as many as there can be" 100 "$(info Maxconn)"
	wait_for 10 is scur FRONTEND 5
}

@test "limits: rates of the file are shown, and follow it and the operator" {
	start_app a
	GLOBAL=$'rate_connections = 900/s\nrate_sessions = 800/s' \
	    with_limits 'rate = 700/s' a
	equal "limits" "900 800 700" "$(info ConnRateLimit) $(info \
	    SessRateLimit) $(column rate_lim FRONTEND)"
	done_ set rate-limit connections global 55
	done_ set rate-limit sessions global 66
	run -0 change_file 'rate = 700\/s' 'rate = 710'
	[[ $output == *'frontend web: rate: 700/s -> 710/s'* ]]
	equal "limits" "55 66 710" "$(info ConnRateLimit) $(info \
	    SessRateLimit) $(column rate_lim FRONTEND)"
	change_file 'rate_sessions = 800\/s' 'rate_sessions = off' >/dev/null
	equal "limits" "55 0" "$(info ConnRateLimit) $(info SessRateLimit)"
	"$LFPROXY" -T -c "$T/lfproxy.ini" >"$T/printed"
	grep -qx 'rate_connections = 900/s' "$T/printed"
	grep -qx 'rate = 710/s' "$T/printed"
}

# rated N: connects N times as fast as it goes; prints the milliseconds that the
# answers took all together.
rated() {
	python3 - "$(port web)" "$1" <<-'END'
		import socket, sys, time
		port, n, began = int(sys.argv[1]), int(sys.argv[2]), time.monotonic()
		all = [socket.create_connection(("127.0.0.1", port)) for _ in range(n)]
		for s in all:
		    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
		for s in all:
		    s.settimeout(60)
		    assert s.recv(1000), "closed without an answer"
		print(round((time.monotonic() - began) * 1000))
	END
}

# Lower bounds only, so a slow machine passes: 2 at once, then 20 a second.
# bats test_tags=covered
@test "limits: the rate of a frontend holds without closing sessions" {
	local ms

	start_app a
	with_limits 'rate = 20/s' a
	ms=$(rated 22)
	[ "$ms" -ge 900 ] || fail "22 connections took $ms ms"
	equal "sessions" 22 "$(column stot FRONTEND)"
}

# bats test_tags=covered
@test "limits: rate_connections of [global] holds" {
	local ms

	start_app a
	GLOBAL='rate_connections = 20/s' with_limits 'maxconn = auto' a
	ms=$(rated 22)
	[ "$ms" -ge 900 ] || fail "22 connections took $ms ms"
}

@test "limits: a rate of one frontend leaves the others alone" {
	start_app a
	with_limits $'rate = 1/s\nbackend = app\n[frontend other]\nlisten = 127.0.0.1:0' a
	spawn slow python3 -c "import socket, time
all = [socket.create_connection(('127.0.0.1', $(port web))) for _ in range(30)]
print('waiting', flush=True)
time.sleep(100)"
	wait_for 10 has_line slow waiting
	run -0 ctl explain 192.0.2.1 web
	[[ $output == *"the rate limit of the frontend is reached"* ]]
	for _ in $(seq 20); do
		equal "who answers" a "$(fetch "$(url other)")"
	done
	[ "$(ctl show stat | awk -F , '$1 == "web" && $2 == "FRONTEND" { print $8 }')" -lt 30 ]
}
