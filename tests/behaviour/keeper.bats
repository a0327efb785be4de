#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sessions do not wait for the control thread.

load helpers
load stat

FAULTY=$ROOT/build/fault/lfproxy

# start_stoppable FRONTEND_LINES: with an lfproxy whose control thread can be
# stopped, in front of the streams' server s.
start_stoppable() {
	[ -x "$FAULTY" ] || skip "no $FAULTY; make MODE=fault builds it"
	start_streams s
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\n%s\n' "$1"
		printf 'backend = app\n[backend app]\ncheck = off\n'
		printf 'server = s %s\n' "$(addr s)"
	} >"$T/lfproxy.ini"
	LFPROXY=$FAULTY LIMIT='env LFPROXY_FAULT_STOP_LOOP=1' \
	    launch_lfproxy -c "$T/lfproxy.ini"
}

# Asks once more after the answer that was under way.
is_deaf() {
	! timeout 1 "$CTL" -S "$ADMIN" show info >/dev/null 2>&1 &&
	    ! timeout 1 "$CTL" -S "$ADMIN" show info >/dev/null 2>&1
}

# From here on no command is answered, and SIGTERM stops nothing.
stop_control_thread() {
	kill -USR2 "$LFPROXY_PID"
	wait_for 30 is_deaf
}

kill_lfproxy() {
	is_deaf
	kill -KILL "$LFPROXY_PID"
	wait "$LFPROXY_PID" || [ $? -eq 137 ]
	LFPROXY_PID=
}

@test "keeper: a deadline ends its session while the control thread stands still" {
	start_stoppable 'timeout_client = 500ms'
	stop_control_thread
	run -0 "$TOOLS/badclient" silent "$(listening web)" --count 3 \
	    --deadline $((60 * PATIENCE))
	last_session 3
	equal "the code" cD "${S[code]}"
	kill_lfproxy
}

@test "keeper: bandwidth is given while the control thread stands still" {
	start_stoppable 'bandwidth = in=4MiB/s out=8MiB/s per=session'
	stop_control_thread
	streams "$(listening web)" --connections 3 --up 400000 --down 800000
	[[ $output == *"ok=3 "*"failed=0 "* ]] || fail "$output"
	kill_lfproxy
}

@test "keeper: paused acceptors go on while the control thread stands still" {
	start_stoppable 'rate = 20'
	stop_control_thread
	streams "$(listening web)" --connections 10 --up 1 --down 1
	[[ $output == *"ok=10 "*"failed=0 "* ]] || fail "$output"
	kill_lfproxy
}
