#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The script check: its status, its output, its environment, its end.

# bats file_tags=onethread

load helpers
load checks

# script LINE...: what the check runs from now on.
script() {
	printf '%s\n' '#!/bin/sh' "$@" >"$T/new"
	chmod +x "$T/new"
	mv "$T/new" "$T/script"
}

# scripted [impatient]
scripted() {
	start_app a
	BACKEND="$("${1:-checked}" script fall=1 rise=1)
		check_command = $T/script one two" web a
}

# bats test_tags=covered
@test "script: status 0 passes, another fails, with what it says" {
	script 'echo all is well'
	scripted
	until_check a PROCOK
	equal "what it said" "all is well" "$(column a last_chk)"

	script 'echo replica lags 17 s >&2' 'echo more' 'exit 3'
	until_failed a PROCERR
	equal "the code" 3 "$(column a check_code)"
	wait_for 10 lfproxy_said 'server app/a is down: PROCERR \(External check error\), code: 3, info: "replica lags 17 s", check duration: [0-9]+ms;'

	script 'exit 0'
	until_column 10 a status UP
}

# bats test_tags=covered
@test "script: knows which server is meant" {
	script "{ echo \"\$1 \$2\"; env; } >$T/env.new" "mv $T/env.new $T/env"
	scripted
	until_check a PROCOK
	for line in "one two" LFPROXY_BACKEND=app LFPROXY_SERVER=a \
	    LFPROXY_ADDRESS="$(addr a)" LFPROXY_HOST=127.0.0.1 \
	    LFPROXY_PORT="$(addr a | sed 's/.*://')" LFPROXY_STATE=up \
	    LFPROXY_WEIGHT=100 LFPROXY_SESSIONS=0 HAPROXY_SERVER_NAME=a; do
		grep -qxF "$line" "$T/env" || fail "no $line in $(cat "$T/env")"
	done
}

@test "script: one for HAProxy gets its arguments and variables" {
	local line app

	script "{ echo \"\$#: \$*\"; env; } >$T/env.\$HAPROXY_SERVER_NAME.new" \
	    "mv $T/env.\$HAPROXY_SERVER_NAME.new $T/env.\$HAPROXY_SERVER_NAME"
	start_app a
	cat - <(common) >"$T/lfproxy.ini" <<-END
		[tls upstream]
		verify = none
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		tls = upstream
		$(checked script fall=1 rise=1)
		check_command = $T/script
		server = socket unix:$T/none.sock
		server = a $(addr a) check_addr=127.0.0.9 check_port=9
	END
	launch_lfproxy -c "$T/lfproxy.ini"
	until_check a PROCOK
	until_check socket PROCOK
	app=$(addr a | sed 's/.*://')
	for line in "4: NOT_USED NOT_USED 127.0.0.1 $app" \
	    LFPROXY_ADDRESS=127.0.0.9:9 LFPROXY_HOST=127.0.0.9 LFPROXY_PORT=9 \
	    HAPROXY_PROXY_NAME=app HAPROXY_PROXY_ADDR= \
	    HAPROXY_PROXY_PORT= HAPROXY_SERVER_ADDR=127.0.0.1 \
	    "HAPROXY_SERVER_PORT=$app" HAPROXY_SERVER_CURCONN=0 \
	    HAPROXY_SERVER_MAXCONN=0 HAPROXY_SERVER_SSL=1 \
	    HAPROXY_SERVER_PROTO=tcp "HAPROXY_PROXY_ID=$(column a iid)" \
	    "HAPROXY_SERVER_ID=$(column a sid)"; do
		grep -qxF "$line" "$T/env.a" || fail "no $line in $(cat "$T/env.a")"
	done
	for line in "4: NOT_USED NOT_USED $T/none.sock NOT_USED" \
	    HAPROXY_SERVER_PORT=; do
		grep -qxF "$line" "$T/env.socket" ||
		    fail "no $line in $(cat "$T/env.socket")"
	done
}

# bats test_tags=covered
@test "script: the timeout kills it with all that it started" {
	script "sleep 60 & echo \$! >$T/pid" 'echo waiting' 'sleep 60'
	scripted impatient
	until_failed a PROCTOUT
	equal "what it said" waiting "$(column a last_chk)"
	script 'exit 0'
	until_column 10 a status UP
	wait_for 10 ended "$(cat "$T/pid")"
}

@test "script: a killed, an endlessly printing and a missing script fail" {
	script 'kill -SEGV $$'
	scripted
	until_failed a PROCERR
	[[ $(column a last_chk) == *"signal 11 (SIGSEGV)"* ]]
	script 'yes | head -c 1000000'
	until_column 10 a check_status PROCOK
	rm "$T/script"
	until_column 10 a check_status PROCERR
	equal "why" "No such file or directory" "$(column a last_chk)"
}

# bats test_tags=covered
@test "script: a running script is ended with lfproxy and by a reload" {
	script "echo \$\$ >>$T/pids" 'exec sleep 60'
	start_app a
	BACKEND="check = script interval=60s timeout=60s
		check_command = $T/script" web a
	wait_for 10 test -s "$T/pids"
	sed -i 's|/script$|& again|' "$T/lfproxy.ini"
	"$CTL" -S "$ADMIN" reload
	wait_for 10 ended "$(head -n 1 "$T/pids")"
	wait_for 10 sed -n '2q0;$q1' "$T/pids"
	stop_lfproxy
}

# bats test_tags=covered
@test "script: leaves neither descriptors nor processes behind" {
	local fds

	script 'echo x'
	start_app a
	BACKEND="check = script interval=20ms timeout=2s fall=1
		check_command = $T/script" web a
	until_check a PROCOK
	fds=$(fd_count)
	script 'exit 1'
	until_column 10 a check_status PROCERR
	script 'exit 0'
	until_column 10 a status UP
	wait_for 10 fds_at_most $((fds + 1))
	# Processes of running checks are reaped when these checks end.
	wait_for 10 no_zombies
}

no_zombies() {
	! pgrep -P "$LFPROXY_PID" -r Z
}

# Symptom: libcurl's wake-up sockets were open in every script.
# bats test_tags=covered
@test "script: has no descriptor of lfproxy's" {
	script "ls -l /proc/self/fd >$T/fds.new" "mv $T/fds.new $T/fds"
	start_app a
	{
		common
		printf '[frontend %s]\nlisten = 127.0.0.1:0\nbackend = %s\n' \
		    web app other other
		printf '[backend app]\n%s\ncheck_command = %s\nserver = a %s\n' \
		    "$(checked script)" "$T/script" "$(addr a)"
		printf '[backend other]\n%s\nserver = a %s\n' \
		    "$(checked http)" "$(addr a)"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	until_check a PROCOK
	wait_for 10 test -s "$T/fds"
	rm "$T/fds"
	wait_for 10 test -s "$T/fds"
	# Its output, and the directory that ls reads.
	refute grep -E 'socket:|anon_inode:' "$T/fds"
	equal "descriptors" 4 "$(grep -c -- '->' "$T/fds")"
}

# Symptom: what a script left in the background outlived it, and lfproxy.
# bats test_tags=covered
@test "script: processes that a script leaves behind are ended" {
	script "sleep 600 >/dev/null 2>&1 & echo \$! >>$T/left"
	scripted
	until_check a PROCOK
	wait_for 10 test -s "$T/left"
	wait_for 10 ended "$(head -n 1 "$T/left")"
}

# bats test_tags=covered
@test "script: ends with an lfproxy that is killed" {
	script "echo \$\$ >$T/pid" 'exec sleep 600'
	start_app a
	BACKEND="check = script interval=600s timeout=600s
		check_command = $T/script" web a
	wait_for 10 test -s "$T/pid"
	kill -KILL "$LFPROXY_PID"
	wait_for 10 ended "$(cat "$T/pid")"
	wait "$LFPROXY_PID" || [ $? -eq 137 ]
	LFPROXY_PID=
}

# Symptom: scripts got lfproxy's whole environment, secrets for ${...} included.
# bats test_tags=covered
@test "script: its environment and its rights are its own" {
	local ignored line

	script "{ env; pwd; umask; ulimit -Sn; cat /proc/self/status; } >$T/env.new" \
	    "mv $T/env.new $T/env"
	export LFPROXY_TEST_SECRET=geheim HOME=/nonexistent/home LC_NUMERIC=C
	scripted
	until_check a PROCOK
	refute grep geheim "$T/env"
	equal "foreign variables" "" "$(sed '/^\//,$d' "$T/env" |
	    grep -vE '^(LFPROXY_|HAPROXY_|PATH=|HOME=|USER=|LOGNAME=|LANG|LC_|TZ=|TMPDIR=|PWD=|OLDPWD=|SHLVL=|_=)' || true)"
	for line in HOME=/nonexistent/home LC_NUMERIC=C / 0022 1024; do
		grep -qxF "$line" "$T/env" || fail "no $line in $(cat "$T/env")"
	done
	grep -qE '^NoNewPrivs:[[:space:]]1$' "$T/env"
	# But for 32 and 33, which the C library keeps to itself.
	ignored=$(sed -n 's/^SigIgn:[[:space:]]*//p' "$T/env")
	equal "ignored signals" 0 $((0x$ignored & ~0x180000000))
	grep -qE '^SigBlk:[[:space:]]0+$' "$T/env"
	grep -qE '^CapAmb:[[:space:]]0+$' "$T/env"
}

# Symptom: what a server said could colour, clear or reorder the terminal of
# whoever looked: control characters of U+0080-009F, as a byte or in UTF-8, and
# bidirectional overrides.
@test "script: control characters of what it says end nowhere" {
	local word

	# shellcheck disable=SC2016
	script 'printf "A\\2332Jb \\302\\2332Jc \\342\\200\\256d \\377e gr\\303\\274n\\n"' 'exit 1'
	scripted
	until_failed a PROCERR
	wait_for 10 lfproxy_said 'server app/a is down'
	{
		cat "$LFPROXY_LOG"
		for word in "show stat" "show stat typed" "show stat json" "show events" \
		    "show events json" "show servers state"; do
			# shellcheck disable=SC2086
			"$CTL" -S "$T/admin.sock" $word
		done
		timeout 60 "$BUILD/lfproxyctl" -S "$T/admin.sock" top -n 1
	} >"$T/all"
	grep -q 'A?2Jb ?2Jc ?d ?e grün' "$LFPROXY_LOG"
	[ "$(grep -c '2Jb .2Jc .d .e grün' "$T/all")" -ge 6 ]
	LC_ALL=C refute grep -nE $'\x9b|\xe2\x80|\xff' "$T/all"
}
