#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sessions whose first server fails: another one, the same one, a queue for one
# when there is none, and the budget of retries.

load helpers
load stat

# The checks of a server that is started and ended.
CHECKED='check = connect interval=100ms timeout=20s fall=2 rise=1'

# none DEFAULTS: server a was there, and is down.
none() {
	start_app a
	DEFAULTS=$1 BACKEND=$CHECKED web a
	end a
	wait_for 10 says_down app/a
}

# bats test_tags=covered
@test "retry: without a server sessions wait, and are served when one is back" {
	local i

	none 'timeout_queue = 100s'
	for i in 1 2 3; do
		spawn client$i curl -sS -m 60 "$(url)"
		wait_for 10 has qcur BACKEND $i
	done
	restart_app a
	for i in 1 2 3; do
		finish client$i
		equal "the answer" a "$output"
	done
	# Its place in the queue, and the time that it waited.
	wait_for 10 session_like ' -- .* 0/1$'
	wait_for 10 session_like ' -- .* 0/3$'
	equal "econ" 0 "$(column econ BACKEND)"
	ctl show events | grep -q ' backend_down app: .*no usable server'
	ctl show events | grep -q ' backend_up app: '
}

# bats test_tags=covered
@test "retry: without a server sessions wait for timeout_queue, then end with sQ" {
	local began

	none 'timeout_queue = 700ms'
	began=$(now_ms)
	run fetch "$(url)"
	[[ $status -eq 52 || $status -eq 56 ]]
	[ $(($(now_ms) - began)) -ge 695 ] || fail "too early"
	last_session
	equal "the code" sQ "${S[code]}"
	equal "the server" '<NOSRV>' "${S[server]}"
	equal "econ" 1 "$(column econ BACKEND)"
}

@test "retry: with timeout_queue = 0 they end at once with SC" {
	none $'timeout_queue = 0\ntimeout_connect = 1h'
	run fetch "$(url)"
	[[ $status -eq 52 || $status -eq 56 ]]
	last_session
	equal "the code" SC "${S[code]}"
	"$LFPROXY" -T -c "$T/lfproxy.ini" | grep -qx 'timeout_queue = 0'
}

@test "retry: maxqueue holds without a server, too" {
	none $'timeout_queue = 60s\nmaxqueue = 2'
	spawn many "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count 5 --deadline 200
	wait_for 20 sessions_ended 3
	equal "those too many" 3 "$(sessions | grep -c ' SQ ')"
	equal "lf_queue_refused" 3 "$(column lf_queue_refused BACKEND)"
	wait_for 10 eventful ' queue_full app: .*sessions were closed'
	end many
}

# bats test_tags=covered
@test "retry: a refused connect goes to another server; wredis is of the one left" {
	start_bad r refuse
	start_app a
	DEFAULTS='retries = 3' web r a
	# In turn, whatever the retries.
	for _ in 1 2 3 4 5 6 7 8; do
		equal "the answer" a "$(fetch "$(url)")"
	done
	equal "wredis of r" 4 "$(column wredis r)"
	equal "wredis of a" 0 "$(column wredis a)"
	equal "wredis" 4 "$(column wredis BACKEND)"
	equal "wretr" 0 "$(column wretr BACKEND)"
	equal "econ" 0 "$(column econ BACKEND)"
}

# bats test_tags=covered
@test "retry: the same server after a pause when there is no other" {
	local began

	start_bad r refuse
	DEFAULTS='retries = 2' web r
	began=$(now_ms)
	run fetch "$(url)"
	[ $(($(now_ms) - began)) -ge 1990 ] || fail "no pause"
	last_session
	equal "the code" SC "${S[code]}"
	equal "retries" 2 "${S[retries]}"
	equal "wretr" "2 2" "$(column wretr r) $(column wretr BACKEND)"
	equal "econ" "1 1" "$(column econ r) $(column econ BACKEND)"
}

# An open connection that has not sent anything; what the server resets is not
# the client's to see.
# bats test_tags=covered
@test "retry: a connection reset before the first byte goes to another server" {
	start_bad r reset
	start_app a
	BALANCE=first web r a
	exec 7<>"/dev/tcp/127.0.0.1/$(port web)"
	wait_for 10 has wredis r 1
	wait_for 10 has scur a 1
	printf 'GET / HTTP/1.0\r\n\r\n' >&7
	run -0 timeout 60 cat <&7
	exec 7>&-
	[[ $output == *a ]]
	last_session
	equal "the code and the server" "-- a" "${S[code]} ${S[server]}"
	equal "retries" +1 "${S[retries]}"
	equal "eresp" 0 "$(column eresp r)"
}

# The server is killed with the connection in its backlog, and lfproxy finds
# that out together with the client's bytes: they were read, but not sent.
# bats test_tags=covered
@test "retry: data read for a lost server goes to another one" {
	start_app s
	start_app a
	stop_process "${PIDS[s]}"
	BALANCE=first web s a
	exec 7<>"/dev/tcp/127.0.0.1/$(port web)"
	wait_for 10 has scur s 1
	stop_process "$LFPROXY_PID"
	{
		printf 'POST / HTTP/1.1\r\nHost: x\r\n'
		printf 'Content-Length: 100000\r\n\r\n%0100000d' 0
		printf 'GET / HTTP/1.0\r\n\r\n'
	} >&7
	end s KILL
	kill -CONT "$LFPROXY_PID"
	run -0 timeout 60 cat <&7
	exec 7>&-
	# The second request is found where the first one's body ends.
	equal "answers" 2 "$(grep -c '^a$' <<<"$output")"
	last_session
	equal "the code and the server" "-- a" "${S[code]} ${S[server]}"
	equal "retries" +1 "${S[retries]}"
	equal "bin" "$(column bin BACKEND)" "$(column bin a)"
}

ended_or_retried() {
	sessions_ended 1 || lfproxy_said 'connect to app/r failed'
}

# bats test_tags=covered
@test "retry: retry_on = connect passes such a reset on; so does one server alone" {
	start_bad r reset
	start_app a
	# A slow lfproxy finds the reset while it connects: then it has to
	# retry.
	for _ in 1 2 3 4 5 6 7 8; do
		BALANCE=first DEFAULTS='retry_on = connect' web r a
		exec 7<>"/dev/tcp/127.0.0.1/$(port web)"
		wait_for 10 ended_or_retried
		exec 7>&-
		lfproxy_said 'connect to app/r failed' || break
		stop_lfproxy
	done
	last_session
	equal "the code and the server" "SD r" "${S[code]} ${S[server]}"
	equal "eresp" 1 "$(column eresp r)"
	stop_lfproxy
	web r
	exec 7<>"/dev/tcp/127.0.0.1/$(port web)"
	last_session
	exec 7>&-
	# A slow lfproxy may find the reset while it connects, each time.
	if lfproxy_said 'connect to app/r failed'; then
		[[ ${S[code]} == S[DC] ]]
	else
		equal "the code and the retries" "SD 0" \
		    "${S[code]} ${S[retries]}"
	fi
}

# bats test_tags=covered
@test "retry: retry_on = close takes a server that closes without a word for down" {
	start_bad c close
	start_app a
	BALANCE=first DEFAULTS='retry_on = close' web c a
	exec 7<>"/dev/tcp/127.0.0.1/$(port web)"
	wait_for 10 has scur a 1
	printf 'GET / HTTP/1.0\r\n\r\n' >&7
	run -0 timeout 60 cat <&7
	exec 7>&-
	[[ $output == *a ]]
	stop_lfproxy
	BALANCE=first web c a
	exec 7<>"/dev/tcp/127.0.0.1/$(port web)"
	run -0 timeout 60 cat <&7
	exec 7>&-
	last_session
	equal "the code and the server" "-- c" "${S[code]} ${S[server]}"
}

# Two servers that answer no SYN: each session is a retry for a second or more.
@test "retry: beyond the budget a session ends with SC, and is counted" {
	start_bad f full
	start_bad g full
	DEFAULTS=$'retries = 1\ntimeout_connect = 1s
retry_budget = 0%\nretry_budget_min = 2' web f g
	spawn many "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count 6 --deadline 200
	wait_for 30 sessions_ended 6
	equal "those refused" 4 "$(sessions | grep -c ' SC .*/0 0/0$')"
	equal "those tried again" 2 "$(sessions | grep -c ' sC .*/+1 0/0$')"
	equal "wredis" 2 "$(column wredis BACKEND)"
	equal "econ" 6 "$(column econ BACKEND)"
	equal "lf_retries_refused" 4 "$(column lf_retries_refused BACKEND)"
	equal "lf_retries" 0 "$(column lf_retries BACKEND)"
	equal "lf_retries_max" 2 "$(column lf_retries_max BACKEND)"
	equal "lf_retries_limit" 2 "$(column lf_retries_limit BACKEND)"
	wait_for 10 eventful ' retry_budget app: .* 4 retries were refused'
	# Ended sessions return their share of the budget.
	spawn more "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count 1 --deadline 200
	wait_for 30 sessions_ended 7
	equal "those tried again" 3 "$(sessions | grep -c ' sC .*/+1 0/0$')"
}

# under_way SERVER N: a client whose retry, at the server, is the only one that
# the budget allows; the next client's is the Nth that is refused.
under_way() {
	spawn client python3 -c "
import socket, struct, sys, time
s = socket.create_connection(('127.0.0.1', $(port web)))
s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
print('ready', flush=True)
time.sleep(100)"
	wait_for 10 has scur "$1" 1
	run fetch "$(url)"
	equal "lf_retries_refused" "$2" "$(column lf_retries_refused BACKEND)"
}

@test "retry: a session that dies while it is retried gives the budget back" {
	start_bad r refuse
	start_bad f full
	start_bad g full
	DEFAULTS=$'timeout_connect = 100s\nretry_budget = 0%
retry_budget_min = 1\ntimeout_drain = 1s' BALANCE=first web r f
	under_way f 1
	# The client resets its connection.
	end client KILL
	wait_for 10 has scur f 0
	under_way f 2
	# Its server is removed, and its time passes.
	sed -i "s|^server = f .*|server = g $(addr g)|" "$T/lfproxy.ini"
	ctl reload
	wait_for 10 has scur BACKEND 0
	end client KILL
	under_way g 3
}

# They have all been refused once, are all let in at the same moment, and wait
# for the server's answer together.
@test "retry: the budget does not refuse sessions that were queued" {
	local n=20

	start_bad r refuse
	start_app health
	DEFAULTS=$'timeout_queue = 100s\ntimeout_connect = 20s
retry_budget = 0%\nretry_budget_min = 1' BACKEND=$CHECKED \
	    web "r check_port=$(addr health | sed 's/.*://')"
	spawn many "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count "$n" --deadline 200
	wait_for 20 has connect r "$n"
	end health
	wait_for 20 has qcur BACKEND "$n"
	end r
	serve r "$TOOLS/badserver" full "$(addr r)" --deadline 600
	restart_app health
	wait_for 20 has scur r "$n"
	equal "lf_retries_refused" 0 "$(column lf_retries_refused BACKEND)"
	equal "qcur" 0 "$(column qcur BACKEND)"
	equal "wretr, all of which had been refused" "$n" "$(column wretr r)"
	end many
	wait_for 20 has scur r 0
}

@test "retry: a budget of 100% refuses nothing" {
	start_bad f full
	start_bad g full
	DEFAULTS=$'retries = 1\ntimeout_connect = 500ms
retry_budget = 100%\nretry_budget_min = 0' web f g
	spawn many "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count 20 --deadline 200
	wait_for 30 sessions_ended 20
	equal "those tried again" 20 "$(sessions | grep -c ' sC .*/+1 0/0$')"
}

# Peak EWMA must not take the refusal, which is quick, for a good sign.
@test "retry: balance = ewma avoids a server that refuses" {
	start_bad r refuse
	start_app a
	start_app b
	BALANCE=ewma web a r b
	began=$SECONDS
	fetch -H 'Connection: close' "$(url)[1-200]" >"$T/answers"
	equal "answers" 200 "$(grep -c '^[ab]$' "$T/answers")"
	# After ten seconds the refusal is forgotten, and the server tried
	# again.
	[ "$(column connect r)" -le $((3 + 3 * (SECONDS - began) / 10)) ] ||
	    fail "$(column connect r) connects"
}
