#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sets of servers whose members stand in a file: who comes and goes, what stays,
# and that no session is lost.

load helpers
load stat

# members FILE LINE...: the file is replaced as a whole.
members() {
	local file=$1

	shift
	printf '%s\n' "$@" >"$file.new"
	mv "$file.new" "$file"
}

# set_of LINES: lfproxy with a frontend web; LINES are those of [backend app].
set_of() {
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\n%s\n' "$1"
	} >"$T/lfproxy.ini"
	sed -i 's/^\[global\]/&\nhttp = 127.0.0.1:0/' "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# servers TEXT: the names and addresses in backend app.
servers() {
	[ "$(ctl --json show servers "${2:-app}" | python3 -c 'import json, sys
print(*(s["server"] + "=" + s["address"] for s in json.load(sys.stdin)))')" = "$1" ]
}

# set_says NAME VALUE: of the first set in `show sets`.
set_says() {
	[ "$(ctl --json show sets | python3 -c 'import json, sys
print(json.load(sys.stdin)[0][sys.argv[1]])' "$1")" = "$2" ]
}

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

# hold NAME N: verified connections that stay.
hold() {
	spawn "$1" "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count "$2" --verify --deadline 200
}

@test "sets: servers follow their file whatever its order, and keep names and sessions" {
	start_greeter a
	start_greeter b
	start_greeter c
	members "$T/app" "$(addr a) maxconn=7" "$(addr b)"
	set_of "check = off
servers = app 5 file=$T/app"
	first=$(printf '%s\n' "$(addr a)" "$(addr b)" | sort -V | head -n 1)
	second=$(printf '%s\n' "$(addr a)" "$(addr b)" | sort -V | tail -n 1)
	servers "app1=$first app2=$second"
	hold held 4
	wait_for 10 has scur app1 2
	wait_for 10 has scur app2 2
	members "$T/app" "$(addr c)" '# reordered' "$(addr b)" "$(addr a) maxconn=9"
	wait_for 10 servers "app1=$first app2=$second app3=$(addr c)"
	has scur app1 2
	has scur app2 2
	run -0 ctl show servers
	[[ $output == *"from file=$T/app, for "* ]]
	wait_for 5 eventful 'the set app has 3 servers by file=.*: 1 new, 0 gone, 0 at another address, 1 with other options'
	# A server that leaves keeps its sessions and gets no new one.
	members "$T/app" "$(addr c)" "$second"
	wait_for 10 servers "app2=$second app3=$(addr c)"
	wait_for 5 eventful 'app/app1 is removed; its 2 sessions may go on'
	hold more 6
	wait_for 10 has scur app3 3
	# The number returns with the address.
	members "$T/app" "$(addr c)" "$second" "$first"
	wait_for 10 servers "app1=$first app2=$second app3=$(addr c)"
	has scur app1 2
	has scur app2 5
}

@test "sets: streams go on while members come and go, and a reload is among it" {
	for s in a b c d; do
		start_streams $s
	done
	members "$T/app" "$(addr a)" "$(addr b)"
	set_of "check = connect interval=100ms rise=1
retries = 0
servers = app 9 file=$T/app"
	begin_load
	members "$T/app" "$(addr b)" "$(addr c)" "$(addr a)"
	wait_for 10 set_says members 3
	wait_for 10 has status app3 UP
	members "$T/app" "$(addr c)" "$(addr d)"
	wait_for 10 set_says members 2
	run -0 ctl reload
	members "$T/app" "$(addr d)" "$(addr a)"
	wait_for 10 set_says updates 4
	run -0 ctl reload
	members "$T/app" "$(addr a)"
	wait_for 10 set_says members 1
	end_load
	refute grep -q 'ERROR' "$T/load.err"
}

# bats test_tags=covered
@test "sets: a member that comes is checked before it gets a session" {
	start_greeter a
	members "$T/app" "$(addr a)"
	set_of "check = connect interval=100ms fall=1 timeout=5s
servers = app 5 file=$T/app"
	has status app1 UP
	hold_port 127.0.0.1:0
	wait_for 10 has_match 'listening on' "$held"
	members "$T/app" "$(addr a)" "$(sed -n 's/^listening on //p' "$held")"
	wait_for 10 set_says members 2
	wait_for 10 has status app2 DOWN
	has stot app2 0
	# And without checks it is up at once.
	sed -i 's/^check = .*/check = off/' "$T/lfproxy.ini"
	run -0 ctl reload
	wait_for 10 has status app2 'no check'
}

# bats test_tags=covered
@test "sets: a member that comes starts slowly once its checks have passed" {
	start_greeter a
	start_greeter b
	members "$T/app" "$(addr a)"
	set_of "check = connect interval=100ms fall=1 rise=1 timeout=5s
slow_start = 1d
servers = app 5 file=$T/app"
	has status app1 UP
	has weight app1 100
	members "$T/app" "$(addr a)" "$(addr b)"
	wait_for 10 has status app2 UP
	has throttle app2 2
	has weight app2 2
	has weight app1 100
}

@test "sets: a file that is missing, wrong or half-written changes nothing" {
	members "$T/app" 127.0.0.1:7 127.0.0.2:7
	set_of "check = off
servers = app 5 file=$T/app"
	members "$T/app" 'app1 127.0.0.1:7' 'app2 127.0.0.2:7'
	wait_for 10 lfproxy_said "stay as they are: $T/app:1: 'app1' is not an address"
	servers 'app1=127.0.0.1:7 app2=127.0.0.2:7'
	set_says errors 1
	rm "$T/app"
	wait_for 10 lfproxy_said 'stay as they are: .*/app: cannot be opened: No such file'
	servers 'app1=127.0.0.1:7 app2=127.0.0.2:7'
	# A reload goes on with them, and with the file the set is whole again.
	run -0 ctl reload
	servers 'app1=127.0.0.1:7 app2=127.0.0.2:7'
	members "$T/app" 127.0.0.3:7 127.0.0.1:7 127.0.0.2:7
	wait_for 10 servers 'app1=127.0.0.1:7 app2=127.0.0.2:7 app3=127.0.0.3:7'
	lfproxy_said "servers from file=$T/app can be read again"
	# Half a line is no server, until the rest of it has come.
	printf '127.0.0.1:7\n127.0.0.2:7\n127.0.0.3:7\n127.0.0.4:' >"$T/app"
	printf '77\n' >>"$T/app"
	wait_for 10 servers 'app1=127.0.0.1:7 app2=127.0.0.2:7 app3=127.0.0.3:7 app4=127.0.0.4:77'
	# Without its line end it counts when it is left alone.
	printf '127.0.0.1:7\n127.0.0.2:7' >"$T/app"
	wait_for 10 servers 'app1=127.0.0.1:7 app2=127.0.0.2:7'
}

@test "sets: a wrong member is left out, or keeps its former options, and is told once" {
	members "$T/app" '127.0.0.1:7 weight=5' 127.0.0.2:7
	set_of "check = off
servers = app 5 file=$T/app"
	members "$T/app" '127.0.0.1:7 weight=999' 127.0.0.2:7 '127.0.0.3:7 wieght=4' 127.0.0.4:7
	wait_for 10 lfproxy_said 'member 127.0.0.3:7 .line 3. of the set app is left out: unknown option .wieght.'
	wait_for 10 lfproxy_said 'member 127.0.0.1:7 .line 1. of the set app keeps its former options: weight: .999. is not'
	wait_for 10 servers 'app1=127.0.0.1:7 app2=127.0.0.2:7 app4=127.0.0.4:7'
	has weight app1 5
	set_says left_out 1
	members "$T/app" '127.0.0.1:7 weight=999' 127.0.0.2:7 '127.0.0.3:7 wieght=4' 127.0.0.4:7 127.0.0.5:7
	wait_for 10 set_says members 4
	said_times 1 'is left out'
	said_times 1 'keeps its former options'
	# More than the set may have: the first by their keys, told once.
	members "$T/app" 127.0.0.{10,2,1,4,5,6,9}:7
	wait_for 10 servers 'app1=127.0.0.1:7 app2=127.0.0.2:7 app3=127.0.0.6:7 app4=127.0.0.4:7 app5=127.0.0.5:7'
	lfproxy_said 'the set app has 2 members more than its 5 servers'
}

@test "sets: a member with any option wrong is left out, and no other one" {
	local option n=1 # agent_send may be any text

	members "$T/app" 127.0.0.1:7
	set_of "check = off
servers = app 200 file=$T/app"
	{
		echo 127.0.0.1:7
		echo 127.0.0.2:7 track=nope/x
		echo 127.0.0.3:7 track=app/x
		echo 127.0.0.4:7 track=app1
		echo nonsense:port
		for option in $("$LFPROXY" --list-keys | cut -f 2 |
		    sed -n 's/^server://p' | grep -vx agent_send | sort -u); do
			echo "127.0.1.$((n++)):7 $option=%wrong%"
		done
		echo 127.0.0.5:7
	} >"$T/app.new"
	[ "$n" -gt 30 ]
	mv "$T/app.new" "$T/app"
	wait_for 10 set_says members 2
	set_says left_out $((n + 3))
	run ctl --json show servers app
	equal "servers" "127.0.0.1:7 127.0.0.5:7" \
	    "$(jq -r '.[].address' <<<"$output" | xargs)"
	lfproxy_said "app: member 127.0.0.2:7 .line 2. of the set app is left\
 out: .*unknown backend 'nope'"
	lfproxy_said "app: member 127.0.0.4:7 .line 4. of the set app .*app/app1 would be"
}

@test "sets: a line that is wrong is left out of a file, and no other one" {
	{
		echo 127.0.0.1:7
		echo app2 127.0.0.2:7
		printf '127.0.0.3:7 \001\n'
		printf '127.0.0.4:7 %5000s\n' x
		echo 127.0.0.1:7 weight=5
		echo 127.0.0.5:7
	} >"$T/app"
	run "$LFPROXY" -t -c <(printf '[frontend web]\nlisten = 127.0.0.1:0
backend = app\n[backend app]\nservers = app 3 file=%s\n' "$T/app")
	[[ $output == *"member app2 127.0.0.2:7 (line 2) would be left out: 'app2' is not an address"*"(source: file=$T/app)"* ]] ||
	    fail "$output"
	set_of "check = off
servers = app 3 file=$T/app"
	servers 'app1=127.0.0.1:7 app2=127.0.0.5:7'
	set_says errors 0
	set_says left_out 4
	lfproxy_said "servers from file=$T/app: line 2, 'app2 127.0.0.2:7', is left out: 'app2' is not an address"
	lfproxy_said "servers from file=$T/app: line 3 is left out: the line has a control"
	lfproxy_said "servers from file=$T/app: line 4 is left out: the line has more than"
	lfproxy_said "servers from file=$T/app: line 5, .* is left out: the address is in line 1 as well"
	members "$T/app" 127.0.0.{1,5,6}:7 'app2 127.0.0.2:7'
	wait_for 10 servers 'app1=127.0.0.1:7 app2=127.0.0.5:7 app3=127.0.0.6:7'
	wait_for 10 set_says left_out 1
	said_times 1 "line 2, 'app2 127.0.0.2:7', is left out"
}

# bats test_tags=covered
@test "sets: more than half go only when a second look confirms it" {
	members "$T/app" 127.0.0.{1,2,3,4}:7
	set_of "check = off
servers = app 5 file=$T/app"
	members "$T/app" 127.0.0.1:7
	wait_for 10 lfproxy_said '3 of the 4 servers of the set app would go; its source is asked once more'
	wait_for 10 servers 'app1=127.0.0.1:7'
	# A glitch is over before the second look.
	members "$T/app" 127.0.0.{1,2,3,4}:7
	wait_for 10 set_says members 4
	set_says updates 3
	members "$T/app" 127.0.0.9:7
	wait_for 10 said_times 2 'would go; its source is asked'
	members "$T/app" 127.0.0.{1,2,3,4}:7
	wait_for 10 set_says awaits_confirmation False
	set_says updates 3
	servers 'app1=127.0.0.1:7 app2=127.0.0.2:7 app3=127.0.0.3:7 app4=127.0.0.4:7'
	sed -i 's/^servers = .*/& confirm=off/' "$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *'servers app: confirm: half -> off'* ]]
	members "$T/app" '; none'
	wait_for 10 servers ''
	said_times 2 'would go; its source is asked'
}

@test "sets: backends share a source, stand beside single servers, and a reload knows them" {
	members "$T/app" 127.0.0.1:7
	set_of "check = off
servers = app 5 file=$T/app
server = single 127.0.0.9:9
[backend other]
check = off
servers = x 3 file=$T/app backup"
	servers 'single=127.0.0.9:9 app1=127.0.0.1:7'
	servers 'x1=127.0.0.1:7' other
	members "$T/app" 127.0.0.1:7 127.0.0.2:7
	wait_for 10 servers 'x1=127.0.0.1:7 x2=127.0.0.2:7' other
	servers 'single=127.0.0.9:9 app1=127.0.0.1:7 app2=127.0.0.2:7'
	# What commands do beside a set, and with its servers.
	run -0 ctl add server app/added 127.0.0.8:8
	run -1 ctl add server app/app4 127.0.0.8:8
	[[ $output == *"the name 'app4' is a name of the set 'app'"* ]]
	run -1 ctl del server app/app1
	[[ $output == *'This server is a member of a set'* ]]
	run -0 ctl set weight app/app1 3
	run -0 ctl disable server app/app2
	members "$T/app" 127.0.0.3:7 127.0.0.1:7 127.0.0.2:7
	wait_for 10 servers 'single=127.0.0.9:9 added=127.0.0.8:8 app1=127.0.0.1:7 app2=127.0.0.2:7 app3=127.0.0.3:7'
	has weight app1 3
	has status app2 MAINT
	# A reload keeps the set that stays, and removes the one that goes.
	sed -i '/^servers = x/d' "$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *'backend other: servers x is removed'* ]]
	servers 'single=127.0.0.9:9 app1=127.0.0.1:7 app2=127.0.0.2:7 app3=127.0.0.3:7'
	servers '' other
	has weight app1 3
	sed -i "s|^servers = app.*|servers = new 2 file=$T/app weight=4|" "$T/lfproxy.ini"
	run -0 ctl reload
	servers 'single=127.0.0.9:9 new1=127.0.0.1:7 new2=127.0.0.2:7'
	has weight new1 4
	run -0 fetch "$(sed -n 's|.*monitoring at ||p' "$LFPROXY_LOG")metrics"
	[[ $output == *'lfproxy_set_members{proxy="app",set="new"} 2'* ]]
	[[ $output == *'lfproxy_set_left_out{proxy="app",set="new"} 1'* ]]
}

# up VALUE: the source of the only set.
up() {
	fetch "$(sed -n 's|.*monitoring at ||p' "$LFPROXY_LOG")metrics" |
	    grep -qxF "lfproxy_set_up{proxy=\"app\",set=\"app\"} $1"
}

@test "sets: a metric tells whether the source can be read" {
	set_of "check = off
servers = app 5 file=$T/app"
	up 0 # so far there was no report
	members "$T/app" 127.0.0.1:7
	wait_for 10 up 1
	rm "$T/app"
	wait_for 10 up 0
	servers 'app1=127.0.0.1:7'
	members "$T/app" 127.0.0.1:7
	wait_for 10 up 1
}

@test "sets: lfproxy starts without its file, and -t warns of it and of wrong members" {
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\ncheck = off\nservers = app 5 file=%s\n' "$T/app"
	} >"$T/lfproxy.ini"
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *"lfproxy.ini:"*": servers app: $T/app: cannot be opened: No such file"* ]]
	launch_lfproxy -c "$T/lfproxy.ini"
	servers ''
	members "$T/app" 127.0.0.1:7 '127.0.0.2:7 weight=x'
	wait_for 10 servers 'app1=127.0.0.1:7'
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *'servers app: member 127.0.0.2:7 (line 2) would be left out: '* ]]
}

@test "sets: two lfproxies agree by hash although their files have another order" {
	members "$T/one" 127.0.0.{1,2,3,4,5,6,7}:7
	members "$T/two" 127.0.0.{7,1,5}:7
	for n in one two; do
		{
			common | sed "s|^admin = .*|admin = $T/$n.sock|"
			printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
			printf '[backend app]\ncheck = off\nbalance = hash\n'
			printf 'servers = %s 9 file=%s\n' $n "$T/$n"
		} >"$T/$n.ini"
		spawn "$n" "$LFPROXY" -c "$T/$n.ini"
	done
	wait_for 10 unix_listens "$T/two.sock"
	wait_for 10 unix_listens "$T/one.sock"
	members "$T/two" 127.0.0.{6,7,1,2,5,4,3}:7
	at() {
		for i in $(seq 20); do
			"$CTL" -S "$T/$1.sock" --json explain "10.0.0.$i" web |
			    grep -oE '"chosen":true[^}]*"address":"[^"]*"' |
			    sed 's/.*"address":"//'
		done
	}
	agree() {
		[ "$(at one)" = "$(at two)" ]
	}
	wait_for 20 agree
	[ "$(at one | sort -u | wc -l)" -ge 5 ]
	[ "$(at one | wc -l)" -eq 20 ]
	# Their names differ: the second had three servers before.
	run -0 "$CTL" -S "$T/two.sock" show servers
	[[ $output == *'two2 '*' 127.0.0.5:7 '* ]]
}
