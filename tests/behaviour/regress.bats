# SPDX-License-Identifier: MIT
# What was broken once, named by its symptom.

load helpers

@test "regress: a server that does not read is blamed for it, not the client" {
	start_bad n never-read
	DEFAULTS=$'timeout_client = 1s\ntimeout_server = 1s' web n
	head -c 100M /dev/zero |
	    timeout 60 socat -u - "TCP:127.0.0.1:$(port web)" || true
	last_session
	equal "the code" sD "${S[code]}"
}

@test "regress: a client that does not read has timeout_client, not the server's" {
	start_app a --body-bytes 100000000
	DEFAULTS=$'timeout_client = 2s\ntimeout_server = 300ms' web a
	spawn client "$TOOLS/badclient" slow "127.0.0.1:$(port web)" \
	    --rate 1 --deadline 100
	last_session
	equal "the code" cD "${S[code]}"
	[ "${S[tt]}" -ge 1900 ]
}

@test "regress: a client that has ended its half may wait for the server" {
	start_app a --delay 1500
	DEFAULTS=$'timeout_client = 300ms\ntimeout_server = 20s' web a
	printf 'GET / HTTP/1.0\r\n\r\n' |
	    timeout 60 socat -t 30 - "TCP:127.0.0.1:$(port web)" >"$T/answer"
	grep -q '^a' "$T/answer"
	last_session
	equal "the code" -- "${S[code]}"
}

@test "regress: a client's RST after its FIN ends the session at once" {
	start_bad s never-read
	web s
	# Ends its half at once, resets half a second later.
	printf hello |
	    socat -t 0.5 - "TCP:127.0.0.1:$(port web),linger=0" || true
	last_session
	equal "the code" CD "${S[code]}"
}
