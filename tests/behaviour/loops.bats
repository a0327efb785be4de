#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Servers whose address is one of lfproxy's own.

# bats file_tags=onethread

load helpers
load checks
load ctl

# checked LINE...: what `lfproxy -t` says of a file with these lines.
checked() {
	printf '%s\n' "$@" >"$T/loop.ini"
	run -0 "$LFPROXY" -t -c "$T/loop.ini"
}

# circle LISTEN SERVER: whether a frontend at LISTEN leads to itself by SERVER.
circle() {
	checked '[frontend web]' "listen = $1" 'backend = app' \
	    '[backend app]' "server = a $2"
	[[ $output == *"loop.ini:5: "*"server app/a is [frontend web] itself, which leads back to the server: no more than 8 sessions"* ]]
}

@test "loops: -t names a server that is its own frontend" {
	local pair

	for pair in 127.0.0.1:99,127.0.0.1:99 :99,127.0.0.1:99 :99,[::1]:99 \
	    0.0.0.0:99,127.0.0.9:99 [::]:99,[::1]:99 127.0.0.1:99,0.0.0.0:99 \
	    127.0.0.1:90-99,127.0.0.1:95 unix:/a/b,unix:/a/b ":99,127.0.0.1 check=off" \
	    :99,localhost:99 127.0.0.1:99,LOCALHOST:99; do
		circle "${pair%,*}" "${pair#*,}" || fail "$pair: $output"
	done
	for pair in 127.0.0.1:99,127.0.0.1:98 127.0.0.1:99,127.0.0.2:99 \
	    0.0.0.0:99,[::1]:99 :99,192.0.2.1:99 unix:/a/b,unix:/a/c \
	    ":99,127.0.0.1:+1 check=off" 192.0.2.1:99,127.0.0.1:99; do
		refute circle "${pair%,*}" "${pair#*,}"
	done
}

@test "loops: -t follows frontends in a row, rules and fallbacks" {
	local row=('[frontend first]' 'listen = 127.0.0.1:91' 'backend = one'
	    '[backend one]' 'server = a 127.0.0.1:92'
	    '[frontend second]' 'listen = 127.0.0.1:92' 'backend = two'
	    '[backend two]' 'server = b 127.0.0.1:93')

	checked "${row[@]}"
	[[ $output != *itself* ]] || fail "$output"
	checked "${row[@]}" '[frontend third]' 'listen = 127.0.0.1:93' \
	    'backend = three' 'sni = a.test backend=one' '[backend three]' \
	    'server = c 192.0.2.1:1'
	[[ $output == *'server one/a is [frontend second]'* ]] ||
	    fail "$output"
	[[ $output == *'server two/b is [frontend third]'* ]] || fail "$output"
	checked "${row[@]/#backend = two/backend = two fallback=one}"
	[[ $output == *'server one/a is [frontend second]'* ]] ||
	    fail "$output"
	[[ $output != *'server two/b'* ]] || fail "$output"
}

@test "loops: one takes few sessions, and not those of others" {
	start_app good
	start_lfproxy <<-END
		$(common)
		[frontend web]
		listen = 127.0.0.1:0
		backend = good
		[frontend circle]
		listen = unix:$T/circle.sock
		backend = app
		[backend good]
		check = off
		server = good $(addr good)
		[backend app]
		timeout_queue = 100ms
		check = connect interval=50ms
		server = again unix:$T/circle.sock
	END
	wait_for 10 lfproxy_said 'server app/again is \[frontend circle\] itself'
	wait_for 10 sessions_seen 20
	equal "good answers" good "$(fetch "http://127.0.0.1:$(port web)/")"
	[ "$(column again smax)" -le 8 ] || fail "$(column again smax) sessions"
}

@test "loops: servers that are added and those of sets are named, too" {
	start_app good
	printf '%s\n' "$(addr good)" >"$T/app.servers"
	start_lfproxy <<-END
		$(common)
		[frontend circle]
		listen = unix:$T/circle.sock
		backend = app
		[backend app]
		servers = set 4 file=$T/app.servers
	END
	ctl add server app/added "unix:$T/circle.sock"
	wait_for 10 lfproxy_said 'server app/added is \[frontend circle\] itself'
	printf '%s\n' "unix:$T/circle.sock" >>"$T/app.servers"
	wait_for 10 lfproxy_said 'server app/set2 is \[frontend circle\] itself'
	equal "warnings" 2 "$(grep -c "is \[frontend circle\] itself" "$LFPROXY_LOG")"
}

# sessions_seen N: so many sessions have come to the circle, at least.
sessions_seen() {
	[ "$(column again stot)" -ge "$1" ]
}
