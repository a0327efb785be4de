# SPDX-License-Identifier: MIT
# Every limit of time ends its session, with its code, and not much later.

load helpers

opened=0

# The allowed delay of a timer, beside that of the machine.
LATE_MS=300

# all_end CODE MS OPEN [N]: N sessions (3), which OPEN N begins, end with the
# code and none before MS.  Where time is judged, one at least ends in time: the
# others may have waited for this machine.  If all have, it is tried again.
all_end() {
	began=0
	tries 5 all_end_in_time "$@"
}

all_end_in_time() {
	local n=${4:-3} line first=

	"$3" "$n"
	began=$((began + n))
	wait_for 20 sessions_ended "$began" || return 2
	while read -r line; do
		parse_session "$line"
		equal "the code" "$1" "${S[code]}" || return 2
		if [ "${S[tt]}" -lt $(($2 - 5)) ]; then
			fail "too early: $line"
			return 2
		fi
		[ -n "$first" ] && [ "$first" -le "${S[tt]}" ] || first=${S[tt]}
	done < <(sessions)
	echo "the first ended after $first ms"
	in_time "$first" $(($2 + LATE_MS * PATIENCE))
}

# Clients that send nothing and hold on; they end with the test.
hold() {
	spawn "hold$((opened += 1))" "$TOOLS/badclient" idle \
	    "127.0.0.1:$(port web)" --count "$1" --deadline 200
}

# Clients that end what they send at once and then wait for the server, and
# those that never end.
half_close() {
	for _ in $(seq "$1"); do
		spawn "half$((opened += 1))" \
		    socat -t 100 - "TCP:127.0.0.1:$(port web)"
	done
}

stay_open() {
	for _ in $(seq "$1"); do
		spawn "open$((opened += 1))" sh -c "tail -f /dev/null |
			socat -t 100 - TCP:127.0.0.1:$(port web)"
	done
}

# Clients that send and read without a pause.
keep_busy() {
	for _ in $(seq "$1"); do
		spawn "slow$((opened += 1))" "$TOOLS/badclient" slow \
		    "127.0.0.1:$(port web)" --send x --rate 5000 --deadline 200
	done
}

# bats test_tags=covered
@test "timers: timeout_connect" {
	start_bad f full
	DEFAULTS=$'timeout_connect = 700ms\nretries = 0' web f
	all_end sC 700 hold
}

# bats test_tags=covered
@test "timers: timeout_connect counts for each attempt" {
	start_bad f full
	start_bad g full
	DEFAULTS=$'timeout_connect = 500ms\nretries = 1' web f g
	all_end sC 1000 hold
}

# bats test_tags=covered
@test "timers: timeout_client" {
	start_app a
	DEFAULTS=$'timeout_client = 800ms' web a
	all_end cD 800 hold
}

# bats test_tags=covered
@test "timers: timeout_first_byte" {
	start_app a
	DEFAULTS='timeout_first_byte = 800ms' web a
	all_end cD 800 hold
}

# bats test_tags=covered
@test "timers: timeout_server" {
	start_bad s silent
	DEFAULTS=$'timeout_server = 800ms' web s
	all_end sD 800 hold
}

# bats test_tags=covered
@test "timers: the shorter of timeout_client and timeout_server counts" {
	start_bad s silent
	DEFAULTS=$'timeout_server = 1h\ntimeout_client = 600ms' web s
	all_end cD 600 hold
}

# bats test_tags=timing
@test "timers: traffic of either side puts timeout_client and timeout_server off" {
	start_bad s slow --bytes 30 --rate 10
	DEFAULTS=$'timeout_server = 800ms\ntimeout_client = 800ms' web s
	began=0
	tries 4 put_off
	[ "${S[tt]}" -ge 2500 ]
}

# A machine that stalls for 700 ms is silence, too.
put_off() {
	spawn slow "$TOOLS/badclient" slow "127.0.0.1:$(port web)" \
	    --send x --bytes 30 --rate 1000 --deadline 200
	wait_for 20 sessions_ended $((began += 1)) || return 2
	parse_session "$(sessions | tail -n 1)"
	[ "${S[code]}" = -- ]
}

# bats test_tags=covered
@test "timers: timeout_client_fin takes over when the server has finished" {
	start_bad h half-close
	DEFAULTS=$'timeout_client = 1m\ntimeout_client_fin = 800ms' web h
	all_end cD 800 stay_open
}

# bats test_tags=covered
@test "timers: timeout_server_fin takes over when the client has finished" {
	start_bad n never-read
	DEFAULTS=$'timeout_server = 1m\ntimeout_server_fin = 800ms' web n
	all_end sD 800 half_close
}

# bats test_tags=covered
@test "timers: timeout_tunnel takes over from longer ones" {
	start_bad s silent
	DEFAULTS=$'timeout_client = 1m\ntimeout_server = 1m
timeout_tunnel = 800ms' web s
	all_end cD 800 hold
}

# bats test_tags=covered
@test "timers: timeout_tunnel takes over from shorter ones" {
	start_bad s silent
	DEFAULTS=$'timeout_client = 200ms\ntimeout_server = 200ms
timeout_tunnel = 1500ms' web s
	all_end cD 1500 hold
}

# bats test_tags=covered
@test "timers: timeout_tunnel leaves the connect and half-closed sessions alone" {
	start_bad f full
	start_bad n never-read
	BALANCE=first DEFAULTS=$'timeout_connect = 400ms\nretries = 1
timeout_tunnel = 1m\ntimeout_server_fin = 600ms' web f n
	# A connect in vain, and the end that the other server does not make.
	all_end sD 1000 half_close 1
}

@test "timers: max_age ends silent sessions" {
	start_bad s silent
	DEFAULTS=$'max_age = 800ms' web s
	all_end PD 800 hold
}

# bats test_tags=covered
@test "timers: max_age ends busy sessions" {
	start_bad s slow --bytes 100000 --rate 1000
	DEFAULTS=$'max_age = 1s' web s
	all_end PD 1000 keep_busy
	[ "${S[bytes]}" -gt 100 ]
}

# bats test_tags=covered
@test "timers: the jitter of max_age spreads the ends and prolongs none" {
	start_bad s silent
	DEFAULTS=$'max_age = 2s jitter=50%' web s
	began=0
	tries 4 spread_in_time
}

spread_in_time() {
	local tts

	hold 40
	wait_for 20 sessions_ended $((began += 40)) || return 2
	tts=$(sessions | tail -n 40 |
	    sed -E 's|.* [-0-9]+/[-0-9]+/([0-9]+) .*|\1|' | sort -n)
	equal "the codes" "$began" "$(sessions | grep -c ' PD ')" || return 2
	[ "$(head -n 1 <<<"$tts")" -ge 995 ] || return 2
	# 40 numbers between 1000 and 2000: the middle 30 cover some 700.
	in_time "$(tail -n 1 <<<"$tts")" $((2000 + LATE_MS * PATIENCE * 2)) &&
	    [ $(($(sed -n 35p <<<"$tts") - $(sed -n 5p <<<"$tts"))) -ge 300 ]
}

# timely CODE MS OPEN N SERVER LINE...: as all_end, with these lines of
# [defaults], before that server.
timely() {
	local code=$1 ms=$2 open=$3 n=$4 server=$5

	shift 5
	[ -z "$LFPROXY_PID" ] || stop_lfproxy
	DEFAULTS=$(printf '%s\n' "$@") web "$server"
	all_end "$code" "$ms" "$open" "$n"
}

# bats test_tags=timing
@test "timers: every limit ends its sessions within 300 ms" {
	JUDGE_TIME=1
	start_app a
	start_bad f full
	start_bad s silent
	start_bad h half-close
	start_bad n never-read
	timely sC 700 hold 3 f 'timeout_connect = 700ms' 'retries = 0'
	timely cD 800 hold 3 a 'timeout_client = 800ms'
	timely sD 800 hold 3 s 'timeout_server = 800ms'
	timely cD 800 stay_open 3 h 'timeout_client = 1m' \
	    'timeout_client_fin = 800ms'
	timely sD 800 half_close 3 n 'timeout_server = 1m' \
	    'timeout_server_fin = 800ms'
	timely cD 800 hold 3 s 'timeout_tunnel = 800ms'
	timely PD 800 hold 3 s 'max_age = 800ms'
	timely cD 800 hold 3 s 'timeout_first_byte = 800ms'
}
