#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sessions that have tried every server, and what ends their pause.

load helpers
load stat

FAULTY=$ROOT/build/fault/lfproxy

# patient SERVER...: as web, but the pause before a server is tried again takes
# ten minutes: who is answered has not waited for its end.
patient() {
	[ -x "$FAULTY" ] || skip "no $FAULTY; make MODE=fault builds it"
	LFPROXY=$FAULTY LIMIT='env LFPROXY_FAULT_LONG_PAUSE=1' web "$@"
}

# A session has tried r, and pauses.
client_pauses() {
	local n

	n=$(column connect r)
	spawn client curl -sS -m 60 "$(url)"
	wait_for 10 has connect r $((n + 1))
	wait_for 10 has scur r 0
	refute ended "${PIDS[client]}"
}

client_gets() {
	finish client 60
	equal "the answer" "$1" "$output"
}

# pausing N: N sessions pause; their ids are in $output, one a line.
pausing() {
	output=$(ctl show sess json | python3 -c '
import json, sys
for s in json.load(sys.stdin):
    if s["state"] == "PAUSING":
        print(s["id"])')
	[ "$(grep -c . <<<"$output")" = "$1" ]
}

# bats test_tags=unsanitized
@test "pausing: the session that causes an ejection gets the backup at once" {
	start_bad r refuse
	start_app b
	BACKEND=$'check = off\neject_after = 1\neject_max_percent = 100%
eject_time = 10m\neject_time_max = 10m' patient r 'b backup'
	for _ in 1 2 3 4 5; do
		equal "the answer" b "$(fetch "$(url)")"
		last_session
		equal "the server" b "${S[server]}"
		ctl set server app/r health up
	done
	equal "connects to r" 5 "$(column connect r)"
}

# The client sends nothing before it has a server that stays.
# bats test_tags=unsanitized
@test "pausing: a reset that causes an ejection is followed by the backup, at once" {
	start_bad r reset
	start_app b
	BACKEND=$'check = off\neject_after = 1\neject_on = connect,reset\neject_max_percent = 100%
eject_time = 10m\neject_time_max = 10m' patient r 'b backup'
	for n in 1 2 3 4 5; do
		exec 7<>"/dev/tcp/127.0.0.1/$(port web)"
		wait_for 10 has stot b "$n"
		printf 'GET / HTTP/1.0\r\n\r\n' >&7
		run -0 timeout 60 cat <&7
		exec 7>&-
		[[ $output == *b ]]
		wait_for 10 has status r 'DOWN (ejected)'
		ctl set server app/r health up
	done
	equal "connects to r" 5 "$(column connect r)"
}

# A reset that arrives before lfproxy has seen the connection established is a
# failed connect, after which the session pauses: some attempts may be such.
# bats test_tags=unsanitized
@test "pausing: without a usable backup a reset is passed on at once" {
	start_bad r reset
	start_app b
	BACKEND=$'check = off\neject_after = 1\neject_on = connect,reset\neject_max_percent = 100%' \
	    patient r 'b backup'
	ctl disable server app/b
	for n in {1..50}; do
		exec 7<>"/dev/tcp/127.0.0.1/$(port web)"
		wait_for 10 has connect r "$n"
		wait_for 10 has scur r 0
		exec 7>&-
		((n < 3 || $(column eresp r) < 1)) || break
	done
	[ "$(column eresp r)" -ge 1 ]
	pausing 0 || for id in $output; do
		ctl shutdown session "$id"
	done
}

# Both servers reset; only the first may be ejected, so no backup comes.
@test "pausing: a reset is passed on when the ejection that was due is declined" {
	start_bad r reset
	start_bad q reset
	start_app b
	BALANCE=first BACKEND=$'check = off\neject_after = 1\neject_on = connect,reset\nretries = 5
eject_max_percent = 10%' web r q 'b backup'
	exec 7<>"/dev/tcp/127.0.0.1/$(port web)"
	run timeout 60 cat <&7
	exec 7>&-
	[[ $output == *"reset by peer"* ]]
	last_session
	equal "the code" SD "${S[code]}"
	equal "connects to the backup" 0 "$(column connect b)"
}

# The ejection is over before the pause would be.
# bats test_tags=covered
@test "pausing: a short ejection does not bring the session back to the server" {
	start_bad r refuse
	start_app b
	BACKEND=$'check = off\neject_after = 1\neject_max_percent = 100%
eject_time = 900ms' web r 'b backup'
	equal "the answer" b "$(fetch "$(url)")"
	equal "connects to r" 1 "$(column connect r)"
}

# bats test_tags=unsanitized
@test "pausing: a server that is enabled, added or comes up ends the pause" {
	start_bad r refuse
	start_app b
	BACKEND=$'check = off' patient r b
	ctl disable server app/b
	client_pauses
	ctl enable server app/b
	client_gets b
	ctl disable server app/b
	client_pauses
	ctl "add server app/c $(addr b)"
	ctl enable server app/c
	client_gets b
	stop_lfproxy
	end b
	BACKEND='check = connect interval=200ms timeout=20s fall=2 rise=1' \
	    patient 'r check=off' b
	wait_for 10 says_down app/b
	client_pauses
	restart_app b
	client_gets b
}

# bats test_tags=unsanitized
@test "pausing: another address, by command or by a reload, ends the pause" {
	start_bad r refuse
	start_app b
	BACKEND=$'check = off' patient r
	client_pauses
	ctl set server app/r addr "${ADDRS[b]%:*}" port "${ADDRS[b]##*:}"
	client_gets b
	ctl set server app/r addr "${ADDRS[r]%:*}" port "${ADDRS[r]##*:}"
	client_pauses
	echo "server = b $(addr b)" >>"$T/lfproxy.ini"
	ctl reload
	client_gets b
}

# The next session takes the slot of the one that was ended, and pauses too.
# bats test_tags=unsanitized
@test "pausing: a session that is ended while it pauses keeps no other one waiting" {
	start_bad r refuse
	start_app b
	DEFAULTS='retry_budget = 100%' BACKEND='check = off' patient r b
	ctl disable server app/b
	spawn first curl -sS -m 60 "$(url)"
	wait_for 10 pausing 1
	first=$output
	spawn second curl -sS -m 60 "$(url)"
	wait_for 10 pausing 2
	ctl shutdown session "$first"
	wait_for 10 sessions_ended 1
	spawn third curl -sS -m 60 "$(url)"
	wait_for 10 pausing 2
	ctl enable server app/b
	finish second 60
	equal "the answer" b "$output"
	finish third 60
	equal "the answer" b "$output"
}

# bats test_tags=unsanitized
@test "pausing: 2000 that pause are served when a server comes, others meanwhile" {
	local n

	n=$(scaled 2000)
	start_bad r refuse
	start_app b
	DEFAULTS=$'retries = 3\nretry_budget = 100%' BACKEND='check = off' \
	    patient r b
	ctl disable server app/b
	spawn many "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count "$n" --deadline 100
	wait_for 30 has connect r "$n"
	ctl enable server app/b
	wait_for 30 has scur b "$n"
	equal "the answer" b "$(fetch "$(url)" || true)"
	end many
	wait_for 30 has scur b 0
}
