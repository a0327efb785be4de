#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The port for monitoring: pages, methods, and clients that do not behave.

# bats file_tags=onethread

load helpers

# monitored NAME...: a backend of these servers, with the port; its address is
# in $HTTP.
monitored() {
	local name

	{
		printf '[global]\nlog = off\nhttp = 127.0.0.1:0\n'
		printf 'admin = %s\n' "$T/admin.sock"
		printf '[frontend web]\nlisten = %s\nbackend = app\n' \
		    "${WEB:-127.0.0.1:0}"
		printf '[backend app]\n'
		printf 'check = connect interval=100ms fall=1 timeout=5s rise=1\n'
		for name in "$@"; do
			printf 'server = %s %s\n' "$name" "$(addr "$name")"
		done
	} >"$T/http.ini"
	start_lfproxy <"$T/http.ini"
	HTTP=$(sed -n 's|.*monitoring at http://\(.*\)/$|\1|p' \
	    "$LFPROXY_LOG")
	[ -n "$HTTP" ]
}

# ask STATUS PATH [CURL OPTION...]: the answer's body, in $output.  False when
# the status is another one, also where that does not end the test.
ask() {
	local want=$1 path=$2
	shift 2

	run -0 curl -sS -m 60 -o "$T/body" -w '%{http_code}' "$@" \
	    "http://$HTTP$path"
	equal "status of $path" "$want" "$output" || return 1
	output=$(cat "$T/body")
}

ready_is() {
	ask "$1" /readyz
}

# bats test_tags=covered
@test "http: alive, and ready as long as a server is usable" {
	start_app a
	monitored a
	ask 200 /healthz
	equal "the answer" ok "$output"
	ask 200 /readyz
	equal "the answer" $'ready\nfrontend web: backend app has 1 usable server' \
	    "$output"
	end a
	wait_for 10 ready_is 503
	equal "the answer" 'not ready: no usable server
frontend web: backend app has 0 usable servers' "$output"
	ask 200 /healthz
}

# A backend that gets no sessions does not make a frontend ready.
@test "http: a usable server of a backend with weight 0 is not enough" {
	start_app a
	printf '%s\n' '[global]' 'log = off' 'http = 127.0.0.1:0' \
	    '[frontend web]' 'listen = 127.0.0.1:0' 'backend = app' \
	    'backend = canary weight=0' '[backend app]' \
	    'check = connect interval=100ms fall=1 timeout=5s rise=1' \
	    "server = gone 127.0.0.1:$(free_port)" '[backend canary]' \
	    'check = off' "server = a $(addr a)" >"$T/weights.ini"
	launch_lfproxy -c "$T/weights.ini"
	HTTP=$(sed -n 's|.*monitoring at http://\(.*\)/$|\1|p' "$LFPROXY_LOG")
	wait_for 10 ready_is 503
	equal "the answer" $'not ready: no usable server
frontend web: backend app has 0 usable servers
frontend web: backend canary has 1 usable server' "$output"
}

@test "http: a frontend that accepts no connections is not ready" {
	start_app a
	WEB=127.0.0.1:$(free_port) monitored a
	wait_for 10 ready_is 200
	"$CTL" -S "$T/admin.sock" disable frontend web
	ask 503 /readyz
	equal "the answer" 'not ready: disabled: no new sessions
frontend web: backend app has 1 usable server
frontend web: disabled: no new sessions' "$output"
	"$CTL" -S "$T/admin.sock" enable frontend web
	ask 200 /readyz
	"$CTL" -S "$T/admin.sock" shutdown frontend web
	ask 503 /readyz
}

@test "http: the parts of a page" {
	local page type

	start_app a
	monitored a
	while read -r page type; do
		run -0 curl -sS -m 60 -o /dev/null -w '%{content_type}' \
		    "http://$HTTP$page"
		equal "the type of $page" "$type" "$output"
	done <<-'END'
		/metrics text/plain; version=0.0.4; charset=utf-8
		/stats;csv text/plain; charset=utf-8
		/stats;json application/json
		/ text/html; charset=utf-8
		/api/v1/ application/json
		/api/v1/snapshot application/json
		/healthz text/plain; charset=utf-8
		/readyz text/plain; charset=utf-8
	END
}

@test "http: the API has what the admin socket shows as JSON, and describes itself" {
	start_app a
	monitored a
	run -0 python3 -B "$ROOT/tests/behaviour/apitool.py" "$HTTP" \
	    <("$BUILD/lfproxy" --list-commands)
	[[ $output == *"paths=3"[0-9]" failed=0" ]] || fail "$output"
	ask 404 /api/v1/nothing
	equal "the answer" \
	    '{"error":"unknown path; /api/v1/ lists the paths"}' \
	    "$output"
	ask 403 /api/v1/env # not for users
	ask 400 /api/v1/pool/other
	equal "the answer" \
	    "{\"error\":\"Unknown pool 'other'; there is main.\"}" "$output"
	ask 400 '/api/v1/servers/app%3bshutdown'
	ask 400 '/api/v1/servers/app%20json'
	ask 200 /api/v1/servers/app
	[[ $output == '[{"backend":"app","server":"a",'* ]] || fail "$output"
	ask 405 /api/v1/servers -X POST
}

@test "http: not ready while it drains, and stops nevertheless" {
	start_app a
	monitored a
	spawn held "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --deadline 200
	wait_for 10 sessions_now 1
	kill -TERM "$LFPROXY_PID"
	wait_for 10 ready_is 503
	[[ $output == *'draining: no new sessions'* ]]
	ask 200 /healthz
	end held
	wait_for 10 ended "$LFPROXY_PID"
}

sessions_now() {
	[ "$("$CTL" -S "$T/admin.sock" show info |
	    sed -n 's/^CurrConns: //p')" -eq "$1" ]
}

# bats test_tags=covered
@test "http: other pages, other methods, HEAD, one connection for several" {
	start_app a
	monitored a
	ask 404 /nothing
	[[ $output == *'/healthz'* ]]
	ask 200 /pages
	[[ $output == *'/readyz'* ]]
	ask 405 /healthz -X POST -d 'some words'
	ask 405 /healthz -X DELETE
	run -0 curl -sS -m 60 -I "http://$HTTP/healthz"
	[[ $output == *'Content-Length: 3'* ]]
	run -0 curl -sS -m 60 -w '%{num_connects}\n' "http://$HTTP/healthz" \
	    "http://$HTTP/healthz"
	equal "two answers" $'ok\n1\nok\n0' "$output"
}

# The path of the Datadog agent, the one that HAProxy's default becomes, and
# the further words that HAProxy knows.
@test "http: the statistics are where clients of HAProxy look for them" {
	local page

	start_app a
	monitored a
	for page in '/;csv' '/;csv;norefresh' '/haproxy;csv' \
	    '/haproxy?stats;csv' '/haproxy?stats;csv;norefresh' \
	    '/stats;up;csv' '/x?y=z;csv'; do
		ask 200 "$page"
		[[ $output == '# pxname,svname,'* ]] || fail "$page: $output"
	done
	for page in '/;json' '/haproxy?stats;json;norefresh'; do
		ask 200 "$page"
		[[ $output == '[[{'* ]] || fail "$page: $output"
	done
	ask 404 '/haproxy?stats'
	ask 404 '/haproxy;cs?v'
	ask 200 '/healthz?x;csv'
	equal "the answer" ok "$output"
}

@test "http: a port that is taken is an error at the start" {
	start_app a
	cat >"$T/taken.ini" <<-END
		[global]
		http = $(addr a)
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		server = a $(addr a)
	END
	run -71 "$LFPROXY" -c "$T/taken.ini"
	[[ $output == *"$(addr a)"*'in use'* ]]
}

# Idlers who come again for all its connections: whoever asks takes the place of
# one of them.
# bats test_tags=slow
@test "http: garbage, endless headers and idle clients do not delay others" {
	start_app a
	monitored a
	cat >"$T/rude.py" <<-'END'
		import socket, sys
		host, port = sys.argv[1].split(":")
		def say(data):
		    s = socket.create_connection((host, int(port)), 10)
		    try:
		        s.sendall(data)
		        s.shutdown(socket.SHUT_WR)
		        while s.recv(65536):
		            pass
		    except OSError:
		        pass
		    s.close()
		say(b"\0\xff" * 4000)
		say(b"GET / HTTP/9.9\r\n\r\n")
		say(b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n")
		say(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20000 + b"\r\n")
		say(b"POST /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n")
		say(b"GET /healthz HTTP/1.1\r\nHo")
		idle = [socket.create_connection((host, int(port)), 10)
		        for _ in range(200)]
		print("rude", flush=True)
		for s in idle:
		    s.settimeout(60)
		    s.recv(10)
		print("thrown out", flush=True)
	END
	spawn rude python3 -B "$T/rude.py" "$HTTP"
	wait_for 60 has_line rude '^rude'
	for _ in {1..20}; do
		ask 200 /healthz -m 30
	done
	equal "an answer" a "$(fetch "$(url web)")"
	run -0 "$CTL" -S "$T/admin.sock" show info
	finish rude 60
	[[ $output == *'thrown out'* ]]
	ask 200 /healthz
}

# Symptom: a web page whose name stands for 127.0.0.1 could read the pages.
@test "http: a foreign name in Host is refused at a loopback address" {
	start_app a
	monitored a
	ask 421 /metrics -H 'Host: evil.example:8404'
	[[ $output == *"hosts="* ]] || fail "$output"
	ask 421 /healthz -H 'Host: evil.example'
	ask 200 /metrics
	ask 200 /metrics -H 'Host: localhost:1'
	ask 200 /metrics -H 'Host: [::1]:1'
	ask 200 /metrics -H "Host: $(uname -n)"
	ask 200 /metrics -0 -H 'Host:'
	sed -i 's/^http = .*/& hosts=evil.example,b.example/' "$T/lfproxy.ini"
	"$CTL" -S "$T/admin.sock" reload
	ask 200 /metrics -H 'Host: evil.example:8404'
	ask 200 /metrics -H 'Host: B.example'
	ask 421 /metrics -H 'Host: c.example'
	sed -i 's/ hosts=.*/ hosts=*/' "$T/lfproxy.ini"
	"$CTL" -S "$T/admin.sock" reload
	ask 200 /metrics -H 'Host: c.example'
	sed -i 's/ hosts=.*/ hosts=a:8404/' "$T/lfproxy.ini"
	run -78 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *"http: hosts: 'a:8404' is not a list of host names"* ]] || fail "$output"
}

# bats test_tags=covered
@test "http: any name will do at an address of every interface" {
	start_app a
	monitored a
	sed -i 's/^http = .*/http = :0/' "$T/http.ini"
	stop_lfproxy
	start_lfproxy <"$T/http.ini"
	HTTP=127.0.0.1:$(sed -n 's|.*monitoring at http://.*:\([0-9]*\)/$|\1|p' "$LFPROXY_LOG")
	ask 200 /metrics -H 'Host: proxy.svc.cluster.local:8404'
}

# bats test_tags=covered
@test "http: the status page loads nothing else, and shows a table without script" {
	start_app a
	monitored a
	run -0 python3 -B "$ROOT/tests/behaviour/pagetool.py" policy "$HTTP"
	equal "the page" ok "$output"
	ask 200 /
	[[ $output == *'<td>app</td><td>a</td><td>UP'* ]] || fail "$output"
}

@test "http: the stream tells of a server that goes down, and ends with the port" {
	start_app a
	monitored a
	for i in 1 2 3 4 5 6 7 8; do
		spawn "live$i" curl -sSN -m 300 "http://$HTTP/api/v1/live"
	done
	for i in 1 2 3 4 5 6 7 8; do
		wait_for 20 has_line "live$i" '^data: .*"status":"UP"'
	done
	end a
	for i in 1 2 3 4 5 6 7 8; do
		wait_for 20 has_line "live$i" '^data: .*"status":"DOWN"'
	done
	run -0 python3 -B "$ROOT/tests/behaviour/pagetool.py" events "$T/live1.out"
	equal "the stream" ok "$output"
	# Without the port there is no stream.
	sed -i '/^http = /d' "$T/lfproxy.ini"
	"$CTL" -S "$T/admin.sock" reload
	for i in 1 2 3 4 5 6 7 8; do
		finish "live$i" 20
	done
}

foes() {
	spawn "$1" python3 -B "$ROOT/tests/behaviour/httpfoestool.py" "$1" \
	    "$HTTP" "$2"
}

# connections_are N: the server has that many.
connections_are() {
	[ "$(ss -Htn state established "sport = :${HTTP##*:}" | wc -l)" -eq "$1" ]
}

# Symptom: viewers kept their places until the next snapshot, so that a burst of
# them had the port refuse everybody.
@test "http: viewers take a part of the port, and keep no monitor out" {
	start_app a
	monitored a
	foes viewers 300
	for _ in {1..20}; do
		ask 200 /healthz
		ask 200 /readyz
	done
	wait_for 60 has_line viewers '^viewing 300$'
	wait_for 10 connections_are 64
	lfproxy_said 'http: 64 clients view the live stream: closed the oldest'
	ask 200 /healthz
	end viewers
	stop_lfproxy
}

# answered_again: the connection has got a second answer.
answered_again() {
	while read -r -t 1 -u "$health" line; do
		[[ $line != 'HTTP/1.1 200'* ]] || return 0
	done
	return 1
}

@test "http: commands that wait keep no monitor out, and health keeps its place" {
	start_app a
	monitored a
	sed -i 's/^http = .*/& level=admin/' "$T/lfproxy.ini"
	"$CTL" -S "$T/admin.sock" reload
	exec {health}<>"/dev/tcp/${HTTP/:/\/}"
	printf 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n' >&"$health"
	read -r -t 60 -u "$health" line
	equal "the answer" $'HTTP/1.1 200 OK\r' "$line"
	foes commands 300
	wait_for 60 has_line commands '^ready'
	ask 200 /healthz
	lfproxy_said 'http: 256 connections are open: closed the one without'
	printf 'GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n' >&"$health"
	wait_for 60 answered_again
	exec {health}>&-
	end commands
	stop_lfproxy
}

# bats test_tags=covered
@test "http: lfproxy stops while the page is looked at" {
	start_app a
	monitored a
	spawn live curl -sSN -m 300 "http://$HTTP/api/v1/live"
	wait_for 20 has_line live '^data: '
	stop_lfproxy
	wait_for 20 ended "${PIDS[live]}"
}
