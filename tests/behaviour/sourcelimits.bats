#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Limits by source: sessions and rate of each client, what becomes of those
# beyond them, and the tables that count.

load helpers
load stat

TOOL=$BATS_TEST_DIRNAME/sourcelimittool.py

# limits SECTION...: lfproxy in front of a server that speaks first; each section
# is a frontend, its name and the lines of it.  OPTIONS: of their listens;
# BACKEND: further lines.
limits() {
	local section

	[ -n "${PIDS[app]:-}" ] || start_greeter app
	{
		common
		for section in "$@"; do
			echo "[frontend ${section%%$'\n'*}]"
			echo "listen = 127.0.0.1:0 ${OPTIONS:-}"
			echo 'backend = app'
			echo "${section#*$'\n'}"
		done
		printf '%s\n' "${LISTS:-}"
		printf '[backend app]\ncheck = off\nserver = s %s\n%s\n' \
		    "$(addr app)" "${BACKEND:-}"
	} >"$T/lfproxy.ini"
}

start_limits() {
	limits "$@"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# takes RESULT FRONTEND COUNT [OPTION...]
takes() {
	equal "${*:3} at $2" "$1" \
	    "$(python3 -B "$TOOL" take "$(listening "$2")" "${@:3}")"
}

# stays NAME RESULT FRONTEND COUNT [OPTION...]: keeps those that are served.
stays() {
	spawn "$1" python3 -B "$TOOL" take "$(listening "$3")" "${@:4}" --stay
	wait_for 30 has_line "$1" "$2"
}

# value NAME TABLE KEY: of the entry; empty: there is none.
value() {
	ctl show table "$2" key "$3" |
	    sed -n "s/^0x.*: key=.* $1=\([0-9]*\).*/\1/p"
}

has_value() {
	[ "$(value "$1" "$2" "$3")" = "$4" ]
}

# value_is NAME TABLE KEY NUMBER, in time.
value_is() {
	wait_for 10 has_value "$@" ||
	    fail "$1 of $3 in $2: $(value "$1" "$2" "$3"), expected $4"
}

has_count() {
	[ "$(column "$2" FRONTEND "$1")" = "$3" ]
}

# counts FRONTEND COLUMN NUMBER: of `show stat`, in time.
counts() {
	wait_for 10 has_count "$@" ||
	    fail "$2 of $1: $(column "$2" FRONTEND "$1"), expected $3"
}

# column NAME ROW PROXY
column() {
	ctl show stat json | python3 -c '
import json, sys
name, row, proxy = sys.argv[1:]
for fields in json.load(sys.stdin):
    f = {x["field"]["name"]: x["value"]["value"] for x in fields}
    if (f["pxname"], f["svname"]) == (proxy, row):
        print(f.get(name, "-"))' "$@"
}

reload() {
	run -0 ctl reload
}

# bats test_tags=covered
@test "source limits: each source has its sessions, and gets the place of one that ends" {
	start_limits $'web\nlimit = sessions=2'
	stays one '2 served, 1 reset' web 3 --source 127.0.0.1
	takes '2 served' web 2 --source 127.0.0.2
	value_is conn_cur web 127.0.0.1 2
	value_is refused web 127.0.0.1 1
	value_is conn_cur web 127.0.0.2 0
	takes '1 reset' web 1 --source 127.0.0.1
	counts web lf_limited 2
	counts web dcon 2
	# They were no sessions.
	counts web stot 4
	wait_for 10 lfproxy_said "frontend web: a client from 127\.0\.0\.1 is beyond the limit 'sessions=2 per=client' for its sessions, .*lfproxy\.ini:[0-9]+"
	end one
	value_is conn_cur web 127.0.0.1 0
	takes '2 served' web 2 --source 127.0.0.1
}

# bats test_tags=covered
@test "source limits: a burst passes, and then what the rate allows" {
	start_limits $'web\nlimit = rate=1/h burst=5'
	takes '5 served, 3 reset' web 8 --source 127.0.0.1
	takes '5 served, 1 reset' web 6 --source 127.0.0.2
	value_is tokens web 127.0.0.1 0
	value_is tokens web 127.0.0.3 ''
	takes '2 served' web 2 --source 127.0.0.3
	value_is tokens web 127.0.0.3 3
}

# bats test_tags=covered
@test "source limits: a range of addresses is one source" {
	start_limits $'web\nlimit = rate=1/h burst=3 prefix4=24'
	takes '3 served, 2 reset' web 5 --sources 127.1.1.1
	takes '3 served, 2 reset' web 5 --sources 127.1.2.1
	value_is conn_cnt web 127.1.2.200 3
	ctl show table web | grep -q 'key=127\.1\.2\.0 '
}

@test "source limits: per=frontend counts all clients together" {
	start_limits $'web\nlimit = per=frontend rate=1/h burst=4'
	takes '4 served, 6 reset' web 10 --sources 127.1.1.1
	value_is conn_cnt web all 4
}

# bats test_tags=covered
@test "source limits: a client that a second limit refuses does not count in the first" {
	start_limits $'web\nlimit = rate=1/h burst=9\nlimit = per=frontend sessions=2'
	stays one '2 served, 3 reset' web 5
	value_is tokens web 127.0.0.1 7
	value_is conn_cur web/2 all 2
	end one
	value_is conn_cur web/2 all 0
	takes '1 served' web 1
}

# bats test_tags=covered
@test "source limits: close ends with a FIN, drop and reset with a reset or nothing" {
	start_limits $'close\nlimit = rate=1/h burst=1 action=close' \
	    $'reset\nlimit = rate=1/h burst=1 action=reset'
	takes '1 served, 2 closed' close 3
	takes '1 served, 2 reset' reset 3
}

# bats test_tags=covered
@test "source limits: drop tells the client nothing" {
	without net_admin
	LIMIT=${WITHOUT[*]} start_limits $'web\nlimit = rate=1/h burst=1 action=drop'
	# Without CAP_NET_ADMIN it falls back to a reset.
	takes '1 served, 2 reset' web 3
	counts web lf_limited 2
}

@test "source limits: a tarpit holds a client for its time, then resets" {
	local took

	start_limits $'web\nlimit = rate=1/h burst=1 action=tarpit=400ms'
	takes '1 served' web 1
	took=$(python3 -B "$TOOL" take "$(listening web)" 1 --time)
	[[ $took == '1 reset after '* ]]
	[ "${took#1 reset after }" -ge 400 ] || fail "$took"
	counts web lf_limited 1
	wait_for 10 lfproxy_said ' web web/<NOSRV> .* PT '
	# It does not count.
	value_is conn_cnt web 127.0.0.1 1
	value_is conn_cur web 127.0.0.1 0
}

@test "source limits: delay serves a client when its time has come" {
	local took

	start_limits $'web\nlimit = rate=4/s burst=1 action=delay=10s' \
	    $'short\nlimit = rate=1/m burst=1 action=delay=1s'
	took=$(python3 -B "$TOOL" take "$(listening web)" 4 --time)
	[[ $took == '4 served after '* ]] || fail "$took"
	# The fourth is due 750 ms after the first.
	[ "${took#4 served after }" -ge 740 ] || fail "$took"
	counts web lf_limited 0
	[ "$(column lf_delayed FRONTEND web)" -ge 1 ]
	# A client that would have to wait too long is refused.
	takes '1 served, 2 reset' short 3
	counts short lf_limited 2
	counts short lf_delayed 0
}

@test "source limits: clients that are delayed leave most of maxconn to others" {
	MAXCONN=200 start_limits \
	    $'web\nlimit = rate=1/s burst=1 action=delay=10m'
	spawn crowd python3 -B "$ROOT/tests/behaviour/accesstool.py" crowd \
	    "$(listening web)" 400 --source 127.0.0.2
	wait_for 30 has_line crowd ready
	takes '20 served' web 20 --sources 127.0.1.1
	# A quarter of a quarter waits; one a second is served, and stays.
	wait_for 10 column_at_most scur 60
}

column_at_most() {
	[ "$(column "$1" FRONTEND web)" -le "$2" ]
}

@test "source limits: a delay goes on over a reload and while lfproxy drains" {
	start_limits $'web\nlimit = rate=10/h burst=1 action=delay=10m'
	takes '1 served' web 1
	spawn late python3 -B "$ROOT/tests/behaviour/accesstool.py" knock \
	    "$(listening web)"
	wait_for 10 column_is lf_delayed 1
	limits $'web\nmaxconn = 100'
	reload
	# Later clients have no limit, and the one that waits is still there.
	takes '2 served' web 2
	ctl show sess | grep -q 'fe=web be=<NONE>'
	[ ! -s "$T/late.out" ] || fail "$(cat "$T/late.out")"
	# Draining lets it wait; a second signal does not.
	kill -TERM "$LFPROXY_PID"
	wait_for 10 lfproxy_said 'draining: 1 session may end'
	[ ! -s "$T/late.out" ] || fail "$(cat "$T/late.out")"
	stop_lfproxy
	finish late
	[[ $output == @(closed|reset) ]] || fail "$output"
}

column_is() {
	[ "$(column "$1" FRONTEND web)" = "$2" ]
}

@test "source limits: a limit that refuses no client is told with its line" {
	LISTS=$'[list l]\nentry = 10.0.0.0/8' limits "web
limit = sessions=30 per=client
limit = sessions=20 rate=10/s per=client
limit = rate=36000/h burst=50 per=client
limit = rate=9/s burst=50 per=client
limit = sessions=40 per=client prefix4=24
limit = sessions=50 only=list:l
limit = rate=5/s action=delay=1s
limit = sessions=50 only=list:l action=drop"
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	n=$(grep -n 'sessions=30' "$T/lfproxy.ini")
	n=${n%%:*}
	[[ $output == *":$n: warning: [frontend web]: the limit 'sessions=30 per=client' refuses no client: 'sessions=20 rate=10/s burst=10 per=client' on line $((n + 1)) is not higher"* ]]
	[[ $output == *":$((n + 2)): warning: "*"'rate=36000/h burst=50 per=client' refuses no client: "*" on line $((n + 1)) "* ]]
	[[ $output == *":$((n + 3)): warning: "*"'rate=9/s "* ]] && fail "$output"
	[[ $output == *":$((n + 7)): warning: "*" on line $((n + 5)) is not higher"* ]]
	equal warnings 3 "$(grep -c 'warning: ' <<<"$output")"
}

@test "source limits: behind a PROXY header it is the client that the header names" {
	OPTIONS=accept_proxy start_limits $'web\nlimit = sessions=1 prefix6=48' \
	    $'rate\nlimit = rate=1/h burst=1'
	stays one '1 served, 1 reset' web 2 --proxy 192.0.2.1
	stays six '1 served, 1 reset' web 2 --proxy 2001:db8:1:2::9
	takes '1 reset' web 1 --proxy 2001:db8:1:3::9
	takes '1 served' web 1 --proxy 2001:db8:2::9
	takes '1 served' web 1 --proxy 192.0.2.2
	value_is conn_cur web 192.0.2.1 1
	counts web dses 3
	counts web dcon 0
	counts web lf_limited 3
	takes '1 served, 1 reset' rate 2 --proxy 192.0.2.1
	wait_for 10 lfproxy_said '^192\.0\.2\.1:1 .* web web/<NOSRV> .* PL '
	ctl show closed cause PL json | python3 -c '
import json, sys
text = sys.stdin.read()
assert "as many sessions as a limit allows" in text, text
assert "more often than a limit allows" in text, text'
	end one
	value_is conn_cur web 192.0.2.1 0
	end six
	value_is conn_cur web 2001:db8:1:: 0
}

# bats test_tags=covered
@test "source limits: every end of a session gives its place back" {
	BACKEND=$'timeout_server = 300ms\ntimeout_connect = 200ms\ntimeout_queue = 200ms\nretries = 0' \
	    start_limits $'web\nlimit = sessions=50' \
	    $'quiet\nlimit = sessions=50\ntimeout_client = 200ms'
	# A reset, an end in order, and both timeouts.
	python3 -B "$TOOL" reset "$(listening web)"
	takes '3 served' web 3
	stays one '3 served' web 3
	stays two '3 served' quiet 3
	value_is conn_cur web 127.0.0.1 0
	value_is conn_cur quiet 127.0.0.1 0
	end one
	end two
	# No server at all.
	ctl disable server app/s
	takes '5 closed' web 5
	value_is conn_cur web 127.0.0.1 0
	value_is conn_cnt web 127.0.0.1 12
}

# bats test_tags=covered
@test "source limits: a session that is killed or drained gives its place back" {
	local id

	start_limits $'web\nlimit = sessions=2'
	stays one '2 served' web 2
	value_is conn_cur web 127.0.0.1 2
	id=$(ctl show sess | sed -n 's/^\(0x[0-9a-f]*\):.*fe=web.*/\1/p' | head -1)
	ctl shutdown session "$id"
	value_is conn_cur web 127.0.0.1 1
	ctl shutdown sessions server app/s
	value_is conn_cur web 127.0.0.1 0
	end one
	stays two '2 served' web 2
	value_is conn_cur web 127.0.0.1 2
	ctl drain server app/s over 1s then kill
	value_is conn_cur web 127.0.0.1 0
}

@test "source limits: a connection that waits for a place of maxconn counts, once" {
	start_limits $'web\nmaxconn = 1\nlimit = sessions=2'
	stays one '1 served' web 1
	spawn two python3 -B "$TOOL" take "$(listening web)" 1
	# The acceptor holds it.
	value_is conn_cur web 127.0.0.1 2
	# A reload judges it again, by the limits that there are then.
	sed -i 's/^limit = .*/limit = sessions=3/' "$T/lfproxy.ini"
	reload
	end one
	finish two
	equal 'the second' '1 served' "$output"
	value_is conn_cur web 127.0.0.1 0
	value_is conn_cnt web 127.0.0.1 2
}

@test "source limits: a reload keeps what was counted while the key stays" {
	start_limits $'web\nlimit = sessions=3'
	stays one '2 served' web 2
	sed -i 's/^limit = .*/limit = sessions=2 rate=100\/s action=close/' \
	    "$T/lfproxy.ini"
	reload
	wait_for 10 lfproxy_said 'frontend web: limit: '
	value_is conn_cur web 127.0.0.1 2
	takes '1 closed' web 1
	# Another key is another table.
	sed -i 's/^limit = .*/limit = sessions=2 prefix4=31/' "$T/lfproxy.ini"
	reload
	value_is conn_cur web 127.0.0.1 ''
	takes '1 served' web 1
	# The sessions of the former one end in it.
	end one
	value_is conn_cur web 127.0.0.1 0
	sed -i '/^limit = /d' "$T/lfproxy.ini"
	reload
	takes '4 served' web 4
	equal 'tables' '' "$(ctl show table)"
}

@test "source limits: frontends share a table, also over a reload" {
	start_limits $'one\nlimit = sessions=3 table=mail' \
	    $'two\nlimit = sessions=2 table=mail action=close' \
	    $'own\nlimit = sessions=2'
	stays first '1 served' one 1
	stays second '1 served, 1 closed' two 2
	takes '2 served' own 2
	stays third '1 served, 1 reset' one 2
	value_is conn_cur mail 127.0.0.1 3
	value_is refused mail 127.0.0.1 2
	equal 'tables' 'mail own' "$(ctl show table |
	    sed -n 's/^# table: \([^,]*\),.*/\1/p' | xargs)"
	# A frontend before the others, which the former model does not have.
	sed -i 's/^\[frontend one\]/[frontend zero]\nlisten = 127.0.0.1:0\nbackend = app\nlimit = sessions=3 table=mail\n&/' \
	    "$T/lfproxy.ini"
	reload
	value_is conn_cur mail 127.0.0.1 3
	takes '1 reset' zero 1
	end second
	value_is conn_cur mail 127.0.0.1 2
	takes '1 served' zero 1
	ctl explain 127.0.0.1 two | grep -q "refused for its sessions"
	ctl clear table mail
	value_is tokens mail 127.0.0.1 ''
}

# bats test_tags=covered
@test "source limits: with count=all a client that goes on trying stays out" {
	start_limits $'web\nlimit = rate=1/h burst=9 count=all\nlimit = per=frontend sessions=2'
	# Refused by the other limit, and counted by this one.
	stays one '2 served, 3 reset' web 5
	value_is tokens web 127.0.0.1 4
	value_is conn_cnt web 127.0.0.1 2
	takes '9 reset' web 9
	value_is tokens web 127.0.0.1 0
}

@test "source limits: per=list counts the members of a list together" {
	LISTS=$'[list office]\nentry = 127.9.0.0/16 127.0.0.9' \
	    start_limits $'web\nlimit = per=list:office sessions=3' \
	    $'own\nlimit = sessions=1 only=list:office' \
	    $'rest\nlimit = sessions=1 except=list:office'
	stays one '3 served, 2 reset' web 5 --sources 127.9.0.1
	takes '1 reset' web 1 --source 127.0.0.9
	# Others are not counted.
	takes '4 served' web 4 --source 127.0.0.1
	value_is conn_cur web all 3
	[[ $(ctl show table) == *'# table: web, type: all, size:1, used:1'* ]]
	wait_for 10 lfproxy_said "beyond the limit 'sessions=3 per=list:office'"
	takes '4 served' own 4 --sources 127.9.0.1
	stays two '1 served, 1 reset' own 2 --source 127.0.0.9
	takes '3 served' own 3 --source 127.0.0.1
	takes '4 served' rest 4 --source 127.9.0.1
	stays three '1 served, 1 reset' rest 2 --source 127.0.0.1
	run -0 ctl explain 127.0.0.1 rest
	[[ $output == *"by 'sessions=1 per=client except=list:office'"* ]]
	# The members are those of the moment.
	ctl add acl office 127.0.0.1
	takes '4 served' rest 4 --source 127.0.0.1
	end one
	end two
	end three
	value_is conn_cur web all 0
	value_is conn_cur rest 127.0.0.1 0
}

@test "source limits: a source that has used its bytes is refused" {
	start_limits $'web\nlimit = bytes=1KiB/h' \
	    $'slow\nlimit = bytes=1MiB/m action=delay=10m'
	takes '2 served' web 2 --source 127.0.0.1
	value_is conn_cur web 127.0.0.1 0
	# The greeting of the server.
	[ "$(value bytes_out_cnt web 127.0.0.1)" -gt 0 ]
	equal 'bytes in' 0 "$(value bytes_in_cnt web 127.0.0.1)"
	[ "$(value bytes_left web 127.0.0.1)" -lt 1024 ]
	ctl set table web key 127.0.0.1 data.bytes_left 0
	takes '1 reset' web 1 --source 127.0.0.1
	takes '1 served' web 1 --source 127.0.0.2
	counts web lf_limited 1
	wait_for 10 lfproxy_said "beyond the limit 'bytes=1KiB/h per=client' for its bytes"
	run -0 ctl explain 127.0.0.1 web
	[[ $output == *"refused for its bytes by 'bytes=1KiB/h per=client'"* ]]
	ctl set table web key 127.0.0.1 data.bytes_left 500
	takes '1 served' web 1 --source 127.0.0.1
	# A delay ends when bytes have grown back, here at once.
	ctl set table slow key 127.0.0.1 data.bytes_left 0
	takes '1 served' slow 1 --source 127.0.0.1
}

@test "source limits: bytes of a session that lasts are counted while it lasts" {
	start_streams app
	start_limits $'web\nlimit = bytes=1GiB/h'
	"$TOOLS/streamer" client "$(listening web)" --up 0 --down 40000000000 \
	    --deadline $((200 * PATIENCE)) >"$T/stream" 2>&1 3>&- &
	STREAM=$!
	wait_for 10 has_used web 127.0.0.1
	value_is conn_cur web 127.0.0.1 1
	kill "$STREAM"
}

has_used() {
	local n

	n=$(value bytes_out_cnt "$1" "$2")
	[ "${n:-0}" -gt 100000 ]
}

@test "source limits: a small table goes on with many sources" {
	local used

	start_limits $'web\nlimit = sessions=1 size=64'
	takes '64 served' web 64 --sources 127.1.0.1
	wait_for 10 no_sessions_in web
	takes '64 served' web 64 --sources 127.3.0.1
	wait_for 10 no_sessions_in web
	used=$(ctl show table | sed -n 's/^# table: web, type: ip, size:64, used://p')
	equal 'entries' 64 "$used"
	[ "$(ctl show table web | grep -c '^0x')" = 64 ]
	# A full table of sources with sessions refuses nothing.
	stays many '80 served' web 80 --sources 127.2.0.1
	ctl show table web json | python3 -c '
import json, sys
table, = json.load(sys.stdin)
assert table["uncounted"] == 16, table
assert table["evicted"] == 128, table'
	end many
	wait_for 10 no_sessions_in web
}

no_sessions_in() {
	! ctl show table "$1" data.conn_cur gt 0 | grep -q '^0x'
}

@test "source limits: tables are shown, filtered, cleared and set" {
	start_limits $'web\nlimit = sessions=5 rate=1/h burst=5' $'other\nsplice = off'
	stays one '2 served' web 2 --source 127.0.0.1
	takes '1 served' web 1 --source 127.0.0.2
	value_is conn_cur web 127.0.0.2 0
	equal 'one with sessions' 1 \
	    "$(ctl show table web data.conn_cur gt 0 | grep -c '^0x')"
	equal 'both' 2 "$(ctl show table web data.conn_cnt ge 1 | grep -c '^0x')"
	equal 'none' 0 "$(ctl show table web data.conn_cnt ge 1 \
	    data.tokens gt 4 | grep -c '^0x' || true)"
	run ! ctl clear table web key 127.0.0.1
	[[ $output == 'Entry currently in use, cannot remove' ]]
	ctl clear table web key 127.0.0.2
	value_is conn_cnt web 127.0.0.2 ''
	ctl clear table web
	value_is conn_cur web 127.0.0.1 2
	ctl set table web key 127.0.0.3 data.tokens 1 data.conn_cnt 7
	value_is conn_cnt web 127.0.0.3 7
	takes '1 served, 1 reset' web 2 --source 127.0.0.3
	run ! ctl set table web key 127.0.0.3 data.conn_cur 1
	run ! ctl show table web data.bytes gt 1
	[[ $output == 'Filter entry #1: Unknown data type' ]]
	run ! ctl show table other
	[[ $output == 'No such table. There '* ]]
	run ! ctl show table web key nonsense
	ctl show changes | grep -q 'table web cleared'
	ctl show changes | grep -q 'table web: entry of 127\.0\.0\.3 set'
}

@test "source limits: explain says which limit refuses a client, and counts nothing" {
	local n

	start_limits $'web\nlimit = sessions=2 action=tarpit=9s\nlimit = rate=1/h burst=3 action=delay=10m'
	n=$(grep -n '^limit' "$T/lfproxy.ini" | head -1)
	n=${n%%:*}
	run -0 ctl explain 127.0.0.1 web
	[[ $output == *'  limit    none is reached'* ]]
	stays one '2 served' web 2
	run -0 ctl explain 127.0.0.1 web
	[[ $output == *"  limit    refused for its sessions by 'sessions=2 per=client' in $T/lfproxy.ini:$n: tarpit=9s"$'\n'* ]]
	[[ $output == *'  server   none: it is beyond a limit'* ]]
	end one
	value_is conn_cur web 127.0.0.1 0
	takes '1 served' web 1
	value_is conn_cur web 127.0.0.1 0
	run -0 ctl explain 127.0.0.1 web
	[[ $output == *"  limit    refused for its rate by 'rate=1/h burst=3 per=client' in $T/lfproxy.ini:$((n + 1)): reset"* ]]
	ctl explain 127.0.0.1 web json | python3 -c '
import json, sys
x, = json.load(sys.stdin)
l = x["limit"]
assert l["limits"] and not l["admitted"], l
assert l["table"] == "web/2" and l["beyond"] == "rate", l
assert x["choice"] is None, x'
	value_is conn_cnt web/2 127.0.0.1 3
}
