#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Commands that change servers, frontends, limits and sessions while traffic
# flows: what they do, and that no client notices.

load helpers

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = stderr
		drain_timeout = 10m
		admin = $ADMIN mode=0600
		${GLOBAL:-}
		[pool main]
		threads = 2
	END
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# done_ COMMAND...: it has no answer.
done_() {
	equal "the answer to $*" "" "$(ctl "$@")"
}

# column NAME SERVER: of `show stat`.
column() {
	ctl show stat | column_of "$1" "$2"
}

is() {
	[ "$(column "$1" "$2")" = "$3" ]
}

at_least() {
	[ "$(column "$1" "$2")" -ge "$3" ]
}

# begin_load: verified streams, each a session of its own, until end_load; a
# client that sees an error ends the test.
begin_load() {
	# shellcheck disable=SC2016
	spawn load sh -ec 'while [ ! -e "$1" ]; do
		"$2" client "$3" --connections 8 --up 20000 --down 20000 \
		    --duration 1 --rest 50 --deadline "$4"
	done' sh "$T/enough" "$TOOLS/streamer" "127.0.0.1:$(port web)" \
	    $((60 * PATIENCE))
}

end_load() {
	: >"$T/enough"
	finish load 60
}

# gets SERVER: it is chosen again and again.
gets() {
	local before

	before=$(column stot "$1")
	wait_for 20 at_least stot "$1" $((before + 20))
}

# gets_nothing SERVER: while OTHER gets twenty, and then its own are over.
gets_nothing() {
	local before

	before=$(column stot "$1")
	gets "$2"
	equal "new sessions of $1" "$before" "$(column stot "$1")"
}

two_streams() {
	start_streams a
	start_streams b
	web a b
}

hold() {
	spawn "$1" "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count "$2" --deadline 200
}

# bats test_tags=slow
@test "servercmds: state drain, maint and ready under load" {
	two_streams
	begin_load
	gets a
	done_ set server app/a state drain
	equal "status" DRAIN "$(column status a)"
	gets_nothing a b
	done_ set server app/a state ready
	equal "status" "no check" "$(column status a)"
	gets a
	done_ disable server app/a
	equal "status" MAINT "$(column status a)"
	gets_nothing a b
	done_ enable server app/a
	gets a
	gets b
	end_load
	wait_for 10 lfproxy_said 'admin: .*server app/a state: ready -> drain'
}

# bats test_tags=covered
@test "servercmds: a drained server's sessions go on, new ones do not come" {
	start_app a
	start_app b
	web a b
	spawn held "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --count 4 \
	    --verify --deadline 200
	wait_for 10 is scur a 2
	done_ set server app/a state drain
	for _ in 1 2 3 4; do
		equal "who answers" b "$(fetch "$(url)")"
	done
	equal "sessions of a" 2 "$(column scur a)"
	done_ set server app/a state maint
	equal "sessions of a" 2 "$(column scur a)"
	signal held TERM
	finish held
	wait_for 10 is scur a 0
}

# bats test_tags=slow
@test "servercmds: weight 0, percent and more under load" {
	two_streams
	begin_load
	done_ set weight app/a 0
	equal "weight" "0 (initial 100)" "$(ctl get weight app/a)"
	gets_nothing a b
	done_ set server app/a weight 50%
	equal "weight" "50 (initial 100)" "$(ctl get weight app/a)"
	equal "weight" 50 "$(column weight a)"
	gets a
	done_ set weight app/a 256
	done_ set weight app/b 0
	gets_nothing b a
	end_load
}

# bats test_tags=covered
@test "servercmds: maxconn lowered below what there is, and raised with a queue" {
	start_app a
	DEFAULTS="timeout_queue = 100s" web a
	hold first 3
	wait_for 10 is scur a 3
	done_ set maxconn server app/a 2
	equal "slim" 2 "$(column slim a)"
	hold second 2
	wait_for 10 is qcur BACKEND 2
	equal "sessions" 3 "$(column scur a)"
	done_ set server app/a maxconn 5
	wait_for 10 is scur a 5
	equal "queue" 0 "$(column qcur BACKEND)"
	done_ set maxconn server app/a 0
	equal "slim" "" "$(column slim a)"
	hold third 2
	wait_for 10 is scur a 7
}

# bats test_tags=slow
@test "servercmds: a change of maxconn under load loses no session" {
	local i

	DEFAULTS='timeout_queue = 100s' two_streams
	done_ set maxconn server app/a 3
	done_ set maxconn server app/b 3
	begin_load
	for i in 1 4 2 0 3; do
		done_ set maxconn server app/a "$i"
		gets a
		done_ set maxconn server app/b "$i"
		gets b
	done
	end_load
}

@test "servercmds: another address under load" {
	local to

	start_streams a
	start_streams other
	web a
	begin_load
	gets a
	to=$(addr other)
	equal "the answer" "port changed from '$(addr a | cut -d: -f2)' to '${to#*:}' by 'stats socket command'" \
	    "$(ctl set server app/a addr 127.0.0.1 port "${to#*:}")"
	equal "addr" "$to" "$(column addr a)"
	end other
	gets_refused
	LISTEN=$to start_streams other
	end_load_anyhow
	ctl show servers state app | grep -q " 127.0.0.1 .* ${to#*:} "
}

# Sessions go to the new address: without a server there they fail.
gets_refused() {
	wait_for 20 refused_once
}

# The load may have ended with the sessions that the old server took along.
refused_once() {
	fetch -o /dev/null "$(url)" 2>/dev/null || true
	wait_for 10 said_times 1 'connect to app/a failed'
}

end_load_anyhow() {
	: >"$T/enough"
	wait_for 60 ended "${PIDS[load]}"
	wait "${PIDS[load]}" || true
	unset "PIDS[load]"
}

# bats test_tags=slow
@test "servercmds: an address is changed to and fro and no client notices" {
	local to from i

	start_streams a
	start_streams other
	web a
	from=$(addr a) to=$(addr other)
	begin_load
	for i in 1 2 3; do
		ctl set server app/a addr 127.0.0.1 port "${to#*:}" >/dev/null
		gets a
		ctl set server app/a addr 127.0.0.1 port "${from#*:}" >/dev/null
		gets a
	done
	end_load
	equal "addr" "$from" "$(column addr a)"
}

@test "servercmds: health without and with checks" {
	start_app a
	start_app b
	BACKEND=$'check = connect interval=200ms fall=2 rise=2' web a b
	wait_for 10 is status a UP
	done_ set server app/a health stopping
	wait_for 10 is status a UP
	done_ set server app/a health down
	wait_for 10 said_times 1 'app/a is down: by operator'
	wait_for 10 is status a UP
	done_ disable health app/a
	equal "status" "no check" "$(column status a)"
	done_ set server app/a health down
	equal "status" DOWN "$(column status a)"
	equal "who answers" "b b" "$(fetch "$(url)" "$(url)" | xargs -n1 echo | tr -d '\n' | sed 's/bb/b b/')"
	end a
	done_ set server app/a health up
	equal "status" "no check" "$(column status a)"
	done_ enable health app/a
	wait_for 10 is status a DOWN
	restart_app a
	wait_for 10 is status a UP
}

@test "servercmds: health of a server that is not checked" {
	start_app a
	start_app b
	web a b
	done_ set server app/a health down
	equal "status" DOWN "$(column status a)"
	equal "who answers" b "$(fetch "$(url)")"
	equal "who answers" b "$(fetch "$(url)")"
	done_ set server app/a health stopping
	equal "status" NOLB "$(column status a)"
	equal "who answers" b "$(fetch "$(url)")"
	done_ set server app/a health up
	equal "status" "no check" "$(column status a)"
}

@test "servercmds: maintenance ends checks, and ready begins them" {
	start_app a
	BACKEND=$'check = connect interval=100ms fall=3 rise=2' web a
	wait_for 10 is status a UP
	done_ set server app/a state maint
	end a
	done_ set server app/a state ready
	wait_for 10 is status a DOWN
	done_ set server app/a state maint
	restart_app a
	done_ set server app/a state ready
	equal "at once" a "$(fetch "$(url)")"
	wait_for 10 is status a UP
}

@test "servercmds: a frontend is disabled, enabled, shut down; a reload opens it" {
	local before

	start_app a
	WEB=127.0.0.1:$(free_port) web a
	hold held 2
	wait_for 10 is scur a 2
	before=$(url)
	done_ disable frontend web
	equal "status" PAUSED "$(column status FRONTEND)"
	refused "$before"
	equal "sessions" 2 "$(column scur a)"
	equal "again" "All sockets are already disabled." \
	    "$(ctl disable frontend web)"
	run -0 ctl reload
	equal "after a reload" PAUSED "$(column status FRONTEND)"
	refused "$before"
	done_ enable frontend web
	equal "who answers, at the same port" a "$(fetch "$before")"
	wait_for 10 is scur a 2
	done_ shutdown frontend web
	equal "status" STOP "$(column status FRONTEND)"
	refused "$before"
	equal "sessions" 2 "$(column scur a)"
	run -1 ctl enable frontend web
	equal "the answer" "Frontend was previously shut down, cannot enable." \
	    "$output"
	run -0 ctl reload
	equal "status" OPEN "$(column status FRONTEND)"
	equal "who answers" a "$(fetch "http://127.0.0.1:$(port web 3)/")"
}

@test "servercmds: a unix socket of a disabled frontend keeps its clients waiting" {
	start_app a
	WEB=unix:$T/web.sock web a
	done_ disable frontend web
	spawn client curl -sS -m 60 --unix-socket "$T/web.sock" http://web/
	wait_for 10 backlog_is 1
	done_ enable frontend web
	finish client
	equal "who answers" a "$output"
}

backlog_is() {
	[ "$(ss -xl "src $T/web.sock" | awk 'NR == 2 { print $3 }')" = "$1" ]
}

@test "servercmds: maxconn of a frontend and of all" {
	start_app a
	web a
	done_ set maxconn frontend web 2
	equal "slim" 2 "$(column slim FRONTEND)"
	hold first 4
	wait_for 10 is scur FRONTEND 2
	spawn one curl -sS -m 60 "$(url)"
	equal "sessions" "2 2" \
	    "$(column scur FRONTEND) $(column smax FRONTEND)"
	done_ set maxconn frontend web 100
	finish one
	equal "who answers" a "$output"
	wait_for 10 is scur FRONTEND 4
	done_ set maxconn global 4
	ctl show info | grep -qx 'Maxconn: 4'
	spawn two curl -sS -m 60 "$(url)"
	wait_for 10 said_times 1 'all 4 sessions are in use'
	equal "sessions" 4 "$(column scur FRONTEND)"
	done_ set maxconn global 0
	finish two
	equal "who answers" a "$output"
	done_ set maxconn frontend web 0
	wait_for 10 is scur FRONTEND 4
	spawn three curl -sS -m 60 "$(url)"
	equal "sessions" 4 "$(column scur FRONTEND)"
	done_ set maxconn frontend web 100
	finish three
}

@test "servercmds: rate-limit holds" {
	start_app a
	web a
	done_ set rate-limit connections global 20
	ctl show info | grep -qx 'ConnRateLimit: 20'
	rated_at_least 3 1
	done_ set rate-limit connections global 0
	ctl show info | grep -qx 'ConnRateLimit: 0'
	equal "the answer" a "$(fetch "$(url)")"
}

# bats test_tags=timing
@test "servercmds: rate-limit lets in what it allows" {
	start_app a
	web a
	done_ set rate-limit connections global 20
	tries 3 rated_at_least 3 40
	done_ set rate-limit connections global 0
	# Even on a slow machine.
	tries 5 rated_at_least 1 35
}

# rated_at_least SECONDS N: N sessions, and not more than a rate allows.
rated_at_least() {
	local n ms

	read -r n ms < <(rated "$1")
	echo "$n in $ms ms"
	# 20 a second and 2 at once, and four that were under way at the end.
	[ "$1" -eq 1 ] || [ "$n" -le $((ms * 20 / 1000 + 2 + 4)) ] || return 2
	[ "$n" -ge "$2" ]
}

# rated SECONDS: how many connections four clients at a time got answered, and
# in how many ms.
rated() {
	python3 - "$(port web)" "$1" <<-'END'
		import socket, sys, threading, time
		port, began = int(sys.argv[1]), time.monotonic()
		ends = began + float(sys.argv[2])
		done = []
		def client():
		    while time.monotonic() < ends:
		        with socket.create_connection(("127.0.0.1", port)) as s:
		            s.sendall(b"GET / HTTP/1.0\r\n\r\n")
		            s.settimeout(max(0.01, ends - time.monotonic()))
		            try:
		                if s.recv(1000):
		                    done.append(1)
		            except TimeoutError:
		                pass
		threads = [threading.Thread(target=client) for _ in range(4)]
		for t in threads: t.start()
		for t in threads: t.join()
		print(len(done), round((time.monotonic() - began) * 1000))
	END
}

peaks_clear() {
	done_ clear counters
	[ "$(column rate_max "$1")" -eq 0 ]
}

@test "servercmds: clear counters" {
	start_app a
	web a
	hold held 2
	wait_for 10 is scur a 2
	for _ in 1 2 3; do
		fetch "$(url)" >/dev/null
		wait_for 10 is scur a 2
	done
	equal "counters" "5 3" "$(column stot a) $(column smax a)"
	done_ clear counters
	equal "counters" "5 2" "$(column stot a) $(column smax a)"
	[ "$(column ttime_max a)" -eq 0 ]
	# The second in which they came may end right now, and it counts.
	wait_for 10 peaks_clear a
	done_ clear counters all
	equal "counters" "0 2 0" \
	    "$(column stot a) $(column smax a) $(column bout a)"
	wait_for 10 is rate FRONTEND 0
	equal "rates" "0 0" "$(column rate_max a) $(column rate_max FRONTEND)"
	printf 'operator; clear counters all\n' | socat -t 60 - "UNIX:$ADMIN" |
	    grep -qx 'Permission denied'
}

# relaying N: sessions that have their server.
relaying() {
	[ "$(ctl show sess | grep -c 'scb=\[8,1h')" -eq "$1" ]
}

@test "servercmds: show sess, shutdown session" {
	local id

	start_app a
	start_app b
	web a b
	hold held 4
	wait_for 10 relaying 4
	run -0 ctl show sess
	equal "lines" 4 "$(grep -cE '^0x[0-9a-f]+: proto=tcpv4 src=127.0.0.1:[0-9]+ fe=web be=app srv=[ab] ts=00 epoch=0 age=[0-9]+s calls=0 rate=0 cpu=0 lat=0 rq\[.*\] rp\[.*\] scf=\[8,0h,fd=[0-9]+\] scb=\[8,1h,fd=[0-9]+\] exp=[0-9ms]+ rc=0 c_exp= in=[0-9]+ out=[0-9]+$' <<<"$output")"
	equal "of a" 2 "$(ctl show sess server app/a | grep -c srv=a)"
	equal "of b in app" 2 "$(ctl show sess backend app server app/b | grep -c .)"
	equal "of web" 4 "$(ctl show sess frontend web | grep -c .)"
	equal "older" "" "$(ctl show sess older 1h)"
	run -1 ctl show sess frontend nope
	equal "the answer" "No such frontend. There is web." "$output"
	id=$(ctl show sess server app/a | sed -n '1s/:.*//p')
	run -0 ctl show sess "$id"
	[[ $output == "$id: ["*"  frontend=web (id=2 mode=tcp)"$'\n'"  backend=app (id=3 mode=tcp)"$'\n'"  server=a (id=1) addr=$(addr a)"$'\n'* ]]
	[[ $output == *$'\n'"  task=RELAYING (exp="* ]]
	equal "all" 4 "$(ctl show sess all | grep -c '^0x')"
	done_ shutdown session "$id"
	wait_for 10 is scur a 1
	run -1 ctl show sess "$id"
	equal "gone" "Session not found." "$output"
	run -1 ctl shutdown session "$id"
	equal "the answer" "No such session (use 'show sess')." "$output"
	last_session 1
	equal "how it ended" KD "${S[code]}"
	run -1 ctl shutdown session 1
	run -1 ctl shutdown session 0xffffffffffffffff
}

@test "servercmds: shutdown sessions server, those of before a reload as well" {
	start_app a
	start_app b
	web a b
	hold first 4
	wait_for 10 is scur BACKEND 4
	echo 'timeout_connect = 4s' >>"$T/lfproxy.ini"
	run -0 ctl reload
	hold second 4
	wait_for 10 is scur BACKEND 8
	done_ shutdown sessions server app/a
	wait_for 10 is scur a 0
	equal "sessions of b" 4 "$(column scur b)"
	wait_for 10 lfproxy_said 'admin: .*server app/a: 4 sessions shut down'
}

# bats test_tags=slow
@test "servercmds: show sess of many, under load" {
	need_descriptors 4096
	two_streams
	hold held "$(scaled 800)"
	wait_for 20 at_least scur BACKEND "$(scaled 800)"
	begin_load
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		run -0 ctl show sess
		[ "$(wc -l <<<"$output")" -ge "$(scaled 800)" ]
		refute grep -qvE '^0x[0-9a-f]+: proto=tcpv4 src=127.0.0.1:[0-9]+ fe=web be=app srv=(a|b|<none>) ' \
		    <<<"$output"
	done
	end_load
}

# bats test_tags=covered
@test "servercmds: an override lasts until a reload with another value" {
	local to

	start_app a
	start_app b
	start_app other
	web a 'b weight=50'
	to=$(addr other)
	done_ set server app/a state drain
	done_ set weight app/b 7
	done_ set maxconn server app/b 9
	ctl set server app/b addr 127.0.0.1 port "${to#*:}" >/dev/null
	run -0 ctl reload
	equal "status" DRAIN "$(column status a)"
	equal "b" "7 9 $to" \
	    "$(column weight b) $(column slim b) $(column addr b)"
	equal "who answers" other "$(fetch "$(url)")"
	sed -i 's/weight=50/weight=60/' "$T/lfproxy.ini"
	run -0 ctl reload
	equal "b" "60 9 $to" \
	    "$(column weight b) $(column slim b) $(column addr b)"
	equal "status" DRAIN "$(column status a)"
	sed -i 's/weight=60/weight=60 maxconn=20/' "$T/lfproxy.ini"
	run -0 ctl reload
	equal "b" "60 20" "$(column weight b) $(column slim b)"
	sed -i "s/^server = a .*/server = a $to/" "$T/lfproxy.ini"
	run -0 ctl reload
	equal "another server" "no check" "$(column status a)"
}

# The agent says what is in the file.
start_agent() {
	serve agent python3 -u -c 'import socket, sys
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen(16)
print("listening on 127.0.0.1:%d" % s.getsockname()[1], flush=True)
while True:
    c, _ = s.accept()
    c.settimeout(60)
    try:
        got = c.recv(100).decode() if sys.argv[2] == "ask" else ""
        open(sys.argv[1] + ".got", "w").write(got)
        c.sendall(open(sys.argv[1]).read().encode())
    except OSError:
        pass
    c.close()' "$T/says" "${1:-}"
}

@test "servercmds: of agent and operator the last one to set a value decides" {
	local agent

	start_app a
	echo 'ready 50%' >"$T/says"
	start_agent
	agent="agent = on interval=100ms port=$(addr agent | cut -d: -f2)"
	BACKEND=$'check = off\n'"$agent" web a
	wait_for 10 is weight a 50
	done_ disable agent app/a
	done_ set weight app/a 20
	done_ set server app/a state drain
	equal "weight" 20 "$(column weight a)"
	[[ $(column status a) == DRAIN* ]]
	done_ enable agent app/a
	wait_for 10 is weight a 50
	wait_for 10 is status a "no check"
	sed -i '/^agent/d' "$T/lfproxy.ini"
	run -0 ctl reload
	equal "what the operator had said" "20 DRAIN" \
	    "$(column weight a) $(column status a)"
}

@test "servercmds: where checks and agents go" {
	local port agent

	start_app a
	start_app b
	printf 'up\n' >"$T/says"
	start_agent ask
	port=$(addr b | cut -d: -f2) agent=$(addr agent | cut -d: -f2)
	BACKEND="check = http path=/healthz interval=100ms fall=1 timeout=5s rise=1
agent = on interval=100ms port=1" web a
	wait_for 10 is status a UP
	done_ set server app/a check-port "$(free_port)"
	wait_for 10 is status a DOWN
	done_ set server app/a check-port "$port"
	wait_for 10 is status a UP
	done_ set server app/a check-addr 127.0.0.2 port "$port"
	wait_for 10 is status a DOWN
	done_ set server app/a check-addr 127.0.0.1 port 0
	wait_for 10 is status a UP
	done_ set server app/a agent-port "$agent"
	printf 'set server app/a agent-send who\\ are\\ you\n' |
	    socat -t 60 - "UNIX:$ADMIN"
	wait_for 10 grep -qx 'who are you' "$T/says.got"
	wait_for 10 is agent_status a L7OK
	done_ set server app/a agent down
	wait_for 10 lfproxy_said 'app/a is down: by its agent, the operator'
	wait_for 10 is status a UP
}

@test "servercmds: a server that tracks another is in maintenance via it" {
	start_app a
	{
		common
		cat <<-END
			[frontend web]
			listen = 127.0.0.1:0
			backend = app
			[backend app]
			check = off
			server = t $(addr a) track=other/o
			[backend other]
			check = connect interval=200ms
			server = o $(addr a)
		END
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	wait_for 10 is status o UP
	done_ set server other/o state maint
	equal "status" "MAINT (via other/o)" "$(column status t)"
	ctl show servers state app | grep -qE ' t 127.0.0.1 0 2 '
	done_ set server other/o state ready
	run -1 ctl set server app/t health down
}

@test "servercmds: wait, for a time and for a server to be empty" {
	local from unit

	start_app a
	start_app b
	web a b
	from=$(now_ms)
	equal "the answer" "Done." "$(ctl wait 300)"
	[ $(($(now_ms) - from)) -ge 300 ]
	run -1 ctl wait 100 srv-removable app/a
	equal "the answer" "Only servers in maintenance mode can be deleted." \
	    "$output"
	hold held 2
	wait_for 10 is scur BACKEND 2
	done_ disable server app/a
	run -1 ctl wait 200ms srv-removable app/a
	equal "the answer" "Wait delay expired." "$output"
	spawn waiter "$CTL" -S "$ADMIN" wait 60s srv-removable app/a
	equal "others are answered" "" "$(ctl wait 1 | grep -v Done)"
	done_ shutdown sessions server app/a
	finish waiter
	equal "the answer" "Done." "$output"
	# An idle connection has 10 s; waiting is not idling.
	equal "two answers" "Done.||Done.||" \
	    "$(printf 'set timeout cli 1;wait 1500;wait 10\n' |
	        socat -t 60 - "UNIX:$ADMIN" | sed 1d | tr '\n' '|')"
	run -1 ctl wait
	equal "the answer" "Expects a duration in milliseconds." "$output"
	run -1 ctl wait x
	equal "the answer" "Invalid duration." "$output"
	run -1 ctl wait 1 nonsense
	[[ $output == "Usage: wait "* ]]
	run -1 ctl wait 1 srv-removable
	equal "the answer" "Missing server name (<backend>/<server>)." "$output"
	run -1 ctl wait 1 srv-removable app
	equal "the answer" "Require 'backend/server'." "$output"
	run -0 ctl wait -h
	[[ $output == "Usage: wait "* ]]
	# Each unit that the message names is accepted.
	for unit in $(grep -o "'[a-z]*'" <<<"$output" | tr -d "'"); do
		printf 'wait 1%s\n' "$unit" | timeout 0.2 socat -t 60 - "UNIX:$ADMIN" \
		    >"$T/unit" || true
		refute grep Invalid "$T/unit"
	done
	# Clients that leave while they wait leave nothing behind.
	for _ in 1 2 3; do
		printf 'wait 100s\n' | timeout 0.2 socat - "UNIX:$ADMIN" || true
	done
	wait_for 10 one_admin_client
}

one_admin_client() {
	[ "$(ss -xn state connected | grep -c "$ADMIN")" -le 1 ]
}
