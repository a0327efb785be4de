# SPDX-License-Identifier: MIT
# Formats of the access log: named fields, lines of ongoing sessions, which
# sessions are logged at all; and the same line as HAProxy's for the same
# traffic.

# bats file_tags=onethread

load helpers

# logging LOG LINE...: lfproxy, with LINEs in its frontend `web` before the
# servers that ADDRESSES names.
logging() {
	local log=$1 i=0 address

	shift
	{
		printf '[global]\nlog = %s\n[pool main]\nthreads = 2\n' "$log"
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '%s\n' "$@"
		printf '[backend app]\nretries = 0\n%s\n' "${BACKEND:-check = off}"
		for address in "${ADDRESSES[@]}"; do
			echo "server = s$((++i)) $address"
		done
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# records json|logfmt: the access log, parsed, as JSON in a canonical form.
records() {
	python3 -B "$ROOT/tests/behaviour/logtool.py" read "$1" <"$T/log"
}

logged() {
	[ "$(wc -l <"$T/log")" -ge "$1" ]
}

# field NAME: of each record.
field() {
	records json | python3 -c 'import json, sys
for line in sys.stdin:
    print(json.dumps(json.loads(line)[sys.argv[1]]))' "$1"
}

# bats test_tags=covered
@test "log: json and logfmt have the session's fields" {
	local port n kind now

	start_app a
	ADDRESSES=("$(addr a)")
	for kind in json logfmt; do
		now=$(date +%s)
		: >"$T/log"
		logging "file=$T/log format=$kind"
		port=$(fetch -i -w '%{local_port}' -o "$T/answer" "$(url)")
		n=$(wc -c <"$T/answer")
		wait_for 10 logged 1
		records $kind | python3 -c '
import datetime, json, re, sys
port, n, address, now, kind = sys.argv[1:]
r = json.load(sys.stdin)
numbers = {k for k, v in r.items() if re.fullmatch("-?[0-9]+", str(v))}
wanted = dict(event="end", client="127.0.0.1", client_port=int(port),
    frontend="web", backend="app", server="s1", server_address=address,
    bytes_out=int(n), code="--", reason="both sides have finished",
    sessions=1, frontend_sessions=1, backend_sessions=0, server_sessions=0,
    queue_position=0, retries=0, redispatched=False)
if kind == "logfmt":
    r = {k: int(v) if k in numbers else v for k, v in r.items()}
    r["redispatched"] = {"true": True, "false": False}[r["redispatched"]]
for k, v in wanted.items():
    assert r[k] == v and type(r[k]) == type(v), (k, v, r[k])
rest = set(r) - set(wanted)
assert rest == {"time", "id", "wait_ms", "connect_ms", "total_ms",
    "bytes_in", "peer", "sni"}, rest
assert r["sni"] in (None, ""), r["sni"]
assert r["peer"] in (None, ""), r["peer"]
assert 0 <= r["wait_ms"] and 0 <= r["connect_ms"] <= r["total_ms"]
assert r["bytes_in"] > 20
assert re.fullmatch("[0-9a-f]{14}-[0-9a-f]{6}", r["id"]), r["id"]
t = datetime.datetime.strptime(r["time"], "%Y-%m-%dT%H:%M:%S.%fZ")
t = t.replace(tzinfo=datetime.timezone.utc).timestamp()
assert int(now) <= t < int(now) + 60, (now, t)
' "$port" "$n" "$(addr a)" "$now" $kind
		stop_lfproxy
	done
}

# bats test_tags=covered
@test "log: json and logfmt of a server with garbage in its path" {
	local name kind

	name=$'q"b\\s=\xc3\xa9\xff\xc3,'"'"'{}'
	LISTEN="unix:$T/$name" start_app a
	ADDRESSES=("unix:$T/$name")
	for kind in json logfmt; do
		: >"$T/log"
		logging "file=$T/log format=$kind"
		fetch -o /dev/null "$(url)"
		wait_for 10 logged 1
		records $kind | python3 -c '
import json, sys
got = json.load(sys.stdin)["server_address"]
assert got == sys.argv[1], ascii(got)' \
		    "unix:$T/"$'q"b\\s=\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd,'"'"'{}'
		stop_lfproxy
	done
}

# bats test_tags=covered
@test "log: a server with a host name is logged with its address" {
	local port

	[ "$(getent ahosts localhost | awk 'NR == 1 { print $1 }')" = 127.0.0.1 ] ||
	    skip "localhost stands for another address than 127.0.0.1 here"
	start_app a
	port=$(addr a | sed 's/.*://')
	ADDRESSES=("localhost:$port")
	logging "file=$T/log format=json"
	fetch -o /dev/null "$(url)"
	wait_for 10 logged 1
	equal "the address" "\"127.0.0.1:$port\"" "$(field server_address)"
}

# bats test_tags=covered
@test "log: json says null, and -1, where there was no server" {
	start_bad r refuse
	ADDRESSES=("$(addr r)")
	BACKEND=$'check = connect interval=50ms timeout=50ms fall=1\ntimeout_queue = 0' logging \
	    "file=$T/log format=json"
	wait_for 10 says_down s1
	run fetch "$(url)"
	wait_for 10 logged 1
	equal "server" null "$(field server)"
	equal "its address" null "$(field server_address)"
	equal "connect_ms" -1 "$(field connect_ms)"
	equal "wait_ms" -1 "$(field wait_ms)"
	equal "code" '"SC"' "$(field code)"
	equal "reason" '"no server is usable"' "$(field reason)"
}

# A client that says nothing until it is ended.
hold() {
	spawn idle "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count 1 --deadline 200
	wait_for 10 has_line idle established
}

# bats test_tags=covered
@test "log: log_on_connect has a line when the server is connected" {
	start_app a
	ADDRESSES=("$(addr a)")
	logging "file=$T/log format=json" 'log_on_connect = on'
	hold
	wait_for 10 logged 1
	equal "event" '"connect"' "$(field event)"
	end idle
	wait_for 10 logged 2
	equal "events" '"connect" "end"' "$(field event | paste -sd' ')"
	equal "ids" 1 "$(field id | sort -u | wc -l)"
}

# bats test_tags=covered
@test "log: tcplog marks an ongoing session with pluses, as logasap does" {
	start_app a
	ADDRESSES=("$(addr a)")
	logging "file=$T/log" 'log_on_connect = on'
	fetch -o /dev/null "$(url)"
	wait_for 10 logged 2
	grep -qE ' web app/s1 [0-9]+/[0-9]+/\+[0-9]+ \+0 -- 1/1/0/0/0 0/0$' \
	    "$T/log"
	sed -n 2p "$T/log" | grep -qE "$SESSION"
}

every_second() {
	local times lines

	start_app a
	ADDRESSES=("$(addr a)")
	logging "file=$T/log format=json" 'log_every = 1s'
	hold
	lines=1
	tries 5 next_is_in_time
	end idle
	wait_for 10 logged $((lines + 1))
	mapfile -t times < <(field total_ms)
	equal "events" '"ongoing" "ongoing"' \
	    "$(field event | head -n 2 | paste -sd' ')"
	equal "the last one" '"end"' "$(field event | tail -n 1)"
	[ "${times[0]}" -ge 1000 ]
	[ "${times[1]}" -ge 2000 ]
}

@test "log: log_every has lines while a session lasts" {
	every_second
}

# bats test_tags=timing
@test "log: log_every has a line each second" {
	JUDGE_TIME=1 every_second
}

# Every second, and not much later.
next_is_in_time() {
	wait_for 10 logged $((lines += 1)) || return 2
	in_time "$(field total_ms | sed -n "${lines}p")" \
	    $(($(field total_ms | sed -n "$((lines - 1))p") + 1500 * PATIENCE))
}

@test "log: log_empty = off leaves out clients that said nothing, no failure" {
	start_app a
	ADDRESSES=("$(addr a)")
	logging "file=$T/log" 'log_empty = off'
	hold
	end idle
	fetch -o /dev/null "$(url)"
	end a
	run fetch "$(url)"
	wait_for 10 logged 2
	stop_lfproxy
	equal "codes" '-- SC' "$(awk '{ print $7 }' "$T/log" | paste -sd' ')"
}

@test "log: sample takes one session in N with all of its lines" {
	local n

	start_streams a
	ADDRESSES=("$(addr a)")
	logging "file=$T/log format=json sample=1/10" 'log_on_connect = on'
	streams "127.0.0.1:$(port web)" --connections 8 --repeat 500 --up 10
	stop_lfproxy
	n=$(field id | sort -u | wc -l)
	# 400 expected; ten standard deviations are 190.
	[ "$n" -gt 210 ]
	[ "$n" -lt 590 ]
	equal "lines" $((2 * n)) "$(wc -l <"$T/log")"
	equal "sessions with two lines" "$n" \
	    "$(field id | sort | uniq -c | grep -c '^ *2 ')"
}

# -- HAProxy --

# Its configuration comes on stdin, with a frontend on $T/ready.sock.
start_haproxy() {
	cat >"$T/haproxy.cfg"
	spawn haproxy haproxy -db -f "$T/haproxy.cfg"
	wait_for 10 test -S "$T/ready.sock"
}

# Masks the client's port, the date and exact times; the rest must be equal.
masked() {
	grep -E "$SESSION" "$1" | sed -E \
	    -e 's/^([^ :]+):[0-9]+ \[[^]]*\]/\1:PORT [DATE]/' \
	    -e 's, [0-9]+/([0-9]+|-1)/[0-9]+ , T/\1/T ,' \
	    -e 's,/[0-9]+/T ,/T/T ,'
}

# bats test_tags=covered
@test "log: each line as HAProxy logs the same session" {
	local name port

	start_app a --body-bytes 5000
	start_bad refusing refuse
	start_bad silent silent
	start_greeter greeter
	port=$(free_port)
	start_haproxy <<-END
		global
		  log stderr format raw local0
		  nbthread 1
		defaults
		  mode tcp
		  log global
		  option tcplog
		  timeout connect 5s
		  timeout client 10s
		  timeout server 10s
		  retries 2
		frontend web
		  bind 127.0.0.1:$port
		  default_backend app
		backend app
		  balance roundrobin
		  server a $(addr a)
		frontend bad
		  bind unix@$T/bad.sock
		  default_backend refusing
		backend refusing
		  server r $(addr refusing)
		frontend other
		  bind unix@$T/other.sock
		  default_backend both
		backend both
		  option redispatch 1
		  server r $(addr refusing)
		  server a $(addr a)
		frontend slow
		  bind unix@$T/slow.sock
		  default_backend slow
		backend slow
		  timeout server 600ms
		  server s $(addr silent)
		frontend greet
		  bind unix@$T/greet.sock
		  default_backend greeter
		backend greeter
		  server g $(addr greeter)
		frontend mute
		  bind unix@$T/mute.sock
		  timeout client 600ms
		  default_backend app
		frontend ready
		  bind unix@$T/ready.sock
		  default_backend app
	END
	start_lfproxy <<-END
		[global]
		log = stderr
		[defaults]
		timeout_client = 10s
		retries = 2
		check = off
		[pool main]
		threads = 1
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		server = a $(addr a)
		[frontend bad]
		listen = unix:$T/our-bad.sock
		backend = refusing
		[backend refusing]
		server = r $(addr refusing)
		[frontend other]
		listen = unix:$T/our-other.sock
		backend = both
		[backend both]
		server = r $(addr refusing)
		server = a $(addr a)
		[frontend slow]
		listen = unix:$T/our-slow.sock
		backend = slow
		[backend slow]
		timeout_server = 600ms
		server = s $(addr silent)
		[frontend greet]
		listen = unix:$T/our-greet.sock
		backend = greeter
		[backend greeter]
		server = g $(addr greeter)
		[frontend mute]
		listen = unix:$T/our-mute.sock
		timeout_client = 600ms
		timeout_client_fin = 600ms
		backend = app
	END
	# One session at a time, and one thread each: a session's line is then
	# written before the next one is counted.
	same_traffic "$port" "$T/" haproxy.err
	same_traffic "$(port web)" "$T/our-" lfproxy.log
	diff -u <(masked "$T/haproxy.err") <(masked "$T/lfproxy.log")
	equal "lines" 6 "$(masked "$T/lfproxy.log" | wc -l)"
}

# lines_are LOG N
lines_are() {
	[ "$(grep -cE "$SESSION" "$T/$1")" -ge "$2" ]
}

# same_traffic PORT SOCKETS LOG: good, refused, redispatched, server silent,
# client leaves, client silent.  The client leaves once the server has spoken:
# before that, HAProxy ends the session as CC when it meets the client's FIN
# before it is connected, and as -- otherwise.
same_traffic() {
	fetch -o /dev/null "http://127.0.0.1:$1/"
	wait_for 10 lines_are "$3" 1
	run fetch --unix-socket "$2bad.sock" http://x/
	wait_for 10 lines_are "$3" 2
	fetch -o /dev/null --unix-socket "$2other.sock" http://x/
	wait_for 10 lines_are "$3" 3
	run fetch --unix-socket "$2slow.sock" http://x/
	wait_for 10 lines_are "$3" 4
	run -0 "$TOOLS/badclient" leave "unix:$2greet.sock" --at greeting \
	    --how fin --deadline $((60 * PATIENCE))
	wait_for 10 lines_are "$3" 5
	run "$TOOLS/badclient" silent "unix:$2mute.sock" \
	    --deadline $((60 * PATIENCE))
	wait_for 10 lines_are "$3" 6
}
