#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# [resolver]: names that are followed by their TTL, name servers that fail in
# every way (nametool.py), and dnsmasq.

# bats file_tags=basic

load helpers
load operator

NAMES=$T/names

setup() {
	untraced
	LEVEL=$BASH_SUBSHELL
	: >"$NAMES"
}

# start_names [RATE]
start_names() {
	serve names python3 -B "$ROOT/tests/behaviour/nametool.py" "$NAMES" "$@"
}

# names LINE...: what the name server says from now on.
names() {
	printf '%s\n' "$@" >"$NAMES.new"
	mv "$NAMES.new" "$NAMES"
}

# config LINE...: further lines of the backend; RESOLVER of [resolver].
config() {
	common
	printf '[resolver]\nnameserver = %s\ntimeout = 200ms\n' "$(addr names)"
	printf 'ttl_min = 200ms\n%s\n' "${RESOLVER:-}"
	printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
	printf '[backend app]\ncheck = off\n'
	printf '%s\n' "$@"
}

port_of() {
	addr "$1" | sed 's/.*://'
}

served_by() {
	[ "$(fetch "$(url)" | head -1)" = "$1" ]
}

resolvers() {
	ctl show resolvers | grep -qE -- "$1"
}

# counted NAME: of the name servers together.
counted() {
	ctl show resolvers | awk -v name="$1:" '$1 == name { n += $2 }
	    END { print n + 0 }'
}

counts() {
	[ "$(counted "$1")" -ge "$2" ]
}

# bats test_tags=machine
@test "resolver: a server follows its name when the TTL is over" {
	start_names
	names 'db ttl=1 127.0.0.1'
	LISTEN=127.0.0.1:0 start_app a
	LISTEN=127.0.0.2:$(port_of a) start_app b
	start_lfproxy < <(config "server = s db:$(port_of a) resolve=ttl" \
	    "server = r db:$(port_of a)" \
	    "server = o db:$(port_of a) resolve=start")
	served_by a
	names 'db ttl=1 127.0.0.2'
	wait_for 10 is addr s "$(addr b)"
	# Others wait for a reload, or for ever.
	is addr r "$(addr a)"
	ctl reload
	wait_for 10 is addr r "$(addr b)"
	is addr o "$(addr a)"
	names 'db ttl=1 127.0.0.1'
	wait_for 10 is addr s "$(addr a)"
	ctl show events | grep -q "server_resolved app/s: .* is at 127.0.0.2:.* from now on"
}

@test "resolver: a server keeps its address while its name has it" {
	local i all=()

	start_names
	for i in {1..40}; do
		all+=("127.0.1.$i")
	done
	names 'db ttl=0 127.0.1.7'
	start_lfproxy < <(config 'server = s db:80 resolve=ttl' \
	    'server = v6 both:80 resolve=ttl resolve_prefer=ipv6' \
	    'server = v4 both:80')
	is addr s 127.0.1.7:80
	for i in 3 11 29; do
		names "db ttl=0 ${all[*]:i} ${all[*]:0:i}" 'both 127.0.0.1 ::1'
		wait_for 10 resolvers "name db: .* 127.0.1.$((i + 1)) .* and 32 more"
		is addr s 127.0.1.7:80
	done
	wait_for 10 is addr v6 '[::1]:80'
	wait_for 10 is addr v4 127.0.0.1:80
	names 'db ttl=0 127.0.1.9'
	wait_for 10 is addr s 127.0.1.9:80
}

# c-ares 1.18 drops a message that it cannot read, and 1.34 reports it.
@test "resolver: a good answer outlives every failure of name servers" {
	local failure text

	start_names
	names 'db ttl=0 127.0.0.1'
	start_app a
	RESOLVER='retries = 0'
	start_lfproxy < <(config "server = s db:$(port_of a) resolve=ttl")
	served_by a
	while read -r failure text; do
		names "db $failure"
		ctl resolve now backend app | grep -q '^1 name is looked up now'
		wait_for 10 resolvers "name db: kept, .*last error: .*($text)"
		is addr s "$(addr a)"
		served_by a
		names 'db ttl=0 127.0.0.1'
		ctl resolve now
		wait_for 10 resolvers 'name db: resolved'
	done <<-END
		silent do not answer
		servfail SERVFAIL
		refused REFUSED
		none NXDOMAIN
		empty no records
		garbage do not answer|cannot be read
		short cannot be read
		loop cannot be read
	END
	counts timeout 1
	counts nx 1
	counts refused 1
	counts invalid 1
	counts other 1
	ctl show events | grep -q 'server_unresolved app/s: .* stays at 127.0.0.1'
}

@test "resolver: after hold the server is in maintenance, until it is resolved" {
	start_names
	names 'db ttl=0 127.0.0.1'
	start_app a
	RESOLVER='hold = 1s'
	start_lfproxy < <(config "server = s db:$(port_of a) resolve=ttl" \
	    "server = r db:$(port_of a) resolve=reload")
	served_by a
	names 'db servfail'
	wait_for 10 is status s 'MAINT (resolution)'
	ctl show events | grep -q 'app/s: .* has not been resolved for the time of hold: .*SERVFAIL'
	resolvers 'name db: lapsed, .*resolve=ttl'
	is status r 'no check'
	names 'db ttl=0 127.0.0.1'
	ctl resolve now
	wait_for 10 is status s 'no check'
	is addr s "$(addr a)"
}

@test "resolver: answers that were made up are passed over" {
	start_names
	names 'db spoofed 127.0.0.1'
	start_app a
	start_lfproxy < <(config "server = s db:$(port_of a) resolve=ttl")
	wait_for 10 served_by a
	refute grep -q '127\.0\.0\.99' "$LFPROXY_LOG"
}

@test "resolver: an answer of 64 KiB comes over TCP" {
	start_names
	# 4092 records of 16 bytes, and more than is taken of an answer.
	names 'db truncated 4000 127.0.16.1' 'few truncated 100 127.0.0.100'
	start_lfproxy < <(config 'server = s db:80 resolve=ttl' \
	    'server = t few:80 resolve=ttl')
	wait_for 10 is status s 'no check'
	wait_for 10 is status t 'no check'
	resolvers 'name few: resolved, .* and 92 more'
	resolvers 'name db: resolved, .* and 1016 more'
	counts truncated 4
	grep -q 'few 1 tcp' "$NAMES.asked"
}

@test "resolver: the next name server is asked when one keeps silent" {
	start_names
	names 'db 127.0.0.1'
	start_app a
	start_bad hole silent
	RESOLVER="nameserver = $(addr names)"
	start_lfproxy < <(config "server = s db:$(port_of a)" |
	    sed "0,/^nameserver/s/^nameserver.*/nameserver = 127.0.0.9:9/")
	wait_for 10 served_by a
	# The one that has answered is asked first from now on.
	ctl show resolvers json >"$T/json"
	python3 -c '
import json, sys
rows = json.load(open(sys.argv[1]))
servers = [r for r in rows if r["type"] == "nameserver"]
names = [r for r in rows if r["type"] == "name"]
assert len(servers) == 2, servers
assert servers[1]["valid"] >= 1, servers
assert names[0]["name"] == "db" and names[0]["state"] == "resolved", names
assert names[0]["addresses"] == ["127.0.0.1"], names
assert names[0]["servers"] == 1 and names[0]["error"] is None, names
' "$T/json"
}

@test "resolver: metrics have the name servers and the names" {
	start_names
	names 'db 127.0.0.1' 'no servfail'
	start_lfproxy < <(config 'server = a db:80' 'server = b no:80' |
	    sed '/^\[global\]/a http = 127.0.0.1:0')
	wait_for 10 resolvers 'name no: failed'
	run -0 curl -s "$(sed -n 's/.*monitoring at //p' "$LFPROXY_LOG")metrics"
	[[ $output == *"lfproxy_nameserver_sent_total{nameserver=\"$(addr names)\"} "* ]]
	[[ $output == *'lfproxy_name_resolved{name="db",resolve="reload",family="any"} 1'* ]]
	[[ $output == *'lfproxy_name_error{name="no",resolve="reload",family="any",error="servfail"} 1'* ]]
	ctl show info | grep -qE '^FailedResolutions: [1-9]'
}

@test "resolver: errors of [resolver] say what is allowed" {
	local line text

	while IFS='|' read -r line text; do
		printf '[resolver]\n%s\n[frontend f]\nlisten=:0\nbackend=b\n[backend b]\n' \
		    "$line" >"$T/x.ini"
		run -78 "$LFPROXY" -t -c "$T/x.ini"
		[[ $output == *"$text"* ]] || fail "$line: $output"
	done <<-END
		nameserver = ns1:53|a name server is given by its address, as in 10.0.0.2:53
		hold = 40d|or write forever
		ttl_min = 2h|[resolver]: ttl_min is more than ttl_max
		retries = 99|0 to 10
		nameservers = 10.0.0.1|unknown key 'nameservers'
	END
	printf '%s\n' '[frontend f]' 'listen=:0' 'backend=b' '[backend b]' \
	    'server = a db:80 resolve=sometimes' >"$T/x.ini"
	run -78 "$LFPROXY" -t -c "$T/x.ini"
	[[ $output == *'start, reload, ttl'* ]]
}

dns_ready() {
	python3 -c '
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(1)
s.connect(("127.0.0.1", int(sys.argv[1])))
s.send(b"\1\2\1\0\0\1\0\0\0\0\0\0\2up\0\0\1\0\1")
s.recv(512)' "$1" 2>/dev/null
}

# start_dnsmasq OPTION...: answers from $T/hosts, read again after a SIGHUP.
start_dnsmasq() {
	touch "$T/hosts"
	on_free_port names dns_ready dnsmasq --keep-in-foreground --port=PORT \
	    --listen-address=127.0.0.1 --bind-interfaces --no-resolv \
	    --no-hosts --addn-hosts="$T/hosts" --conf-file=/dev/null \
	    --user=root --pid-file= --no-poll --local-service \
	    --log-facility=- --address=/up/127.0.0.1 "$@"
}

hosts() {
	printf '%s\n' "$@" >"$T/hosts"
	signal names HUP
}

@test "resolver: sessions are not lost while dnsmasq changes its answers" {
	local i port

	start_streams s1
	port=$(port_of s1)
	LISTEN=127.0.0.2:$port start_streams s2
	start_dnsmasq --local-ttl=0
	hosts '127.0.0.1 db.test'
	start_lfproxy < <(config "server = s db.test:$port resolve=ttl")
	wait_for 10 is addr s "127.0.0.1:$port"
	spawn client "$TOOLS/streamer" client "$(listening web)" \
	    --deadline $((200 * PATIENCE)) --connections 4 --pause 5 \
	    --duration 4
	for i in 2 1 2 1; do
		hosts "127.0.0.$i db.test"
		wait_for 10 is addr s "127.0.0.$i:$port"
	done
	finish client 120
}

@test "resolver: dnsmasq gives forty addresses in any order, also truncated" {
	local i all=()

	start_dnsmasq --local-ttl=1 --edns-packet-max=512
	for i in {1..40}; do
		all+=("127.0.1.$i db.test")
	done
	hosts "${all[@]}"
	start_lfproxy < <(config 'server = s db.test:80 resolve=ttl')
	wait_for 10 resolvers 'name db.test: resolved, .* and 32 more'
	counts truncated 1
	before=$(column addr s)
	wait_for 10 counts valid 4
	equal 'the address' "$before" "$(column addr s)"
}

# many N OPTIONS: so many servers, each with a name of its own.
many() {
	local i

	for ((i = 1; i <= $1; i++)); do
		echo "server = s$i host$i.test:80 $2"
	done
}

usable() {
	[ "$(ctl show stat | awk -F, '$2 ~ /^s[0-9]/ && $18 == "no check"' |
	    wc -l)" -eq "$1" ]
}

# A thousand questions are under way at a time: within the timeout the name server
# has to get through as many.  What happens is on the control thread alone, and
# 2 000 servers are many for ThreadSanitizer.
# bats test_tags=onethread
@test "resolver: a start with 2 000 names comes up beside a silent name server" {
	start_names
	names '* silent'
	start_lfproxy < <(config "$(many 2000 resolve=ttl)" |
	    sed 's/^timeout.*/timeout = 5s/')
	is status s1 'MAINT (resolution)'
	is status s2000 'MAINT (resolution)'
	ctl show servers app | grep -q 's2000 .*MAINT'
	ctl show resolvers >"$T/resolvers"
	equal names 2000 "$(grep -c '^ name host' "$T/resolvers")"
	lfproxy_said 'server app/s1 is in maintenance: its name .* is not resolved'
	wait_for 10 lfproxy_said 'the names of [0-9]* more servers are not resolved'
	[ "$(wc -l <"$LFPROXY_LOG")" -lt 100 ] ||
	    fail "$(wc -l <"$LFPROXY_LOG") lines"
	names '* ttl=60 127.0.0.1'
	wait_for 300 usable 2000
}

@test "resolver: a slow name server gets no more questions than it answers in time" {
	start_names 50
	names '* ttl=3600 127.0.0.1'
	start_lfproxy < <(config "$(many 300 resolve=ttl)" |
	    sed 's/^timeout.*/timeout = 1s/')
	wait_for 60 usable 300
	# Two for each name, and some that come again.
	[ "$(wc -l <"$NAMES.asked")" -le 750 ] ||
	    fail "$(wc -l <"$NAMES.asked") questions"
}

# ready_in FILE: the milliseconds from the start until lfproxy is ready.
ready_in() {
	local from

	: >"$T/ready.err"
	from=$(now_ms)
	"$LFPROXY" -c "$1" 2>"$T/ready.err" &
	LFPROXY_PID=$!
	until has_match 'ready' "$T/ready.err"; do
		pause 0.002
	done
	took=$(($(now_ms) - from))
	echo "ready after $took ms"
	kill "$LFPROXY_PID"
	wait "$LFPROXY_PID" || :
	LFPROXY_PID=
}

quick_start() {
	ready_in "$T/x.ini"
	[ "$took" -le 100 ]
}

# bats test_tags=timing
@test "resolver: a start with 2 000 names beside a silent name server takes 100 ms" {
	start_names
	names '* silent'
	config "$(many 2000 resolve=ttl)" >"$T/x.ini"
	tries 5 quick_start
}

all_at() {
	[ "$(ctl show stat | grep -c ",$2,")" -eq "$1" ]
}

all_kept() {
	[ "$(ctl show resolvers | grep -c '^ name .*: kept')" -eq "$1" ]
}

# turns_in_time N: the loop's longest turn, of CPU time, since its figures were
# reset.
turns_in_time() {
	local longest

	ctl clear loop
	names '* ttl=0 127.0.0.1 127.0.0.2'
	wait_for 60 usable "$1"
	ctl resolve now
	names '* ttl=0 127.0.0.3'
	wait_for 60 all_at "$1" 127.0.0.3:80
	names '* servfail'
	wait_for 60 all_kept "$1"
	longest=$(ctl show info | awk '$1 == "LoopMaxCpu_us:" { print $2 }')
	echo "longest turn: $longest us"
	[ "$longest" -le 50000 ]
}

# bats test_tags=timing
@test "resolver: 2 000 names with a TTL of 0 take no long turns of the loop" {
	start_names
	names '* silent'
	start_lfproxy < <(config "$(many 2000 resolve=ttl)" |
	    sed 's/^ttl_min.*/ttl_min = 3s/')
	tries 5 turns_in_time 2000
}
