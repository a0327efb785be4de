#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The admin socket and lfproxyctl, over the wire.

# bats file_tags=onethread

load helpers

CTL=$BUILD/lfproxyctl

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = stderr
		drain_timeout = 10m
		drain_idle_timeout = 10m
		node = edge-1
		admin = $ADMIN mode=0600 ${PATIENT:-}
		${SHORT:+admin = $SHORT timeout=2s}
		[pool main]
		threads = 2
		[pool slow]
		threads = 1
	END
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# talk: stdin goes to the socket as it is, what comes back to stdout.
talk() {
	socat -t 60 - "UNIX-CONNECT:$ADMIN"
}

# said TEXT: what comes back for it, with a `|` for each line end.
said() {
	printf '%b' "$1" | talk | tr '\n' '|'
}

two_apps() {
	start_app a
	start_app b
	web a 'b weight=50'
}

# bats test_tags=covered
@test "admin: show info, by socat and by lfproxyctl" {
	two_apps
	fetch "$(url)" >/dev/null
	wait_for 10 sessions_ended 1
	run -0 ctl show info
	[[ $output == "Name: HAProxy"$'\n'"Version: 2."* ]]
	[[ $output == *$'\n'"Nbthread: 3"$'\n'* ]]
	[[ $output == *$'\n'"Pid: $LFPROXY_PID"$'\n'* ]]
	[[ $output == *$'\n'"CumConns: 1"$'\n'* ]]
	[[ $output == *$'\n'"CurrConns: 0"$'\n'* ]]
	[[ $output == *$'\n'"node: edge-1"$'\n'* ]]
	[[ $output == *$'\n'"Stopping: 0"$'\n'* ]]
	refute grep -vqE '^[^:]+: [^:]+$' <<<"$output"
	printf 'show info\n' | talk >"$T/raw"
	equal "the end" "0a0a" "$(tail -c 2 "$T/raw" | od -An -tx1 | tr -d ' ')"
	equal "the keys" "$(cut -d: -f1 <<<"$output")" \
	    "$(sed '$d' "$T/raw" | cut -d: -f1)"
}

# bats test_tags=covered
@test "admin: show stat is CSV, every row as long as its header" {
	two_apps
	for _ in 1 2 3; do
		fetch "$(url)" >/dev/null
	done
	wait_for 10 sessions_ended 3
	ctl show stat | python3 -c '
import csv, sys
header, *rows = list(csv.reader(sys.stdin))
assert header[0] == "# pxname", header[0]
assert header.index("-") == 113, header
assert header[114:115] == ["lf_pool"], header
for row in rows:
    assert len(row) == len(header), row
rows = {(r[0], r[1]): dict(zip(header, r)) for r in rows}
assert sorted(rows) == [("app", "BACKEND"), ("app", "a"), ("app", "b"),
                        ("web", "FRONTEND")], rows.keys()
def value(proxy, service, column):
    return rows[proxy, service][column]
assert value("web", "FRONTEND", "status") == "OPEN"
assert value("web", "FRONTEND", "stot") == "3"
assert value("web", "FRONTEND", "scur") == "0"
assert int(value("web", "FRONTEND", "bout")) > 0
assert value("app", "BACKEND", "stot") == "3"
assert value("app", "a", "lbtot") == "2", value("app", "a", "lbtot")
assert value("app", "b", "lbtot") == "1"
assert value("app", "b", "weight") == "50"
assert value("app", "b", "mode") == "tcp"
'
}

# bats test_tags=covered
@test "admin: show stat has HAProxy's columns" {
	command -v haproxy >/dev/null || skip "no haproxy here"
	two_apps
	printf 'global\n stats socket %s\nfrontend f\n mode tcp\n timeout client 1s\n bind unix@%s\n' \
	    "$T/ha.sock" "$T/f.sock" >"$T/ha.cfg"
	spawn haproxy haproxy -db -q -f "$T/ha.cfg"
	wait_for 10 test -S "$T/ha.sock"
	printf 'show stat\n' | socat -t 60 - "UNIX-CONNECT:$T/ha.sock" \
	    >"$T/theirs"
	ctl show stat | head -n 1 >"$T/ours"
	# The last ten are HAProxy 3's.
	grep -q ',srid,' "$T/theirs" || sed -i 's/,srid,.*,proto,-,/,-,/' "$T/ours"
	equal "the columns" "$(head -n 1 "$T/theirs" | sed 's/,-,.*/,-,/')" \
	    "$(sed 's/,-,.*/,-,/' "$T/ours")"
}

# bats test_tags=covered
@test "admin: show stat of one proxy, type and server" {
	two_apps
	equal "servers of app" "a b" \
	    "$(ctl show stat app 4 -1 | sed 1d | cut -d, -f2 | xargs)"
	equal "by iid" "app,BACKEND" \
	    "$(ctl show stat 3 2 -1 | sed 1d | cut -d, -f1,2)"
	equal "server 2" b "$(ctl show stat app 4 2 | sed 1d | cut -d, -f2)"
	run -1 ctl show stat nope 4 -1
	equal "the answer" "No such proxy. There are web, app." "$output"
	equal "typed" "F.2.0.0.pxname.1:KNS:str:web" \
	    "$(ctl show stat typed | head -n 1)"
	ctl show stat json | python3 -c '
import json, sys
rows = json.load(sys.stdin)
assert [row[1]["value"]["value"] for row in rows] == ["FRONTEND", "a", "b", "BACKEND"]
assert all(type(f["value"]["value"]) is (str if f["value"]["type"] == "str" else int)
           for row in rows for f in row)
'
	ctl show info json | python3 -c '
import json, sys
rows = json.load(sys.stdin)
assert rows[50 - 2]["field"] == {"pos": 50, "name": "node"}, rows[48]
assert rows[48]["value"] == {"type": "str", "value": "edge-1"}
'
}

# bats test_tags=covered
@test "admin: show pool, all of them or one" {
	two_apps
	fetch "$(url)" >/dev/null
	equal "the pools" "pool main pool slow" \
	    "$(ctl show pool | grep '^pool' | xargs)"
	run -0 ctl show pool main
	[[ $output =~ ledger\ +fetched\ [1-9] ]]
	[[ $output =~ threads\ +2 ]]
	[[ $output != *"pool slow"* ]]
	run -1 ctl show pool nope
	equal "the answer" "Unknown pool 'nope'; there are main, slow." \
	    "$output"
}

# bats test_tags=covered
@test "admin: the ledger of a quiet pool balances" {
	two_apps
	for _ in 1 2 3 4 5 6 7 8; do
		fetch "$(url)" >/dev/null
	done
	wait_for 10 balances
}

balances() {
	[[ $(ctl show pool main) =~ fetched\ ([0-9]+)\ =\ dispatched\ ([0-9]+)\ \+\ merged\ ([0-9]+)\ \+\ stale\ ([0-9]+)\ \+\ in\ batch\ ([0-9]+) ]] &&
	    ((BASH_REMATCH[1] > 0)) &&
	    ((BASH_REMATCH[1] == BASH_REMATCH[2] + BASH_REMATCH[3] + BASH_REMATCH[4] + BASH_REMATCH[5]))
}

# bats test_tags=covered
@test "admin: help and unknown commands" {
	two_apps
	run -0 ctl help
	[[ $output == "The following commands are valid at this level:"* ]]
	[[ $output == *$'\n  show pool [<pool>] [json] '* ]]
	run -1 ctl shew info
	[[ $output == "Unknown command: '"*"', but maybe one of"* ]]
	run -1 ctl show me
	[[ $output == "Unknown command: '"*"', but maybe one of"* ]]
	run -0 bash -c "printf 'xyz\n' | socat -t 60 - UNIX-CONNECT:$ADMIN"
	[[ $output == "Unknown command: '"*"', but maybe one of"* ]]
}

# Prints the answers to one line and to another sent after the first answer.
too_late() {
	python3 -c '
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"show cli level\n")
text = b"".join(iter(lambda: s.recv(4096), b""))
try:
    s.sendall(b"show cli level\n")
    text += b"".join(iter(lambda: s.recv(4096), b""))
except OSError:
    pass
sys.stdout.buffer.write(text)' "$ADMIN"
}

# bats test_tags=covered
@test "admin: the wire as HAProxy has it" {
	two_apps
	equal "a line" 'admin||' "$(said 'show cli level\n')"
	equal "CRLF" 'admin||' "$(said 'show cli level\r\n')"
	equal "three commands" 'admin|||user||' \
	    "$(said 'show cli level;user;show cli level\n')"
	equal "two lines" 'admin||admin||' "$(said 'show cli level\nshow cli level\n')"
	equal "a line too late" 'admin||' "$(too_late | tr '\n' '|')"
	equal "prompt" '|> admin||> |admin||' \
	    "$(said 'prompt\nshow cli level\nprompt\nshow cli level\n')"
	equal "an empty line" '|> |> |' "$(said 'prompt\n\nprompt\n')"
	[[ $(said 'prompt timed\nshow cli level\nprompt timed\nprompt\n') =~ \
	    ^\|\[0:00:[0-9]{2}:[0-9]{2}\]\>\ admin\|\|\[0:.*\]\>\ \|\>\ \|$ ]]
	equal "quit" '|> ' "$(said 'prompt;quit;show cli level\n')"
	equal "severity" '|[3]: No such proxy.||' \
	    "$(said 'set severity-output number;show stat x 1 1\n')"
}

# bats test_tags=covered
@test "admin: half a line is not run" {
	two_apps
	equal "the answer" '' "$(said 'show cli level')"
	equal "in two halves" 'admin||' \
	    "$({ printf 'show c'; sleep 0.2; printf 'li level\n'; } | talk | tr '\n' '|')"
}

# bats test_tags=covered
@test "admin: garbage and a line of a megabyte" {
	two_apps
	head -c 8000 /dev/urandom | tr -d '\n;\000' >"$T/garbage"
	echo >>"$T/garbage"
	talk <"$T/garbage" >"$T/answer"
	grep -qE '^(Unknown command|Too many words)' "$T/answer"
	head -c 1048576 /dev/zero | tr '\0' a |
	    { talk || true; } >"$T/answer" 2>/dev/null
	equal "the answer" "Line too long: a line has at most 16384 bytes." \
	    "$(head -n 1 "$T/answer")"
	run -1 ctl "$(head -c 100000 /dev/zero | tr '\0' a)"
	[[ $output == "Line too long"* ]]
	run -0 ctl show cli level
}

@test "admin: three hundred stalled clients do not lock anybody out" {
	local fds

	# They are not thrown out for their silence.
	PATIENT=timeout=1h two_apps
	ctl show cli level
	fds=$(fd_count)
	spawn stalled python3 -c '
import socket, sys, time
socks = []
for i in range(300):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.send(b"show st")
    socks.append(s)
print("ready", flush=True)
time.sleep(600)
' "$ADMIN"
	wait_for 10 has_line stalled '^ready$'
	for _ in 1 2 3 4 5; do
		equal "the answer" admin "$(timeout $((60 * PATIENCE)) \
		    "$CTL" -S "$ADMIN" show cli level)"
	done
	# The default maxconn is 256.
	fds_at_most $((fds + 262))
	end stalled
	wait_for 10 fds_at_most "$fds"
}

# bats test_tags=covered
@test "admin: clients that never read do not hold up the others" {
	local fds

	# Clients of the first socket stay, those of the second are closed.
	PATIENT=timeout=1h SHORT=$T/short two_apps
	ctl show cli level
	fds=$(fd_count)
	spawn deaf python3 -c '
import socket, sys, time
socks = []
for i in range(100):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1 + i % 2])
    s.setblocking(False)
    s.send(b"prompt\n")
    try:
        while True:
            s.send(b"help;" * 1000 + b"\n")
    except BlockingIOError:
        pass
    socks.append(s)
print("ready", flush=True)
time.sleep(600)
' "$ADMIN" "$T/short"
	wait_for 20 has_line deaf '^ready$'
	equal "the answer" admin "$(timeout $((60 * PATIENCE)) \
	    "$CTL" -S "$ADMIN" show cli level)"
	equal "who answers" a "$(fetch "$(url)")"
	wait_for 20 fds_at_most $((fds + 50))
	fds_at_least $((fds + 50))
	end deaf
	wait_for 20 fds_at_most "$fds"
}

# bats test_tags=covered
@test "admin: a client that talks keeps its place, a silent one is closed" {
	two_apps
	run -0 timeout $((60 * PATIENCE)) python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.send(b"prompt;set timeout cli 1\n")
s.settimeout(60)
began = time.monotonic()
while s.recv(4096):
    pass
print(time.monotonic() - began > 0.9)
' "$ADMIN"
	equal "closed after its timeout" True "$output"
}

jobs() {
	ctl show info | sed -n 's/^Jobs: //p'
}

# bats test_tags=covered
@test "admin: clients without a command count as jobs, answered ones do not" {
	local had

	two_apps
	had=$(jobs)
	spawn clients python3 -c '
import socket, sys, time
socks = [socket.socket(socket.AF_UNIX) for _ in range(25)]
for s in socks:
    s.connect(sys.argv[1])
for s in socks[5:]:
    s.sendall(b"show cli level\n")
    while s.recv(4096):
        pass
print("ready", flush=True)
time.sleep(600)
' "$ADMIN"
	wait_for 10 has_line clients '^ready$'
	# The one that asks is in both.
	equal "jobs" $((had + 5)) "$(jobs)"
	end clients
	wait_for 10 jobs_are "$had"
}

jobs_are() {
	[ "$(jobs)" = "$1" ]
}

# bats test_tags=covered
@test "admin: the socket has its mode, and goes with lfproxy" {
	two_apps
	equal "the mode" 600 "$(stat -c %a "$ADMIN")"
	stop_lfproxy
	[ ! -e "$ADMIN" ]
}

# bats test_tags=covered
@test "admin: the socket of a killed lfproxy is replaced" {
	local pid

	two_apps
	pid=$LFPROXY_PID
	LFPROXY_PID=
	kill -KILL "$pid"
	wait_for 10 ended "$pid"
	[ -S "$ADMIN" ]
	launch_lfproxy -c "$T/lfproxy.ini"
	run -0 ctl show cli level
}

@test "admin: the socket of a live lfproxy and other files are left alone" {
	two_apps
	run -71 "$LFPROXY" -c "$T/lfproxy.ini"
	[[ $output == *"another lfproxy"* && $output == *"$ADMIN"* ]]
	run -0 ctl show cli level
	stop_lfproxy
	echo precious >"$ADMIN"
	run -71 "$LFPROXY" -c "$T/lfproxy.ini"
	[[ $output == *"$ADMIN"* ]]
	equal "the file" precious "$(cat "$ADMIN")"
}

# bats test_tags=covered
@test "admin: three hundred connections leave no descriptor behind" {
	local fds

	two_apps
	ctl show cli level
	fds=$(fd_count)
	python3 -c '
import socket, sys
for i in range(300):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.send([b"show stat\n", b"show st", b"", b"prompt\n"][i % 4])
    if i % 2:
        s.recv(1) if i % 4 == 3 else None
    s.close()
' "$ADMIN"
	wait_for 10 fds_at_most "$fds"
	run -0 ctl show cli level
}

# bats test_tags=covered
@test "admin: a stopping lfproxy says so" {
	two_apps
	spawn idle "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count 1 --deadline 120
	wait_for 10 has_line idle '^established 1$'
	kill -TERM "$LFPROXY_PID"
	wait_for 10 stopping
	equal "the frontend" STOP "$(ctl show stat web 1 -1 | sed 1d | cut -d, -f18)"
	end idle
	await_lfproxy 15
}

stopping() {
	ctl show info | grep -qx 'Stopping: 1'
}

# bats test_tags=covered
@test "admin: a change is logged with its user, command, old and new value" {
	local who

	two_apps
	who=$(id -un)
	run -0 ctl set pool main threads 3
	run -0 ctl set pool main threads 3
	run -1 ctl set pool main threads 0
	run -0 ctl show changes
	[[ $output =~ ^1\ [0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z\ $who\ \(uid\ $(id -u),\ pid\ [0-9]+\):\ pool\ main\ threads:\ 2\ -\>\ 3$ ]] ||
	    fail "$output"
	equal "as JSON" "$who 2 3" "$(ctl show changes 1 json | python3 -c '
import json, sys
(c,) = json.load(sys.stdin)
assert c["id"] == 1 and c["what"] == "pool main threads" and c["time"].endswith("Z")
print(c["who"].split()[0], c["before"], c["after"])')"
	run -1 ctl show changes 0
	run -1 ctl show changes json 5
	wait_for 10 grep -qE "admin: $who \(uid [0-9]+, pid [0-9]+\): pool main threads: 2 -> 3" \
	    "$LFPROXY_LOG"
	equal "audit lines" 1 "$(grep -c 'lfproxy: admin: ' "$LFPROXY_LOG")"
	equal "for a user" 'Permission denied||' "$(said 'user;show changes\n' | sed 's/^|//')"
}

@test "lfproxyctl: usage, version, and where the socket is" {
	two_apps
	run -64 "$CTL"
	run -64 "$CTL" -x
	run -64 ctl $'show\ninfo'
	run -0 "$CTL" -h
	[[ $output == usage:* ]]
	run -0 "$CTL" -V
	[[ $output =~ ^lfproxyctl\ [0-9]+\.[0-9]+ ]]
	LFPROXY_ADMIN=$ADMIN run -0 "$CTL" show cli level
	equal "the answer" admin "$output"
	LFPROXY_ADMIN=/nowhere run -0 ctl "show cli level"
}

@test "lfproxyctl: waits as long as LFPROXY_TIMEOUT says" {
	two_apps
	LFPROXY_TIMEOUT=20 run -64 ctl show info
	[[ $output == "lfproxyctl: LFPROXY_TIMEOUT: "* ]]
	stop_process "$LFPROXY_PID"
	spawn patient "$CTL" -S "$ADMIN" show cli level
	LFPROXY_TIMEOUT=1ms run -69 ctl show cli level
	[[ $output == *"no answer: Connection timed out; "* ]]
	kill -CONT "$LFPROXY_PID"
	finish patient 60
	equal "the answer after all" admin "$output"
}

@test "lfproxyctl: words are taken as they stand" {
	two_apps
	run -1 ctl show pool 'a;quit'
	[[ $output == "Unknown pool 'a;quit';"* ]]
	run -1 ctl show pool 'a\b'
	[[ $output == "Unknown pool 'a\\b';"* ]]
}

@test "lfproxyctl: no socket, no permission, no answer" {
	run -69 ctl show info
	[[ $output == *"$ADMIN"*"No such file"*"is lfproxy running"* ]]
	spawn mute socat "UNIX-LISTEN:$T/mute.sock" 'EXEC:true'
	wait_for 10 unix_listens "$T/mute.sock"
	run -69 "$CTL" -S "$T/mute.sock" show info
	[[ $output == *"$T/mute.sock"* ]]
	run -69 "$CTL" -S "/$(printf 'x%.0s' {1..200})" show info
	[[ $output == *"too long"* ]]
}
