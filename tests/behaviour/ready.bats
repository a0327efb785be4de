#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `ready`: whether it is worth sending sessions here, for probes without an HTTP
# port.

# bats file_tags=onethread

load helpers
load ctl

# two_frontends NAME: the frontends `web`, whose backend has this server, and
# `other`, whose server is not there; HTTP is the address of the HTTP port.
two_frontends() {
	{
		printf '[global]\nlog = off\nhttp = 127.0.0.1:0\n%s\n' \
		    "${GLOBAL:-}"
		printf 'admin = %s\n' "$ADMIN"
		printf '[frontend %s]\nlisten = 127.0.0.1:0\nbackend = %s\n' \
		    web app other gone
		printf '[backend app]\ncheck = off\nserver = a %s\n' "$(addr "$1")"
		printf '[backend gone]\n%s\n' \
		    'check = connect interval=100ms fall=1'
		printf 'server = b 127.0.0.1:%s\n' "$(free_port)"
	} >"$T/two.ini"
	start_lfproxy <"$T/two.ini"
	HTTP=$(sed -n 's|.*monitoring at http://\(.*\)/$|\1|p' "$LFPROXY_LOG")
}

# ready_says STATUS LINE [WORD...]: of `ready WORD...`, the first line.
ready_says() {
	local want=$1 line=$2

	shift 2
	run ctl ready "$@"
	[ "$status" -eq "$want" ] && [ "${lines[0]}" = "$line" ]
}

# readyz_agrees: /readyz has the answer and the verdict of `ready`.
readyz_agrees() {
	local code

	run ctl ready
	code=$(curl -s -m 60 -o "$T/readyz" -w '%{http_code}' \
	    "http://$HTTP/readyz")
	equal "readyz" "$([ "$status" -eq 0 ] && echo 200 || echo 503)" "$code"
	equal "the text" "$output" "$(cat "$T/readyz")"
}

@test "ready: lfproxy, a frontend, and one without a usable server" {
	start_app a
	two_frontends a
	wait_for 10 ready_says 1 'not ready: no usable server' other
	equal "the state" 'frontend other: backend gone has 0 usable servers' \
	    "${lines[1]}"
	ready_says 0 ready web
	equal "lines" 2 "${#lines[@]}"
	ready_says 0 ready
	equal "lines" 3 "${#lines[@]}"
	readyz_agrees
}

@test "ready: a frontend that takes no sessions, and why" {
	start_app a
	two_frontends a
	wait_for 10 ready_says 1 'not ready: no usable server' other
	ctl disable frontend web
	ready_says 1 'not ready: disabled: no new sessions' web
	ready_says 1 \
	    'not ready: no frontend is open and has a usable server'
	readyz_agrees
	ctl enable frontend web
	ready_says 0 ready web
	ctl set maxconn frontend web 0
	ready_says 1 'not ready: maxconn is 0: no new sessions' web
	readyz_agrees
	ctl set maxconn frontend web 5
	ready_says 0 ready
	ctl shutdown frontend web
	ready_says 1 \
	    'not ready: shut down until the next reload: no new sessions' web
	readyz_agrees
}

@test "ready: not while lfproxy stops or drains" {
	start_app a
	GLOBAL='shutdown_delay = 10m' two_frontends a
	wait_for 10 ready_says 0 ready web
	spawn held "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --deadline 200
	wait_for 10 holds_one
	kill -TERM "$LFPROXY_PID"
	wait_for 10 ready_says 1 \
	    'not ready: stopping: new sessions for shutdown_delay only'
	ready_says 1 \
	    'not ready: stopping: new sessions for shutdown_delay only' web
	readyz_agrees
	end held
	kill -TERM "$LFPROXY_PID"
	await_lfproxy 10
}

@test "ready: not while sessions drain" {
	start_app a
	GLOBAL='drain_idle_timeout = 10m' two_frontends a
	spawn held "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --deadline 200
	wait_for 10 holds_one
	kill -TERM "$LFPROXY_PID"
	wait_for 10 ready_says 1 'not ready: draining: no new sessions'
	readyz_agrees
	end held
	await_lfproxy 10
	# The socket is gone.
	run -1 ctl ready
	[[ $output == *"No such file or directory; is lfproxy running"* ]]
}

holds_one() {
	[ "$(ctl show info | sed -n 's/^CurrConns: //p')" -eq 1 ]
}

@test "ready: nothing at the socket is not ready" {
	run -1 "$CTL" -S "$T/none.sock" ready
	[[ $output == *"none.sock: No such file or directory; is lfproxy"* ]]
	# Other commands have another status for that.
	run -69 "$CTL" -S "$T/none.sock" show info
}

@test "ready: an unknown frontend, and a word too many" {
	start_app a
	two_frontends a
	run -1 ctl ready wbe
	equal "the answer" "No such frontend 'wbe'; did you mean 'web'? \
frontends are web, other." "$output"
	run -1 ctl ready web other
	[[ $output == "Unexpected argument 'other'; "* ]]
}

@test "ready: users may ask, JSON, completion" {
	start_app a
	GLOBAL='admin = 127.0.0.1:0' two_frontends a
	wait_for 10 ready_says 1 'not ready: no usable server' other
	run -0 "$CTL" -S "$(tcp_admin)" ready web
	run -0 ctl --json ready
	equal "the answer" '{"ready":true,"reason":null,"frontends":[{'\
'"frontend":"web","ready":true,"reason":null,"backends":[{"backend":"app",'\
'"usable":1,"gets_sessions":true}]},{"frontend":"other","ready":false,'\
'"reason":"no usable server","backends":[{"backend":"gone","usable":0,'\
'"gets_sessions":true}]}]}' "$output"
	run -1 ctl --json ready other
	[[ $output == '{"ready":false,"reason":"no usable server",'* ]]
	equal "words" 'web other json' "$(ctl --complete ready | xargs)"
}

@test "ready: while another process takes over, by the one that serves" {
	start_app a
	two_frontends a
	wait_for 10 ready_says 0 ready web
	run -0 ctl upgrade
	ready_says 0 ready web
	LFPROXY_PID=$(ctl show info | sed -n 's/^Pid: //p')
	kill -TERM "$LFPROXY_PID"
	wait_for 10 ended "$LFPROXY_PID"
	LFPROXY_PID=
}
