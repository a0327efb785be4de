#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# When checks are made: on time with many servers, faster and slower by state,
# and at which port.

load helpers
load checks

# host SERVERS SECONDS INTERVAL_MS: lfproxy checks them, connect, every
# interval; sets PACE[checks fewest worst burst stall].
declare -gA PACE=()
host() {
	local i=0 address key value stall

	serve clock python3 -u "$ROOT/tests/tools/checkclock.py" "$@"
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\ncheck = connect jitter=0 '
		printf 'interval=%dms timeout=%dms\n' "$3" "$3"
		grep '^127' "$T/clock.out" | while read -r address; do
			echo "server = s$((i += 1)) $address"
		done
	} | sed 's/= stderr/= off/' >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	finish clock $((3 * $2 + 20)) || return
	while read -r key value _ stall; do
		PACE[$key]=$value
		[ -z "$stall" ] || PACE[stall]=$stall
	done < <(grep -v ' on ' <<<"$output" | grep -v '^127')
}

# in_time SERVERS SECONDS INTERVAL_MS CHECKS BURST: off by a tenth of the
# interval at most, so many checks of each, and not more than BURST within 20
# ms; else $blame is set unless the machine itself was late.
in_time() {
	[ -z "$LFPROXY_PID" ] || stop_lfproxy || return 2
	host "$1" "$2" "$3" || return 2
	echo "off by ${PACE[worst]} of the interval, the machine by ${PACE[stall]};" \
	    "at least ${PACE[fewest]} checks, at most ${PACE[burst]} at once"
	[ "${PACE[fewest]}" -ge "$4" ] && [ "${PACE[burst]}" -le "$5" ] &&
	    awk "BEGIN { exit !(${PACE[worst]} <= 0.1) }" && return
	awk "BEGIN { exit ${PACE[stall]} <= 0.05 }" || blame=1
	return 1
}

# punctual ...: in_time, in one of a few looks.
punctual() {
	local rc=0 blame=

	tries 3 in_time "$@" || rc=$?
	[ $rc -ne 1 ] || [ -n "$blame" ] ||
	    skip "the machine itself was late by ${PACE[stall]} of the interval"
	return $rc
}

# bats test_tags=timing
@test "check: a hundred servers, half of them dead, are checked on time" {
	[ "$PATIENCE" -eq 1 ] || skip "a sanitizer takes its own time"
	# Spread over a second there is one every 10 ms, so 2 of 100 in 20 ms.
	punctual 100 5 1000 5 10
}

# bats test_tags=slow, timing
@test "check: 500 servers, half of them dead, are checked on time" {
	[ "$PATIENCE" -eq 1 ] || skip "a sanitizer takes its own time"
	punctual 500 12 2000 6 25
}

# bats test_tags=covered
@test "check: init_state=down waits for a check that passes" {
	start_app a
	start_bad b refuse
	BACKEND="check = connect init_state=down interval=60s rise=5" web a b
	until_column 10 a status UP
	until_column 10 b check_status L4CON
	equal "b's status" DOWN "$(column b status)"
	equal "who answers" a "$(fetch "$(url)")"
}

# ten_intervals: until another server has been checked ten times at interval.
ten_intervals() {
	local begun

	begun=$(info ChecksStarted)
	wait_for 10 info_at_least ChecksStarted $((begun + 10))
}

@test "check: fast_interval while it falls, down_interval once it is down" {
	start_app a
	start_app other
	BACKEND="check = connect interval=100ms fast_interval=1h fall=3" \
	    web a other
	until_column 10 a check_status L4OK
	end a
	until_column 10 a check_status L4CON
	# With interval it would be down by then.
	ten_intervals
	equal "a's status" "UP 2/3" "$(column a status)"

	sed -i 's/fast_interval=1h/down_interval=1h/' "$T/lfproxy.ini"
	"$CTL" -S "$ADMIN" reload
	until_column 10 a status DOWN
	restart_app a
	ten_intervals
	equal "a's status" DOWN "$(column a status)"
}

# bats test_tags=covered
@test "check: on another port, for all servers and for one" {
	local port other

	start_app a
	start_app b
	start_app probe
	port=$(addr probe | sed 's/.*://')
	other=$(addr b | sed 's/.*://')
	BACKEND="$(checked "connect fall=1 rise=1 port=$port")" \
	    web a "b check_port=$other"
	until_column 10 a check_status L4OK
	until_column 10 b check_status L4OK
	end probe
	until_column 10 a status DOWN
	equal "b's status" UP "$(column b status)"
}

# info KEY: of `show info`.
info() {
	"$CTL" -S "$ADMIN" show info | sed -n "s/^$1: //p"
}

info_at_least() {
	[ "$(info "$1")" -ge "$2" ]
}

# A stall of the machine may come right after it.
delay_cleared() {
	"$CTL" -S "$ADMIN" clear loop
	[ "$(info CheckMaxDelay_us)" -lt 300000 ]
}

# bats test_tags=covered
@test "check: the delay of checks and the loop's longest turn are shown" {
	start_app a
	BACKEND="check = connect interval=50ms" web a
	wait_for 10 info_at_least ChecksStarted 5
	[ "$(info LoopIterations)" -ge 5 ]
	# Both values come from one answer: the turn that writes it may be the
	# longest.
	"$CTL" -S "$ADMIN" show info >"$T/info"
	awk -F': ' '$1 == "LoopMaxTime_us" { turn = $2 }
	    $1 == "LoopMaxCpu_us" { cpu = $2 }
	    END { exit !(cpu >= 1 && turn >= cpu) }' "$T/info" ||
	    { grep Loop "$T/info"; return 1; }
	# A stall, as long as it is.
	stop_process "$LFPROXY_PID"
	sleep 0.5
	kill -CONT "$LFPROXY_PID"
	wait_for 10 info_at_least CheckMaxDelay_us 300000
	wait_for 10 delay_cleared
	wait_for 10 info_at_least ChecksStarted 1
}

# `make bench-checks` does it in rounds, and without the checks as well.
# bats test_tags=long
@test "check: 500 servers, half of them dead, on time under full traffic" {
	[ "$PATIENCE" -eq 1 ] || skip "a sanitizer takes its own time"
	run env PYTHONPATH="$ROOT/tests" timeout 200 python3 -B \
	    "$ROOT/tests/bench/checks.py" "$BUILD" "$T/report.md" --rounds 1
	[ "$status" -ne 75 ] || skip "${lines[-1]}"
	equal "the exit code ($output)" 0 "$status"
	grep -qE '^\| http \| [0-9]+' "$T/report.md"
}
