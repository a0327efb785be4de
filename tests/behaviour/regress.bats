# SPDX-License-Identifier: MIT
# Former bugs, named by their symptoms.

load helpers

@test "regress: a server that does not read is blamed for it, not the client" {
	start_bad n never-read
	DEFAULTS=$'timeout_client = 1s\ntimeout_server = 1s' web n
	head -c 100M /dev/zero |
	    timeout 60 socat -u - "TCP:127.0.0.1:$(port web)" || true
	last_session
	equal "the code" sD "${S[code]}"
}

# bats test_tags=covered
@test "regress: a client that does not read has timeout_client, not the server's" {
	start_app a --body-bytes 100000000
	DEFAULTS=$'timeout_client = 2s\ntimeout_server = 300ms' web a
	spawn client "$TOOLS/badclient" slow "127.0.0.1:$(port web)" \
	    --rate 1 --deadline 200
	last_session
	equal "the code" cD "${S[code]}"
	[ "${S[tt]}" -ge 1900 ]
}

# bats test_tags=covered
@test "regress: a client that has ended its half may wait for the server" {
	start_app a --delay 1500
	DEFAULTS=$'timeout_client = 800ms\ntimeout_server = 20s' web a
	printf 'GET / HTTP/1.0\r\n\r\n' |
	    timeout 60 socat -t 60 - "TCP:127.0.0.1:$(port web)" >"$T/answer"
	grep -q '^a' "$T/answer"
	last_session
	equal "the code" -- "${S[code]}"
}

# bats test_tags=covered
@test "regress: a client's RST after its FIN ends the session at once" {
	start_bad s never-read
	web s
	# Ends its half at once, resets half a second later.
	printf hello |
	    socat -t 0.5 - "TCP:127.0.0.1:$(port web),linger=0" || true
	last_session
	equal "the code" CD "${S[code]}"
}

# stat_of PROXY NAME COLUMN
stat_of() {
	"$CTL" -S "$T/admin.sock" show stat | awk -F, \
	    -v proxy="$1" -v name="$2" -v column="$3" '
	    NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
	    $1 == proxy && $2 == name { print $at }'
}

# bats test_tags=covered
@test "regress: a session that finds no server is counted, a retry is none" {
	start_app a
	start_bad r refuse
	start_lfproxy <<-END
		[global]
		admin = $T/admin.sock
		[defaults]
		check = off
		retries = 1
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[frontend empty]
		listen = 127.0.0.1:0
		backend = none
		[backend app]
		server = r $(addr r)
		server = a $(addr a)
		[backend none]
		timeout_queue = 0
		server = a $(addr a) weight=0
	END
	equal "the answer" a "$(fetch "$(url)")"
	last_session
	equal "econ after a retry" 0 "$(stat_of app BACKEND econ)"
	equal "econ of the one that refused" 0 "$(stat_of app r econ)"
	equal "wredis" 1 "$(stat_of app BACKEND wredis)"
	run fetch "$(url empty)"
	last_session 2
	equal "the code" SC "${S[code]}"
	equal "econ without a server" 1 "$(stat_of none BACKEND econ)"
}

@test "regress: user and group that it is already need no right" {
	local WITHOUT

	# Root without the right to choose groups, as in a restricted service.
	without setgid
	LIMIT="${WITHOUT[*]}" start_lfproxy <<-END
		[global]
		user = $(id -un)
		group = $(id -gn)
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = off
		server = a 127.0.0.1:9
	END
}

@test "regress: SIGUSR1 and SIGUSR2 do not end it" {
	start_app a
	web a
	kill -USR1 "$LFPROXY_PID"
	kill -USR2 "$LFPROXY_PID"
	wait_for 10 lfproxy_said 'SIGUSR2.*ignored'
	equal "the answer" a "$(fetch "$(url)")"
}
