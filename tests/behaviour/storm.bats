#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Servers killed, restarted, made slow, made to refuse, in random order under
# load, one at least always well: no client sees an error unless its bytes had
# been sent to a server.  STORM_SEED repeats a run; the seed is printed.

load helpers
load stat

STORMTOOL=$ROOT/tests/behaviour/stormtool.py

# No session is left, and all counters agree.
at_rest() {
	ctl show stat | python3 -c '
import csv, sys
left = {name + " of " + row["svname"]: row[name]
        for row in csv.DictReader(sys.stdin)
        for name in ("scur", "qcur")
        if row[name] not in ("", "0")}
sys.exit(f"not 0: {left}" if left else 0)'
}

# The budget is for one retry at a time: no session may keep a part of it.
budget_at_rest() {
	local refused i

	start_app well
	start_bad r refuse
	sed -i '/^server = /d; s/^check = .*/check = connect interval=10m/' \
	    "$T/lfproxy.ini"
	printf '%s\n' 'retry_budget = 0%' 'retry_budget_min = 1' \
	    "server = r $(addr r)" "server = well $(addr well)" \
	    >>"$T/lfproxy.ini"
	ctl reload
	refused=$(column lf_retries_refused BACKEND)
	for i in 1 2 3 4; do
		equal "answer $i" well "$(fetch "$(url)")"
	done
	[ "$(column wredis r)" -ge 1 ]
	equal "refused" "$refused" "$(column lf_retries_refused BACKEND)"
}

# storm SECONDS BALANCE [LINE...]: lines for the backend.
storm() {
	local seed=${STORM_SEED:-$RANDOM} seconds=$1 balance=$2 i=0 line

	shift 2
	spawn storm "$STORMTOOL" storm "$T" --seed "$seed" --seconds "$seconds"
	wait_for 20 has_line storm '^ready'
	{
		cat <<-END
			[global]
			log = stderr
			log = file=$T/access.log format=json
			admin = $T/admin.sock mode=0600
			drain_timeout = 10m
			[pool main]
			threads = 2
			[frontend web]
			listen = 127.0.0.1:0
			backend = app
			[backend app]
			balance = $balance
			retry_on = close
			timeout_connect = 1s
			check = connect interval=200ms timeout=500ms fall=2 rise=1
		END
		printf '%s\n' "$@"
		while read -r line; do
			echo "server = s$i ${line##* }"
			i=$((i + 1))
		done < <(grep '^listening' "$T/storm.out")
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	echo "$(listening web) $T/admin.sock" >"$T/go.new"
	mv "$T/go.new" "$T/go"
	echo "# STORM_SEED=$seed" >&3
	finish storm $((seconds + 90))
	wait_for 20 at_rest
	budget_at_rest
	sed -n '/^seed/s/^/# /p' "$T/storm.out" >&3
}

# bats test_tags=slow
@test "storm: 15 s, round robin and ejection" {
	storm 15 roundrobin 'eject_after = 3' 'eject_on = connect,reset' \
	    'eject_time = 300ms'
}

# bats test_tags=long
@test "storm: two minutes, round robin" {
	storm "$(in_short 120)" roundrobin
}

# bats test_tags=long
@test "storm: two minutes, leastconn, with ejection and observe" {
	storm "$(in_short 120)" leastconn 'eject_after = 3' 'eject_on = connect,reset' \
	    'eject_time = 300ms' \
	    'observe = connect' 'error_limit = 5' 'on_error = fail_check'
}
