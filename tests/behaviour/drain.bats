#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# drain server: the weight goes down, what becomes of the sessions, and all the
# ways in which a drain ends.

load helpers
load operator

# two [N [--verify]]: a and b, with N sessions each that are held.
two() {
	start_app a
	start_app b
	web a b
	if [ "${1:-0}" -gt 0 ]; then
		hold held $((2 * $1)) "${2:-}"
		wait_for 10 is scur a "$1"
		wait_for 10 is scur b "$1"
	fi
}

# bats test_tags=covered
@test "drain: without options it is the state drain, and shown until it is over" {
	two 2 --verify
	done_ drain server app/a
	equal "status" DRAIN "$(column status a)"
	equal "show drains" "app/a waiting weight 0/100 sessions 2/2 left -: drain" \
	    "$(ctl show drains)"
	equal "who answers" "b b" "$(fetch -H 'Connection: close' \
	    "$(url)" "$(url)" | xargs)"
	wait_for 10 lfproxy_said 'admin: .*: server app/a state: ready -> drain$'
	release held
	wait_for 10 nothing_of "show drains"
	shows "show events" 'server_drained app/a: .* no session left$'
	equal "status" DRAIN "$(column status a)"
}

# Notes the weight, as long as it fades.
noted_to_the_end() {
	ctl show drains >"$T/drains"
	sed -n 's/.* fading weight \([0-9]*\).*/\1/p' "$T/drains" >>"$T/weights"
	grep -q ' waiting ' "$T/drains"
}

# bats test_tags=covered
@test "drain: over a time the weight goes down in steps, and streams go on" {
	start_streams a
	start_streams b
	web a b
	# More than all buffers take, so they go on in the middle of it.
	spawn load "$TOOLS/streamer" client "127.0.0.1:$(port web)" \
	    --connections 8 --up 100000 --down 20000000 \
	    --hold-reading --deadline $((100 * PATIENCE))
	wait_for 10 is scur a 4
	answers '^app/a fading weight 100/100 sessions 4/4 left ([89]\.[0-9]|10)s: drain over 10s$' \
	    "drain server app/a over 10s; show drains"
	: >"$T/weights"
	wait_for 20 noted_to_the_end
	# A machine that is too slow to look has seen fewer of them.
	awk -v least=$((PATIENCE > 1 ? 1 : 2)) 'NR > 1 && $1 > before { print "up:", before, $1; exit 1 }
	    { before = $1; n += !seen[$1]++ }
	    END { if (n < least) { print n, "weights"; exit 1 } }' "$T/weights" ||
	    fail "the weights: $(xargs <"$T/weights")"
	equal "status" DRAIN "$(column status a)"
	equal "sessions" 4 "$(column scur a)"
	signal load USR1
	finish load 60
	wait_for 10 nothing_of "show drains"
	equal "server errors" 0 "$(column eresp a)"
	# Only the commands at the beginning have changed the weight itself.
	equal "weight" "100 (initial 100)" "$(ctl get weight app/a)"
	refute lfproxy_said 'app/a has weight'
}

fades_or_is_drained() {
	at_most weight a 60 || is status a DRAIN
}

# Each step is a lineup, and a lineup gives a server its turns: of 50 sessions
# in a row a half-faded server gets a third.
@test "drain: a fading server gets its part of new sessions" {
	local a

	two
	done_ drain server app/a over 1h
	equal "of a" 10 "$(fetch -H 'Connection: close' "$(url)?[1-20]" |
	    grep -c a)"
	ctl cancel drain app/a
	done_ drain server app/a over 8s
	wait_for 20 fades_or_is_drained
	a=$(fetch -H 'Connection: close' "$(url)?[1-20]" | grep -c a || true)
	[ "$a" -lt 10 ] || fail "a fading server had $a of 20 sessions"
	done_ set server app/a state ready
	equal "of a" 10 "$(fetch -H 'Connection: close' "$(url)?[1-20]" |
	    grep -c a)"
}

attached_or_ended() {
	has_match ' attached$' "$T/strace.err" || ended "${PIDS[strace]}"
}

# The control thread pauses after each answer.
# bats test_tags=unsanitized
@test "drain: the state that ends a fade is in force when it is answered" {
	two
	done_ drain server app/a over 8s
	wait_for 20 fades_or_is_drained
	spawn strace strace -e trace=close,shutdown -p "$LFPROXY_PID" \
	    -e inject=close,shutdown:delay_exit=500000
	wait_for 10 attached_or_ended
	! ended "${PIDS[strace]}" ||
	    skip "needs the right to trace: $(cat "$T/strace.err")"
	done_ set server app/a state ready
	equal "of a" 10 "$(fetch -H 'Connection: close' "$(url)?[1-20]" |
	    grep -c a)"
	end strace
}

@test "drain: then kill ends what is left, spread, with a code of its own" {
	two 10
	done_ drain server app/a over 1s "then" kill
	wait_for 30 is scur a 0
	wait_for 10 nothing_of "show drains"
	equal "sessions of b" 10 "$(column scur b)"
	ends_of KD >"$T/ends"
	equal "ended" 10 "$(wc -l <"$T/ends")"
	equal "of a" 10 "$(sessions | grep -c ' app/a .* KD ')"
	# Nine tenths of five seconds.
	[ $(($(tail -n 1 "$T/ends") - $(head -n 1 "$T/ends"))) -ge 4000 ] ||
	    fail "all at once: $(xargs <"$T/ends")"
	wait_for 10 lfproxy_said 'time to drain is over, 10 sessions are ended'
	shows "show events" 'server_drained app/a: '
}

# bats test_tags=covered
@test "drain: the log says why a session was ended" {
	FORMAT=json two 1
	done_ drain server app/a "then" kill
	wait_for 20 is scur a 0
	wait_for 10 grep -q '"code":"KD","reason":"its server is drained, and the time for that was over"' "$LFPROXY_LOG"
}

@test "drain: sessions still connecting at the end get another server" {
	start_bad a full
	start_app b
	DEFAULTS='timeout_connect = 60s' web a b
	spawn first curl -sS -m 100 "$(url)"
	spawn second curl -sS -m 100 "$(url)"
	wait_for 10 is scur a 1
	done_ drain server app/a "then" kill
	finish first
	equal "who answers" b "$output"
	finish second
	equal "who answers" b "$output"
	wait_for 10 nothing_of "show drains"
}

@test "drain: then maint, when the last session has gone" {
	two 1 --verify
	done_ drain server app/a over 1s "then" maint
	wait_for 10 is status a DRAIN
	shows "show drains" '^app/a waiting .* sessions 1/1 left -: drain over 1s then maint$'
	equal "status" DRAIN "$(column status a)"
	release held
	wait_for 10 is status a MAINT
	nothing_of "show drains"
	refused_with "in maintenance" drain server app/a over 1m
	done_ drain server app/a
	equal "status" DRAIN "$(column status a)"
}

@test "drain: cancelled, the server is as it was, in each phase" {
	two 2
	done_ drain server app/a over 2m
	wait_for 20 at_most weight a 96
	done_ cancel drain app/a
	equal "weight" 100 "$(column weight a)"
	equal "status" "no check" "$(column status a)"
	nothing_of "show drains"
	wait_for 10 lfproxy_said 'admin: .*: server app/a state: drain over 2m -> ready$'
	done_ drain server app/a
	done_ cancel drain app/a
	equal "status" "no check" "$(column status a)"
	# Both at once: the last one would be ended some seconds later.
	ask "drain server app/a then kill; cancel drain app/a"
	wait_for 10 lfproxy_said 'drain then kill -> ready$'
	equal "status" "no check" "$(column status a)"
	equal "who answers" "a b" "$(fetch -H 'Connection: close' \
	    "$(url)" "$(url)" | sort | xargs)"
	refused_with "not being drained" cancel drain app/a
	wait_for 10 lfproxy_said 'the drain of server app/a has ended with .*: the operator has cancelled it$'
}

# bats test_tags=onethread, covered
@test "drain: only a new state or weight ends a drain" {
	two 1 --verify
	done_ drain server app/a over 1h
	done_ set server app/a maxconn 100
	ctl get weight app/a
	refused_with "between 0 and 256" set weight app/a 300
	shows "show drains" '^app/a fading'
	done_ set weight app/a 60
	nothing_of "show drains"
	equal "weight" 60 "$(column weight a)"
	wait_for 10 lfproxy_said 'drain of server app/a has ended .*: the operator has set its weight$'
	done_ drain server app/a over 1h
	done_ set server app/a state ready
	nothing_of "show drains"
	equal "weight" 60 "$(column weight a)"
	done_ drain server app/a "then" maint
	done_ disable server app/a
	nothing_of "show drains"
	done_ enable server app/a
	wait_for 10 lfproxy_said 'the operator has set its state$'
	release held
}

# bats test_tags=onethread
@test "drain: another one instead begins where the first one is" {
	local weight

	two 1
	done_ drain server app/a over 2m
	wait_for 20 at_most weight a 96
	done_ drain server app/a over 1h "then" kill
	weight=$(column weight a)
	[ "$weight" -le 96 ] || fail "the weight went up to $weight"
	equal "drains" 1 "$(ctl show drains | wc -l)"
	done_ drain server app/a
	equal "status" DRAIN "$(column status a)"
	shows "show drains" ': drain$'
	done_ cancel drain app/a
	equal "status" "no check" "$(column status a)"
	equal "weight" 100 "$(column weight a)"
	wait_for 10 lfproxy_said 'state: drain over 2m -> drain over 1h then kill$'
	release held
}

@test "drain: a reload keeps it as long as the server stays" {
	start_app c
	two 2 --verify
	done_ drain server app/a over 1h
	done_ drain server app/b "then" maint
	change_file '^balance = .*' 'balance = leastconn'
	shows "show drains" '^app/a fading weight 100/100'
	shows "show drains" '^app/b waiting'
	# Another weight is another whole.
	change_file '^server = a .*' '& weight=60'
	shows "show drains" '^app/a fading weight 60/60'
	# Another address is another server.
	change_file '^server = a .*' "server = a $(addr c)"
	refute shows "show drains" '^app/a '
	wait_for 10 lfproxy_said 'drain of server app/a has ended .*: the configuration has this server no more'
	equal "weight" 100 "$(column weight a)"
	change_file '^server = b .*' ''
	nothing_of "show drains"
	# Back again, soon enough to be the one that it was.
	echo "server = b $(addr b)" >>"$T/lfproxy.ini"
	ctl reload
	nothing_of "show drains"
	release held
}

# bats test_tags=onethread
@test "drain: wait until it is over" {
	two 1
	run ! ctl wait 5s drained app/a
	equal "the answer" "Server takes new sessions: it is not being drained." \
	    "$output"
	done_ drain server app/a over 3s
	equal "the answer" "Wait delay expired." "$(ask "wait 200ms drained app/a")"
	spawn waits "$CTL" -S "$ADMIN" wait 60s drained app/a
	wait_for 10 is status a DRAIN
	release held
	finish waits
	equal "the answer" "Done." "$output"
	refused_with "No such server." wait 1s drained app/x
}

# bats test_tags=onethread
@test "drain: wrong arguments are reported, no drain begins" {
	two
	refused_with "Require 'backend/server'." drain server
	refused_with "No such server." drain server app/x
	refused_with "'over' needs a duration, as in 'over 10m'" \
	    drain server app/a over
	refused_with "over: '10' has no unit; write 10s" \
	    drain server app/a over 10
	refused_with "allowed is 1s to 30d" drain server app/a over 10ms
	refused_with "'then' needs 'kill'" drain server app/a then
	refused_with "'then' needs 'kill'" drain server app/a over 1m then go
	refused_with "Unexpected argument 'slowly'" drain server app/a slowly
	refused_with "Unexpected argument 'x'" show drains x
	nothing_of "show drains"
	run ! "$CTL" -S "$T/operator.sock" drain server app/a
	equal "the answer" "Permission denied" "$output"
	equal "JSON of none" "[]" "$(ctl --json show drains)"
	equal "changes" "" "$(ctl show changes)"
}

# bats test_tags=covered
@test "drain: lfproxy stops while drains run" {
	two 4
	done_ drain server app/a over 1h
	done_ drain server app/b "then" kill
	release held
}

# bats test_tags=onethread, timing
@test "drain: hundreds of them are shown without holding up the others" {
	local n=500 i form us

	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\ncheck = off\n'
		printf 'server = s%s 127.0.0.1:9\n' $(seq $n)
	} >"$T/many.ini"
	launch_lfproxy -c "$T/many.ini"
	for ((i = 1; i <= n; i += 50)); do
		ask "$(printf 'drain server app/s%s over 1h;' \
		    $(seq $i $((i + 49))))"
	done
	equal "drains" $n "$(ctl show drains | wc -l)"
	for form in '' json; do
		us=$(longest_turn_us "show drains $form")
		[ "$us" -lt $((50000 * PATIENCE)) ] || fail "$form: $us us"
	done
}

# bats test_tags=onethread, covered
@test "drain: names are completed" {
	two 1
	done_ drain server app/b over 1h
	complete_() { "$CTL" -S "$ADMIN" --complete "$@" | sort | xargs; }
	equal "servers" "app/a app/b" "$(complete_ drain server)"
	equal "options" "over then" "$(complete_ drain server app/a)"
	equal "then" "kill maint" "$(complete_ drain server app/a then)"
	equal "those that drain" "app/b" "$(complete_ cancel drain)"
	equal "wait" "app/a app/b" "$(complete_ wait 1m drained)"
	equal "backends" "app" "$(complete_ rebalance backend)"
	done_ set weight app/a 50 for 1h
	equal "changes that wait" "1" "$(complete_ cancel expiring)"
	equal "for" "for" "$(complete_ set weight app/a 50)"
	equal "for" "for" "$(complete_ disable server app/a)"
	release held
}
