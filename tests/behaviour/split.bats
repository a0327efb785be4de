#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sessions of a frontend that are shared out among several backends.

load helpers

# split WEIGHT WEIGHT [LINE...]: lfproxy with backends app (server a) and canary
# (server b); the lines go into both.
split() {
	local app=$1 canary=$2

	shift 2
	{
		common | sed "/^log/s|\$|\\nadmin = $T/admin.sock mode=0600|"
		printf '[frontend web]\nlisten = 127.0.0.1:0\n'
		printf 'backend = app weight=%s\n' "$app"
		printf 'backend = canary weight=%s\n' "$canary"
		printf '[backend app]\nserver = a %s\n' "$(addr a)"
		printf '%s\n' "${@:-check = off}"
		printf '[backend canary]\nserver = b %s\n' "$(addr b)"
		printf '%s\n' "${@:-check = off}"
	} >"$T/lfproxy.ini"
}

# names N: of the servers that answer N connections, one after the other.
names() {
	fetch -H 'Connection: close' "$(url)?[1-$1]" | sort | uniq -c | xargs
}

ctl() {
	"$CTL" -S "$T/admin.sock" "$@"
}

# bats test_tags=covered
@test "split: a share may be below one percent" {
	start_app a
	start_app b
	split 499 1
	launch_lfproxy -c "$T/lfproxy.ini"
	equal "1000 sessions" "998 a 2 b" "$(names 1000)"
}

# bats test_tags=covered
@test "split: 95 to 5 is exact over 2000 sessions of 4 threads" {
	local n of_b

	start_streams a
	start_streams b
	split 95 5
	sed -i 's/^threads = .*/threads = 4/' "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	n=$(($(scaled 2000) / 20 * 20))
	streams "127.0.0.1:$(port web)" --connections 20 --repeat $((n / 20)) \
	    --up 99
	wait_for 10 sessions_ended "$n"
	of_b=$(sessions | grep -c ' web canary/b ')
	equal "b's sessions" $((n / 20)) "$of_b"
	equal "a's sessions" $((n - n / 20)) \
	    "$(sessions | grep -c ' web app/a ')"
	equal "stot of the canary" "$of_b" \
	    "$(ctl show stat canary 2 -1 | tail -n +2 | cut -d, -f8)"
}

@test "split: a reload changes the shares, down to none" {
	start_app a
	start_app b
	split 1 1
	launch_lfproxy -c "$T/lfproxy.ini"
	equal "halves" "10 a 10 b" "$(names 20)"
	sed -i 's/^backend = canary.*/backend = canary weight=3/' \
	    "$T/lfproxy.ini"
	equal "the answer" \
	    "frontend web: backend: app weight=1, canary weight=1 -> app weight=1, canary weight=3" \
	    "$(ctl reload)"
	equal "a quarter and three" "5 a 15 b" "$(names 20)"
	sed -i 's/^backend = canary.*/backend = canary weight=0/' \
	    "$T/lfproxy.ini"
	ctl reload
	equal "all" "20 a" "$(names 20)"
	sed -i '/^backend = canary/d' "$T/lfproxy.ini"
	ctl reload
	equal "without the canary" "20 a" "$(names 20)"
	sed -i 's/^backend = app.*/backend = canary/' "$T/lfproxy.ini"
	ctl reload
	equal "the canary alone" "20 b" "$(names 20)"
}

@test "split: the share of a backend without a usable server goes to the other" {
	start_app a
	start_app b
	split 50 50 'check = connect interval=100ms fall=1 rise=1 timeout=5s' \
	    'retries = 0' \
	    'timeout_queue = 0'
	launch_lfproxy -c "$T/lfproxy.ini"
	equal "halves" "10 a 10 b" "$(names 20)"
	end b
	wait_for 10 says_down canary/b
	equal "all" "20 a" "$(names 20)"
	restart_app b
	wait_for 10 says_up canary/b
	equal "halves again" "10 a 10 b" "$(names 20)"
	end a
	end b
	wait_for 10 says_down canary/b 2
	wait_for 10 says_down app/a
	run fetch "$(url)"
	[ "$status" -ne 0 ]
	wait_for 10 session_like ' (app|canary)/<NOSRV> .* SC '
}

# bats test_tags=covered
@test "split: a session keeps its backend's limits" {
	start_app a
	start_app b
	split 1 1 'check = off' 'timeout_server = 100s'
	sed -i '/^\[backend canary\]/,$s/timeout_server = .*/timeout_server = 300ms/' \
	    "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	spawn idle "$TOOLS/badclient" silent "127.0.0.1:$(port web)" --count 4
	wait_for 10 sessions_ended 2
	equal "ended" 2 "$(sessions | grep -c ' web canary/b .* sD ')"
	equal "sessions of a" 2 \
	    "$(ctl show stat app 4 -1 | tail -n +2 | cut -d, -f5)"
	end idle
}
