# SPDX-License-Identifier: MIT
# Servers, clients and the system let lfproxy down.

load helpers

CHECKED='check = connect interval=200ms timeout=20s fall=2 rise=2'

@test "faults: a server killed in mid-traffic takes only its own sessions" {
	local n

	start_streams a
	start_streams b
	BACKEND=$CHECKED web a b
	# shellcheck disable=SC2016
	spawn client sh -ec 'while [ ! -e "$1" ]; do
		"$2" client "$3" --connections 16 --duration 1 --up 20000 \
		    --down 20000 --chunk 0 --pause 5 --allow-loss b \
		    --deadline "$4"
	done' sh "$T/enough" "$TOOLS/streamer" "127.0.0.1:$(port web)" \
	    $((60 * PATIENCE))
	wait_for 10 session_like ' app/b .* -- '
	end b KILL
	wait_for 10 says_down app/b
	n=$(sessions | wc -l)
	wait_for 10 sessions_ended $((n + 100))
	# Sessions that ended since are a's, except 16 that may have been under
	# way.
	equal "new sessions of b" 0 "$(sessions | tail -n +$((n + 17)) |
	    grep -c ' app/b ')"
	LISTEN=$(addr b) start_streams b
	wait_for 10 says_up app/b
	n=$(sessions | wc -l)
	wait_for 20 served_since "$n" b
	: >"$T/enough"
	finish client 60
	echo "$output"
	[[ $output == *" failed=0 "* ]]
	# No other session lost data.
	equal "broken sessions of others" "" \
	    "$(sessions | grep -v ' app/b ' | grep -v ' -- ')"
}

# served_since N SERVER: after the Nth session one of the server's ended well.
served_since() {
	sessions | tail -n +$(($1 + 1)) | grep -q " app/$2 .* -- "
}

# bats test_tags=covered
@test "faults: a refused connect is tried on another server, unnoticed" {
	start_bad r refuse
	start_streams a
	web r a
	streams "127.0.0.1:$(port web)" --connections 10 --repeat 10 \
	    --up 5000 --down 5000
	[[ $output == *"ok=100 "*"failed=0 "* ]]
	wait_for 10 sessions_ended 100
	refute session_like ' app/r '
	wait_for 10 session_like ' app/a .* -- [0-9/]+/\+?1 0/0$'
	refute session_like ' [A-Za-z]. [0-9]+/'
}

@test "faults: a server that resets each connection is not retried endlessly" {
	start_bad s reset
	web s
	run fetch "$(url)"
	[ "$status" -ne 0 ]
	last_session
	[[ ${S[code]} == S[CD] ]]
}

# bats test_tags=covered
@test "faults: every server refuses: the session ends with SC" {
	start_bad r refuse
	start_bad q refuse
	web r q
	run fetch "$(url)"
	[[ $status -eq 52 || $status -eq 56 ]]
	last_session
	equal "the code" SC "${S[code]}"
	equal "the bytes" 0 "${S[bytes]}"
}

# bats test_tags=covered
@test "faults: every server is down: the session ends with SC, without one" {
	start_bad r refuse
	start_bad q refuse
	GLOBAL="admin = $T/admin.sock" BACKEND=$CHECKED$'\ntimeout_queue = 0' web r q
	wait_for 10 says_down app/r
	wait_for 10 says_down app/q
	run fetch "$(url)"
	[[ $status -eq 52 || $status -eq 56 ]]
	last_session
	equal "the code" SC "${S[code]}"
	equal "the server" '<NOSRV>' "${S[server]}"
	# And one that comes back is used.
	end r
	restart_app r
	wait_for 10 says_up app/r
	equal "the answer" r "$(fetch "$(url)")"
}

# bats test_tags=covered
@test "faults: a connect without an answer ends with sC" {
	start_bad f full
	DEFAULTS=$'timeout_connect = 300ms\nretries = 0' web f
	run fetch "$(url)"
	[ "$status" -ne 0 ]
	last_session
	equal "the code" sC "${S[code]}"
	[ "${S[tt]}" -ge 290 ]
}

# bats test_tags=covered
@test "faults: a connect without an answer is tried on another server" {
	start_bad f full
	start_app a
	DEFAULTS=$'timeout_connect = 300ms' web f a
	equal "the answer" a "$(fetch "$(url)")"
	equal "the answer" a "$(fetch "$(url)")"
	wait_for 10 sessions_ended 2
	wait_for 10 session_like ' app/a .* -- [0-9/]+/\+?1 0/0$'
}

# A unix socket whose backlog is full until USR1 comes; then it says how long
# after that the first request came, in ms.
full() {
	cat >"$T/full.py" <<-'END'
		import signal, socket, sys, time
		signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
		path = sys.argv[1]
		s = socket.socket(socket.AF_UNIX)
		s.bind(path)
		s.listen(1)
		fillers = []
		try:
		    while True:
		        f = socket.socket(socket.AF_UNIX)
		        f.setblocking(False)
		        f.connect(path)
		        fillers.append(f)
		except BlockingIOError:
		    pass
		print("listening on unix:" + path, flush=True)
		signal.sigwait([signal.SIGUSR1])
		began = time.monotonic()
		while True:
		    c, _ = s.accept()
		    if fillers:
		        fillers.pop(0).close()
		        continue
		    c.recv(4096)
		    print("late %d" % ((time.monotonic() - began) * 1000), flush=True)
		    c.sendall(b"HTTP/1.0 200 OK\r\n\r\nroom")
		    c.close()
	END
	rm -f "$T/full.sock"
	serve full python3 "$T/full.py" "$T/full.sock"
}

# gets_room: the session that came while it was full comes to it soon.
gets_room() {
	local before

	before=$(fd_count)
	spawn client curl -sS -m $((60 * PATIENCE)) "$(url)"
	wait_for 10 fds_at_least $((before + 1)) || return 2
	signal full USR1
	finish client || return 2
	equal "the answer" room "$output" || return 2
	wait_for 10 has_line full '^late [0-9]+$' || return 2
	in_time "$(sed -n 's/^late //p' "$T/full.out")" $((400 * PATIENCE)) &&
	    return
	end full
	full
	return 1
}

full_for_a_while() {
	full
	web full
	tries 5 gets_room
	last_session
	equal "the code" -- "${S[code]}"
	equal "retries" 0 "${S[retries]}"
}

# bats test_tags=covered
@test "faults: a unix server with a full backlog gets the session once there is room" {
	full_for_a_while
}

# bats test_tags=timing
@test "faults: a unix server with a full backlog gets the session within 400 ms" {
	JUDGE_TIME=1 full_for_a_while
}

@test "faults: a unix server whose backlog stays full ends with sC" {
	full
	DEFAULTS=$'timeout_connect = 300ms\nretries = 0' web full
	run fetch "$(url)"
	[ "$status" -ne 0 ]
	last_session
	equal "the code" sC "${S[code]}"
	[ "${S[tt]}" -ge 290 ]
}

# bats test_tags=timing
@test "faults: short timeouts are met within 50 ms" {
	start_bad s silent
	DEFAULTS=$'timeout_client = 330ms\ntimeout_server = 30s' web s
	began=0
	tries 5 one_in_time
	refute session_like ' 0/0/(3[012].|[12]..|..?) '
}

# one_in_time: three more sessions than before have ended; one of them in time.
one_in_time() {
	"$TOOLS/badclient" silent "127.0.0.1:$(port web)" --count 3 \
	    --deadline $((60 * PATIENCE)) || return 2
	wait_for 10 sessions_ended $((began += 3)) || return 2
	[ "$(sessions | sed -E 's|.* [0-9]+/[0-9]+/([0-9]+) .*|\1|' | sort -n |
	    head -n 1)" -le $((380 * PATIENCE)) ]
}

# bats test_tags=covered
@test "faults: a client that sends nothing ends by timeout_client" {
	start_app a
	DEFAULTS=$'timeout_client = 500ms\ntimeout_server = 30s' web a
	run -0 "$TOOLS/badclient" silent "127.0.0.1:$(port web)" --count 3 \
	    --deadline $((60 * PATIENCE))
	last_session 3
	equal "the code" cD "${S[code]}"
	[ "${S[tt]}" -ge 490 ]
}

# bats test_tags=covered
@test "faults: a client that never reads ends by timeout_client" {
	local before

	start_app a --body-bytes 1000000
	DEFAULTS=$'timeout_client = 1s\ntimeout_server = 30s' web a
	fetch -o /dev/null "$(url)"
	last_session
	before=$(fd_count)
	# The client need not notice: the FIN waits behind data that it does
	# not read.
	spawn client "$TOOLS/badclient" never-read "127.0.0.1:$(port web)" \
	    --deadline 200
	last_session 2
	equal "the code" cD "${S[code]}"
	wait_for 10 fds_at_most "$before"
}

# bats test_tags=covered
@test "faults: a server that never answers ends by timeout_server" {
	start_bad s silent
	DEFAULTS=$'timeout_client = 30s\ntimeout_server = 500ms' web s
	run fetch "$(url)"
	[ "$status" -ne 0 ]
	last_session
	equal "the code" sD "${S[code]}"
	[ "${S[tt]}" -ge 490 ]
}

# bats test_tags=covered
@test "faults: clients that leave at every stage leave nothing behind" {
	local before at how n

	n=$(scaled 100)
	start_app a --body-bytes 3000000
	web a
	fetch -o /dev/null "$(url)"
	wait_for 10 sessions_ended 1
	before=$(fd_count)
	for at in connect partial half-close response; do
		for how in fin rst; do
			run -0 "$TOOLS/badclient" leave \
			    "127.0.0.1:$(port web)" --at $at --how $how \
			    --count "$n" --rate 2000 --deadline 200
		done
	done
	wait_for 20 sessions_ended $((1 + 8 * n))
	wait_for 10 fds_at_most "$before"
	equal "sessions" $((1 + 8 * n)) "$(sessions | wc -l)"
	fetch -o /dev/null "$(url)"
	quiet 10
}

# bats test_tags=covered
@test "faults: servers that misbehave leave nothing behind" {
	local before n

	n=$(scaled 80)
	start_app a
	start_bad reset reset
	start_bad close close
	start_bad reply reply-reset
	start_bad refuse refuse
	web a reset close reply refuse
	for _ in 1 2 3 4 5; do
		fetch -o /dev/null "$(url)" || true
	done
	wait_for 10 sessions_ended 5
	before=$(fd_count)
	for _ in $(seq "$n"); do
		fetch -o /dev/null "$(url)" || true
	done
	wait_for 10 sessions_ended $((5 + n))
	wait_for 10 fds_at_most "$before"
	quiet 10
}

# refuses PATTERN COMMAND...: lfproxy does not start, says so, exits with 71.
refuses() {
	local pattern=$1

	shift
	run -71 timeout 60 "$@"
	echo "$output"
	[[ $output =~ ^lfproxy:\ .*$pattern ]]
}

# bats test_tags=onethread, covered
@test "faults: a port in use" {
	start_app a
	refuses "$(addr a).*in use" "$LFPROXY" -l "$(addr a)" -s 127.0.0.1:9
}

# bats test_tags=onethread, covered
@test "faults: a port in use, among several, in a file" {
	start_app a
	cat >"$T/lfproxy.ini" <<-END
		$(common)
		[frontend web]
		listen = 127.0.0.1:0
		listen = $(addr a)
		listen = unix:$T/web.sock
		backend = app
		pool = main
		[backend app]
		server = a 127.0.0.1:9
	END
	refuses "$(addr a).*in use" "$LFPROXY" -c "$T/lfproxy.ini"
	[ ! -e "$T/web.sock" ]
}

# bats test_tags=onethread
@test "faults: a privileged port without the right" {
	local start WITHOUT

	start=$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)
	[ "$start" -gt 1 ] || skip "every port is open to everyone here"
	without net_bind_service
	refuses '127.0.0.1:1.*ermi' "${WITHOUT[@]}" "$LFPROXY" -l 127.0.0.1:1 \
	    -s 127.0.0.1:9
}

# bats test_tags=onethread, covered
@test "faults: an address that is not ours" {
	refuses '192.0.2.1:8080' "$LFPROXY" -l 192.0.2.1:8080 -s 127.0.0.1:9
}

# bats test_tags=onethread, covered
@test "faults: a unix socket's folder that does not exist" {
	refuses "$T/none/web.sock" "$LFPROXY" -l "unix:$T/none/web.sock" \
	    -s 127.0.0.1:9
}

# bats test_tags=covered
@test "faults: out of descriptors, accepted sessions are served" {
	start_streams s
	LIMIT='prlimit --nofile=64' web s
	streams "127.0.0.1:$(port web)" --connections 60 --repeat 5 \
	    --up 10000 --down 10000
	[[ $output == *"ok=300 "*"failed=0 "* ]]
}

# bats test_tags=covered
@test "faults: out of descriptors, lfproxy neither spins nor stays so" {
	start_app a
	LIMIT='prlimit --nofile=64' web a
	spawn idle "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count 100 --deadline 120
	wait_for 10 has_line idle '^established 100$'
	quiet 20
	[ -d "/proc/$LFPROXY_PID" ]
	end idle
	equal "the answer" a "$(fetch "$(url)")"
	wait_for 10 fds_at_most 32
}

# bats test_tags=onethread
@test "faults: a limit of descriptors that no session could be served with is refused" {
	run prlimit --nofile=16:16 "$LFPROXY" -l 127.0.0.1:0 \
	    -s 127.0.0.1:9
	[ "$status" -eq 71 ]
	[[ "$output" == *"16 open descriptors are not enough"* ]]
}

# bats test_tags=timing
@test "faults: with all sessions in use the next waits for one to end, not for a timer" {
	start_app a
	web a
	cp "$T/lfproxy.ini" "$T/many.ini"
	tries 4 many_served
}

# A fifth at least of the requests served with room for all are served; with the
# timer alone, four times a second, some hundred would be.
many_served() {
	local wide

	stop_lfproxy || return 2
	launch_lfproxy -c "$T/many.ini" || return 2
	wide=$(served) || return 2
	stop_lfproxy || return 2
	LIMIT='prlimit --nofile=36' launch_lfproxy -c "$T/many.ini" || return 2
	[ "$(served)" -gt $((wide / 5)) ]
}

# served: requests, each with a connection of its own, in a second.
served() {
	run wrk -c20 -t1 -d1 --timeout $((10 * PATIENCE)) \
	    -H "Connection: close" "$(url)"
	[ "$status" -eq 0 ] || return
	awk '/requests in/ { print $1 }' <<<"$output"
}

# answered COMMAND: by the admin socket, with a `|` for each line end.
answered() {
	printf '%s\n' "$1" | socat -t 10 - "UNIX-CONNECT:$T/answers.sock" |
	    tr '\n' '|'
}

# without_answers FAULT: lfproxy some of whose answers find no memory.
without_answers() {
	local LFPROXY=$ROOT/build/fault/lfproxy

	[ -x "$LFPROXY" ] || skip "no $LFPROXY; make MODE=fault builds it"
	start_app a
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\ncheck = off\n'
		for i in $(seq 500); do
			echo "server = s$i $(addr a)"
		done
	} | sed "/^\\[global\\]/a http = 127.0.0.1:0\nadmin = $T/answers.sock" \
	    >"$T/lfproxy.ini"
	LFPROXY_FAULT_ANSWER=$1 launch_lfproxy -c "$T/lfproxy.ini"
	HTTP=$(sed -n 's|.*monitoring at http://\(.*\)/$|\1|p' "$LFPROXY_LOG")
}

# Symptom: an answer with a hole passed for a whole one.
# bats test_tags=onethread, unsanitized
@test "faults: an answer without memory says so, and is counted" {
	without_answers ENOMEM:count=2
	equal "the answer" 'Out of memory: no answer can be given.||' \
	    "$(answered 'show info')"
	equal "status" 500 "$(fetch -s -o "$T/page" -w '%{http_code}' \
	    "http://$HTTP/metrics")"
	[[ $(answered 'show info') == *"|FailedAnswers: 2|"* ]]
	equal "status" 200 "$(fetch -s -o "$T/page" -w '%{http_code}' \
	    "http://$HTTP/metrics")"
}

# Symptom: the text `Out of memory.` stood in the midst of the JSON.
# bats test_tags=onethread, unsanitized
@test "faults: an explanation without memory is JSON with an error" {
	without_answers ENOMEM:after=3:count=1
	equal "the answers" "[status 0]||[{\"error\":\"Out of memory: the answer\
 ends here, before its end.\"}]|[status 1]||" \
	    "$(answered 'set severity-output status;explain 127.0.0.1 json')"
}

# snapshots N: so many whole lines have come from the stream of the status page.
snapshots() {
	[ "$(grep -c '^data: .*} *$' "$T/stream.out")" -ge "$1" ]
}

# Symptom: viewers got the beginning of a snapshot as an event.
# bats test_tags=onethread, unsanitized
@test "faults: a snapshot without memory is not shown" {
	without_answers ENOMEM:4%
	spawn stream curl -sN "http://$HTTP/api/v1/live"
	wait_for 60 snapshots 3
	end stream
	sed -n '$!s/^data: //p' "$T/stream.out" | python3 -c '
import json, sys
for line in sys.stdin:
    assert "stat" in json.loads(line), line[-80:]'
}

# bats test_tags=onethread, unsanitized
@test "faults: an answer that finds no memory for its rest does not look whole" {
	local text

	without_answers ENOMEM:after=20:count=1
	text=$(answered 'show stat typed')
	[[ $text == "F."*"|Out of memory: the answer ends here, before its end.|" ]] ||
	    fail "${text: -100}"
	# The next one is whole.
	[[ $(answered 'show stat typed') == *"||" ]]
	[[ $(answered 'show info') == *"|FailedAnswers: 1|"* ]]
}
