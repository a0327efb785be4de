#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Changes that last for a time: what is put back when it is over, and what is
# left as a later command has set it.

# bats file_tags=onethread

load helpers
load operator

# weight_is N
weight_is() {
	[ "$(ctl get weight app/a)" = "$1 (initial ${2:-100})" ]
}

two() {
	start_app a
	start_app b
	web a b
}

# audited TEXT: the last change but for those that put something back, or one of
# them, is this.
audited() {
	ctl show changes | grep -qF -- "): $1"
}

# bats test_tags=onethread, covered
@test "expiring: the former value is back when the time is over" {
	two
	answers '^1 server app/a weight: 50 -> 100 in [01]\.[0-9]s: .*pid [0-9]+\)$' \
	    "set weight app/a 50 for 1s; get weight app/a; show expiring; show expiring json"
	grep -q '^50 (initial 100)$' "$T/answers"
	sed -n '/^\[/,$p' "$T/answers" | python3 -c 'import json, sys
j = json.load(sys.stdin)[0]
assert j["what"] == "server app/a weight", j
assert (j["value"], j["former"], j["changed_by"]) == ("50", "100", None), j
assert 0 < j["left_ms"] <= 1000, j'
	audited "server app/a weight for 1s: 100 -> 50"
	wait_for 10 weight_is 100
	nothing_of "show expiring"
	audited "expired: server app/a weight: 50 -> 100"
	wait_for 10 lfproxy_said 'admin: .*\): expired: server app/a weight: 50 -> 100$'
	shows "show events" ' expired app/a: server app/a weight, after 1s: 50 -> 100$'
	# One line of the log and one event report the end.
	equal "lines of the log" 1 "$(grep -c 'expired\|weight 100 instead' \
	    "$LFPROXY_LOG")"
	equal "events" 1 "$(ctl show events app/a |
	    grep -c 'expired\|weight 100 instead')"
}

# each line: what show changes says, before, after; and the command.
changes() {
	cat <<-END
		server app/a weight|100|50|set server app/a weight 50%
		server app/a maxconn|0|7|set maxconn server app/a 7
		server app/b maxconn|0|8|set server app/b maxconn 8
		server app/a state|ready|drain|set server app/a state drain
		server app/b state|ready|maint|disable server app/b
		server app/a health checks|enabled|disabled|disable health app/a
		server app/a health|up|stopping|set server app/a health stopping
		server app/c agent|enabled|disabled|disable agent app/c
		server app/c state|maint|ready|enable server app/c
		frontend web|enabled|disabled|disable frontend web
		frontend web maxconn|$1|11|set maxconn frontend web 11
		global maxconn|$1|12|set maxconn global 12
		connections per second|0|13|set rate-limit connections global 13
		sessions per second|0|14|set rate-limit sessions global 14
		pool main threads|2|3|set pool main threads 3
		pool main promotion|adaptive|always|set pool main promotion always
		pool main order|lifo|fifo|set pool main order fifo
		server app/b addr|$(addr b)|127.0.0.9:99|set server app/b addr 127.0.0.9 port 99
	END
}

# state: all that these have changed, as far as it can be shown.  A server that
# was in maintenance is taken down by one check that fails: UP 1/3.
state() {
	ctl show stat | cut -d, -f 1,2,7,18,19,74 | sed 's|UP 1/3|UP|'
	json_of "show pool" \
	    '*(j[0][k] for k in ("threads", "promotion", "order"))'
	ctl show info | grep -E '^(Maxconn|ConnRateLimit|SessRateLimit|Hard_maxconn)'
}

@test "expiring: everything that can be set so comes back" {
	local what before after command limit

	start_app a
	start_app b
	start_app c
	start_app agent
	WEB=127.0.0.1:$(free_port) BACKEND='check = connect interval=1h' \
	    web a b "c agent=on agent_addr=$(addr agent | cut -d: -f1) agent_port=$(addr agent | cut -d: -f2) agent_interval=1h"
	wait_for 10 is check_status a L4OK
	wait_for 10 is check_status b L4OK
	wait_for 10 is check_status c L4OK
	ctl set server app/c state maint
	limit=$(ctl show info | sed -n 's/^Maxconn: //p')
	state >"$T/before"
	changes "$limit" | while IFS='|' read -r what before after command; do
		printf '%s for 1s; ' "$command"
	done >"$T/line"
	ask "$(cat "$T/line") show expiring" >"$T/answers"
	equal "waiting" 18 "$(grep -c '^[0-9]* .* -> .* in ' "$T/answers")"
	while IFS='|' read -r what before after command; do
		audited "$what for 1s: $before -> $after"
	done < <(changes "$limit")
	wait_for 30 nothing_of "show expiring"
	while IFS='|' read -r what before after command; do
		audited "expired: $what: $after -> $before"
	done < <(changes "$limit")
	state >"$T/after"
	diff "$T/before" "$T/after"
	equal "who answers" "a" "$(fetch -H 'Connection: close' "$(url)?[1-4]" |
	    sort -u | head -n 1)"
}

# bats test_tags=onethread
@test "expiring: a later change is kept, and that is logged" {
	two
	answers '^1 server app/a weight: 50, changed since by .*, stays: ' \
	    "set weight app/a 50 for 1s; set weight app/a 30; show expiring; show expiring json"
	grep -q '"changed_by":".*pid' "$T/answers"
	wait_for 10 nothing_of "show expiring"
	weight_is 30
	audited "expired: server app/a weight stays 30: it was changed meanwhile"
	# Said once more, and for good.
	ask "set weight app/a 50 for 1s; set weight app/a 50"
	wait_for 10 nothing_of "show expiring"
	weight_is 50
	# By another command of the same thing.
	ask "disable server app/a for 1s; set server app/a state drain"
	wait_for 10 nothing_of "show expiring"
	equal "status" DRAIN "$(column status a)"
	shows "show events" ' expired app/a: server app/a state, after 1s: it stays drain: it was changed meanwhile$'
}

# bats test_tags=onethread, covered
@test "expiring: a drain is a change, and what is put back does not end one" {
	two
	ask "set weight app/a 50 for 1s; disable server app/b for 1s; drain server app/b; drain server app/a over 1h"
	wait_for 10 nothing_of "show expiring"
	weight_is 100
	shows "show drains" '^app/a fading weight [0-9]+/100'
	equal "status" DRAIN "$(column status b)"
}

# bats test_tags=onethread, covered
@test "expiring: a drain ordered meanwhile stays, though the state is the same" {
	two
	answers '^2 server app/b state: ready, changed since by .*, stays: ' \
	    "set server app/a state drain for 1s; drain server app/a; disable server app/b; enable server app/b for 1s; drain server app/b over 1h; show expiring"
	grep -q '^1 server app/a state: drain, changed since by ' "$T/answers"
	wait_for 10 nothing_of "show expiring"
	equal "status" DRAIN "$(column status a)"
	shows "show drains" '^app/b fading weight [0-9]+/'
	audited "expired: server app/a state stays drain: it was changed meanwhile"
}

# bats test_tags=onethread
@test "expiring: a server that was deleted leaves nothing to another of its name" {
	two
	answers '^2 server app/b state: maint -> ready in ' \
	    "set weight app/a 50 for 1h; disable server app/b for 1s; set weight app/b 50 for 1s; show expiring"
	ask "del server app/b; add server app/b $(addr b) weight 50" >/dev/null
	shows "show expiring" '^1 server app/a weight: 50 '
	equal "waiting" 1 "$(ctl show expiring | wc -l)"
	# Longer than what was said of the former one.
	ask "set maxconn server app/a 7 for 1200ms"
	wait_for 10 is slim a ""
	equal "status" MAINT "$(column status b)"
	equal "weight" 50 "$(column weight b)"
}

many_expire() {
	local n=500 i form us

	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\ncheck = off\n'
		printf 'server = s%s 127.0.0.1:9\n' $(seq $n)
	} >"$T/many.ini"
	launch_lfproxy -c "$T/many.ini"
	for ((i = 1; i <= n; i += 50)); do
		ask "$(printf 'set server app/s%s weight 50 for 1h;' \
		    $(seq $i $((i + 49))))"
		ask "$(printf 'set server app/s%s maxconn 5 for 1h;' \
		    $(seq $i $((i + 49))))"
		ask "$(printf 'set server app/s%s state drain for 1h;' \
		    $(seq $i $((i + 49))))"
	done
	equal "as text" $((3 * n)) "$(ctl show expiring | wc -l)"
	equal "as JSON" "$((3 * n)) 1 $((3 * n))" "$(ctl --json show expiring |
	    python3 -c 'import json, sys
ids = [row["id"] for row in json.load(sys.stdin)]
print(len(ids), ids[0], ids[-1])')"
	for form in '' json; do
		us=$(longest_turn_us "show expiring $form")
		in_time "$us" $((10000 * PATIENCE)) || fail "$form: $us us"
	done
}

# bats test_tags=onethread, covered
@test "expiring: hundreds of them are shown" {
	many_expire
}

# bats test_tags=onethread, timing
@test "expiring: thousands of them are shown without holding up the others" {
	JUDGE_TIME=1 many_expire
}

# bats test_tags=onethread
@test "expiring: a second time replaces the first, and remembers the original" {
	two
	answers '^1 server app/a weight: 20 -> 100 in [01]\.' \
	    "set weight app/a 50 for 1h; set server app/a weight 20 for 1s; show expiring"
	equal "waiting" 1 "$(wc -l <"$T/answers")"
	wait_for 10 weight_is 100
	# Longer, and nothing else.
	answers ': 50 -> 100 in (59m|1h0m)' \
	    "set weight app/a 50 for 1s; set weight app/a 50 for 1h; show expiring"
	audited "server app/a weight: still 50 for 1h"
	# After a change for good the original is that.
	done_ set weight app/a 30
	answers ': 10 -> 30 in ' "set weight app/a 10 for 1s; show expiring"
	wait_for 10 weight_is 30
	nothing_of "show expiring"
}

# bats test_tags=onethread
@test "expiring: cancelled, it stays" {
	two
	ask "set weight app/a 50 for 2s; set weight app/b 40 for 1h; cancel expiring 1"
	refused_with "is expected" cancel expiring
	refused_with "No change of that number waits" cancel expiring 7
	refused_with "No change of that number waits" cancel expiring 1
	audited "server app/a weight stays 50, and does not expire"
	shows "show expiring" '^2 server app/b'
	refute shows "show expiring" '^1 '
	done_ set weight app/b 41 for 3s
	wait_for 10 nothing_of "show expiring"
	weight_is 50
}

# bats test_tags=onethread
@test "expiring: over a reload it holds by name, and the file's word is the last" {
	WEB=127.0.0.1:$(free_port) two
	# The file has a new weight for b now; the pools match the file.
	sed -i 's/^server = b .*/& weight=70/' "$T/lfproxy.ini"
	ask "set weight app/a 50 for 2s; set weight app/b 50 for 2s; set maxconn server app/b 9 for 2s; set pool main threads 3 for 2s; disable frontend web for 2s; reload; get weight app/a; get weight app/b; show servers state app; show expiring" \
	    >"$T/answers"
	grep -q '^50 (initial 100)$' "$T/answers"
	grep -q '^70 (initial 70)$' "$T/answers"
	audited "expired: server app/b weight stays 70: the file has set it since then"
	equal "waiting" 4 "$(grep -c '^[0-9]* .* -> .* in ' "$T/answers")"
	wait_for 30 nothing_of "show expiring"
	weight_is 100
	equal "weight" "70 (initial 70)" "$(ctl get weight app/b)"
	equal "maxconn" "" "$(column slim b)"
	equal "status" OPEN "$(column status FRONTEND)"
	audited "expired: pool main threads: 3 -> 2"
	audited "expired: server app/b maxconn: 9 -> 0"
}

# The file comes to say what was set for a time: then it is no longer for a time.
# bats test_tags=onethread
@test "expiring: a change by a reload is not undone" {
	two
	sed -i 's/^threads = 2/threads = 2\nshards = 1/' "$T/lfproxy.ini"
	ctl reload
	sed -i '/^server = b/d; s/^server = a .*/& weight=50/; s/^threads = 2/threads = 3/' "$T/lfproxy.ini"
	ask "set weight app/a 50 for 2s; set pool main threads 3 for 2s; set weight app/b 60 for 2s; reload"
	wait_for 30 nothing_of "show expiring"
	weight_is 50 50
	shows "show pool" 'threads +3'
	audited "expired: server app/a weight stays 50: the file has set it since then"
	audited "expired: server app/b weight stays 60: it no longer exists"
}

# bats test_tags=onethread
@test "expiring: wrong arguments are reported, nothing changes" {
	start_app a
	start_app b
	web a b
	refused_with "for: '10' has no unit; write 10s (ms, s, m, h, d)." \
	    set weight app/a 50 for 10
	refused_with "for: 'soon' is not a duration" set weight app/a 50 for soon
	refused_with "for: '1ms' is out of range; allowed is 100ms to 365d." \
	    set weight app/a 50 for 1ms
	refused_with "'for' needs a duration" set weight app/a 50 for
	refused_with "'for' needs a duration" disable server app/a for
	refused_with "Absolute weight can only be" set weight app/a 300 for 1m
	refused_with "No such server." set weight app/x 3 for 1m
	refused_with "Unexpected argument '1m'" set weight app/a for 1m
	refused_with "expects 'ready', 'drain' and 'maint'" \
	    set server app/a state for 1m
	for command in "clear counters" "clear counters all" \
	    "shutdown frontend web" "shutdown sessions server app/a" \
	    "drain server app/a" "rebalance backend app" reload "wait 1s"; do
		# shellcheck disable=SC2086
		refused_with "cannot end in 'for': it has no former value" \
		    $command for 1m
	done
	refused_with "'for' takes a single setting" \
	    set server app/a check-addr 127.0.0.1 port 80 for 1m
	refused_with "no resolution is configured" \
	    set server app/a fqdn x.example for 1m
	run ! "$CTL" -S "$T/operator.sock" set weight app/a 1 for 1m
	equal "the answer" "Permission denied" "$output"
	equal "the answer" "Nothing was changed, so nothing is put back later." \
	    "$(ctl set weight app/a 100 for 1m)"
	equal "changes" "" "$(ctl show changes)"
	equal "JSON of none" "[]" "$(ctl --json show expiring)"
	nothing_of "show expiring"
	weight_is 100
	# Names that look like it.
	refused_with "No such frontend." set maxconn frontend for 10
	refused_with "Unknown pool 'for'" set pool for threads 1
}

# bats test_tags=covered
@test "expiring: hundreds at once, and lfproxy stops with others waiting" {
	local i

	two
	for i in $(seq 99); do
		echo "set weight app/a $i for 2s; set weight app/b $i for 1h;"
	done | tr -d '\n' >"$T/line"
	ask "$(cat "$T/line") show expiring" >"$T/answers"
	equal "waiting" 2 "$(wc -l <"$T/answers")"
	wait_for 10 weight_is 100
	equal "waiting" 1 "$(ctl show expiring | wc -l)"
}

# Symptom: the port was put back.
@test "expiring: a port that was set again with an address stays" {
	start_app a
	cat >"$T/lfproxy.ini" <<-END
		[global]
		log = stderr
		admin = $ADMIN
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = connect interval=1h
		server = a $(addr a)
	END
	launch_lfproxy -c "$T/lfproxy.ini"
	ctl set server app/a check-port 91 for 1h
	ctl set server app/a check-addr 127.0.0.2 port 91
	shows "show expiring" 'check-port: 91, changed since by .*, stays: '
	ctl set server app/a check-addr 127.0.0.3 for 1h
	shows "show expiring" 'check-addr: 127.0.0.3 -> 127.0.0.2 in '
	ctl set server app/a check-addr file
	shows "show expiring" 'check-addr: 127.0.0.3, changed since by '
	ctl set server app/a check-port 0
	equal "drift" 0 "$(ctl show drift | grep -c -- '->')"
	stop_lfproxy
}

# bats test_tags=onethread
@test "expiring: a server at another address is not that of the change" {
	two
	done_ set server app/a state maint for 1h
	sed -i "s/^server = a .*/server = a $(addr b)/" "$T/lfproxy.ini"
	run -0 ctl reload
	nothing_of "show expiring"
	audited "expired: server app/a state stays ready: it was changed meanwhile"
	[[ $(ctl show drift) == *"0 changes by commands"* ]]
}

# bats test_tags=onethread
@test "expiring: a frontend that was shut down meanwhile stays shut" {
	two
	ctl disable frontend web for 1s
	ctl shutdown frontend web
	wait_for 20 nothing_of "show expiring"
	equal "status" STOP "$(column status FRONTEND)"
	equal "drift" "frontend web: enabled -> shut down" \
	    "$(ctl show drift | grep '^frontend')"
}
