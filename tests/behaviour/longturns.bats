#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Turns that are declared long, in the build of MODE=fault: sessions whose turns
# sleep say so beforehand, and one thread of the pool stays for all others.

# bats file_tags=unsanitized

load helpers
load mainpool

FAULTY=$ROOT/build/fault/lfproxy

# declared TIME: of 100 sessions that are open at a time ten are slow, each of
# their turns takes TIME and is declared.
declared() {
	[ -x "$FAULTY" ] || skip "no $FAULTY; make MODE=fault builds it"
	LFPROXY=$FAULTY \
	    LIMIT="env LFPROXY_FAULT_SLOW_SESSIONS=10%:$1:declared" web a
}

# holds EXPRESSION
holds() {
	is "$1" True
}

answered() {
	grep -qx "answered $1" "$T/ask.out"
}

ask() {
	spawn ask python3 -B "$ROOT/tests/behaviour/asktool.py" "$(listening web)" "$1"
}

# All others are answered while as many long turns as may, the first ones, last,
# and further ones wait.
short_turns_do_not_wait() {
	THREADS=$1 SHARDS=$2 PROMOTION=$3
	declared 10s
	set_main handshake_threads $((THREADS - 1))
	ask 60
	wait_for 10 answered 50
	wait_for 10 holds 'p["long_running"] == p["long_limit"]'
	equal "limit" $((THREADS - 1)) "$(main 'p["long_limit"]')"
	equal "none has ended" True \
	    "$(main '0 < p["long_waiting"] == p["long_waits"]')"
	end ask
	kill -KILL "$LFPROXY_PID"
	wait "$LFPROXY_PID" || [ $? -eq 137 ]
	LFPROXY_PID=
}

@test "longturns: short turns do not wait for long ones, nor for more of them" {
	start_app a
	short_turns_do_not_wait 4 1 adaptive
	short_turns_do_not_wait 4 4 adaptive
	short_turns_do_not_wait 2 1 always
	short_turns_do_not_wait 4 1 kernel
}

@test "longturns: all that wait get their turn, while threads come and go" {
	start_app a
	THREADS=4 SHARDS=2 PROMOTION=adaptive
	declared 200ms
	ask 100
	wait_for 10 holds 'p["long_waits"] > 0'
	for threads in 2 8 3; do
		set_main threads $threads
		wait_for 10 holds \
		    "p[\"long_limit\"] == min($threads - 1, $(nproc))"
	done
	finish ask
	wait_for 10 holds 'p["long_running"] == p["long_waiting"] == 0'
	holds '0 < p["long_waits"] and p["long_waited_us"] > 0'
}
