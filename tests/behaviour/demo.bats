# SPDX-License-Identifier: MIT
# The first steps of a new user: make run (scripts/demo), and make on a machine
# where nothing is installed.

# bats file_tags=onethread

load helpers

export LFPROXY_BUILD=$BUILD LFPROXY_TOOLS=$TOOLS

demo_said() {
	has_line "$1" "$2" || grep -qE -- "$2" "$T/$1.err"
}

demo_ready_or_ended() {
	has_line "$1" '^Ctrl-C stops' || ended "${PIDS[$1]}"
}

# some_port: in $base, with those after it below the ports that the kernel
# chooses from; another program may have one of them.
some_port() {
	base=$((10000 + RANDOM % 20000))
}

# demo NAME: tries again when another program has one of its four ports.  The
# first port is in $base.
demo() {
	local try

	for try in 1 2 3 4 5; do
		some_port
		spawn "$1" scripts/demo "$base"
		wait_for 20 demo_ready_or_ended "$1"
		ended "${PIDS[$1]}" || return 0
		unset "PIDS[$1]"
		remove_demo "$base"
	done
	fail "no demo started ($try times): $(cat "$T/$1.out" "$T/$1.err")"
}

setup() {
	untraced
	cd "$ROOT" || return
}

remove_demo() {
	rm -rf "build/demo-$1"
}

@test "demo: two run side by side, on the loopback address alone" {
	local first

	demo one
	first=$base
	demo two
	for port in "$first" "$base"; do
		run -0 fetch "http://127.0.0.1:$port/"
		[[ $output == app[12] ]]
		equal "where it listens" "127.0.0.1:$port" \
		    "$(ss -Hltn sport = ":$port" | awk '{ print $4 }')"
	done
	demo_said one "^    lfproxyctl top "
	demo_said one "^    lfproxyctl show servers"
	refute demo_said one "show stat"
	end one
	end two
	remove_demo "$first"
	remove_demo "$base"
}

@test "demo: the addresses come first, and the hints work in any folder" {
	local page

	demo hints
	page="http://127.0.0.1:$((base + 3))/"
	run -0 head -n 2 "$T/hints.out"
	[[ ${lines[0]} == "$page "* && ${lines[1]} == "http://127.0.0.1:$base/ "* ]]
	run -0 curl -s -m 10 -o /dev/null -w '%{content_type}' "$page"
	[[ $output == text/html* ]]
	sed -n 's/^    \(.*export .*\)/\1/p; s/^    \(lfproxyctl show servers\).*/\1/p' \
	    "$T/hints.out" >"$T/hints.sh"
	run -0 sh -c 'cd / && exec env -i PATH=/usr/bin:/bin sh -eu "$1"' - "$T/hints.sh"
	[[ $output == *app1* && $output == *app2* ]]
	end hints
	remove_demo "$base"
}

@test "demo: goes on after an upgrade, and ends with the successor" {
	local former next

	demo upgraded
	export LFPROXY_ADMIN=$PWD/build/demo-$base/admin.sock
	former=$("$CTL" show info | sed -n 's/^Pid: //p')
	run -0 "$CTL" upgrade
	wait_for 10 ended "$former"
	next=$("$CTL" show info | sed -n 's/^Pid: //p')
	[ "$next" != "$former" ]
	wait_for 10 demo_said upgraded '^demo: process [0-9]+ serves now'
	run -0 fetch "http://127.0.0.1:$base/"
	[[ $output == app[12] ]]
	end upgraded
	wait_for 10 ended "$next"
	remove_demo "$base"
}

# demo_refuses PORT: a demo on $base reports that this one of its ports is in use.
demo_refuses() {
	run -1 timeout 60 scripts/demo "$base"
	remove_demo "$base"
	[[ $output == *"port $1 is in use"*"PORT=9000 make run"* ]]
}

@test "demo: a port in use is reported with what to do" {
	local port

	some_port
	port=$base
	LISTEN=127.0.0.1:$port start_app other
	demo_refuses "$port"
	# The first server's.
	base=$((port - 1))
	demo_refuses "$port"
}

@test "demo: a port that is none" {
	run -2 scripts/demo web
	[[ $output == *"PORT must be a number from 1 to 65532, not 'web'"* ]]
	run -2 scripts/demo 65533
}

@test "make: without a compiler it says what to run" {
	run -2 make -s CC=no-such-compiler "B=$T/build" all
	[[ $output == *"compiler 'no-such-compiler' not found"* ]]
	[[ $output == *"run scripts/install-deps"* ]]
	[[ $output != *"No such file"* ]]
}

@test "make: without a header it says which, and what to run" {
	printf '#!/bin/sh\n! grep -qE "<(ev|jansson).h>"\n' >"$T/compiler"
	chmod +x "$T/compiler"
	run -2 make -s "CC=$T/compiler" "B=$T/build" all
	[[ $output == *"no header ev.h jansson.h"* ]]
	[[ $output == *"run scripts/install-deps"* ]]
}
