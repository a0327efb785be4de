#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `show closed`: what is said of sessions that have ended, and of which.

load helpers

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = stderr format=json
		drain_timeout = 5s
		admin = $ADMIN mode=0600
		${GLOBAL:-}
		[pool main]
		threads = 2
	END
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# closed FIELDS [ARGUMENT...]: these fields of each, a line each.
closed() {
	local fields=$1

	shift
	ctl show closed "$@" json | python3 -c 'import json, sys
for session in json.load(sys.stdin):
    print(*[session[field] for field in sys.argv[1].split(",")])' "$fields"
}

count() {
	closed id "$@" | wc -l
}

has_closed() {
	[ "$(count "${@:2}")" -eq "$1" ]
}

# ends FRONTEND EXPECTED: how its one session ended, once it has.
ends() {
	wait_for 10 has_closed 1 frontend "$1"
	equal "the end of $1's session" "$2" \
	    "$(closed code,first,backend,server frontend "$1" | xargs)"
}

# many NAME:ADDRESS...: lfproxy with a frontend and a backend of that name for
# each, the server is s; ADDRESS may have options of the backend behind it.
many() {
	local part name

	{
		common
		printf '[defaults]\n%s\n' "${DEFAULTS:-}"
		for part in "$@"; do
			name=${part%%:*}
			printf '[frontend %s]\nlisten = 127.0.0.1:0\nbackend = %s\n' \
			    "$name" "$name"
			printf '[backend %s]\ncheck = off\nserver = s %b\n' \
			    "$name" "${part#*:}"
		done
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# talk FRONTEND HOW: a client that says something, and leaves when there is an
# answer: `fin` or `rst`; or waits for the end, which may come at any time.
talk() {
	timeout $((30 * PATIENCE)) python3 - "$(port "$1")" "$2" <<-'END'
		import socket, struct, sys
		try:
		    s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20)
		    s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		    if sys.argv[2] == "wait":
		        while s.recv(65536):
		            pass
		    else:
		        assert s.recv(100)
		    if sys.argv[2] == "rst":
		        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
		                     struct.pack("ii", 1, 0))
		    s.close()
		except (ConnectionResetError, BrokenPipeError):
		    assert sys.argv[2] == "wait"
	END
}

@test "closed: every kind of end, with its code and the side that closed first" {
	local nobody

	nobody=$(free_port)
	start_app a
	start_bad silent silent
	# Once it is connected: a slow lfproxy would find the reset before.
	start_bad reset reply-reset --bytes 1
	start_bad close half-close --bytes 100
	start_bad full full
	DEFAULTS=$(printf 'timeout_connect = 300ms\nretries = 0')
	many "client_fin:$(addr a)" "client_rst:$(addr a)" \
	    "server_fin:$(addr close)" "server_rst:$(addr reset)" \
	    "silent:$(addr silent)\ntimeout_server = 200ms" \
	    "refused:127.0.0.1:$nobody" "full:$(addr full)" \
	    "killed:$(addr silent)"
	talk client_fin fin
	ends client_fin "-- client client_fin s"
	talk client_rst rst
	ends client_rst "CD client client_rst s"
	talk server_fin wait
	ends server_fin "-- server server_fin s"
	talk server_rst wait
	ends server_rst "SD server server_rst s"
	talk silent wait
	ends silent "sD proxy silent s"
	talk refused wait
	ends refused "SC proxy refused s"
	talk full wait
	ends full "sC proxy full s"
	spawn held "$TOOLS/badclient" silent "127.0.0.1:$(port killed)" \
	    --deadline 200
	wait_for 10 is_relaying killed
	ctl shutdown sessions server killed/s
	ends killed "KD proxy killed s"
	finish held
	agree_with_log
}

is_relaying() {
	[ "$(ctl show sess frontend "$1" json | python3 -c 'import json, sys
print(*[session["state"] for session in json.load(sys.stdin)])')" = RELAYING ]
}

# Each session that has ended is a line of the access log, and says the same.
agree_with_log() {
	ctl show closed json >"$T/closed.json"
	wait_for 10 logged "$(count)"
	sessions >"$T/sessions"
	python3 - "$T/closed.json" "$T/sessions" <<-'END'
		import json, sys
		closed = {s["log_id"]: s for s in json.load(open(sys.argv[1]))}
		lines = {}
		for text in open(sys.argv[2]):
		    if text.startswith("{"):
		        line = json.loads(text)
		        lines[line["id"]] = line
		assert closed and closed.keys() == lines.keys(), (closed, lines)
		for id, session in closed.items():
		    both = session.keys() & lines[id].keys() - {"id"}
		    assert len(both) == 18, both
		    for key in both:
		        assert session[key] == lines[id][key], (id, key)
	END
}

logged() {
	[ "$(sessions | wc -l)" -eq "$1" ]
}

# bats test_tags=covered
@test "closed: sessions without a server, and a client that left the queue" {
	DEFAULTS='timeout_queue = 200ms'
	start_app a
	many "none:$(addr a)" "left:$(addr a)\ntimeout_queue = 1m"
	ctl disable server none/s
	ctl disable server left/s
	talk none wait
	wait_for 10 has_closed 1 frontend none
	equal "it has waited and got no server" "sQ proxy none None -1" \
	    "$(closed code,first,backend,server,connect_ms frontend none)"
	"$TOOLS/badclient" leave "127.0.0.1:$(port left)" --count 1 \
	    --at connect --how fin --deadline $((60 * PATIENCE))
	ends left "CQ client left None"
	agree_with_log
}

# bats test_tags=covered
@test "closed: retries and another server" {
	start_app a
	start_bad dead refuse
	BALANCE=first web dead a
	fetch "$(url)" >/dev/null
	wait_for 10 has_closed 1
	equal "the session" "a 1 True" "$(closed server,retries,redispatched)"
	[[ "$(ctl show closed)" == *" srv=a "*" retries=+1 "* ]]
}

# bats test_tags=onethread
@test "closed: its filters" {
	start_app a
	start_app b
	many "one:$(addr a)" "two:$(addr b)" "refused:127.0.0.1:$(free_port)"
	for name in one two two one; do
		fetch "$(url $name)" >/dev/null
	done
	talk refused wait
	wait_for 10 has_closed 5
	equal "the latest first" "refused one two two one" \
	    "$(closed frontend | xargs)"
	equal "the last two" "refused one" "$(closed frontend 2 | xargs)"
	equal "by frontend" "two two" "$(closed frontend frontend two | xargs)"
	equal "by backend" "one one" "$(closed frontend backend one | xargs)"
	equal "by server" "two" "$(closed frontend server two/s 1 | xargs)"
	equal "by cause" "refused" "$(closed frontend cause SC | xargs)"
	equal "by two" "" "$(closed frontend cause SC frontend one | xargs)"
	equal "by age" 5 "$(count last 1h)"
	equal "by seconds" 5 "$(count last 3600)"
	wait_for 10 has_closed 0 last 1s
	id=$(closed id frontend one | head -1)
	equal "by id" "one" "$(closed frontend "$id" | xargs)"
	equal "an id is of one line" 1 "$(ctl show closed "$id" | wc -l)"
	equal "by client" 5 "$(count client 127.0.0.0/8)"
	equal "by another client" 0 "$(count client 10.0.0.0/8)"
	equal "by bytes" "one two two one" \
	    "$(closed frontend min-bytes 10 | xargs)"
	equal "by more bytes" "" "$(closed frontend min-bytes 1m)"
	equal "the longest two" "$(closed total_ms | sort -rn | head -2)" \
	    "$(closed total_ms sort duration 2)"
	equal "the least bytes are last" "refused" \
	    "$(closed frontend sort bytes | tail -1)"
	equal "sorted and filtered" "two two" \
	    "$(closed frontend sort bytes-out frontend two | xargs)"
	run -1 ctl show closed sort size
	[[ $output == "Sessions cannot be sorted by 'size'; the keys are "* ]]
	run -1 ctl show closed server one
	equal "no server" "Require 'backend/server'." "$output"
	run -1 ctl show closed server one/x
	equal "no server" "No such server. There is s." "$output"
	run -1 ctl show closed backend x
	[[ $output == "No such backend. There are "* ]]
	run -1 ctl show closed frontend x
	[[ $output == "No such frontend. There are "* ]]
	run -1 ctl show closed cause xy
	[[ $output == "No session ends with 'xy'; "*"; these are: -- "*" SC "* ]]
	run -1 ctl show closed last nonsense
	[[ $output == "last: 'nonsense' is not an age; write a duration such as 10m"* ]]
	run -1 ctl show closed cause
	[[ $output == "A cause is expected; "*"; these are: -- "*" SC "* ]]
	run -1 ctl show closed cause SC cause xy
	[[ $output == "No session ends with 'xy'; "* ]]
	run -1 ctl show closed 5 6
	[[ $output == "Unexpected argument '6'; "* ]]
	run -1 ctl show closed 0
	[[ $output == "Unexpected argument '0'; this command takes how many"* ]]
	run -1 ctl show closed bogus
	[[ $output == "Unexpected argument 'bogus'"*"cause <cause>"* ]]
}

# bats test_tags=onethread
@test "closed: an option that is given twice is refused" {
	local command option

	start_app a
	many "one:$(addr a)" "two:$(addr a)"
	while read -r option command; do
		# shellcheck disable=SC2086 # several words
		run -1 ctl $command
		equal "$command" "$option: given twice; keep one." "$output"
	done <<-'END'
		sort show closed sort bytes sort bytes
		last show closed last 1m frontend one last 2m
		last show failures last 1m last 2m
		older show sess older 1m older 2m
		sort show sess sort bytes client 10.0.0.0/8 sort duration
		client show sess client 10.0.0.0/8 client 10.0.0.0/8
		sni explain 10.0.0.1 sni a.example sni b.example
		to explain 10.0.0.1 to 10.0.0.2:80 to 10.0.0.2:81
		over drain server one/s over 1m over 2m
		then drain server one/s then kill then kill
		over rebalance backend one over 1m over 2m
		for set weight one/s 50 for 1m for 2m
		for disable server one/s for 1m for 2m
	END
	run -1 ctl show sess older 1y
	[[ $output == "older: '1y' is not an age; write a duration such as 10m "* ]]
}

# bats test_tags=onethread
@test "closed: sessions of removed frontends and servers are found by name" {
	start_app a
	start_app b
	many "one:$(addr a)" "two:$(addr b)"
	fetch "$(url one)" >/dev/null
	wait_for 10 has_closed 1
	sed -i '/frontend one/,/server/d' "$T/lfproxy.ini"
	ctl reload
	equal "its session" "one" "$(closed frontend server one/s)"
	equal "its session" "one" "$(closed frontend frontend one)"
	run -1 ctl show closed frontend other
	equal "one that never was" "No such frontend. There is two." "$output"
}

@test "closed: closed_sessions limits the records, a reload changes the limit" {
	start_app a
	GLOBAL='closed_sessions = 5' web a
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
		fetch "$(url)" >/dev/null
	done
	wait_for 10 logged 12
	has_closed 5
	sessions | tail -5 | tac |
	    python3 -c 'import json, sys
for line in sys.stdin: print(json.loads(line)["id"])' >"$T/expected"
	equal "the last five" "$(cat "$T/expected")" "$(closed log_id)"
	oldest=$(ctl show closed json | python3 -c 'import json, sys
print(json.load(sys.stdin)[-1]["ended"][:19])')
	[[ "$(ctl show closed cause SC)" == "# complete since ${oldest%:*}"* ]] ||
	    fail "$(ctl show closed cause SC)"
	equal "of one that has ended later" "" "$(ctl show closed cause SC last 0s)"
	sed -i 's/^closed_sessions.*/closed_sessions = 2/' "$T/lfproxy.ini"
	ctl reload
	has_closed 0
	for _ in 1 2 3; do
		fetch "$(url)" >/dev/null
	done
	wait_for 10 logged 15
	has_closed 2
	sed -i 's/^closed_sessions.*/closed_sessions = 0/' "$T/lfproxy.ini"
	ctl reload
	fetch "$(url)" >/dev/null
	run -1 ctl show closed
	equal "none" "No sessions are remembered: closed_sessions is 0." \
	    "$output"
}

# bats test_tags=covered
@test "closed: the kernel's facts of sessions that end badly or last, or of all" {
	start_app a
	start_bad silent silent
	many "app:$(addr a)" "bad:$(addr silent)\ntimeout_server = 200ms"
	fetch "$(url app)" >/dev/null
	talk bad wait
	wait_for 10 has_closed 2
	equal "of a short one" "None None" \
	    "$(closed client_rtt_us,server_cwnd frontend app)"
	facts=$(closed client_rtt_us,client_retransmits,client_mss,server_cwnd \
	    frontend bad)
	[[ $facts =~ ^[1-9][0-9]*\ 0\ [1-9][0-9]*\ [1-9][0-9]*$ ]] ||
	    fail "$facts"
	sed -i 's/^drain_timeout.*/&\nclosed_tcp_info = all/' "$T/lfproxy.ini"
	ctl reload
	fetch "$(url app)" >/dev/null
	wait_for 10 has_closed 2 frontend app
	[[ "$(closed server_rtt_us frontend app 1)" =~ ^[1-9][0-9]*$ ]]
	[[ "$(ctl show closed 1)" == *" client[rtt="*",rate="*"] server[rtt="* ]]
	sed -i 's/^closed_tcp_info.*/closed_tcp_info = off/' "$T/lfproxy.ini"
	ctl reload
	talk bad wait
	wait_for 10 has_closed 2 frontend bad
	equal "off" "None None" \
	    "$(closed client_rtt_us,server_cwnd frontend bad 1)"
}

# bats test_tags=covered
@test "closed: a session over a second has them, and of a unix side there are none" {
	start_bad silent silent
	WEB="unix:$T/web.sock" DEFAULTS='timeout_client = 1100ms' web silent
	socat -u EXEC:'sleep 20' "UNIX-CONNECT:$T/web.sock" &
	PIDS[client]=$!
	wait_for 10 has_closed 1
	[[ "$(closed code,client_rtt_us,server_rtt_us)" =~ ^cD\ None\ [1-9] ]] ||
	    fail "$(closed code,client_rtt_us,server_rtt_us)"
}

# bats test_tags=covered
@test "closed: there are no TCP facts of a connection that was never up" {
	local side fields=()

	start_bad full full
	DEFAULTS=$(printf 'timeout_connect = 300ms\nretries = 0')
	many "refused:127.0.0.1:$(free_port)" "full:$(addr full)"
	talk refused wait
	talk full wait
	wait_for 10 has_closed 2
	for side in rtt_us rttvar_us min_rtt_us retransmits cwnd mss \
	    delivery_rate; do
		fields+=("server_$side")
	done
	for side in refused full; do
		equal "the server's facts of $side" "$(printf 'None%.0s ' {1..7})" \
		    "$(closed "$(IFS=, && echo "${fields[*]}")" frontend "$side") "
		[[ "$(ctl show closed frontend "$side")" == *"server[]" ]] ||
		    fail "$(ctl show closed frontend "$side")"
	done
	refute grep -q 4294967295 <<<"$(ctl show closed; ctl show closed json)"
}

# bats test_tags=onethread, covered
@test "closed: show closed wants the level operator" {
	GLOBAL="admin = $T/user.sock level=user
		admin = $T/operator.sock level=operator"
	start_app a
	web a
	fetch "$(url)" >/dev/null
	wait_for 10 has_closed 1
	run -1 "$CTL" -S "$T/user.sock" show closed
	equal "a user" "Permission denied" "$output"
	run -0 "$CTL" -S "$T/operator.sock" show closed
	[[ $output == 0x*": ended="* ]]
}

# bats test_tags=onethread, covered
@test "closed: the id is that of show sess" {
	start_bad silent silent
	web silent
	spawn held "$TOOLS/badclient" silent "127.0.0.1:$(port web)" \
	    --deadline 200
	wait_for 10 is_relaying web
	id=$(ctl show sess | cut -d: -f1)
	ctl shutdown session "$id"
	wait_for 10 has_closed 1
	equal "the id" "$id" "$(closed id)"
	finish held
}

# bats test_tags=slow
@test "closed: read while two threads write as fast as they can" {
	start_app a
	GLOBAL='closed_sessions = 64' web a
	# shellcheck disable=SC2016
	spawn load sh -c 'while [ ! -e "$1" ]; do
		"$2" client "$3" --connections 8 --up 2000 --down 2000 \
		    --duration 1 >/dev/null 2>&1 || :
		curl -s -o /dev/null -m 5 "http://$3/" || :
	done' sh "$T/enough" "$TOOLS/streamer" "127.0.0.1:$(port web)"
	wait_for 20 has_closed 64
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		ctl show closed json | python3 -c 'import json, sys
sessions = json.load(sys.stdin)
assert 0 < len(sessions) <= 64, len(sessions)
assert len({session["log_id"] for session in sessions}) == len(sessions)
for session in sessions:
    assert session["frontend"] == "web" and session["backend"] == "app"
    assert session["server"] == "a" and session["code"] in ("--", "CD", "SD")
    assert 0 <= session["wait_ms"] <= session["total_ms"]'
	done
	: >"$T/enough"
	finish load 30
}

flushing() {
	ctl --json show sess | grep -q '"FLUSHING"'
}

# The client breaks off while the server has yet to take what it sent; then so
# does the server, which is not read any more.
@test "closed: a session ends when both sides have broken off" {
	mkfifo "$T/steps"
	cat >"$T/both.py" <<-'END'
		import select, socket, struct, sys
		def reset(s):
		    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
		                 struct.pack("ii", 1, 0))
		    s.close()
		listener = socket.socket()
		listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
		listener.bind(("127.0.0.1", 0))
		listener.listen()
		print("listening on 127.0.0.1:%d" % listener.getsockname()[1],
		      flush=True)
		steps = open(sys.argv[1])
		client = socket.create_connection(
		    ("127.0.0.1", int(steps.readline())))
		client.sendall(bytes(50000))
		server = listener.accept()[0]
		select.select([server], [], [])
		reset(client)
		steps.readline()
		reset(server)
	END
	serve s python3 -B "$T/both.py" "$T/steps"
	web s
	exec 7>"$T/steps"
	port web >&7
	wait_for 10 flushing
	echo next >&7
	exec 7>&-
	wait_for 10 session_like '"code":"CD"'
}
