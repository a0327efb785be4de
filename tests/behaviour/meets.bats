#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Combinations of balancing and health: ejection and backups, tracking and
# the end of sessions, queues and slow starts, reloads in the middle of them.

load helpers
load checks

fd= # of connect

backend_is() {
	[ "$("$CTL" -S "$ADMIN" show stat "${3:-app}" 2 -1 |
	    python3 -c 'import csv, sys
print([r[sys.argv[1]] for r in csv.DictReader(sys.stdin)][0])' "$1")" = "$2" ]
}

# other_is NAME COLUMN VALUE: of server NAME of backend `other`.
other_is() {
	[ "$("$CTL" -S "$ADMIN" show stat other 4 -1 |
	    python3 -c 'import csv, sys
print([r[sys.argv[2]] for r in csv.DictReader(sys.stdin)
       if r["svname"] == sys.argv[1]][0])' "$1" "$2")" = "$3" ]
}

reload() {
	"$CTL" -S "$ADMIN" reload
}

refuses() {
	! eval "exec 9<>/dev/tcp/${1/://}" 2>/dev/null
}

answers_with() {
	equal "who answers" "$1" "$(fetch "$(url)")"
}

# The primary stops listening, and keeps what it has.
@test "meets: a backup stands in for an ejected server, until it is back" {
	local of_p of_b

	serve p "$ROOT/tests/behaviour/stormtool.py" server 127.0.0.1:0 "$T/got"
	start_app b
	DEFAULTS='log_on_connect = on' BACKEND=$'check = off\neject_after = 1
eject_time = 4s\non_down = close\non_up = close_backup' web p 'b backup'
	connect
	of_p=$fd
	signal p USR2
	wait_for 10 refuses "$(addr p)"
	answers_with b
	until_column 10 p status 'DOWN (ejected)'
	signal p USR2
	connect
	of_b=$fd
	equal "b's sessions" 1 "$(column b scur)"
	# Ejection ends no sessions, but the backup's when it ends itself.
	equal "p's session" 1 "$(column p scur)"
	until_column 20 p status 'no check'
	reads_end "$of_b"
	wait_for 10 session_like ' app/b .* UD '
	equal "p's session" 1 "$(column p scur)"
	exec {of_p}>&-
	until_column 10 p scur 0
}

# tracked LINE...: backend `other`, with the lines, has x, which tracks app/a,
# and a backup.  What its checks and its agent say of app/a is not about x
# itself.
tracked() {
	start_app x
	start_app z
	start_app a
	agent 'ready up'
	printf '#!/bin/sh\nexec cat %s\n' "$T/answer" >"$T/agent.sh"
	chmod +x "$T/agent.sh"
	start_script agent "$T/agent.sh"
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = other\n'
		printf 'log_on_connect = on\n'
		printf '[backend app]\ncheck = connect interval=100ms fall=2 rise=1\n'
		printf 'server = a %s agent=on agent_interval=50ms agent_port=%s\n' \
		    "$(addr a)" "$(addr agent | sed 's/.*://')"
		printf '[backend other]\ncheck = off\n'
		printf '%s\n' "$@"
		printf 'server = x %s track=app/a\nserver = z %s backup\n' \
		    "$(addr x)" "$(addr z)"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	until_column 10 a check_status L4OK
}

agent() {
	printf '%s\n' "$1" >"$T/answer.new"
	mv "$T/answer.new" "$T/answer"
}

@test "meets: on_down = close applies to tracking servers, a backup takes over" {
	tracked 'on_down = close'
	connect
	end a
	reads_end "$fd"
	wait_for 10 session_like ' other/x .* DD '
	answers_with z
	restart_app a
	wait_for 10 other_is x status UP
	answers_with x
	# A drain ends nothing, maintenance does.
	connect
	agent drain
	wait_for 10 other_is x status 'DRAIN (agent)'
	answers_with z
	other_is x scur 1
	agent maint
	reads_end "$fd"
	wait_for 10 other_is x scur 0
	answers_with z
	agent ready
	wait_for 10 other_is x status UP
	answers_with x
}

@test "meets: the tracked server goes, with its tracker or not at all" {
	tracked
	sed -i '/^server = a /d' "$T/lfproxy.ini"
	run reload
	[[ $output == *"has no server 'a'"* ]]
	other_is x status UP
	echo 'server = q 127.0.0.1:9' >>"$T/lfproxy.ini"
	sed -i "s|^server = x.*|server = x $(addr x)|
		/^\[backend app\]/a server = w $(addr a)" "$T/lfproxy.ini"
	reload
	other_is x status 'no check'
	answers_with x
}

# let_in N: N sessions have a place; prints how many have one, of how many.
let_in() {
	"$CTL" -S "$ADMIN" show stat app 4 -1 | python3 -c '
import csv, math, sys
row = next(csv.DictReader(sys.stdin))
places = math.ceil(20 * int(row["throttle"] or 100) / 100)
print(row["scur"], "of", places,
      "too many" if int(row["scur"]) > places else "")
sys.exit(row["scur"] != sys.argv[1])' "$1" >>"$T/looks"
}

@test "meets: queued sessions get a server as its slow start permits" {
	start_app a
	BACKEND="$(checked connect fall=1 rise=1)"$'\nslow_start = 8s' \
	    DEFAULTS='timeout_queue = 100s' web 'a maxconn=20'
	end a
	until_column 10 a status DOWN
	spawn idle "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --count 15 \
	    --deadline 200
	wait_for 10 backend_is qcur 15
	restart_app a
	wait_for 30 let_in 15
	refute grep 'too many' "$T/looks"
	# They came in more than one step.
	[ "$(sort -u "$T/looks" | wc -l)" -ge 3 ] || fail "$(cat "$T/looks")"
	backend_is qcur 0
	end idle
	until_column 10 a scur 0
}

# bats test_tags=covered
@test "meets: queued sessions get the server that a reload adds" {
	start_app a
	start_app b
	BACKEND="$(checked connect fall=1 rise=1)" \
	    DEFAULTS='timeout_queue = 100s' web a
	end a
	until_column 10 a status DOWN
	spawn client curl -sS -m 60 "$(url)"
	wait_for 10 backend_is qcur 1
	sed -i "s|^server = a .*|server = a $(addr b)|" "$T/lfproxy.ini"
	reload
	finish client
	equal "the answer" b "$output"
	backend_is qcur 0
}

# bats test_tags=covered
@test "meets: a slow start outlasts a reload of its check's rules" {
	start_app a
	BACKEND="$(checked connect fall=1 rise=1)"$'\nslow_start = 1d' web a
	end a
	until_column 10 a status DOWN
	restart_app a
	until_column 10 a throttle 2
	sed -i 's/fall=1/fall=5/' "$T/lfproxy.ini"
	reload
	column_is a throttle 2
	sed -i '/^slow_start/d' "$T/lfproxy.ini"
	reload
	equal "throttle" "" "$(column a throttle)"
	answers_with a
}

# Each waits in the queue of the backend that was its turn, which a reload then
# takes away.
@test "meets: a share of a split has its own queue, and keeps it to the end" {
	start_app a
	start_app b
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\n'
		printf 'backend = app weight=1\nbackend = other weight=1\n'
		printf '[backend app]\ncheck = off\ntimeout_queue = 100s\n'
		printf 'server = a %s maxconn=1\n' "$(addr a)"
		printf '[backend other]\ncheck = off\ntimeout_queue = 100s\n'
		printf 'server = b %s maxconn=1\n' "$(addr b)"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	spawn idle "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --count 2 \
	    --deadline 200
	wait_for 10 column_is a scur 1
	wait_for 10 other_is b scur 1
	spawn one curl -sS -m 60 "$(url)"
	wait_for 10 backend_is qcur 1
	spawn two curl -sS -m 60 "$(url)"
	wait_for 10 backend_is qcur 1 other
	sed -i '/^backend = other/d; /^\[backend other\]/,$d' "$T/lfproxy.ini"
	reload
	end idle
	finish one
	equal "the answer" a "$output"
	finish two
	equal "the answer" b "$output"
	wait_for 10 backend_is scur 0
	backend_is qcur 0
}
