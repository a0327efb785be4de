#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Health by what sessions find: observe and ejection.

load helpers
load stat

# many N: as many requests for each of r and a, in turn, as long as r is there;
# each must be answered.
many() {
	local i

	for ((i = 0; i < 2 * $1; i++)); do
		fetch "$(url)" >/dev/null || return 1
	done
}

# bats test_tags=covered
@test "passive: failures in a row eject a server, without checks" {
	start_bad r refuse
	start_app a
	BACKEND=$'check = off\neject_after = 3\neject_time = 1m' web r a
	many 3
	wait_for 10 has status r 'DOWN (ejected)'
	equal "act" 1 "$(column act BACKEND)"
	wait_for 10 eventful ' warning server_ejected app/r: .*for 1m: 3 failures in a row'
	wait_for 10 eventful 'the last: Connection refused; 1 of 2 servers usable'
	many 6
	equal "connects to r" 3 "$(column connect r)"
}

# Sends requests one at a time as long as each is answered.
hammer() {
	# shellcheck disable=SC2016
	spawn hammer sh -c 'while curl -sS --fail-early -o /dev/null \
		-H "Connection: close" "$1?[1-500]"; do :; done' sh "$(url)"
}

# bats test_tags=covered
@test "passive: time ends an ejection, and the next one lasts twice as long" {
	start_bad r refuse
	start_app a
	BACKEND=$'check = off\neject_after = 1\neject_time = 1s' web r a
	# Whenever it is back the next session finds it as it was, and at once:
	# what was long ago counts no more.
	hammer
	wait_for 10 eventful 'server_ejected app/r: .* for 1s:'
	wait_for 60 eventful 'server_ejected app/r: .* for 2s:'
	wait_for 60 eventful 'server_ejected app/r: .* for 4s:'
	refute ended "${PIDS[hammer]}"
	end hammer
	wait_for 10 eventful ' server_back app/r: .*its time has passed; 2 of 2'
	# Alive again, it stays.
	end r
	LISTEN=$(addr r) start_app r
	wait_for 30 has status r 'no check'
	many 4
	equal "status" 'no check' "$(column status r)"
}

# A client of a unix socket has no address to come from, and gets no server.
@test "passive: the family of a client's address is not a server's failure" {
	need_foreign_address
	start_app a
	start_app b
	BACKEND=$'check = off\nretries = 1\nsource = client\neject_after = 1' \
	    WEB="unix:$T/web.sock" web a b
	for _ in 1 2 3; do
		run fetch --unix-socket "$T/web.sock" http://web/
		[ "$status" -ne 0 ]
	done
	wait_for 10 sessions_ended 3
	equal "sessions without a server" 3 "$(sessions | grep -c ' SC ')"
	# Both were tried each time.
	equal "connects to a" 3 "$(column connect a)"
	equal "connects to b" 3 "$(column connect b)"
	# An ejection is the control thread's, which has had its turn.
	equal "a" 'no check' "$(column status a)"
	equal "b" 'no check' "$(column status b)"
	refute lfproxy_said 'ejected'
}

# bats test_tags=covered
@test "passive: a server that accepts and resets is ejected; an answer clears it" {
	start_bad r reset
	start_app a
	BACKEND=$'check = off\neject_after = 4\neject_on = connect,reset
eject_time = 1m' web r a
	# Some of them get their bytes out first and see the reset.
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		fetch "$(url)" >/dev/null || true
	done
	wait_for 10 has status r 'DOWN (ejected)'
	wait_for 10 eventful 'the last: (broken off before an answer|Connection reset by peer);'
	many 4
}

# The servers break off before they answer, each time.
@test "passive: clients alone eject no server, and fail no check" {
	start_bad r reply-reset --bytes 0
	start_bad q reply-reset --bytes 0
	start_app well
	BACKEND="check = connect interval=60s fall=1
observe = connect
error_limit = 1
on_error = mark_down
eject_after = 1" web "r check_port=$(port_of well)" \
	    "q check_port=$(port_of well)"
	wait_for 10 has check_status r L4OK
	wait_for 10 has check_status q L4OK
	for _ in 1 2 3 4 5 6; do
		run fetch "$(url)"
	done
	wait_for 10 sessions_ended 6
	equal "both" 'UP UP' "$(column status r) $(column status q)"
	refute eventful ' server_ejected '
	# The same by request.
	sed -i 's/^eject_after = 1/&\neject_on = connect,reset/' "$T/lfproxy.ini"
	ctl reload
	run fetch "$(url)"
	wait_for 10 eventful ' server_ejected app/[rq]: '
}

@test "passive: the last usable server is not ejected" {
	start_bad r refuse
	start_bad q refuse
	BACKEND=$'check = off\neject_after = 1\nretries = 1
eject_max_percent = 100%' web r q
	for _ in 1 2 3; do
		run fetch "$(url)"
	done
	# By the control thread, when it gets round to it.
	wait_for 10 has act BACKEND 1
	wait_for 10 eventful 'not ejected, as no other server is usable'
	equal "act" 1 "$(column act BACKEND)"
}

@test "passive: an operator ends an ejection, and the next one is a first one" {
	start_bad r refuse
	start_app a
	BACKEND=$'check = off\neject_after = 1\neject_time = 5m
eject_time_max = 1h' web r a
	many 1
	wait_for 10 eventful 'server_ejected app/r: .* for 5m:'
	ctl set server app/r health down
	ctl set server app/r health up
	equal "status" 'no check' "$(column status r)"
	wait_for 10 eventful ' server_back app/r: .*not ejected any more: by operator; 2 of 2'
	many 1
	wait_for 10 eventful 'server_ejected app/r: .* for 5m:'
	wait_for 10 has status r 'DOWN (ejected)'
	ctl set server app/r health up
	wait_for 10 lfproxy_said 'admin: .*server app/r health: ejected -> up'
	many 1
	wait_for 10 has status r 'DOWN (ejected)'
	# Maintenance ends it as well.
	ctl disable server app/r
	ctl enable server app/r
	equal "status" 'no check' "$(column status r)"
	refute eventful 'server_ejected app/r: .* for 10m:'
}

@test "passive: checks that pass bring an ejected server back" {
	start_bad r reset
	start_app a
	BACKEND=$'check = connect interval=300ms rise=2
eject_on = connect,reset\neject_after = 1\neject_time = 10m\neject_time_max = 10m' web r a
	exec 7<>"/dev/tcp/127.0.0.1/$(port web)"
	exec 8<>"/dev/tcp/127.0.0.1/$(port web)"
	wait_for 10 eventful ' server_ejected app/r: '
	wait_for 10 eventful ' server_back app/r: .*its checks pass'
	exec 7>&- 8>&-
}

@test "passive: a reload keeps an ejection, and one without eject_after ends it" {
	start_bad r refuse
	start_app a
	BACKEND=$'check = off\neject_after = 2\neject_time = 10m
eject_time_max = 10m' web r a
	many 2
	wait_for 10 has status r 'DOWN (ejected)'
	sed -i 's/^balance.*/balance = leastconn/' "$T/lfproxy.ini"
	ctl reload
	equal "after a reload" 'DOWN (ejected)' "$(column status r)"
	many 4
	equal "connects to r" 2 "$(column connect r)"
	sed -i 's/^eject_after.*/eject_after = 0/' "$T/lfproxy.ini"
	ctl reload
	equal "after the other" 'no check' "$(column status r)"
	equal "act" 2 "$(column act BACKEND)"
	wait_for 10 eventful ' server_ejected app/r: '
}

past() {
	[ "$(now_ms)" -ge "$1" ]
}

# Reports that reached the control thread while the server was not
# in the configuration.
@test "passive: a server removed while ejected is not ejected when it returns" {
	local back

	serve r "$ROOT/tests/behaviour/stormtool.py" server 127.0.0.1:0 "$T/got"
	start_app a
	BACKEND=$'check = off\neject_after = 1\neject_time = 2s' web r a
	# A session of it, so that it is known when it comes back.
	spawn held "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count 1 --deadline 200
	wait_for 10 has scur r 1
	signal r USR2
	wait_for 10 refuses "$(addr r)"
	many 1
	wait_for 10 eventful ' server_ejected app/r: .* for 2s:'
	back=$(($(now_ms) + 2500))
	cp "$T/lfproxy.ini" "$T/both.ini"
	sed -i '/^server = r /d' "$T/lfproxy.ini"
	ctl reload
	wait_for 10 past "$back"
	cp "$T/both.ini" "$T/lfproxy.ini"
	ctl reload
	equal "r's session" 1 "$(column scur r)"
	equal "r's status" 'no check' "$(column status r)"
	# The server is reported again.
	many 2
	wait_for 10 ejected_twice
}

ejected_twice() {
	[ "$(ctl show events app/r | grep -c ' server_ejected ')" -ge 2 ]
}

refuses() {
	refute eval "exec 9<>/dev/tcp/${1/://}" 2>/dev/null
}

# The check goes to another port, where all is well.
observed() {
	start_bad r refuse
	start_app a
	start_app well
	BACKEND="check = connect interval=60s fall=3 $2
observe = connect
error_limit = 4
on_error = $1" web "r check_port=$(port_of well)" a
	wait_for 10 has check_status r L4OK
}

port_of() {
	local address

	address=$(addr "$1")
	echo "${address##*:}"
}

@test "passive: on_error = mark_down" {
	observed mark_down fast_interval=50s
	many 8
	wait_for 10 says_down app/r
	wait_for 10 lfproxy_said 'app/r is down: HANA \(Health analyze\), info: "4 errors in a row: Connection refused";'
	equal "check_status" HANA "$(column check_status r)"
	equal "check_desc" 'Health analyze' "$(column check_desc r)"
	equal "hanafail, chkfail, chkdown" "1 1 1" \
	    "$(column hanafail r) $(column chkfail r) $(column chkdown r)"
	[ "$(column lastchg r)" -le "$SECONDS" ]
	many 4
	equal "connects to r" 4 "$(column connect r)"
}

# bats test_tags=covered
@test "passive: on_error = fail_check takes fall times error_limit" {
	observed fail_check fast_interval=50s
	many 4
	wait_for 10 has status r 'UP 2/3'
	many 4
	wait_for 10 has status r 'UP 1/3'
	many 4
	wait_for 10 has status r DOWN
	equal "hanafail" 3 "$(column hanafail r)"
}

@test "passive: on_error = sudden_death leaves one to go" {
	observed sudden_death fast_interval=50s
	many 4
	wait_for 10 has status r 'UP 1/3'
	many 4
	wait_for 10 has status r DOWN
}

@test "passive: on_error = fast_check checks soon, and finds out" {
	start_app r
	start_app a
	BACKEND='check = connect interval=1h fast_interval=100ms fall=3
observe = connect
error_limit = 2
on_error = fast_check' web r a
	wait_for 10 has check_status r L4OK
	end r
	many 2
	wait_for 10 says_down app/r
	wait_for 10 lfproxy_said 'app/r is down: L4CON'
	equal "hanafail" 1 "$(column hanafail r)"
}

# bats test_tags=covered
@test "passive: an answer in between resets the count" {
	start_app r
	start_app a
	BACKEND='check = connect interval=60s fall=1
observe = connect
error_limit = 3
on_error = mark_down' web r a
	wait_for 10 has check_status r L4OK
	for _ in 1 2 3; do
		end r
		many 2
		restart_app r
		many 2
	done
	equal "status" UP "$(column status r)"
	equal "hanafail" 0 "$(column hanafail r)"
}

@test "passive: settings that cannot work are errors" {
	cat >"$T/bad.ini" <<-END
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = off
		observe = connect
		eject_time = 10m
		eject_max_percent = 0%
		on_error = panic
		server = a 127.0.0.1:1
	END
	run -78 "$LFPROXY" -t -c "$T/bad.ini"
	[[ $output == *"bad.ini:8: eject_max_percent: '0%' is not a percentage"* ]]
	[[ $output == *"bad.ini:9: on_error: "*"mark_down"* ]]
	[[ $output == *"observe has nothing to count for with check = off"* ]]
	[[ $output == *"eject_time_max is shorter than eject_time"* ]]
}
