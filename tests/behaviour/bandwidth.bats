#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Limits on bandwidth: transfers are held and go on, and all bytes arrive.  How
# exact the rates are is in ratetiming.bats.

load helpers
load stat
load tls

# limited FRONTEND_LINES BACKEND_LINES [SERVER_WORDS]: writes the configuration;
# LISTEN: words of its listen, SECTIONS: further sections.
limited() {
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0 %s\n' "${LISTEN:-}"
		unhurried timeout_handshake "$1"
		printf 'backend = app\n%s\n' "$1"
		printf '[backend app]\ncheck = off\n%s\n' "$2"
		unhurried timeout_connect "$2"
		printf 'server = s %s %s\n' "$(addr s)" "${3:-}"
		printf '%s\n' "${SECTIONS:-}"
	} >"$T/lfproxy.ini"
}

start_limited() {
	limited "$@"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# passes UP DOWN [CONNECTIONS [OPTION...]]: verified streams of so many bytes.
passes() {
	streams "$(listening web)" --connections "${3:-1}" --up "$1" \
	    --down "$2" "${@:4}"
	[[ $output == *"ok=${3:-1} "*"failed=0 "* ]] || fail "$output"
}

# begin UP DOWN: such a stream in the background, whose output is in $T/stream.
begin() {
	"$TOOLS/streamer" client "$(listening web)" --up "$1" --down "$2" \
	    --deadline $((200 * PATIENCE)) >"$T/stream" 2>&1 3>&- &
	STREAM=$!
}

finishes() {
	wait "$STREAM" || fail "$(cat "$T/stream")"
	grep -q 'ok=1 .*failed=0 ' "$T/stream" || fail "$(cat "$T/stream")"
}

# value COLUMN PROXY SERVICE: of show stat.
value() {
	ctl show stat json | python3 -c '
import json, sys
column, proxy, service = sys.argv[1:]
for row in json.load(sys.stdin):
    fields = {f["field"]["name"]: f["value"]["value"] for f in row}
    if (fields["pxname"], fields["svname"]) == (proxy, service):
        print(fields.get(column, "-"))' "$@"
}

# is_above NUMBER COLUMN PROXY SERVICE
is_above() {
	[ "$(value "${@:2}")" -gt "$1" ]
}

is_value() {
	[ "$(value "${@:2}")" = "$1" ]
}

# session MEMBER: of the only session, as JSON has it.
session() {
	ctl show sess json | python3 -c '
import json, sys
sessions = json.load(sys.stdin)
print(json.dumps(sessions[0][sys.argv[1]]) if sessions else "none")' "$1"
}

is_session() {
	[ "$(session "$1")" = "$2" ]
}

# bats test_tags=covered
@test "bandwidth: a session is held in both directions, and all bytes arrive" {
	start_streams s
	start_limited 'bandwidth = in=4MiB/s out=8MiB/s per=session' ''
	passes 400000 800000 3
	is_above 10 lf_bw_waits web FRONTEND
	is_above 10 lf_bw_waits app BACKEND
	is_above 10 lf_bw_waits app s
	equal "who waits" 0 "$(value lf_bw_waiting web FRONTEND)"
}

@test "bandwidth: a session without a limit never waits" {
	start_streams s
	start_limited '' '' 'bandwidth_out=off'
	passes 4000000 4000000 3
	equal waits 0 "$(value lf_bw_waits web FRONTEND)"
}

# bats test_tags=covered
@test "bandwidth: sessions share what their frontend, backend and server have" {
	start_streams s
	start_limited 'bandwidth = in=8MiB/s per=frontend' \
	    'bandwidth = out=8MiB/s per=backend
bandwidth = out=6MiB/s per=server' 'bandwidth_in=6MiB/s'
	passes 200000 200000 8
	is_above 10 lf_bw_waits web FRONTEND
	equal frontend "8388608 0" "$(value lf_bw_in web FRONTEND) \
$(value lf_bw_out web FRONTEND)"
	equal backend 8388608 "$(value lf_bw_out app BACKEND)"
	equal server "6291456 6291456" "$(value lf_bw_in app s) \
$(value lf_bw_out app s)"
	wait_for 10 is_value 0 lf_bw_waiting web FRONTEND
	wait_for 10 is_value 0 lf_bw_waiting app BACKEND
	wait_for 10 is_value 0 lf_bw_waiting app s
}

# from SOURCE UP DOWN: a verified stream from that address.
from() {
	streams "$(listening web)" --bind "$1:0" --connections 2 --up "$2" \
	    --down "$3"
	[[ $output == *"ok=2 "*"failed=0 "* ]] || fail "$output"
}

@test "bandwidth: sessions of a source share what it has" {
	start_streams s
	start_limited 'bandwidth = in=1MiB/s out=1MiB/s per=client prefix4=24' ''
	from 127.0.0.1 200000 200000
	is_above 10 lf_bw_waits web FRONTEND
	from 127.0.9.1 200000 200000
	[[ $(ctl show table) == \
	    '# table: web/bandwidth, type: ip, size:1048576, used:2' ]]
	ctl show table web/bandwidth | grep -q 'key=127\.0\.9\.0 .*conn_cnt=2'
	[[ $(ctl explain 127.0.0.1) == \
	    *"limit    source in=1MiB/s out=1MiB/s"* ]]
	equal "who waits" 0 "$(value lf_bw_waiting web FRONTEND)"
}

# At 1 KiB/s the bytes would take half an hour.
# bats test_tags=covered
@test "bandwidth: a source that waits does not hold up another, and a reload its sessions" {
	start_streams s
	start_limited 'bandwidth = out=1KiB/s per=client' ''
	begin 0 2000000
	wait_for 10 is_session waits_out true
	from 127.0.0.7 100 100
	limited 'bandwidth = out=100MiB/s per=client' ''
	ctl reload
	finishes
	# The table has outlived the reload, and its sessions have left it.
	equal entries 2 "$(ctl show table web/bandwidth | grep -c '^0x')"
	wait_for 10 no_sessions_in web/bandwidth
	ctl clear table web/bandwidth
	equal entries 0 "$(ctl show table web/bandwidth | grep -c '^0x' || true)"
}

# At 1 KiB/s the bytes would take half an hour.
@test "bandwidth: a backend holds two sources apart, through both of its frontends" {
	start_streams s
	SECTIONS=$'[frontend other]\nlisten = 127.0.0.1:0\nbackend = app'
	start_limited '' 'bandwidth = out=1KiB/s per=client'
	begin 0 2000000
	wait_for 10 is_session waits_out true
	from 127.0.0.7 100 100
	# The first source has no more through the other frontend.
	"$TOOLS/streamer" client "$(listening other)" --up 0 --down 2000000 \
	    --deadline $((200 * PATIENCE)) >"$T/second" 2>&1 3>&- &
	SECOND=$!
	wait_for 10 has_sessions 2 app/backend/bandwidth 127.0.0.1
	wait_for 10 both_wait
	equal entries 2 "$(entries app/backend/bandwidth)"
	[[ $(ctl explain 127.0.0.1 web) == \
	    *"limit    backend_source out=1KiB/s"* ]]
	kill "$SECOND"
	wait_for 10 has_sessions 1 app/backend/bandwidth 127.0.0.1
	limited '' 'bandwidth = out=100MiB/s per=client'
	ctl reload
	finishes
	# The table has outlived the reload, and its sessions have left it.
	wait_for 10 no_sessions_in app/backend/bandwidth
	equal entries 2 "$(entries app/backend/bandwidth)"
	limited '' ''
	ctl reload
	run ! ctl show table app/backend/bandwidth
}

# has_sessions N TABLE SOURCE
has_sessions() {
	ctl show table "$2" key "$3" | grep -q "conn_cur=$1 "
}

entries() {
	ctl show table "$1" | grep -c '^0x' || true
}

# A session from before the reload has no part in the table.
# bats test_tags=covered
@test "bandwidth: a reload that adds per=client to a backend limits each session for itself" {
	start_streams s
	start_limited '' ''
	begin 0 40000000000
	wait_for 10 is_session bandwidth_out 0
	limited '' 'bandwidth = out=1KiB/s per=client'
	ctl reload
	wait_for 10 is_session waits_out true
	equal entries 0 "$(entries app/backend/bandwidth)"
	kill "$STREAM"
}

no_sessions_in() {
	! ctl show table "$1" data.conn_cur gt 0 | grep -q '^0x'
}

# A session from before the reload has no part in the table.
# bats test_tags=covered
@test "bandwidth: a reload that adds per=client limits each session for itself" {
	start_streams s
	start_limited '' ''
	begin 0 40000000000
	wait_for 10 is_session bandwidth_out 0
	limited 'bandwidth = out=1KiB/s per=client' ''
	ctl reload
	wait_for 10 is_session waits_out true
	equal entries 0 "$(ctl show table web/bandwidth | grep -c '^0x' || true)"
	kill "$STREAM"
}

# With one place in the table the second source is not counted.
@test "bandwidth: a session without a place in the table of sources is limited as well" {
	start_streams s
	start_limited 'bandwidth = out=1KiB/s per=client size=1' ''
	begin 0 2000000
	wait_for 10 is_session waits_out true
	"$TOOLS/streamer" client "$(listening web)" --bind 127.0.0.7:0 --up 0 \
	    --down 2000000 --deadline 600 >"$T/second" 2>&1 3>&- &
	SECOND=$!
	wait_for 10 both_wait
	kill "$STREAM" "$SECOND"
}

both_wait() {
	[ "$(ctl show sess all | grep -c 'bandwidth_out=.* waits=yes')" = 2 ]
}

# bats test_tags=covered
@test "bandwidth: bulk is spliced under a limit" {
	start_streams s
	start_limited 'bandwidth = in=100MiB/s out=100MiB/s per=frontend' ''
	passes 33554432 33554432 2
	is_above 5 lf_bw_waits web FRONTEND
	[ "$(ctl show info | sed -n 's/^PipesCreated: //p')" -ge 1 ]
}

# bats test_tags=covered
@test "bandwidth: TLS with the client" {
	make_site www.example
	start_streams s
	SECTIONS=$'[tls public]\n'"cert = $T/www.example.pem" LISTEN=tls=public
	start_limited 'bandwidth = in=1MiB/s out=1MiB/s per=session' ''
	passes 400000 400000 2 --secure --ca "$T/ca.pem" --sni www.example
	is_above 10 lf_bw_waits web FRONTEND
}

# Slower than any machine is with TLS, however busy.
# bats test_tags=covered
@test "bandwidth: TLS with the server" {
	make_site www.example
	start_streams s --secure --cert "$T/www.example.pem"
	SECTIONS=$'[tls up]\n'"ca = $T/ca.pem"$'\nname = www.example'
	start_limited '' $'tls = up\nbandwidth = in=256KiB/s out=256KiB/s per=backend'
	passes 100000 100000 2
	is_above 10 lf_bw_waits app BACKEND
}

# At 1 KiB/s the bytes would take half an hour.
# bats test_tags=covered
@test "bandwidth: a reload takes the limit from a session that waits" {
	start_streams s
	start_limited 'bandwidth = out=1KiB/s per=session' ''
	begin 0 2000000
	wait_for 10 is_session waits_out true
	equal limit 1024 "$(session bandwidth_out)"
	equal "the other direction" 0 "$(session bandwidth_in)"
	limited '' ''
	run -0 ctl reload
	equal "the change" \
	    'frontend web: bandwidth: out=1KiB/s per=session -> (no limit)' \
	    "$output"
	finishes
}

# bats test_tags=covered
@test "bandwidth: a reload makes a shared limit higher for those that wait" {
	start_streams s
	start_limited '' 'bandwidth = out=1KiB/s per=backend'
	begin 0 2000000
	wait_for 10 is_above 0 lf_bw_waiting app BACKEND
	limited '' 'bandwidth = out=100MiB/s per=backend'
	ctl reload
	finishes
	wait_for 10 is_value 0 lf_bw_waiting app BACKEND
}

@test "bandwidth: a reload gives a limit to a session that had none" {
	start_streams s
	start_limited '' ''
	begin 0 40000000000
	wait_for 10 is_session bandwidth_out 0
	limited '' '' 'bandwidth_out=1KiB/s'
	ctl reload
	wait_for 10 is_session waits_out true
	wait_for 10 is_value 1 lf_bw_waiting app s
	kill "$STREAM"
	wait_for 30 is_value 0 lf_bw_waiting app s
}

# A portion of 1460 bytes is due every 1.4 s.
# bats test_tags=covered
@test "bandwidth: a session that waits is not idle" {
	start_streams s
	start_limited $'bandwidth = out=1KiB/s per=session\ntimeout_client = 300ms' \
	    'timeout_server = 300ms'
	passes 0 4000
	is_above 0 lf_bw_waits web FRONTEND
	wait_for 10 session_like ' web app/s .* -- '
}

# bats test_tags=covered
@test "bandwidth: a session that waits can be ended" {
	start_streams s
	start_limited 'bandwidth = out=1KiB/s per=frontend' ''
	begin 0 2000000
	wait_for 10 is_value 1 lf_bw_waiting web FRONTEND
	ctl shutdown session "$(ctl show sess | sed 's/:.*//;q')"
	wait_for 10 is_value 0 lf_bw_waiting web FRONTEND
	wait_for 10 is_value 0 scur web FRONTEND
	wait "$STREAM" && fail "the stream was complete"
	equal "the next one" "" "$(ctl show sess)"
}

@test "bandwidth: limits are in explain, show sess and show stat" {
	start_streams s
	start_limited 'bandwidth = in=1MiB/s out=1KiB/s per=session
bandwidth = out=5Gbit/s per=frontend' 'bandwidth = in=2MiB/s per=backend' \
	    'bandwidth_in=1GiB/s'
	run -0 ctl explain 192.0.2.1
	[[ $output == *"limit    session in=1MiB/s out=1KiB/s, frontend \
out=5Gbit/s, backend in=2MiB/s"* ]] || fail "$output"
	[[ $output == *" bandwidth in=1GiB/s"* ]] || fail "$output"
	equal "JSON" "1024 625000000 2097152 1073741824" \
	    "$(ctl explain 192.0.2.1 json | python3 -c '
import json, sys
e = json.load(sys.stdin)[0]
b = e["bandwidth"]
print(b["session"]["out"], b["frontend"]["out"], b["backend"]["in"],
      e["servers"][0]["bandwidth"]["in"])')"
	begin 0 2000000
	wait_for 10 is_session waits_out true
	run -0 ctl show sess all
	[[ $output == *"bandwidth_in=1MiB/s waits=no"* ]] || fail "$output"
	[[ $output == *"bandwidth_out=1KiB/s waits=yes"* ]] || fail "$output"
	[ "$(value lf_bw_sess_out web FRONTEND)" = 1024 ]
	kill "$STREAM"
}

# bats test_tags=covered
@test "bandwidth: a server that is added has its limit" {
	start_streams s
	start_limited '' ''
	ctl add server app/t "$(addr s)" bandwidth_out=1KiB/s
	ctl disable server app/s
	ctl enable server app/t
	begin 0 2000000
	wait_for 10 is_value 1 lf_bw_waiting app t
	kill "$STREAM"
}

# At 1 KiB/s the bytes would take half an hour.
@test "bandwidth: only=list: and except=list: follow the list, also for present sessions" {
	start_streams s
	SECTIONS=$'[list slow]\nentry = 127.0.0.1' \
	    start_limited 'bandwidth = out=1KiB/s per=client only=list:slow' \
	    'bandwidth = out=1KiB/s per=session except=list:slow
bandwidth = in=1KiB/s per=server only=list:slow'
	ctl add acl slow 127.0.0.7
	[[ $(ctl explain 127.0.0.1) == *"limit    source out=1KiB/s"* ]]
	# The frontend's limit holds the session until the list has no client.
	begin 0 2000000
	wait_for 10 is_session waits_out true
	equal 'own limit' 0 "$(session bandwidth_out)"
	SECTIONS=$'[list slow]\nentry = 127.0.0.1' \
	    limited 'bandwidth = out=1KiB/s per=client only=list:slow' ''
	ctl reload
	ctl del acl slow 127.0.0.1
	finishes
	[[ $(ctl explain 127.0.0.1) != *limit*KiB* ]]
	# A session that no limit is for waits as soon as the list has it.
	begin 0 8000000000
	wait_for 10 is_session waits_out false
	ctl add acl slow 127.0.0.1
	wait_for 10 is_session waits_out true
	ctl shutdown session "$(session id | tr -d '"')"
	if wait "$STREAM"; then fail "the session was not held"; fi
}

# band RANGE: its line of show bandwidth clients, without the padding.
band() {
	ctl show bandwidth clients | awk -v range="$1" '$1 == range' | xargs
}

has_band() {
	[ "$(band "$1")" = "$1 $2" ]
}

@test "bandwidth: a command limits the sessions of a client range, present ones as well" {
	start_streams s
	start_limited '' ''
	begin 0 8000000000
	wait_for 10 is_session waits_out false
	ctl set bandwidth client 127.0.0.0/8 in=3MB/s out=1KiB/s
	wait_for 10 is_session waits_out true
	wait_for 10 has_band 127.0.0.0/8 "in=24Mbit/s out=1KiB/s waiting=1"
	# The longest prefix counts; the session that waits finds it.
	ctl set bandwidth client 127.0.0.1 out=100GiB/s
	wait_for 10 is_session waits_out false
	wait_for 10 has_band 127.0.0.0/8 "in=24Mbit/s out=1KiB/s waiting=0"
	ctl del bandwidth client 127.0.0.1
	wait_for 10 is_session waits_out true
	ctl shutdown session "$(session id | tr -d '"')"
	if wait "$STREAM"; then fail "the session was not held"; fi
	# So does a session that begins later, until the range has no limit.
	begin 0 2000000
	wait_for 10 is_session waits_out true
	ctl set bandwidth client 127.0.0.0/8 off
	finishes
	equal "no range" "# 0 client ranges are limited by commands" \
	    "$(ctl show bandwidth clients)"
}

@test "bandwidth: a client's limit for a time ends, also in the next process" {
	start_streams s
	start_limited '' ''
	ctl set bandwidth client 10.0.0.0/8 out=1MB/s
	ctl set bandwidth client 10.0.0.0/8 out=2MB/s for 100ms
	wait_for 10 has_band 10.0.0.0/8 "in=none out=8Mbit/s waiting=0"
	ctl set bandwidth client 127.0.0.1 out=1KiB/s for 1h
	begin 0 2000000
	wait_for 10 is_session waits_out true
	ctl upgrade
	wait_for 10 is_session waits_out true
	[[ $(band 127.0.0.1) == *"out=1KiB/s waiting=1, off in 59m"* ]] ||
	    fail "$(ctl show bandwidth clients)"
	[[ $(ctl show drift) == *"bandwidth client 10.0.0.0/8: off -> out=8Mbit/s (the file cannot say this)"* ]]
	ctl set bandwidth client 127.0.0.1 out=1KiB/s for 100ms
	finishes
	equal "nothing for a time" "" "$(ctl show expiring)"
	next=$(ctl show info | sed -n 's/^Pid: //p')
	kill "$next"
	wait_for 15 ended "$next"
}

# refused TEXT RANGE [RATE...]
refused_band() {
	run -1 ctl set bandwidth client "${@:2}"
	[[ $output == *"$1"* ]] || fail "${*:2}: $output"
}

# bats test_tags=onethread
@test "bandwidth: what is no limit of a client range is refused" {
	local n line

	start_streams s
	start_limited '' ''
	refused_band "'' is not a range" ''
	refused_band "write 10.0.0.0/8" 10.0.0.1/8 in=1MB
	refused_band "A rate is expected" 10.0.0.1
	refused_band "in: '1' is out of range" 10.0.0.1 in=1
	refused_band "in: given twice" 10.0.0.1 in=1MB in=2MB
	refused_band "Unexpected argument 'per=session'" 10.0.0.1 per=session
	refused_band "cannot be off for a time" 10.0.0.1 off for 1m
	refused_band "'for' needs a duration" 10.0.0.1 in=1MB for
	run -1 ctl del bandwidth client 10.0.0.1
	[[ $output == "The bandwidth of this range is not limited"* ]]
	for n in {1..255}; do
		printf 'set bandwidth client 10.0.%s.0/24 in=1MB;' "$n"
		if [ $((n % 15)) -eq 0 ]; then echo; fi
	done | while read -r line; do
		socat -t 60 - "UNIX-CONNECT:$ADMIN" <<<"$line" >/dev/null
	done
	refused_band "255 client ranges are limited" 10.0.0.1 in=1MB
	ctl set bandwidth client 10.0.7.0/24 out=1MB
	ctl del bandwidth client 10.0.7.0/24
	ctl set bandwidth client 10.0.0.1 in=1MB
}
