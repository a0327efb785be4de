#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# lfproxyctl top, in a terminal that is tmux's and without one.

# bats file_tags=onethread

load helpers
load ctl
load terminal

# shellcheck disable=SC2034 # for the helpers
CTL=$BUILD/lfproxyctl

BLOCKS=[▁▂▃▄▅▆▇█]

# top_in_terminal [ARGUMENT...]: lfproxyctl top in a terminal of 80x24, two
# looks a second; afterwards there are $T/before, $T/after and $T/code.
top_in_terminal() {
	in_terminal 80x24 "$CTL" -S "${WHERE:-$ADMIN}" top -d 0.5 "$@"
}

main_threads() {
	ctl show pool main json | python3 -c '
import json, sys
print(json.load(sys.stdin)[0]["threads"])'
}

main_has() {
	[ "$(main_threads)" = "$1" ]
}

@test "top: pools, roles, frontends and servers on 80x24; q leaves the terminal as it was" {
	two_apps
	spawn load wrk -t1 -c8 -d600 "$(url)"
	top_in_terminal
	wait_to_see '^lfproxy [0-9.]+ on edge-1  up [0-9:]+  [0-9]+ of [0-9]+ sessions  idle [0-9]+%$'
	wait_to_see "^[0-9.]+ sessions/s  [0-9.]+[kMG] B/s in  [0-9.]+[kMG] B/s out  [0-9]+ in all  0 errors  0 down  $BLOCKS+\$"
	wait_to_see '^main +2 +[012] +[012] +[012] +1 +[0-9]+ .* [LP.]{2}$'
	wait_to_see '^slow +1 +[01] +[01] +[01] +1 +[0-9]+ +0 +[0-9.]+ [LP.]$'
	wait_to_see "^ web +OPEN +8 +[0-9]+ +[0-9.]+ +0 +[0-9.]+[kM]? +[0-9.]+[kM]?\$"
	wait_to_see "^ app +UP +8 .* 150 +0\$"
	wait_to_see "^  a +no check +[0-9]+ .* 100 +0\$"
	wait_to_see "^  b +no check +[0-9]+ .* 50 +0\$"
	# Faulty servers are above the pools.
	equal "the order" "FRONTEND BACKEND/SERVER POOL" \
	    "$(screen | grep -oE '^(FRONTEND|BACKEND/SERVER|POOL)' | xargs)"
	wait_to_see '^q quit  h help  .*s sort$'
	equal "lines" 24 "$(screen | wc -l)"
	refute shows '.{81}'
	press h
	wait_to_see 'drain the selected server'
	press x
	wait_to_see '^main '
	press q
	wait_for 10 test -e "$T/code"
	equal "exit code" 0 "$(cat "$T/code")"
	equal "the terminal" "$(cat "$T/before")" "$(cat "$T/after")"
	equal "alternate screen off, cursor on" "0 1" \
	    "$(in_tmux display -p -t it '#{alternate_on} #{cursor_flag}')"
	refute shows '^main '
}

# bats test_tags=slow
@test "top: + and - resize the pool under load, - after a question" {
	two_apps
	spawn load wrk -t1 -c8 -d600 "$(url)"
	top_in_terminal
	wait_to_see '^main '
	press j
	press +
	wait_to_see '^done: set pool main threads 3$'
	main_has 3
	wait_to_see '^main +3 .* [LP.]{3}$'
	press -
	wait_to_see '^Pool main: 2 instead of 3 threads\? y/n$'
	press n
	wait_to_see '^Nothing was changed\.$'
	main_has 3
	press -
	wait_to_see 'y/n$'
	press y
	wait_for 10 main_has 2
	wait_to_see '^main +2 '
	# The frontend's pool; then that pool has one thread, which it keeps.
	press Home
	press +
	wait_to_see '^done: set pool slow threads 2$'
	press End
	press -
	wait_to_see '^Pool slow: 1 instead of 2 threads\?'
	press y
	wait_to_see '^slow +1 '
	press -
	wait_to_see '^Pool slow keeps its last thread\.$'
}

# The letters of main's threads on the screen: leading, processing, following.
roles() {
	screen | sed -nE 's/^main .* ([LP.]+)$/\1/p'
}

# more_roles FILE: notes them; true once three different ones were seen.
more_roles() {
	roles >>"$1"
	[ "$(sort -u "$1" | wc -l)" -ge 3 ]
}

# A pool that promotes at every turn, so that there is something to see.
# bats test_tags=slow
@test "top: shows a pool that the socket resizes under load, and no session fails" {
	two_apps
	# The frontend's pool is the other one.
	sed -i '/^pool = slow/d' "$T/lfproxy.ini"
	ctl reload
	ctl set pool main promotion always
	spawn load wrk -t1 -c16 -d600 --timeout 60s "$(url)"
	top_in_terminal
	for threads in 1 8 2; do
		ctl set pool main threads $threads
		wait_to_see "^main +$threads +.* [LP.]{$threads}\$"
		main_has $threads
	done
	ctl set pool main threads 8
	wait_to_see '^main +8 +.* [LP.]{8}$'
	wait_for 30 more_roles "$T/roles"
	# The load ends with its sums.
	signal load INT
	wait_for 10 ended "${PIDS[load]}"
	grep -q 'requests in' "$T/load.out"
	refute grep -E 'Socket errors|Non-2xx' "$T/load.out"
}

# bats test_tags=covered
@test "top: the terminal grows and shrinks" {
	two_apps
	top_in_terminal
	wait_to_see '^ a-frontend-of +OPEN'
	in_tmux resize-window -t it -x 120 -y 40
	wait_to_see '^ a-frontend-of-a-long-name +OPEN'
	equal "lines" 40 "$(screen | wc -l)"
	wait_for 10 bottom_is 40
	in_tmux resize-window -t it -x 40 -y 8
	wait_for 10 bottom_is 8
	press j j j j j j j j j j
	wait_to_see '^main '
	press k k k k k k k k k k
	wait_to_see '^ a-frontend'
	in_tmux resize-window -t it -x 80 -y 24
	wait_for 10 bottom_is 24
	wait_to_see '^ a-frontend-of +OPEN'
}

bottom_is() {
	[[ $(screen | sed -n "$1p") == "q quit"* ]]
}

@test "top: lfproxy that goes away is noticed, and that it is back" {
	local old

	two_apps
	old=$LFPROXY_PID
	top_in_terminal
	wait_to_see '^  b '
	stop_lfproxy
	wait_to_see '^! NO ANSWER: .*admin\.sock: '
	# The last values stay on the screen.
	shows '^  b '
	launch_lfproxy -c "$T/lfproxy.ini"
	wait_to_see "^lfproxy was restarted: process $LFPROXY_PID, before $old$"
	refute shows 'NO ANSWER'
	press q
	wait_for 10 test -e "$T/code"
	equal "exit code" 0 "$(cat "$T/code")"
}

# bats test_tags=covered
@test "top: pause, sort" {
	two_apps
	top_in_terminal
	wait_to_see '^main +2 '
	press Space
	wait_to_see '^PAUSED '
	ctl set pool main threads 4
	press s
	wait_to_see 'sorted by sessions'
	shows '^main +2 '
	press Space
	wait_to_see '^main +4 '
	press s s s
	wait_to_see 'sorted as configured'
}

# bats test_tags=covered
@test "top: d, e, m and w send the runtime API's commands for a server" {
	two_apps
	top_in_terminal
	wait_to_see '^main '
	press d
	wait_to_see '^Select a server first'
	press End
	press k k k
	press d
	wait_to_see '^Server app/a: drain it, no new sessions\? y/n$'
	press y
	wait_to_see '^done: set server app/a state drain$'
	wait_to_see '^  a +DRAIN '
	press m
	wait_to_see '^Server app/a: maintenance, no sessions\? y/n$'
	press Escape
	wait_to_see '^Nothing was changed\.$'
	press m
	wait_to_see 'y/n$'
	press y
	wait_to_see '^  a +MAINT '
	press e
	wait_to_see '^done: set server app/a state ready$'
	wait_to_see '^  a +no check '
	press w
	wait_to_see '^Weight of app/a, 0 to 256, or percent: _'
	press 2 x 5 BSpace 0 0
	wait_to_see 'percent: 200_'
	press Enter
	wait_to_see '^done: set weight app/a 200$'
	wait_to_see '^  a .* 200 +0$'
	press w
	wait_to_see 'percent: _'
	press 7 Enter
	wait_to_see '^Server app/a: weight 7 instead of 200\? y/n$'
	press n
	wait_to_see '^Nothing was changed\.$'
	# An error of the server is shown.
	press w
	wait_to_see 'percent: _'
	press 9 9 9 Enter
	wait_to_see '^refused: '
}

# bats test_tags=covered
@test "top: c shows the clients, l limits the bandwidth of one, b bans it" {
	two_apps
	printf '[list banned]\n' >>"$T/lfproxy.ini"
	ctl reload
	fetch "$(url)" >/dev/null
	top_in_terminal
	wait_to_see '^main '
	press l
	wait_to_see '^Select a client first'
	press c
	wait_to_see '^CLIENT  .* BYTES +B/S SESSIONS ERRORS$'
	wait_to_see '^127\.0\.0\.1 +[0-9.]+k? +[0-9.]+k? +1 +0$'
	wait_to_see '^clients with the most bytes in [0-9]+ s$'
	refute shows '^main '
	press l
	wait_to_see '^Bandwidth of 127\.0\.0\.1 for 10m, each way: _'
	press 5 0 x K i B / s BSpace BSpace BSpace BSpace BSpace BSpace M B Enter
	wait_to_see '^done: set bandwidth client 127\.0\.0\.1 in=50MB out=50MB for 10m$'
	[[ $(ctl show bandwidth clients) == *"127.0.0.1 "*"in=400Mbit/s"*"out=400Mbit/s"*", off in 9m"* ]]
	press b
	wait_to_see '^Ban 127\.0\.0\.1 for 1h \(list banned; its sessions go on\)\? y/n$'
	press n
	wait_to_see '^Nothing was changed\.$'
	press b
	wait_to_see 'y/n$'
	press y
	wait_to_see '^done: add acl banned 127\.0\.0\.1 for 1h$'
	[[ $(ctl show expiring) == *"acl banned 127.0.0.1: added -> absent in 59m"* ]]
	press l
	wait_to_see 'each way: _'
	press 0 . 5 M B Enter
	wait_to_see '^refused: in: .0\.5MB. is '
	press l
	wait_to_see 'each way: _'
	press 1 Enter
	wait_to_see '^refused: in: .1. is out of range'
	press c
	wait_to_see '^main '
	run -0 ctl top -c -d 0.1
	[[ $output == *"CLIENT  "*"127.0.0.1 "* ]] || fail "$output"
	WHERE=$(tcp_admin)
	run -0 "$CTL" -S "$WHERE" top -c -d 0.1
	[[ $output == *"no clients: Permission denied"* ]] || fail "$output"
}

@test "top: over TCP, where the level is user, a change is refused" {
	two_apps
	WHERE=$(tcp_admin) top_in_terminal
	wait_to_see '^main +2 '
	press j
	press +
	wait_to_see '^refused: Permission denied$'
	main_has 2
}

# bats test_tags=covered
@test "top: errors, peaks and totals of servers" {
	start_app a
	start_bad r refuse
	# Refused by one, and taken by the other.
	web a r
	for _ in 1 2 3 4; do
		fetch "$(url)" >/dev/null
	done
	wait_for 10 top_shows '^  r +no check +0 +[01] +[0-9]+ +[0-9.]+ +[1-9]'
	top_shows '^ web +OPEN +0 +1 +4 '
	top_shows '^[0-9.]+ sessions/s  .* out  4 in all  [1-9][0-9]* errors?  0 down'
}

top_shows() {
	LC_ALL=C ctl top -d 0.1 | grep -qE "$1"
}

@test "top: without a terminal it is a table" {
	two_apps
	fetch "$(url)" >/dev/null
	LC_ALL=C run -0 ctl top -d 0.2
	[[ ${lines[0]} == lfproxy\ *" on edge-1 "* ]] || fail "$output"
	grep -qE '^main +2 .* [LP.]{2}$' <<<"$output"
	grep -qE '^ a-frontend-of-a-long-name +OPEN +0 ' <<<"$output"
	grep -qE '^  b +no check +0 .* 50 +0 ' <<<"$output"
	equal "ASCII only" "" "$(tr -d '\n -~' <<<"$output")"
	LC_ALL=C.UTF-8 run -0 ctl top -d 0.1 -n 3
	equal "rounds" 3 "$(grep -c '^lfproxy ' <<<"$output")"
	grep -q '▁' <<<"$output"
	run -0 "$CTL" -S "$(tcp_admin)" top -d 0.1
	grep -q '^main ' <<<"$output"
}

# bats test_tags=covered
@test "top: sessions a second, by what was counted in between" {
	two_apps
	spawn table "$CTL" -S "$ADMIN" top -d 0.5 -n 1000
	wait_for 10 rounds_seen 1
	tries 5 thirty_are_seen
	end table
}

# Rounds are of half a second, or of a little more; on a machine that stalls
# they are of more, and so that the next one comes in time of less.
thirty_are_seen() {
	local before seen

	before=$(grep -c '^ web ' "$T/table.out")
	for _ in {1..30}; do
		fetch "$(url)" >/dev/null
	done
	seen=$(grep -c '^lfproxy ' "$T/table.out")
	wait_for 10 rounds_seen $((seen + 2)) || return 2
	awk -v before="$before" '/^ web / && ++rounds > before { n += $6 * 0.5 }
	    END { print n; exit !(n > 20 && n < 30.5) }' "$T/table.out"
}

rounds_seen() {
	[ "$(grep -c '^lfproxy ' "$T/table.out")" -ge "$1" ]
}

@test "top: impossible wishes are reported" {
	run -64 ctl top -d 0
	[[ $output == *"-d: invalid interval '0'; use 0.1 to 3600 seconds"* ]]
	run -64 ctl top -d nan
	run -64 ctl top -d 50ms
	# A duration is one; what is wrong then is the rest.
	run -64 ctl top -d 500ms -n 0
	[[ $output == *"top: -n: "* ]] || fail "$output"
	run -64 ctl top -n 0
	[[ $output == *"top: -n: "*"'0'"* ]] || fail "$output"
	run -64 ctl top -d
	[[ $output == *"-d: a number is missing"* ]]
	run -64 ctl top -x
	[[ $output == *"unknown option '-x'; use -c, -d SECONDS or -n ROUNDS"* ]]
	run -64 ctl top main
	[[ $output == *"unexpected argument 'main'"* ]]
	run -69 ctl top
	[[ $output == *"$ADMIN: No such file"*"is lfproxy running"* ]]
	run -64 ctl --json top
	[[ $output == *"top has no JSON form"* ]]
	for term in nonesuch dumb; do
		run -64 script -qec \
		    "TERM=$term '$CTL' -S '$ADMIN' top" /dev/null
		[[ $output == *"the terminal type '$term' is unknown"* ]]
	done
}

haproxy_listens() {
	[ -S "$T/haproxy.sock" ] &&
	    "$CTL" -S "$T/haproxy.sock" show info >"$T/info" 2>&1
}

# A server without pools (HAProxy) is shown without that section.
@test "top: HAProxy's frontends and servers, too" {
	cat >"$T/haproxy.cfg" <<-END
		global
		  stats socket $T/haproxy.sock mode 600 level admin
		defaults
		  mode tcp
		  timeout connect 1s
		  timeout client 5s
		  timeout server 5s
		frontend f
		  bind unix@$T/f.sock
		  default_backend b
		backend b
		  server s1 127.0.0.1:1
	END
	spawn haproxy haproxy -db -f "$T/haproxy.cfg"
	wait_for 10 haproxy_listens
	LC_ALL=C run -0 "$CTL" -S "$T/haproxy.sock" top -d 0.1
	[[ $output =~ ^HAProxy\ [23]\. ]] || fail "$output"
	grep -qE '^ f +OPEN +0 ' <<<"$output"
	grep -qE '^  s1 +no check +0 .* 1 +0 ' <<<"$output"
	refute grep -q '^POOL' <<<"$output"
}
