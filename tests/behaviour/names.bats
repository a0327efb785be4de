#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Servers that are given by name, and name servers that do not answer: one of the
# test's own (nametool.py) says what names stand for.

# bats file_tags=basic

load helpers
load operator

NAMES=$T/names

setup() {
	untraced
	LEVEL=$BASH_SUBSHELL
	: >"$NAMES"
	serve names python3 -B "$ROOT/tests/behaviour/nametool.py" "$NAMES"
}

# names LINE...: what the name server says from now on, `NAME ADDRESS` and so on.
names() {
	printf '%s\n' "$@" >"$NAMES.new"
	mv "$NAMES.new" "$NAMES"
}

# config LINE...: further lines of the backend.
config() {
	common
	printf '[resolver]\nnameserver = %s\ntimeout = 200ms\n' "$(addr names)"
	printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
	printf '%s\n' "${FRONTEND:-}"
	printf '[backend app]\n'
	printf '%s\n' "$@"
}

CHECKED='check = connect interval=100ms'

eventful() {
	ctl show events | grep -qE -- "$1"
}

port_of() {
	addr "$1" | sed 's/.*://'
}

asked() {
	[ "$(grep -c "^$1 " "$NAMES.asked")" -ge "$2" ]
}

served_by() {
	[ "$(fetch "$(url)" | head -1)" = "$1" ]
}

@test "names: a start goes on while a name server keeps silent, and says so" {
	names 'db silent' 'no none'
	start_app a
	start_lfproxy < <(config "$CHECKED" "server = a $(addr a)" \
	    'server = b db:80' 'server = c no:80')
	wait_for 10 is status b 'MAINT (resolution)'
	wait_for 10 is status c 'MAINT (resolution)'
	lfproxy_said "server app/b is in maintenance: its name 'db' is not resolved: no answer"
	wait_for 10 lfproxy_said "its name 'no' is not resolved: there is no such name"
	eventful ' warning server_unresolved app/b: .*'
	# HAProxy's value of an unresolved server is 0x20; name and port are
	# shown.
	ctl show servers state | grep -qE ' b - 0 32 .* db 80 - '
	ctl explain 192.0.2.1 | grep -q unresolved
	served_by a
	# Nothing that an operator says of it makes it usable.
	ctl set server app/b state ready
	is status b 'MAINT (resolution)'
}

@test "names: while names hang a reload answers, and everything goes on" {
	names 'db silent' 'other silent'
	start_app a
	FRONTEND='timeout_client = 1s'
	start_lfproxy < <(config "$CHECKED" \
	    "server = a $(addr a)" 'server = b db:80')
	spawn idle socat -u "TCP:$(listening web)" "CREATE:$T/idle"
	config "$CHECKED" "server = a $(addr a) weight=7" \
	    'server = b db:80' 'server = c other:80' >"$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *"app/b is in maintenance: its name 'db' is not resolved"* ]]
	[[ $output == *"app/c is in maintenance: its name 'other' is not resolved"* ]]
	is weight a 7
	ctl show info | grep -q '^Name: '
	wait_for 30 ended "${PIDS[idle]}"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 said_times 2 'reloaded: '
	served_by a
	asked db 1
	stop_lfproxy
}

# Symptom: lfproxyctl succeeded when an error was found after the look-ups.
@test "names: a reload that waits for names and then fails is an error" {
	names 'db silent'
	start_app a
	start_app taken
	start_lfproxy < <(config 'check = off' "server = a $(addr a)")
	config 'check = off' "server = a $(addr a)" 'server = b db:80' |
	    sed "/^listen/a listen = $(addr taken)" >"$T/lfproxy.ini"
	run -1 ctl reload
	[[ $output == *"cannot listen on $(addr taken)"* ]]
}

@test "names: SIGTERM is answered while a reload waits for names" {
	names 'db silent'
	start_app a
	start_lfproxy < <(config 'check = off' "server = a $(addr a)")
	config 'check = off' "server = a $(addr a)" 'server = b db:80' \
	    >"$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	kill -TERM "$LFPROXY_PID"
	await_lfproxy 15
}

@test "names: a server comes up by itself when its name server is back" {
	names 'db silent'
	start_app a
	start_lfproxy < <(config "$CHECKED" "server = a db:$(port_of a)")
	is status a 'MAINT (resolution)'
	names 'db 127.0.0.1'
	wait_for 10 eventful ' server_resolved app/a: .* is at 127.0.0.1:'
	wait_for 10 served_by a
	is status a UP
	equal 'the address' "$(addr a)" "$(column addr a)"
}

@test "names: a name that does not exist is looked up again until it does" {
	names 'db none'
	start_app a
	start_lfproxy < <(config "$CHECKED" "server = a db:$(port_of a)")
	wait_for 10 eventful ' server_unresolved app/a: .*no such name'
	wait_for 30 asked db 3
	names 'db 127.0.0.1'
	wait_for 60 served_by a
}

@test "names: a name that many servers have is looked up once" {
	names 'db 127.0.0.1'
	start_lfproxy < <(
		config 'check = off'
		for i in {1..100}; do
			echo "server = s$i db:$((1000 + i))"
		done
	)
	equal 'look-ups' 1 "$(grep -c '^db 1 ' "$NAMES.asked")"
	equal 'an address' 127.0.0.1:1100 "$(column addr s100)"
}

@test "names: a name without an answer delays no other name" {
	local i hosts=()

	for i in {1..7}; do
		hosts+=("slow$i silent")
	done
	names "${hosts[@]}" 'quick 127.0.0.1'
	start_app a
	start_lfproxy < <(
		config 'check = off'
		for i in {1..7}; do
			echo "server = s$i slow$i:80"
		done
		echo "server = a quick:$(port_of a)"
	)
	wait_for 10 served_by a
	is status s7 'MAINT (resolution)'
}

@test "names: a reload follows a name that stands for another address" {
	names 'db 127.0.0.1'
	start_app a
	start_app b
	start_lfproxy < <(config 'check = off' "server = s db:$(port_of a)")
	served_by a
	# The same server: what was said of it holds.
	ctl set server app/s weight 3
	names 'db 127.0.0.2'
	run -0 ctl reload
	wait_for 10 is addr s "127.0.0.2:$(port_of a)"
	is weight s 3
	# And keeps its address while there is no answer, or none at all.
	names 'db silent'
	run -0 ctl reload
	equal 'the answer of the reload' 'No change.' "$output"
	is addr s "127.0.0.2:$(port_of a)"
	names 'db none'
	wait_for 10 eventful ' server_unresolved app/s: .*stays at 127.0.0.2'
	is addr s "127.0.0.2:$(port_of a)"
	# Another name is another server.
	names 'db none' 'new 127.0.0.1'
	sed -i 's/db:/new:/' "$T/lfproxy.ini"
	ctl reload
	wait_for 10 served_by a
	is weight s 100
}

@test "names: an operator's address holds over what the name stands for" {
	names 'db silent'
	start_app a
	start_lfproxy < <(config 'check = off' "server = s db:$(port_of a)")
	ctl set server app/s addr 127.0.0.1 | grep -q "from '-' to '127.0.0.1'"
	served_by a
	names 'db 127.0.0.2'
	wait_for 10 asked db 1
	ctl reload
	is addr s "$(addr a)"
	served_by a
}

# follows NAME HOST: the server follows its name, which stands for that.
follows() {
	is addr "$1" "$2:$(port_of a)" && ! shows "show drift" "app/$1 addr"
}

# Symptom: the server stayed at the address that the name had stood for before.
@test "names: after an address for a time a server follows its name again" {
	names 'db 127.0.0.2'
	start_app a
	start_lfproxy < <(config 'check = off' "server = s db:$(port_of a)")
	wait_for 10 is addr s "127.0.0.2:$(port_of a)"
	answers 'app/s addr: 127.0.0.9 port [0-9]+ -> file in ' \
	    "set server app/s addr 127.0.0.1 for 4s; set server app/s addr 127.0.0.9 for 4s; show expiring"
	names 'db 127.0.0.3'
	ctl resolve now
	wait_for 20 nothing_of "show expiring"
	wait_for 10 follows s 127.0.0.3
	# An address for good is back after one for a time.
	ctl set server app/s addr 127.0.0.4
	ctl set server app/s addr file for 1s
	wait_for 20 nothing_of "show expiring"
	is addr s "127.0.0.4:$(port_of a)"
	shows "show drift" "app/s addr: file -> 127.0.0.4 port $(port_of a)"
}

# Symptom: the address for a time became one for good.
@test "names: an address for a time ends after a restart without the name" {
	names 'db 127.0.0.2' 'no none'
	start_app a
	start_lfproxy < <(config 'check = off' "server = s db:$(port_of a)" \
	    "server = t no:$(port_of a)" |
	    sed "/^\[global\]/a state_file = $T/state")
	wait_for 10 is addr s "127.0.0.2:$(port_of a)"
	ctl set server app/s addr 127.0.0.9 for 8s
	ctl set server app/t addr 127.0.0.9 for 8s
	stop_lfproxy
	names 'db none' 'no none'
	launch_lfproxy -c "$T/lfproxy.ini"
	wait_for 30 nothing_of "show expiring"
	wait_for 10 is status t 'MAINT (resolution)'
	refute shows "show drift" 'app/[st] addr'
	names 'db 127.0.0.3' 'no 127.0.0.4'
	ctl resolve now
	wait_for 60 follows s 127.0.0.3
	wait_for 60 follows t 127.0.0.4
}

@test "names: the file's address can be set while the name is not resolved" {
	names 'db none'
	start_app a
	start_lfproxy < <(config "$CHECKED" "server = s db:$(port_of a)")
	ctl set server app/s addr 127.0.0.1
	wait_for 10 served_by a
	run -0 ctl undo drift server app/s addr
	[[ $output == *"to 'db:$(port_of a)', that of the file"* ]] ||
	    fail "$output"
	is status s 'MAINT (resolution)'
	refute shows "show drift" 'app/s addr'
	lfproxy_said 'app/s follows its name again, which is not resolved, db:'
	# Nothing else changes it.
	equal 'the answer' 'nothing changed' "$(ctl set server app/s addr file)"
	run ctl set server app/s addr file port 9
	[[ $output == *"Invalid addr 'file'"* ]] || fail "$output"
	names 'db 127.0.0.1'
	wait_for 60 served_by a
}

# Symptom: the address replaced the name.
@test "names: save config leaves the name in the file" {
	local how

	names 'db 127.0.0.2'
	start_app a
	start_lfproxy < <(config 'check = off' "server = s db:$(port_of a)")
	ctl set weight app/s 7
	ctl set server app/s addr 127.0.0.1
	shows "show drift" 'app/s addr: file -> .* \(the file has a name, which'
	for how in dry-run ''; do
		# shellcheck disable=SC2086 # no word when it is empty
		run -0 "$CTL" -S "$ADMIN" save config $how
		[[ $output == *'app/s addr: file -> 127.0.0.1 port '*': not saved, the file has a name, which '* ]] ||
		    fail "$output"
		[[ $output == *'1 change '*'saved, 1 left.' ]] || fail "$output"
	done
	grep -qx "server = s db:$(port_of a) weight=7" "$T/lfproxy.ini"
	served_by a
}

@test "names: a server is deleted while its name is looked up" {
	names 'db silent'
	start_app a
	start_lfproxy < <(config 'check = off' "server = a $(addr a)" \
	    'server = b db:80')
	ctl del server app/b
	names 'db 127.0.0.2'
	ctl reload
	wait_for 10 is addr b 127.0.0.2:80
}

@test "names: add server takes a name and does not wait for it" {
	names 'db silent'
	start_app a
	start_lfproxy < <(config 'check = off' "server = a $(addr a)")
	ctl add server app/b "db:$(port_of a)"
	ctl enable server app/b
	is status b 'MAINT (resolution)'
	names 'db 127.0.0.1'
	wait_for 10 is addr b "$(addr a)"
	is status b 'no check'
	ctl disable server app/b
	is status b MAINT
	ctl del server app/b
}

@test "names: -t warns of names that are not resolved" {
	names 'no none' 'db 127.0.0.1'
	config 'check = off' 'server = a db:80' 'server = b no:80' >"$T/x.ini"
	run -0 "$LFPROXY" -t -c "$T/x.ini"
	[[ $output == *"x.ini:"*": server app/b would be in maintenance: its name 'no' is not resolved: there is no such name"* ]]
	[[ $output == *"configuration is valid"* ]]
	[[ $output != *app/a* ]]
}

@test "names: a name is looked up for the family of the source" {
	names 'db 127.0.0.1'
	start_app a
	start_lfproxy < <(config 'check = off' \
	    "server = a db:$(port_of a) source=127.0.0.3")
	served_by a
}

@test "names: an impossible name is an error" {
	config 'check = off' 'server = a no..where:80' >"$T/x.ini"
	run -78 "$LFPROXY" -t -c "$T/x.ini"
	[[ $output == *"'no..where' cannot be a host's name"* ]]
}

@test "names: a log goes to a syslog daemon when its name is resolved" {
	local syslog

	# A log's name is looked up by getaddrinfo(3), which a library takes the
	# place of.  A sanitizer wants to be the first library, and need not be.
	LIMIT="env SLOW_NAMES=$NAMES SLOW_NAMES_S=3600
	    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
	    LD_PRELOAD=$TOOLS/slow_names.so"
	names 'loghost silent'
	start_app a
	syslog=$(free_port)
	spawn daemon socat -u "UDP-RECV:$syslog,bind=127.0.0.1" \
	    "CREATE:$T/daemon.lines"
	FRONTEND="log = syslog=loghost:$syslog"
	start_lfproxy < <(
		config 'check = off' "server = a $(addr a)")
	served_by a
	names "loghost 127.0.0.1"
	wait_for 60 grep -qs ' web ' "$T/daemon.lines"
}
