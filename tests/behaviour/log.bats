# SPDX-License-Identifier: MIT
# Each session has one correct line in HAProxy's tcplog format.

load helpers

# bats test_tags=covered
@test "log: one line for each session, every field as in tcplog" {
	local now line

	start_app a
	web a
	now=$(date +%s)
	fetch "$(url)?[1-5]" -H 'Connection: close' -o /dev/null
	last_session 5
	equal "lines" 5 "$(sessions | wc -l)"
	while read -r line; do
		parse_session "$line"
		[[ ${S[client]} =~ ^127\.0\.0\.1:[0-9]+$ ]]
		equal "frontend" web "${S[frontend]}"
		equal "backend" app "${S[backend]}"
		equal "server" a "${S[server]}"
		equal "code" -- "${S[code]}"
		equal "retries" 0 "${S[retries]}"
		[ "${S[tw]}" -ge 0 ]
		[ "${S[tc]}" -ge 0 ]
		[ "${S[tt]}" -ge "${S[tc]}" ]
		line=${S[date]//\// }
		line=$(date -d "${line/:/ }" +%s)
		[ "$line" -ge $((now - 1)) ]
		[ "$line" -le "$(date +%s)" ]
	done < <(sessions)
}

# bats test_tags=covered
@test "log: the client's port is the one it came from" {
	local port

	start_app a
	web a
	port=$(fetch -o /dev/null -w '%{local_port}' "$(url)")
	last_session
	equal "client" "127.0.0.1:$port" "${S[client]}"
}

# bats test_tags=covered
@test "log: the bytes are those that the server sent" {
	local n

	start_app a
	web a
	n=$(fetch -i "$(url)bytes/1234567" | wc -c)
	last_session
	equal "bytes" "$n" "${S[bytes]}"
	n=$(fetch -i "$(url)" | wc -c)
	last_session 2
	equal "bytes" "$n" "${S[bytes]}"
}

# bats test_tags=covered
@test "log: the timers show where the time went" {
	local began

	start_app a --delay 400
	web a
	began=$(now_ms)
	fetch -o /dev/null "$(url)"
	last_session
	# The server's time is not the connect's, and none is made up.
	[ $((S[tt] - S[tc])) -ge 390 ]
	[ "${S[tt]}" -le $(($(now_ms) - began)) ]
}

# bats test_tags=covered
@test "log: a session that did not end has no line" {
	start_app a
	web a
	spawn idle "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count 3 --deadline 200
	wait_for 10 has_line idle established
	fetch -o /dev/null "$(url)"
	last_session
	equal "lines" 1 "$(sessions | wc -l)"
	end idle
	wait_for 10 sessions_ended 4
	equal "lines that end well" 4 "$(sessions | grep -c ' -- ')"
}

# bats test_tags=covered
@test "log: CD when the client resets" {
	start_app a --body-bytes 100000000
	web a
	run -0 "$TOOLS/badclient" leave "127.0.0.1:$(port web)" \
	    --at response --how rst --deadline $((60 * PATIENCE))
	last_session
	equal "code" CD "${S[code]}"
	[ "${S[bytes]}" -gt 0 ]
}

# bats test_tags=covered
@test "log: SD when the server resets" {
	start_bad s reply-reset --bytes 3000
	web s
	run fetch --http0.9 -o /dev/null "$(url)"
	last_session
	equal "code" SD "${S[code]}"
	equal "bytes" 3000 "${S[bytes]}"
}

# bats test_tags=covered
@test "log: SC, no connect time and every retry when the server refuses" {
	start_bad r refuse
	BACKEND=$'check = off\nretries = 2' web r
	run fetch "$(url)"
	last_session
	equal "code" SC "${S[code]}"
	equal "connect time" -1 "${S[tc]}"
	equal "retries" 2 "${S[retries]#+}"
}

# bats test_tags=covered
@test "log: a plus before the retries when another server got the session" {
	start_bad r refuse
	start_app a
	BACKEND=$'check = off\nretries = 3' web r a
	fetch -o /dev/null "$(url)?[1-4]" -H 'Connection: close'
	wait_for 10 sessions_ended 4
	equal "sessions of a" 4 "$(sessions |
	    grep -cE ' app/a .* -- [0-9/]+/(0|\+1) 0/0$')"
	wait_for 10 session_like '/\+1 0/0$'
}

# bats test_tags=covered
@test "log: the plus stays when a server is asked again in the end" {
	start_bad r1 refuse
	start_bad r2 refuse
	BACKEND=$'check = off\nretries = 2' web r1 r2
	run fetch "$(url)"
	last_session
	equal "code" SC "${S[code]}"
	equal "retries" +2 "${S[retries]}"
}

# bats test_tags=covered
@test "log: sessions under way are counted where they are" {
	start_app a
	web a
	spawn idle "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count 4 --deadline 200
	wait_for 10 has_line idle established
	fetch -o /dev/null "$(url)"
	last_session
	sessions | grep -qE ' -- [0-9]+/[45]/[45]/[45]/0 0/0$'
}

# bats test_tags=covered
@test "log: every line is whole, also when many sessions end at once" {
	local n line

	n=$(($(scaled 3200) / 32))
	start_streams s
	THREADS=4 web s
	streams "127.0.0.1:$(port web)" --connections 32 --repeat "$n" --up 10
	wait_for 20 sessions_ended $((32 * n))
	equal "lines" $((32 * n)) "$(sessions | wc -l)"
	equal "lines that are none" "" "$(sessions | grep -vE "$SESSION")"
}

# bats test_tags=covered
@test "log: off" {
	start_app a
	start_lfproxy <<-END
		[global]
		log = off
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		server = a $(addr a)
		check = off
	END
	fetch -o /dev/null "$(url)?[1-5]" -H 'Connection: close'
	stop_lfproxy
	equal "lines" "" "$(sessions)"
}

@test "log: a client of a unix socket is logged with the path of the socket" {
	local pair i=0

	start_app a
	start_lfproxy < <(
		common
		printf '[frontend web]\n'
		printf 'listen = %s\n' "unix:$T/1.sock" 127.0.0.1:0 \
		    "unix:$T/3.sock"
		printf 'backend = app\n[backend app]\ncheck = off\n'
		printf 'server = a %s\n' "$(addr a)"
	)
	for pair in 1:1 3:3; do
		fetch -o /dev/null --unix-socket "$T/${pair%:*}.sock" http://x/
		last_session $((i += 1))
		equal "the client" "unix:${pair#*:}" "${S[client]}"
	done
	# The first one goes, so the other two move up, which stay open.
	sed -i '/1\.sock/d' "$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said 'no longer listening on unix:'
	fetch -o /dev/null --unix-socket "$T/3.sock" http://x/
	last_session $((i += 1))
	equal "the client" unix:2 "${S[client]}"
}

@test "log: started with standard descriptors closed, no connection gets them" {
	local fd pid

	start_app a
	spawn lfproxy sh -c "exec '$LFPROXY' -l 'unix:$T/web.sock' \
	    -s '$(addr a)' <&- >&- 2>&-"
	pid=${PIDS[lfproxy]}
	wait_for 10 fetch -o /dev/null --unix-socket "$T/web.sock" http://app/
	for fd in 0 1 2; do
		equal "descriptor $fd" /dev/null "$(readlink "/proc/$pid/fd/$fd")"
	done
	equal "the answer" a "$(fetch --unix-socket "$T/web.sock" http://app/)"
	end lfproxy
}

@test "log: the journal gets each message with its severity" {
	cat >"$T/journal" <<-'END'
		JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2)
		export JOURNAL_STREAM
		exec "$@"
	END
	start_app a
	LIMIT="sh $T/journal" web a
	printf 'nonsense = 1\n' >>"$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said "^<3>lfproxy: error: .* not reloaded.*'nonsense'"
	refute sh "$T/journal" "$LFPROXY" -c "$T/lfproxy.ini" 2>"$T/refused"
	has_match "^<3>$T/lfproxy.ini:[0-9]+: .*'nonsense'" "$T/refused"
	stop_lfproxy
	refute has_match '^[^<]' "$LFPROXY_LOG"
}

@test "log: a terminal, pipe or file gets messages without a severity" {
	start_app a
	LIMIT="env JOURNAL_STREAM=1:2" web a
	stop_lfproxy
	lfproxy_said '^lfproxy: ready'
	refute has_match '^<' "$LFPROXY_LOG"
}
