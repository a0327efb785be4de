#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# rebalance backend: which clients have to connect again so that servers have
# their share, and which stay.

load helpers
load operator

LONGTOOL=$ROOT/tests/behaviour/longtool.py

# uneven N SECONDS: N clients that ask every SECONDS seconds, all of them at a,
# and b is back.
uneven() {
	start_app a
	start_app b
	BALANCE=leastconn web a b
	done_ set server app/b state maint
	spawn long "$LONGTOOL" "127.0.0.1:$(port web)" "$1" "$2"
	wait_for 20 has_line long ready
	equal "sessions of a" "$1" "$(column scur a)"
	done_ set server app/b state ready
}

long_ends() {
	signal long TERM
	finish long
}

# bats test_tags=onethread
@test "rebalance: a dry run prints the plan and closes no session" {
	start_app a
	start_app b
	BALANCE=leastconn web a 'b weight=50'
	done_ set server app/b state maint
	hold held 30 --verify
	wait_for 10 is scur a 30
	done_ set server app/b state ready
	run -0 ctl rebalance backend app over 5m dry-run
	equal "the plan" "# server sessions fair weight close
app/a 30 20 100 10
app/b 0 10 50 0
10 of 30 sessions would be closed over 5m." "$output"
	equal "JSON" "10 False 300000 a 30 20 10 b 0 10 0" \
	    "$(json_of "rebalance backend app over 5m dry-run" \
	        'j["close"], j["begun"], j["over_ms"], *(s[k]
	    for s in j["servers"]
	    for k in ("server", "sessions", "fair", "close"))')"
	nothing_of "show rebalances"
	equal "changes" 2 "$(ctl show changes | wc -l)"
	release held
}

@test "rebalance: clients connect again until each server has its share" {
	local closed

	uneven 24 600
	answers '^backend app: 0 of 12 closed, over 3s, left [23]\.[0-9]s$' \
	    "rebalance backend app over 3s; show rebalances; show rebalances json"
	grep -q '^12 of 24 sessions will be closed over 3s\.$' "$T/answers"
	sed -n '/^\[/,$p' "$T/answers" | python3 -c 'import json, sys
j = json.load(sys.stdin)[0]
assert (j["backend"], j["close"], j["closed"]) == ("app", 12, 0), j
assert [s["fair"] for s in j["servers"]] == [12, 12], j'
	wait_for 20 nothing_of "show rebalances"
	# Rebalancing stops within the tolerance, which is 1 here.
	closed=$(sessions | grep -c ' app/a .* BD ')
	[ "$closed" = 11 ] || equal "closed" 12 "$closed"
	wait_for 10 is scur b "$closed"
	equal "sessions of a" $((24 - closed)) "$(column scur a)"
	equal "closed at b" 0 "$(sessions | grep -c ' app/b ' || true)"
	wait_for 10 lfproxy_said "rebalancing of backend app has ended, $closed of 12 sessions closed"
	wait_for 10 lfproxy_said 'admin: .*: backend app: rebalanced over 3s, 12 of 24 sessions to be closed$'
	# And no answer was cut.
	long_ends
	equal "the tally" "cut 0 again $closed" "$(tail -n 1 "$T/long.out")"
	run -0 ctl rebalance backend app
	[[ $output == *"Nothing to do: no server has more than its share." ]]
	nothing_of "show rebalances"
}

@test "rebalance: sessions are closed evenly over the time" {
	local ends

	uneven 20 600
	ctl rebalance backend app over 4s
	wait_for 30 nothing_of "show rebalances"
	ends=$(ends_of BD)
	[ "$(wc -l <<<"$ends")" -ge 9 ]
	[ $(($(tail -n 1 <<<"$ends") - $(head -n 1 <<<"$ends"))) -ge 2000 ] ||
	    fail "all at once: $(xargs <<<"$ends")"
	long_ends
}

# the_busy_stay: a session of them that a busy machine lets pause for as long as
# lfproxy watches it is one that rests.
the_busy_stay() {
	DEFAULTS='log_on_connect = on' BALANCE=leastconn web a b || return 2
	done_ set server app/b state maint || return 2
	# The very oldest are busy all the time.
	spawn busy "$LONGTOOL" "127.0.0.1:$(port web)" 4 0.001
	wait_for 20 has_line busy ready || return 2
	hold old 5 || return 2
	wait_for 10 is scur a 9 || return 2
	hold young 7 --verify || return 2
	wait_for 10 is scur a 16 || return 2
	done_ set server app/b state ready || return 2
	# 8 for each: 8 of a are to go, of which 5 rest and are old.
	output=$(ctl rebalance backend app over 10s) || return 2
	[[ $output == *"8 of 16 sessions will be closed over 10s." ]] || return 2
	wait_for 20 eval '[ "$(sessions | grep -c " BD ")" -ge 5 ]' || return 2
	ctl cancel rebalance app || return 2
	wait_for 10 lfproxy_said 'rebalancing of backend app has ended, [5-8] of 8 sessions closed: the operator has cancelled it' ||
	    return 2
	signal busy TERM
	wait_for 60 ended "${PIDS[busy]}" || return 2
	unset "PIDS[busy]"
	[ "$(tail -n 1 "$T/busy.out")" != "cut 0 again 0" ] || return 0
	end old
	end young
	stop_lfproxy || return 2
	return 1
}

@test "rebalance: the oldest are closed first, and those that rest before busy ones" {
	start_app a
	start_app b
	tries 3 the_busy_stay
}

@test "rebalance: busy sessions go when the time is over and there are no others" {
	uneven 8 0.001
	ctl rebalance backend app over 1s
	wait_for 20 nothing_of "show rebalances"
	wait_for 10 at_most scur a 5
	refute at_most scur a 3
	signal long TERM
	wait_for 10 ended "${PIDS[long]}"
	unset "PIDS[long]"
	grep -q 'again [34]$' "$T/long.out"
}

@test "rebalance: servers that take no sessions have no part in it" {
	start_app a
	start_app b
	start_app c
	BALANCE=leastconn web a b c
	hold held 12
	wait_for 10 is scur c 4
	done_ set server app/c state drain
	hold more 6
	wait_for 10 is scur a 7
	run -0 ctl rebalance backend app
	equal "the plan" "# server sessions fair weight close
app/a 7 7 100 0
app/b 7 7 100 0
Nothing to do: no server has more than its share." "$output"
	done_ set server app/b state maint
	run -0 ctl rebalance backend app
	equal "the plan" "# server sessions fair weight close
app/a 7 7 100 0
Nothing to do: no server has more than its share." "$output"
}

@test "rebalance: cancelling stops it, another one replaces it" {
	uneven 20 600
	ctl rebalance backend app over 1h
	ctl rebalance backend app over 2h
	equal "rebalances" 1 "$(ctl show rebalances | grep -c ^backend)"
	wait_for 10 lfproxy_said 'has ended, 0 of 10 .*: the operator has ordered another one'
	done_ cancel rebalance app
	nothing_of "show rebalances"
	wait_for 10 lfproxy_said 'admin: .*: backend app: rebalancing cancelled$'
	refused_with "not being rebalanced" cancel rebalance app
	equal "closed" 0 "$(sessions | grep -c ' BD ' || true)"
	long_ends
}

# bats test_tags=onethread
@test "rebalance: a reload keeps it, unless the backend goes" {
	uneven 20 600
	ctl rebalance backend app over 1h
	change_file '^balance = .*' 'balance = roundrobin'
	shows "show rebalances" '^backend app: 0 of 10'
	change_file '^server = b .*' ''
	shows "show rebalances" '^app/a 20 20 100 10 0$'
	refute shows "show rebalances" '^app/b'
	echo "[backend other]
server = x 127.0.0.1:1
check = off" >>"$T/lfproxy.ini"
	change_file '^backend = app' 'backend = other'
	sed -i '/^\[backend app/,/^server = a/d' "$T/lfproxy.ini"
	ctl reload
	refused_with "No such backend." cancel rebalance app
	wait_for 80 nothing_of "show rebalances"
	wait_for 10 lfproxy_said 'has ended, [0-9]+ of 10 .*: the configuration has this backend no more'
	# Its sessions may go on, for timeout_drain.
	equal "the tally" 0 "$(grep -c cut "$T/long.out" || true)"
}

# bats test_tags=onethread
@test "rebalance: a reload to balancing by address ends it" {
	uneven 20 600
	ctl rebalance backend app over 2m
	change_file '^balance = .*' 'balance = source'
	wait_for 60 nothing_of "show rebalances"
	wait_for 10 lfproxy_said 'has ended, [0-9]+ of 10 .*: by the configuration clients go elsewhere'
	long_ends
}

# bats test_tags=onethread
@test "rebalance: wrong arguments are reported, none begins" {
	start_app a
	start_app b
	web a b
	refused_with "A backend name is expected." rebalance backend
	refused_with "No such backend." rebalance backend x
	refused_with "'over' needs a duration" rebalance backend app over
	refused_with "over: '5' has no unit" rebalance backend app over 5
	refused_with "allowed is 1s to 30d" rebalance backend app over 1ms
	refused_with "Unexpected argument 'now'" rebalance backend app now
	for balance in source hash; do
		change_file '^balance = .*' "balance = $balance"
		refused_with "Backend chooses by $balance: a client that connects again is sent to where it was." \
		    rebalance backend app dry-run
	done
	change_file '^balance = .*' "balance = first"
	refused_with "it has no fair share" rebalance backend app
	run ! "$CTL" -S "$T/operator.sock" rebalance backend app
	equal "the answer" "Permission denied" "$output"
	equal "JSON of none" "[]" "$(ctl --json show rebalances)"
}
