#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# `show failures`: how many sessions failed, by cause and server, however many
# sessions end well.

load helpers

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = ${LOG:-stderr format=json}
		admin = $ADMIN mode=0600
		closed_sessions = 20
		${GLOBAL:-}
		[pool main]
		threads = 2
	END
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# table [ARGUMENT...]: count, code, cause, frontend, backend and server of each
# row, a line each.
table() {
	ctl show failures "$@" json | python3 -c 'import json, sys
for row in json.load(sys.stdin)["rows"]:
    print(*[row[key] for key in
            ("count", "code", "cause", "frontend", "backend", "server")])'
}

# fact KEY [ARGUMENT...]: a member of the answer.
fact() {
	ctl show failures "${@:2}" json | python3 -c 'import json, sys
print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

failed() {
	[ "$(fact failures)" -eq "$1" ]
}

# clients FRONTEND HOW COUNT: clients one after another that ask, and read to
# the end (`wait`), or reset after the first bytes of the answer (`rst`), or
# leave without a word (`leave`).
clients() {
	timeout $((60 * PATIENCE)) python3 - "$(port "$1")" "$2" "$3" <<-'END'
		import socket, struct, sys
		port, how, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
		for _ in range(count):
		    try:
		        s = socket.create_connection(("127.0.0.1", port), 20)
		        if how == "leave":
		            s.close()
		            continue
		        s.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		        if how == "rst":
		            assert s.recv(100)
		            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
		                         struct.pack("ii", 1, 0))
		        elif how == "finish":
		            assert s.recv(65536)
		        else:
		            while s.recv(65536):
		                pass
		        s.close()
		    except (ConnectionResetError, BrokenPipeError):
		        assert how == "wait"
	END
}

# A frontend for each way to fail, and one, `well`, whose sessions end well; for
# SERVERS_S seconds at most.
start_bad_day() {
	local deadline=${SERVERS_S:-600}

	start_app a --deadline "$deadline"
	start_bad reset reply-reset --bytes 1 --deadline "$deadline"
	start_bad silent silent --deadline "$deadline"
	start_bad dead refuse --deadline "$deadline"
	start_lfproxy <<-END
		$(common)
		[defaults]
		retries = 0
		timeout_queue = 100ms
		[frontend well]
		listen = 127.0.0.1:0
		backend = app
		[frontend refused]
		listen = 127.0.0.1:0
		backend = dead
		[frontend reset]
		listen = 127.0.0.1:0
		backend = resets
		[frontend late]
		listen = 127.0.0.1:0
		backend = slow
		[frontend queued]
		listen = 127.0.0.1:0
		backend = out
		[frontend named]
		listen = 127.0.0.1:0
		sni = a.example backend=app
		[backend app]
		check = off
		server = a $(addr a)
		[backend dead]
		check = off
		server = d1 $(addr dead)
		[backend resets]
		check = off
		server = r1 $(addr reset)
		[backend slow]
		check = off
		timeout_server = 100ms
		server = s1 $(addr silent)
		[backend out]
		check = off
		server = o1 $(addr a)
	END
	ctl disable server out/o1
}

# A failure for each number, in the order of the table.
fail_six_ways() {
	clients well rst 6
	clients late wait 5
	clients reset wait 4
	clients refused wait 3
	clients queued wait 2
	clients named leave 1
}

SIX='6 CD client_reset well app a
5 sD server_timeout late slow s1
4 SD server_reset reset resets r1
3 SC connect_failed refused dead d1
2 sQ queue_timeout queued out None
1 CR client_gone_hello named None None'

@test "failures: six causes are counted exactly among many sessions that end well" {
	start_bad_day
	equal "none so far" 0 "$(fact failures)"
	clients well finish 50
	fail_six_ways
	# More than all records of ended sessions that are kept.
	clients well finish 150
	wait_for 10 failed 21
	equal "the table" "$SIX" "$(table)"
	equal "the last hour" "$SIX" "$(table last 1h)"
	equal "the last day" "$SIX" "$(table last 24h)"
	wait_for 10 pushed_out
	[[ "$(ctl show closed cause SC)" == "# complete since "* ]]
	run ctl show closed frontend well frontend named
	equal "two frontends" "frontend: given twice; keep one." "$output"
	[[ "$(ctl show failures)" == "21 failures since "*", complete since "* ]]
	equal "an example" "refused dead d1" "$(ctl show failures \
	    cause connect_failed json | python3 -c 'import json, sys
[row] = json.load(sys.stdin)["rows"]
assert row["blame"] == "server" and len(row["examples"]) == 3, row
for session in row["examples"]:
    assert session["code"] == "SC" and session["reason"] == row["reason"]
    assert row["first"] <= session["ended"] <= row["last"]
print(*[session[key] for key in ("frontend", "backend", "server")])')"
}

# BAD_DAY_SECONDS=2390 lets the bad day last 40 minutes.
DAY=${BAD_DAY_SECONDS:-20}

# arrive NAME FRONTEND HUNDREDTHS OPTION...: clients spread evenly over the day, a
# hundredth of them each second.
arrive() {
	spawn "$1" "$TOOLS/badclient" leave "127.0.0.1:$(port "$2")" \
	    --count $(($3 * DAY / 100)) --seconds "$DAY" \
	    --deadline $((DAY + 600)) "${@:4}"
}

# 297 sessions a second that end well.
go_well_all_day() {
	local i

	for i in 1 2 3; do
		arrive well$i well 9900 --at end --how fin \
		    --send $'GET / HTTP/1.0\r\n\r\n'
	done
}

# Three failures a second, in the order of the table.
PERCENT=(86 71 57 43 29 14)
fail_all_day() {
	arrive rst well "${PERCENT[0]}" --at response --how rst
	arrive late late "${PERCENT[1]}" --at end --how fin
	arrive broken reset "${PERCENT[2]}" --at end --how fin
	arrive refused refused "${PERCENT[3]}" --at end --how fin
	arrive queued queued "${PERCENT[4]}" --at end --how fin
	arrive named named "${PERCENT[5]}" --at connect --how fin
}

all_frontends() {
	ctl show stat | python3 -c 'import csv, sys
print(sum(int(row["stot"]) for row in csv.DictReader(sys.stdin)
          if row["svname"] == "FRONTEND"))'
}

pushed_out() {
	[ "$(ctl show closed cause SC cause SD cause sQ json)" = "[]" ]
}

@test "failures: six causes of 1 % of 300 sessions a second, all day" {
	local name kind i=0 n table="" failures=0

	LOG=off SERVERS_S=$((DAY + 900)) start_bad_day
	go_well_all_day
	fail_all_day
	for name in well1 well2 well3 rst late broken refused queued named; do
		finish $name $((DAY + 600))
	done
	while read -r _ kind; do
		n=$((PERCENT[i++] * DAY / 100))
		table+=${table:+$'\n'}"$n $kind"
		failures=$((failures + n))
	done <<<"$SIX"
	wait_for 10 failed $failures
	equal "the table" "$table" "$(table last 40m)"
	[[ "$(ctl show failures last 40m)" == "$failures failures since "* ]]
	equal "all sessions" $((failures + 297 * DAY)) "$(all_frontends)"
	[ -z "${BAD_DAY_SECONDS:-}" ] || ctl show failures last 40m >&3
}

# bats test_tags=covered
@test "failures: are counters of the metrics" {
	local http sample='lfproxy_failures_total{cause="connect_failed",frontend="refused",backend="dead",server="d1"}'

	GLOBAL='http = 127.0.0.1:0'
	start_bad_day
	clients refused wait 3
	wait_for 10 failed 3
	http=$(grep -oE 'monitoring at http://[^"]*/' "$LFPROXY_LOG")
	curl -sS -m 60 "${http#monitoring at }metrics" >"$T/metrics"
	grep -qxF "$sample 3" "$T/metrics" ||
	    fail "$(grep failures_total "$T/metrics")"
	equal "one head" 1 "$(grep -c '^# TYPE lfproxy_failures_total counter$' \
	    "$T/metrics")"
}

@test "failures: their filters, and what they do not take" {
	start_bad_day
	fail_six_ways
	wait_for 10 failed 21
	equal "two rows" "$(head -2 <<<"$SIX")" "$(table 2)"
	equal "all are in the sum" 21 "$(fact failures 2)"
	equal "by code" "3 SC connect_failed refused dead d1" "$(table cause SC)"
	equal "by name" "3 SC connect_failed refused dead d1" \
	    "$(table cause connect_failed)"
	equal "by two causes" "$(sed -n 3,4p <<<"$SIX")" \
	    "$(table cause SD cause SC)"
	equal "by frontend" "$(sed -n 2p <<<"$SIX")" "$(table frontend late)"
	equal "by backend" "$(sed -n 5p <<<"$SIX")" "$(table backend out)"
	equal "by server" "$(sed -n 3p <<<"$SIX")" "$(table server resets/r1)"
	equal "their sum" 4 "$(fact failures server resets/r1)"
	equal "none of these" 0 "$(fact failures backend out cause SC)"
	run -1 ctl show failures cause xy
	[[ $output == "No session ends with 'xy'; "*"; these are: -- "*" SC "* ]]
	run -1 ctl show failures backend x
	[[ $output == "No such backend. There are "* ]]
	run -1 ctl show failures last 25h
	equal "too long ago" "Failures are counted by time for the last 24 h; \
without last, this command shows all." "$output"
	run -1 ctl show failures bogus
	[[ $output == "Unexpected argument 'bogus'"*"how many rows"* ]]
}

# bats test_tags=onethread
@test "failures: are kept over a reload, and when no ended session is" {
	start_bad_day
	clients refused wait 2
	wait_for 10 failed 2
	sed -i 's/^closed_sessions.*/closed_sessions = 0/' "$T/lfproxy.ini"
	ctl reload
	clients refused wait 1
	wait_for 10 failed 3
	equal "the row" "3 SC connect_failed refused dead d1" "$(table)"
	sed -i 's/= d1 /= d2 /' "$T/lfproxy.ini"
	ctl reload
	equal "a removed server" "3 SC connect_failed refused dead d1" \
	    "$(table server dead/d1)"
	run -1 ctl show failures server dead/d3
	equal "one that never was" "No such server. Did you mean 'd2'?" "$output"
}

# bats test_tags=onethread
@test "failures: show failures wants the level operator" {
	GLOBAL="admin = $T/user.sock level=user
		admin = $T/operator.sock level=operator"
	start_bad_day
	run -1 "$CTL" -S "$T/user.sock" show failures
	equal "a user" "Permission denied" "$output"
	run -0 "$CTL" -S "$T/operator.sock" show failures
	[[ $output == "0 failures since "* ]]
}
