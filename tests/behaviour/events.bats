#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `show events`: what has happened, in words and for programs.

# bats file_tags=onethread

load helpers
load stat

CHECKED='check = connect interval=100ms timeout=20s fall=2 rise=1'

# bats test_tags=covered
@test "events: a server's way down and up, with the time and the cause" {
	start_app a
	start_app b
	BACKEND=$CHECKED web a b
	end a
	wait_for 10 says_down app/a
	restart_app a
	wait_for 10 says_up app/a
	run -0 ctl show events app/a
	equal "lines" 2 "${#lines[@]}"
	[[ ${lines[0]} =~ ^[0-9]+\ [0-9-]{10}T[0-9:.]{12}Z\ warning\ server_down\ app/a:\ server\ app/a\ is\ down:\ L4CON ]]
	[[ ${lines[1]} =~ \ info\ server_up\ app/a:\ .*\ 2\ of\ 2\ servers ]]
	# Events of the backend, of another one, of the process.
	equal "of app" 2 "$(ctl show events app | wc -l)"
	equal "of b" "" "$(ctl show events app/b)"
	equal "the first" "1 info start -: ready" \
	    "$(ctl show events | sed -n '1s/ [^ ]*//p')"
}

is_before() {
	local first second

	first=$(grep -nE -m 1 -- "$1" "$LFPROXY_LOG" | cut -d: -f1)
	second=$(grep -nE -m 1 -- "$2" "$LFPROXY_LOG" | cut -d: -f1)
	[ "${first:-999}" -lt "${second:-0}" ] ||
	    fail "'$1' in line ${first:-none}, '$2' in line ${second:-none}"
}

holds_a_session() {
	[ "$(column scur a)" = 1 ]
}

# bats test_tags=covered
@test "events: a cause is listed before its consequences" {
	start_bad a silent
	start_bad b silent
	BACKEND='check = connect interval=1h
		on_down = close' web a b
	wait_for 10 has check_status a L4OK
	wait_for 10 has check_status b L4OK
	ctl set server app/b state maint
	spawn held "$TOOLS/badclient" silent "$(listening web)" --deadline 60
	wait_for 10 holds_a_session
	ctl set server app/a health down
	ctl set server app/b state ready
	is_before 'server app/a is down' 'backend app has no usable server;'
	is_before 'server app/a is down' '1 session of server app/a is closed'
	is_before 'server app/b is set to ready' 'has a usable server again'
	equal "events" \
	    "server_maint server_down backend_down server_ready backend_up" \
	    "$(ctl show events | grep -oE ' (server|backend)_[a-z]+' | xargs)"
}

# bats test_tags=covered
@test "events: a count of one has no plural" {
	start_app a
	web a
	ctl set pool main threads 1
	ctl disable server app/a
	ctl show events >"$T/events"
	grep -q 'pool main: 1 thread now, 2 before' "$T/events"
	grep -q 'set to maint: .*; 0 of 1 server usable$' "$T/events"
	refute grep -E '\b1 [a-z]+s\b' "$T/events"
}

@test "events: json has the same" {
	start_app a
	web a
	ctl set pool main threads 1
	ctl show events json >"$T/json"
	python3 - "$T/json" <<-'END'
		import json, sys
		from datetime import datetime, timezone
		events = json.load(open(sys.argv[1]))
		assert [e["number"] for e in events] == [1, 2], events
		assert events[0]["event"] == "start" and events[0]["about"] == ""
		last = events[1]
		assert last["event"] == "pool" and last["about"] == "main", last
		assert last["text"] == "pool main: 1 thread now, 2 before", last
		assert last["level"] == "info", last
		when = datetime.fromisoformat(last["time"].replace("Z", "+00:00"))
		age = datetime.now(timezone.utc) - when
		assert 0 <= age.total_seconds() < 300, age
	END
	equal "the last one alone" 1 "$(ctl show events 1 | wc -l)"
	ctl show events 1 main | grep -q ' pool main: '
	equal "of one without events" "[]" "$(ctl show events app/a json)"
}

# bats test_tags=covered
@test "events: they outlast reloads, and a reload that fails is one" {
	start_app a
	web a
	sed -i 's/^balance.*/balance = leastconn/' "$T/lfproxy.ini"
	ctl reload
	echo 'nonsense = 1' >>"$T/lfproxy.ini"
	run ctl reload
	ctl show events >"$T/events"
	grep -q '^1 .* start -: ready' "$T/events"
	grep -q ' change -: .*balance' "$T/events"
	grep -q ' reload -: reloaded: 1 change' "$T/events"
	grep -q " error reload_failed -: .*stays in force: .*nonsense" "$T/events"
}

@test "events: a reload of thousands of changes leaves the others" {
	start_app a
	web a
	for i in {1..1200}; do
		echo "sni = n$i.example backend=app"
	done >"$T/rules"
	sed -i "/^\[frontend web\]/r $T/rules" "$T/lfproxy.ini"
	ctl reload >"$T/answer"
	equal "the answer" 1200 "$(grep -c ' is new$' "$T/answer")"
	run -0 ctl show events
	[[ ${lines[0]} =~ ^1\ .*\ start\ -:\ ready$ ]]
	equal "changes" 100 "$(ctl show events | grep -c ' change -: ')"
	[[ ${lines[-1]} == *" reload -: reloaded: 1200 changes" ]]
}

# bats test_tags=covered
@test "events: the last 1000 are kept" {
	local i

	start_app a
	web a
	# A connection carries one line, except in prompt mode.
	{
		echo prompt
		for ((i = 0; i < 520; i++)); do
			echo 'set pool main order fifo'
			echo 'set pool main order lifo'
		done
		echo quit
	} | socat -t 60 - "UNIX:$ADMIN" >/dev/null
	ctl show events >"$T/events"
	equal "kept" 1000 "$(grep -c '^[0-9]' "$T/events")"
	equal "the last" 1041 "$(tail -n 2 "$T/events" | sed 's/ .*//;q')"
	equal "the first" 42 "$(head -n 1 "$T/events" | cut -d' ' -f1)"
	equal "complete since the first" \
	    "# complete since $(head -n 1 "$T/events" | cut -d' ' -f2)" \
	    "$(sed -n '$s/: .*//p' "$T/events")"
}

# bats test_tags=covered
@test "events: wrong arguments are refused" {
	start_app a
	web a
	run ! ctl show events 0
	[[ $output == *"the last 1000 are kept"* ]]
	run ! ctl show events 3 app json more
	[[ $output == *"Unexpected argument"* ]]
	for name in foo app/foo foo/a; do
		run -1 ctl show events "$name"
		[[ $output == "Nothing is named '$name'; give the name of a backend"* ]]
	done
	for name in app app/a web main; do
		run -0 ctl show events "$name"
	done
}
