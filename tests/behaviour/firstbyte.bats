#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# timeout_first_byte: clients that connect and send nothing, in every state.

load helpers
load stat

# The client whose descriptor is $1 gets that line.
gets() {
	local line

	read -t 60 -r -u "$1" line || fail "nothing came for '$2'"
	equal "the line" "$2" "${line%$'\r'}"
}

# told FD LINE: the server echoes the client's line.
told() {
	printf '%s\n' "$2" >&"$1"
	gets "$@"
}

in_state() {
	[ "$(ctl show sess json | grep -c "\"$1\"")" -eq "$2" ]
}

# silent_ends CODE MS [FRONTEND]: a client that connects now and sends nothing
# is ended with that code, and not before MS; its line is in S.
silent_ends() {
	local n

	n=$(sessions | wc -l)
	spawn silent "$TOOLS/badclient" idle "$(listening "${3:-web}")" \
	    --deadline 200
	wait_for 60 sessions_ended $((n + 1))
	parse_session "$(sessions | sed -n $((n + 1))p)"
	equal "the code" "$1" "${S[code]}"
	[ "${S[tt]}" -ge $(($2 - 5)) ] || fail "too early: ${S[tt]} ms"
}

# ends_after CODE MS N: the Nth session that ended, likewise.
ends_after() {
	wait_for 60 sessions_ended "$3"
	parse_session "$(sessions | sed -n "${3}p")"
	equal "the code" "$1" "${S[code]}"
	[ "${S[tt]}" -ge $(($2 - 5)) ] || fail "too early: ${S[tt]} ms"
}

# bats test_tags=covered
@test "first byte: a silent client gives its slot of maxconn back" {
	start_app a
	DEFAULTS=$'maxconn = 1\ntimeout_first_byte = 500ms' web a
	spawn silent "$TOOLS/badclient" idle "$(listening web)" --deadline 200
	wait_for 20 in_state RELAYING 1
	equal "the answer" a "$(fetch "$(url)")"
	ends_after cD 500 1
	ctl show closed json |
	    grep -q 'the client, once connected, sent nothing for timeout_first_byte'
	equal "client aborts" 1 "$(column cli_abrt a)"
}

# bats test_tags=covered
@test "first byte: a server may speak first by default" {
	start_greeter g
	web g
	cat >>"$T/lfproxy.ini" <<-END
		[frontend bounded]
		listen = 127.0.0.1:0
		backend = app
		timeout_first_byte = 500ms
	END
	ctl reload
	exec 4<>"/dev/tcp/127.0.0.1/$(port web)"
	gets 4 ready
	silent_ends cD 500 bounded
	told 4 HELO
	exec 4>&-
}

# bats test_tags=covered
@test "first byte: bytes of the server do not extend the time" {
	start_greeter g 0.05
	DEFAULTS='timeout_first_byte = 600ms' web g
	silent_ends cD 600
	[ "${S[bytes]}" -gt 6 ]
}

# bats test_tags=covered
@test "first byte: a client that sends one in time lives on" {
	start_greeter g
	DEFAULTS='timeout_first_byte = 3s' web g
	exec 4<>"/dev/tcp/127.0.0.1/$(port web)"
	gets 4 ready
	told 4 one
	silent_ends cD 3000
	told 4 two
	exec 4>&-
}

@test "first byte: a client that ends without one is not silent" {
	start_bad n never-read
	DEFAULTS=$'timeout_first_byte = 300ms\ntimeout_server_fin = 1200ms' web n
	spawn half socat -t 100 - "TCP:127.0.0.1:$(port web)"
	ends_after sD 1200 1
}

@test "first byte: the time runs in the queue" {
	start_greeter g
	DEFAULTS='timeout_first_byte = 2s' \
	    BACKEND=$'check = off\ntimeout_queue = 1h' web 'g maxconn=1'
	exec 4<>"/dev/tcp/127.0.0.1/$(port web)"
	gets 4 ready
	told 4 one
	exec 5<>"/dev/tcp/127.0.0.1/$(port web)"
	wait_for 20 in_state QUEUED 1
	printf 'two\n' >&5
	silent_ends cQ 2000
	equal "the server" '<NOSRV>' "${S[server]}"
	exec 4>&-
	gets 5 ready
	gets 5 two
	exec 5>&-
}

# bats test_tags=covered
@test "first byte: once it is there timeout_queue holds, and no longer" {
	start_greeter g
	DEFAULTS='timeout_first_byte = 800ms' \
	    BACKEND=$'check = off\ntimeout_queue = 2s' web 'g maxconn=1'
	exec 4<>"/dev/tcp/127.0.0.1/$(port web)"
	gets 4 ready
	told 4 one
	exec 5<>"/dev/tcp/127.0.0.1/$(port web)"
	printf 'two\n' >&5
	ends_after sQ 2000 1
	exec 4>&- 5>&-
}

# bats test_tags=covered
@test "first byte: while connecting, and between connects" {
	start_bad f full
	DEFAULTS=$'timeout_first_byte = 800ms\nretries = 0
timeout_connect = 2500ms' web f
	exec 4<>"/dev/tcp/127.0.0.1/$(port web)"
	printf 'one\n' >&4
	silent_ends cC 800
	ends_after sC 2500 2
	exec 4>&-
	stop_lfproxy
	start_bad r refuse
	DEFAULTS=$'timeout_first_byte = 500ms\nretries = 10' web r
	silent_ends cC 500
}

@test "first byte: while the frontend waits for a TLS hello" {
	start_greeter g
	DEFAULTS=$'timeout_first_byte = 600ms\ntimeout_hello = 1h' web g
	cat >>"$T/lfproxy.ini" <<-END
		[frontend names]
		listen = 127.0.0.1:0
		sni = a.example backend=app
		backend = app
		[frontend short]
		listen = 127.0.0.1:0
		sni = a.example backend=app
		backend = app
		timeout_hello = 100ms
		timeout_first_byte = 900ms
		[frontend strict]
		listen = 127.0.0.1:0
		sni = a.example backend=app
		timeout_hello = 1500ms
	END
	ctl reload
	exec 4<>"/dev/tcp/127.0.0.1/$(port names)"
	printf '\x16' >&4
	silent_ends cR 600 names
	in_state INSPECTING 1
	exec 4>&-
	wait_for 20 sessions_ended 2
	# After timeout_hello a session goes on to the default backend.
	silent_ends cD 900 short
	equal "the server" g "${S[server]}"
	exec 4<>"/dev/tcp/127.0.0.1/$(port strict)"
	printf '\x16' >&4
	ends_after cR 1500 4
	equal "hellos too late" 2 "$(ctl show stat |
	    awk -F , 'NR == 1 { for (i = 1; i <= NF; i++)
			if ($i == "lf_hello_timeouts") at = i }
		$2 == "FRONTEND" { sum += $at } END { print sum }')"
	exec 4>&-
}

@test "first byte: its time begins when the PROXY header is complete" {
	start_greeter g
	WEB='127.0.0.1:0 accept_proxy' \
	    DEFAULTS=$'timeout_first_byte = 2s\ntimeout_hello = 1h' web g
	exec 4<>"/dev/tcp/127.0.0.1/$(port web)"
	printf 'PROXY TCP4 192.0.2.9 ' >&4
	wait_for 20 in_state INSPECTING 1
	exec 5<>"/dev/tcp/127.0.0.1/$(port web)"
	printf 'PROXY TCP4 192.0.2.8 192.0.2.1 1 2\r\n' >&5
	gets 5 ready
	ends_after cD 2000 1
	[[ ${S[client]} == 192.0.2.8:* ]]
	# The header, however long it took, is not the client's first byte.
	in_state INSPECTING 1
	printf '192.0.2.1 1 2\r\n' >&4
	gets 4 ready
	ends_after cD 4000 2
	[[ ${S[client]} == 192.0.2.9:* ]]
	exec 4>&- 5>&-
	exec 4<>"/dev/tcp/127.0.0.1/$(port web)"
	printf 'PROXY TCP4 192.0.2.7 192.0.2.1 1 2\r\n' >&4
	gets 4 ready
	told 4 one
	exec 4>&-
}

@test "first byte: the time holds for a unix socket" {
	start_greeter g
	WEB="unix:$T/web.sock" DEFAULTS='timeout_first_byte = 600ms' web g
	spawn lives sh -c "(echo one; exec tail -f /dev/null) |
		exec socat -t 100 - UNIX:$T/web.sock"
	wait_for 20 grep -q one "$T/lives.out"
	spawn silent "$TOOLS/badclient" idle "unix:$T/web.sock" --deadline 200
	ends_after cD 600 1
	wait_for 20 in_state RELAYING 1
}

# bats test_tags=covered
@test "first byte: a reload holds for clients that come after it" {
	start_greeter g
	DEFAULTS='timeout_first_byte = 1h' web g
	exec 4<>"/dev/tcp/127.0.0.1/$(port web)"
	gets 4 ready
	sed -i 's/^timeout_first_byte.*/timeout_first_byte = 500ms/' \
	    "$T/lfproxy.ini"
	ctl reload
	silent_ends cD 500
	told 4 one
	exec 4>&-
}
