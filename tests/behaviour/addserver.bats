#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Servers that are added and deleted while lfproxy runs: when they get sessions,
# what is refused, what a reload makes of it, and that no client notices.

load helpers
load stat

# said COMMAND... ANSWER: the last word is the whole answer.
said() {
	local answer=${*: -1}

	run ctl "${@:1:$#-1}"
	equal "the answer to ${*:1:$#-1}" "$answer" "$output"
}

add() {
	said add server "$@" "New server registered."
}

del() {
	said del server "$1" "Server deleted."
}

# registered_without WHAT WORD COMMAND SERVER: the answer for a server that lacks
# what the backend's servers have.
registered_without() {
	printf '%s\n' "New server registered." "Server $4 has no $1, unlike its\
 backend's servers: the word '$2' is missing. To have one, use 'del server',\
 'add server ... $2' and '$3'."
}

# done_ COMMAND...: it has no answer.
done_() {
	said "$@" ""
}

at_least() {
	[ "$(column "$1" "$2")" -ge "$3" ]
}

# gets SERVER: it is chosen again and again.
gets() {
	local before

	before=$(column stot "$1")
	wait_for 20 at_least stot "$1" $((before + 20))
}

# begin_load NAME FRONTEND: verified streams, each a session of its own, until
# end_load; a client that sees an error ends the test.
begin_load() {
	# shellcheck disable=SC2016
	spawn "$1" sh -ec 'while [ ! -e "$1" ]; do
		"$2" client "$3" --connections 4 --up 20000 --down 20000 \
		    --duration 1 --rest 50 --deadline "$4"
	done' sh "$T/enough.$1" "$TOOLS/streamer" "127.0.0.1:$(port "$2")" \
	    $((60 * PATIENCE))
}

end_load() {
	: >"$T/enough.$1"
	finish "$1" 60
}

hold() {
	spawn "$1" "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count "$2" --verify --deadline 200
}

names() {
	ctl show stat -1 4 -1 | awk -F , 'NR > 1 && NF > 1 { print $2 }' | xargs
}

ids() {
	ctl show servers state app | awk 'NF > 20 && $1 != "#" { print $4 $3 }' |
	    xargs
}

# reloads LINE...: reload answers with these.
reloads() {
	equal "the answer to reload" "$(printf '%s\n' "$@")" "$(ctl reload)"
}

@test "addserver: a new server gets sessions only after it is enabled" {
	start_streams a
	start_streams b
	web a
	begin_load load web
	gets a
	add app/b "$(addr b)" weight=50
	equal "status" MAINT "$(column status b)"
	gets a
	equal "sessions of b" 0 "$(column stot b)"
	done_ enable server app/b
	gets b
	gets a
	equal "weight" "50 (initial 50)" "$(ctl get weight app/b)"
	done_ disable server app/b
	wait_for 20 has scur b 0
	del app/b
	gets a
	end_load load
	wait_for 10 lfproxy_said "admin: .*: server app/b: none -> $(addr b) weight=50\$"
	wait_for 10 lfproxy_said "admin: .*: server app/b: $(addr b) -> none\$"
	ctl show changes | grep -q "server app/b: $(addr b) -> none\$"
	wait_for 10 eventful "server_added.*app/b.*added, in maintenance"
	wait_for 10 eventful "server_removed.*app/b.*deleted"
}

@test "addserver: a server with sessions is not deleted" {
	start_app a
	start_app b
	web a
	add app/b "$(addr b)"
	done_ enable server app/b
	hold held 4
	wait_for 10 has scur b 2
	said del server app/b \
	    "Only servers in maintenance mode can be deleted."
	done_ disable server app/b
	said del server app/b \
	    "Server still has connections attached to it, cannot remove it."
	said wait 50 srv-removable app/b "Wait delay expired."
	spawn waiter "$CTL" -S "$ADMIN" wait 60s srv-removable app/b
	equal "sessions of b" 2 "$(column scur b)"
	signal held TERM
	finish held
	finish waiter
	equal "the answer to wait" "Done." "$output"
	del app/b
	said wait 50 srv-removable app/b "No such server. There is a."
	equal "servers" a "$(names)"
}

@test "addserver: sessions live through the models that come and go" {
	local n

	start_app a
	start_app b
	web a
	hold held 4
	wait_for 10 has scur a 4
	for n in 1 2 3 4 5; do
		add app/b "$(addr b)" enabled
		hold "more$n" 2
		wait_for 10 has scur b 1
		done_ disable server app/b
		signal "more$n" TERM
		finish "more$n"
		wait_for 10 has scur b 0
		del app/b
	done
	wait_for 10 has scur a 4
	signal held TERM
	finish held
}

# bats test_tags=onethread, covered
@test "addserver: its check is off until it is enabled" {
	local nobody

	start_app a
	nobody=$(free_port)
	BACKEND=$'check = connect interval=50ms fall=2' web a
	wait_for 10 has status a UP
	add app/b "127.0.0.1:$nobody" check inter 60 fall 2
	said add server app/c "127.0.0.1:$nobody" "$(registered_without \
	    'health check' check 'enable health' app/c)"
	done_ enable server app/b
	done_ enable server app/c
	said enable health app/c \
	    "Health check was not configured on this server, cannot enable."
	# Two rounds of a's.
	ctl wait 200 >/dev/null
	equal "status" "no check" "$(column status b)"
	done_ enable health app/b
	wait_for 10 has status b DOWN
	equal "status" "no check" "$(column status c)"
	equal "fall" 2 "$(column check_fall b)"
	done_ disable server app/b
	del app/b
	# Its name is another server, which has not been checked.
	add app/b "$(addr a)" check
	equal "status" MAINT "$(column status b)"
	done_ enable health app/b
	done_ enable server app/b
	wait_for 10 has check_status b L4OK
	equal "times down" 0 "$(column chkdown b)"
}

# bats test_tags=onethread, covered
@test "addserver: an agent is asked when it is enabled" {
	local agent

	start_app a
	agent=$(free_port)
	BACKEND="check = off" web a
	add app/b "$(addr a)" agent-check agent-port "$agent" agent-inter 50
	ctl wait 150 >/dev/null
	equal "agent" "" "$(column agent_status b)"
	done_ enable agent app/b
	wait_for 10 has agent_status b L4CON
}

# bats test_tags=onethread
@test "addserver: a server without its backend's checks or agent has a warning" {
	start_app a
	BACKEND="check = http path=/
agent = on port=$(free_port)" web a
	said add server app/b "$(addr a)" check "$(registered_without \
	    agent agent-check 'enable agent' app/b)"
	said add server app/c "$(addr a)" check=off agent=off \
	    "New server registered."
	said add server app/d "$(addr a)" track app/a "New server registered."
	said add server app/e "$(addr a)" check agent-check \
	    "New server registered."
	# The words of the file mean the same.
	said add server app/g "$(addr a)" check agent \
	    "New server registered."
	done_ enable agent app/g
	# A line each, with the severity of each.
	printf 'set severity-output number;add server app/f %s agent-check\n' \
	    "$(addr a)" | socat -t 60 - "UNIX-CONNECT:$ADMIN" >"$T/answer"
	grep -qxF '[6]: New server registered.' "$T/answer"
	grep -q '^\[4\]: Server app/f has no health check,' "$T/answer"
}

# bats test_tags=slow
@test "addserver: 200 servers come and go under load without a failed session" {
	local i n kib=0

	n=$(scaled 200)
	start_streams a
	start_streams b
	# Few, or they would count as memory that is not given back.
	common() {
		printf '[global]\nlog = stderr\nadmin = %s\nclosed_sessions = 16\n' \
		    "$ADMIN"
	}
	BACKEND='check = connect interval=100ms' web a
	begin_load load web
	spawn watcher python3 "$ROOT/tests/behaviour/stattool.py" "$ADMIN" \
	    a app
	gets a
	{
		for ((i = 1; i <= n; i++)); do
			printf 'add server app/x%d %s weight %d check\n' \
			    $((i % 7)) "$(addr b)" $((i % 200 + 1))
			printf 'enable health app/x%d\n' $((i % 7))
			printf 'enable server app/x%d\n' $((i % 7))
			printf 'wait 5\n'
			printf 'disable server app/x%d\n' $((i % 7))
			printf 'wait 20s srv-removable app/x%d\n' $((i % 7))
			printf 'del server app/x%d\n' $((i % 7))
		done
	} >"$T/commands"
	while mapfile -t -n 70 lines && [ ${#lines[@]} -gt 0 ]; do
		printf '%s;' prompt "${lines[@]}" quit |
		    tr -d '\n' >"$T/part"
		echo >>"$T/part"
		socat -t 60 - "UNIX:$ADMIN" <"$T/part" >>"$T/answers"
		[ "$kib" -gt 0 ] || kib=$(rss_kib)
	done <"$T/commands"
	equal "added" "$n" "$(grep -c 'New server registered' "$T/answers")"
	equal "deleted" "$n" "$(grep -c 'Server deleted' "$T/answers")"
	equal "other answers" "" "$(grep -vE \
	    '^(> )*(New server registered\.|Server deleted\.|Done\.|)$' \
	    "$T/answers")"
	gets a
	signal watcher TERM
	finish watcher
	end_load load
	equal "servers" a "$(names)"
	# Unused models are freed: some 20 are in kib already.  A
	# sanitizer keeps what was freed, and looks for leaks itself.
	[ "$SCALE" -gt 1 ] || [ "$(rss_kib)" -le $((kib + 1024)) ] ||
	    fail "memory: $kib KiB after 10 rounds, $(rss_kib) after $n"
}

# bats test_tags=slow
@test "addserver: every balancing algorithm takes new servers under load" {
	local balances=(roundrobin leastconn random source hash first ewma)
	local balance

	start_streams a
	start_streams b
	{
		common
		echo "[defaults]"
		echo "check = off"
		for balance in "${balances[@]}"; do
			cat <<-END
				[frontend $balance]
				listen = 127.0.0.1:0
				backend = $balance
				[backend $balance]
				balance = $balance
				server = a-$balance $(addr a) maxconn=3
			END
		done
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	for balance in "${balances[@]}"; do
		begin_load "$balance" "$balance"
	done
	for balance in "${balances[@]}"; do
		gets "a-$balance"
		add "$balance/b-$balance" "$(addr b)" weight 200 maxconn 10
		done_ enable server "$balance/b-$balance"
		# `source`, `hash` and `first` may well choose a for all, but a
		# has no room for all.
		gets "b-$balance"
		done_ disable server "$balance/b-$balance"
		said wait 20s srv-removable "$balance/b-$balance" "Done."
		del "$balance/b-$balance"
		gets "a-$balance"
	done
	for balance in "${balances[@]}"; do
		end_load "$balance"
	done
}

@test "addserver: a new server takes sessions from the queue" {
	start_app a
	start_app b
	DEFAULTS='timeout_queue = 60s' web 'a maxconn=1'
	hold held 3
	wait_for 10 has qcur BACKEND 2
	add app/b "$(addr b)" maxconn 1
	equal "they wait" 2 "$(column qcur BACKEND)"
	done_ enable server app/b
	wait_for 10 has qcur BACKEND 1
	wait_for 10 has scur b 1
	# Sessions queued for the backend do not keep b.
	done_ disable server app/b
	said del server app/b \
	    "Server still has connections attached to it, cannot remove it."
	done_ shutdown sessions server app/b
	wait_for 10 has scur b 0
	del app/b
	equal "they wait" 1 "$(column qcur BACKEND)"
}

@test "addserver: a new server starts slowly" {
	start_app a
	start_app b
	web a
	add app/b "$(addr b)" slowstart 1d
	equal "throttle in maintenance" "" "$(column throttle b)"
	done_ enable server app/b
	[ "$(column throttle b)" -lt 20 ]
}

# bats test_tags=onethread, covered
@test "addserver: the last server of a backend goes, and a share of a split with it" {
	start_app a
	start_app b
	{
		common
		cat <<-END
			[defaults]
			check = off
			timeout_queue = 100ms
			[frontend web]
			listen = 127.0.0.1:0
			backend = app
			backend = other
			[backend app]
			server = a $(addr a)
			[backend other]
			server = b $(addr b)
		END
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	done_ disable server other/b
	del other/b
	for _ in 1 2 3 4; do
		equal "who answers" a "$(fetch "$(url)")"
	done
	done_ disable server app/a
	del app/a
	refute fetch "$(url)" 2>/dev/null
	equal "servers" "" "$(names)"
	add other/b2 "$(addr b)" enabled
	equal "who answers" b "$(fetch "$(url)")"
}

# bats test_tags=onethread, covered
@test "addserver: ids are the lowest that are free" {
	start_app a
	start_app b
	web a b
	equal "ids" "a1 b2" "$(ids)"
	add app/c 127.0.0.1:1
	add app/d 127.0.0.1:1
	equal "ids" "a1 b2 c3 d4" "$(ids)"
	done_ disable server app/b
	del app/b
	del app/c
	add app/e 127.0.0.1:1
	equal "ids" "a1 d4 e2" "$(ids)"
	add app/b "$(addr b)"
	equal "ids" "a1 d4 e2 b3" "$(ids)"
	equal "sessions of the new b" 0 "$(column stot b)"
	sed -i '/^server = b/d' "$T/lfproxy.ini"
	ctl reload >/dev/null
	equal "ids" "a1" "$(ids)"
}

# bats test_tags=onethread, covered
@test "addserver: overrides of other servers are kept" {
	start_app a
	start_app b
	{
		common
		cat <<-END
			[frontend shut]
			listen = 127.0.0.1:$(free_port)
			backend = app
			[frontend paused]
			listen = 127.0.0.1:$(free_port)
			backend = app
		END
	} >"$T/more"
	GLOBAL_FILE=$T/more
	common() {
		cat "$GLOBAL_FILE"
	}
	web a
	done_ set weight app/a 42
	done_ disable frontend paused
	done_ shutdown frontend shut
	run -0 ctl set pool main threads 3
	add app/b "$(addr b)" enabled
	equal "weight" "42 (initial 100)" "$(ctl get weight app/a)"
	equal "threads" 3 "$(ctl show pool main json |
	    python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["threads"])')"
	refused "$(url paused)"
	refused "$(url shut)"
	done_ enable frontend paused
	[[ $(fetch "$(url paused)") == [ab] ]]
	del_later app/b
	refused "$(url shut)"
}

del_later() {
	done_ disable server "$1"
	ctl wait 10s srv-removable "$1" >/dev/null
	del "$1"
}

# bats test_tags=onethread, covered
@test "addserver: a reload goes by the file, and says what that means" {
	start_app a
	start_app b
	start_app c
	web a b
	add app/gone "$(addr c)" enabled
	add app/kept "$(addr c)" weight 100 enabled
	add app/idle "$(addr c)"
	del_later app/b
	for _ in 1 2 3 4; do
		fetch "$(url)" >/dev/null
	done
	[ "$(column stot kept)" -gt 0 ]
	stot=$(column stot kept)
	printf 'server = %s\n' "kept $(addr c) weight=90" "idle $(addr c)" \
	    >>"$T/lfproxy.ini"
	reloads "backend app: server gone is removed" \
	    "backend app: server kept: weight: 100 -> 90" \
	    "backend app: server kept: check: off -> (as the backend)" \
	    "backend app: server kept: agent: off -> (as the backend)" \
	    "backend app: server idle: check: off -> (as the backend)" \
	    "backend app: server idle: agent: off -> (as the backend)" \
	    "backend app: server b is new" \
	    "the reload discards servers added or deleted at run time: not in it, and removed: app/gone; in it, and kept as they are: app/kept, app/idle; in it, and back again: app/b"
	equal "servers" "a b kept idle" "$(names)"
	equal "sessions so far" "$stot" "$(column stot kept)"
	equal "status" "no check" "$(column status kept)"
	equal "nobody has enabled it" MAINT "$(column status idle)"
	equal "who is back is as in the file" "no check 0" \
	    "$(column status b) $(column stot b)"
	wait_for 10 lfproxy_said 'the reload discards servers added'
	reloads "No change."
}

# bats test_tags=onethread, covered
@test "addserver: a server that others track stays" {
	start_app a
	start_app b
	BACKEND='check = connect interval=50ms' web a
	wait_for 10 has status a UP
	add app/b "$(addr b)" track app/a
	done_ enable server app/b
	equal "status" UP "$(column status b)"
	done_ disable server app/a
	equal "status" "MAINT (via app/a)" "$(column status b)"
	said del server app/a "This server cannot be removed at runtime due to other configuration elements pointing to it."
	add app/c "$(addr b)" check
	del app/b
	del app/a
	# The indices of those behind it have moved.
	add app/d "$(addr b)" track c
	done_ enable health app/c
	done_ enable server app/c
	done_ enable server app/d
	wait_for 10 has check_status c L4OK
	equal "status" "UP" "$(column status d)"
	equal "who is tracked" app/c "$(column tracked d)"
}

# bats test_tags=onethread
@test "addserver: a lower level and wrong arguments are refused" {
	start_app a
	common() {
		printf '[global]\nlog = stderr\nadmin = %s\nadmin = %s level=operator\n' \
		    "$ADMIN" "$ADMIN.op"
	}
	web a
	equal "an operator" "Permission denied" \
	    "$("$CTL" -S "$ADMIN.op" del server app/a 2>&1 || true)"
	equal "an operator" "Permission denied" "$("$CTL" \
	    -S "$ADMIN.op" add server app/b 127.0.0.1:1 2>&1 || true)"
	while IFS='|' read -r words answer; do
		# shellcheck disable=SC2086 # words
		run -1 ctl add server $words
		[[ $output == *"$answer"* ]] ||
		    fail "add server $words: '$output', not '$answer'"
	done <<-'END'
		app/b no..where:80|'no..where' cannot be a host's name
		app/b 127.0.0.1:+x|'+x' is not a difference of ports
		app/b 127.0.0.1:0|has no port from 1 to 65535
		app/b [::1|
		app/b ::1:80|
		app/b 127.0.0.1:80 wieght=5|unknown option 'wieght'; did you mean 'weight'
		app/b 127.0.0.1:80 weight=5 weight=6|weight: given twice; keep one
		app/b 127.0.0.1:80 weight 5 weight=6|weight: given twice; keep one
		app/b 127.0.0.1:80 maxconn|maxconn: the value is missing
		app/b 127.0.0.1:80 inter 1|check_interval: '1ms'
		app/b 127.0.0.1:80 check|and [backend app] does not say how
		app/b 127.0.0.1:80 source ::1|source is IPv6
		app/b 127.0.0.1:80 source 1.2.3.4 usesrc client|there is only
		app/b 127.0.0.1:80 observe layer4|differs from [backend app]
		app/b 127.0.0.1:80 observe|differs from [backend app]
		app/b 127.0.0.1:80 on-marked-down close|'on-marked-down' expects 'shutdown-sessions' but got 'close'
		app/b 127.0.0.1:80 backup on_up=close_backup|'b' is a backup
		app/b 127.0.0.1:80 track nope|[backend app] has no server 'nope'
		app/b 127.0.0.1:80 track a|has neither a check nor an agent
		app/b 127.0.0.1:80 proxy-v2-options crc32c|send_proxy=v2-tls has what is known of TLS
		app/b unix:/tmp/x mss=1000|the option 'mss' is for TCP only
		app/a 127.0.0.1:80|Already exists
		app/b* 127.0.0.1:80|character '*' is not permitted
		app/01234567890123456789012345678901234567890 127.0.0.1:80|40
	END
	run -1 ctl add server app/b 127.0.0.1:80 "agent_send=$(printf %04100d 0)"
	[[ $output == *"more than 4096 characters"* ]]
	equal "servers" a "$(names)"
	equal "changes" "" "$(ctl show changes | grep server || true)"
	# HAProxy's words, the file's, and both.
	add app/b unix@/run/b.sock backup
	add app/c 'ipv4@127.0.0.1:80' check_interval=5s rise 2 check_fall=3
	add app/d '[::1]:80' source :: slowstart 2000 tfo
	add app/e 127.0.0.1:80 on-error fail-check error-limit 10 no-backup
	equal "servers" "a b c d e" "$(names)"
}

# bats test_tags=onethread
@test "addserver: HAProxy's words for a source that is the client" {
	need_foreign_address
	start_app a
	web a
	add app/b '[::1]:80' source :: usesrc clientip
	equal "servers" "a b" "$(names)"
}

# bats test_tags=onethread
@test "addserver: while draining it is refused" {
	start_app a
	web a
	hold held 1
	wait_for 10 has scur a 1
	kill -TERM "$LFPROXY_PID"
	wait_for 10 lfproxy_said draining
	run -1 ctl add server app/b "$(addr a)"
	equal "the answer" "lfproxy is stopping" "$output"
	done_ disable server app/a
	signal held TERM
	finish held
	await_lfproxy 10
}

# bats test_tags=onethread
@test "addserver: descriptors for its checks are missing" {
	need_descriptors 1024
	start_app a
	LIMIT="prlimit --nofile=1024:1024" BACKEND='check = connect' web a
	for ((i = 0; i < 120; i++)); do
		printf 'add server app/b%d 127.0.0.1:1 check;' "$i"
	done >"$T/commands"
	echo >>"$T/commands"
	socat -t 60 - "UNIX:$ADMIN" <"$T/commands" >/dev/null
	equal "servers" 121 "$(names | wc -w)"
	wait_for 10 lfproxy_said 'the descriptors are enough for [0-9]* sessions and not for'
}
