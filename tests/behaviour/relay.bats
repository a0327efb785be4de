# SPDX-License-Identifier: MIT
# Bytes that enter at one end, and no others, leave at the other.

# bats file_tags=basic

load helpers

# bats test_tags=covered,machine
@test "relay: an IPv4 listener in front of an IPv4 server" {
	start_app a
	web a
	equal "the answer" a "$(fetch "$(url)")"
}

@test "relay: an IPv6 listener in front of an IPv6 server" {
	grep -q '^0*1 ' /proc/net/if_inet6 || skip "no IPv6 on this machine"
	LISTEN='[::1]:0' start_app a
	WEB='[::1]:0' web a
	equal "the answer" a "$(fetch "http://[::1]:$(port web)/")"
	last_session
	[[ ${S[client]} =~ ^\[?::1\]?:[0-9]+$ ]]
}

# bats test_tags=covered
@test "relay: a listener without a host takes IPv4 and IPv6" {
	grep -q '^0*1 ' /proc/net/if_inet6 || skip "no IPv6 on this machine"
	start_app a
	WEB=':0' web a
	equal "over IPv4" a "$(fetch "http://127.0.0.1:$(port web)/")"
	equal "over IPv6" a "$(fetch "http://[::1]:$(port web)/")"
	last_session 2
}

# bats test_tags=covered
@test "relay: a unix listener in front of a TCP server" {
	start_app a
	WEB="unix:$T/web.sock" web a
	equal "the answer" a \
	    "$(fetch --unix-socket "$T/web.sock" http://web/)"
	last_session
	equal "the server" a "${S[server]}"
}

# bats test_tags=covered
@test "relay: a TCP listener in front of a unix server" {
	LISTEN="unix:$T/a.sock" start_app a
	web a
	equal "the answer" a "$(fetch "$(url)")"
}

# bats test_tags=covered
@test "relay: frontends and backends do not mix" {
	start_app a
	start_app b
	LISTEN="unix:$T/c.sock" start_app c
	start_lfproxy <<-END
		$(common)
		[frontend one]
		listen = 127.0.0.1:0
		listen = unix:$T/one.sock
		backend = first
		pool = main
		[frontend two]
		listen = 127.0.0.1:0
		listen = 127.0.0.1:0
		backend = second
		pool = main
		[backend first]
		server = a $(addr a)
		check = off
		[backend second]
		server = b $(addr b)
		server = c $(addr c)
		check = off
	END
	for i in 1 2 3; do
		equal "one, TCP" a "$(fetch "$(url one)")"
		equal "one, unix" a \
		    "$(fetch --unix-socket "$T/one.sock" http://one/)"
		equal "two" "b c" "$({
			fetch "http://127.0.0.1:$(port two 1)/"
			fetch "http://127.0.0.1:$(port two 2)/"
		} | sort | xargs)"
	done
	wait_for 10 sessions_ended 12
	equal "sessions of one" 6 "$(sessions | grep -c ' one first/a ')"
	equal "sessions of two" 6 "$(sessions | grep -c ' two second/[bc] ')"
}

# A stream of SIZE bytes from client to server; both ends say what it was.
upload() {
	local size=$1 sum

	spawn sink sh -c \
	    "socat -u -b 65536 UNIX-LISTEN:$T/s.sock - | sha256sum"
	wait_for 10 unix_listens "$T/s.sock"
	ADDRS[s]=unix:$T/s.sock
	web s
	sum=$("$TOOLS/streamer" generate --up "$size" | tee \
	    >(socat -u -b 65536 - "TCP:127.0.0.1:$(port web)") | sha256sum)
	finish sink 120
	equal "the sum at the server" "$sum" "$output"
	last_session
	equal "the code" -- "${S[code]}"
}

# And from server to client.
download() {
	local size=$1 sum

	sum=$("$TOOLS/streamer" generate --up "$size" | sha256sum)
	spawn source sh -c "'$TOOLS/streamer' generate --up $size |
	    socat -u -b 65536 - UNIX-LISTEN:$T/s.sock"
	wait_for 10 unix_listens "$T/s.sock"
	ADDRS[s]=unix:$T/s.sock
	web s
	equal "the sum at the client" "$sum" "$(timeout 120 socat -u -b 65536 \
	    "TCP:127.0.0.1:$(port web)" - | sha256sum)"
	last_session
	equal "the code" -- "${S[code]}"
	equal "bytes in the log" "$size" "${S[bytes]}"
}

# bats test_tags=covered,machine
@test "relay: 64 MiB from client to server arrive unchanged" {
	upload "$(scaled 67108864)"
}

# bats test_tags=covered
@test "relay: 64 MiB from server to client arrive unchanged" {
	download "$(scaled 67108864)"
}

# bats test_tags=slow
@test "relay: 256 MiB from client to server arrive unchanged" {
	upload "$(scaled 268435456)"
}

# bats test_tags=slow
@test "relay: 256 MiB from server to client arrive unchanged" {
	download "$(scaled 268435456)"
}

# bats test_tags=covered
@test "relay: both directions at full speed at once" {
	local size

	size=$(scaled 134217728)
	start_streams s
	web s
	streams "127.0.0.1:$(port web)" --up "$size" --down "$size" --seed 7
	[[ $output == *"ok=1 "*"failed=0 up=$size down=$size "* ]]
}

# bats test_tags=covered,machine
@test "relay: a client that ended its half still gets the whole answer" {
	# sha256sum answers only after the end of what it reads.
	spawn s socat -t 60 "UNIX-LISTEN:$T/s.sock,fork" EXEC:sha256sum
	wait_for 10 unix_listens "$T/s.sock"
	ADDRS[s]=unix:$T/s.sock
	web s
	equal "the answer" "$(seq 100000 | sha256sum)" "$(seq 100000 |
	    timeout 60 socat -t 60 - "TCP:127.0.0.1:$(port web)")"
}

# bats test_tags=covered
@test "relay: the end of the client's half comes after its last byte" {
	start_streams s
	web s
	streams "127.0.0.1:$(port web)" --connections 32 --up 300000 \
	    --down 300000 --chunk 0
	[[ $output == *"ok=32 "*"failed=0 "* ]]
	streams "127.0.0.1:$(port web)" --connections 8 --repeat 8 --up 1 \
	    --down 0
	[[ $output == *"ok=64 "*"failed=0 "* ]]
}

# bats test_tags=covered
@test "relay: a server that ended its half still gets the client's bytes" {
	start_streams s
	web s
	streams "127.0.0.1:$(port web)" --mode first --connections 32 \
	    --up 600001 --down 10000 --chunk 0
	[[ $output == *"ok=32 "*"failed=0 "* ]]
	wait_for 10 has_line s "^ok=32 lost=0 unnamed=0 failed=0 up=$((32 *
	    600001)) "
}

# bats test_tags=covered
@test "relay: bytes before a server's close arrive" {
	start_bad s half-close --bytes 1000000
	web s
	equal "bytes" 1000000 "$(echo | timeout 60 socat -t 60 - \
	    "TCP:127.0.0.1:$(port web)" | wc -c)"
}

# bats test_tags=covered
@test "relay: a server that closes at once closes the client with FIN" {
	start_bad s close
	web s
	run -0 "$TOOLS/badclient" silent "127.0.0.1:$(port web)" \
	    --deadline $((60 * PATIENCE))
	[[ $output == *"closed how=fin "* ]]
}

# bats test_tags=covered
@test "relay: a server's RST after its bytes is passed on as RST" {
	start_bad s reply-reset --bytes 5000
	web s
	run "$TOOLS/badclient" slow "127.0.0.1:$(port web)" --rate 1000000 \
	    --bytes 5000 --deadline $((60 * PATIENCE))
	equal "badclient's exit code ($output)" 0 "$status"
	[[ $output == *"closed how=rst "*" received=5000"* ]]
}

# bats test_tags=covered
@test "relay: a client's RST is passed on as RST, after its bytes" {
	# The client reads the first byte of the answer, so the server has its
	# request.
	start_bad s slow --bytes 1000000 --rate 1000
	web s
	run -0 "$TOOLS/badclient" leave "127.0.0.1:$(port web)" --at response \
	    --how rst --send 0123456789 \
	    --deadline $((60 * PATIENCE))
	wait_for 10 has_line s '^closed how=rst sent=[0-9]+ received=10$'
}

# bats test_tags=covered
@test "relay: a client's FIN is passed on as FIN, after its bytes" {
	start_bad s silent
	web s
	run -0 "$TOOLS/badclient" leave "127.0.0.1:$(port web)" \
	    --at half-close --how fin --send 0123456789 \
	    --deadline $((60 * PATIENCE))
	wait_for 10 has_line s '^closed how=(fin|rst) sent=0 received=10$'
}

# Neither side reads: pending data stays in the kernel and at its sender.
memory_is_bounded() {
	local growth

	quiet 30
	growth=$(($(rss_kib) - $1))
	echo "grown by $growth KiB"
	[ $growth -le $((SCALE > 1 ? 131072 : 16384)) ]
}

@test "relay: memory is bounded while 64 clients do not read" {
	local before size=8388608

	start_streams s
	web s
	streams "127.0.0.1:$(port web)" --up 1000 --down 1000
	before=$(rss_kib)
	spawn c "$TOOLS/streamer" client "127.0.0.1:$(port web)" \
	    --connections 64 --down $size --hold-reading --deadline 200
	wait_for 10 has_line c established
	memory_is_bounded "$before"
	signal c USR1
	finish c 100
	[[ $output == *"ok=64 "*"failed=0 up=0 down=$((64 * size)) "* ]]
}

# bats test_tags=covered
@test "relay: memory is bounded while a server does not read 64 clients" {
	local before size=8388608

	start_streams warm
	start_streams s --hold-reading
	web 'warm weight=1' 's weight=0'
	streams "127.0.0.1:$(port web)" --up 1000 --down 1000
	stop_lfproxy
	web s
	before=$(rss_kib)
	spawn c "$TOOLS/streamer" client "127.0.0.1:$(port web)" \
	    --connections 64 --up $size --deadline 200
	wait_for 10 has_line c established
	memory_is_bounded "$before"
	signal s USR1
	finish c 100
	[[ $output == *"ok=64 "*"failed=0 up=$((64 * size)) "* ]]
}

# echoes PROMOTION THREADS
echoes() {
	start_streams s
	PROMOTION=$1 THREADS=$2 web s
	streams "127.0.0.1:$(port web)" --mode echo --connections 64 \
	    --up "$(scaled 1048577)" --chunk 0 --pause 4 --seed "$2"
	[[ $output == *"ok=64 "*"failed=0 "* ]]
	streams "127.0.0.1:$(port web)" --mode echo --connections 64 \
	    --up 3000 --chunk 0 --repeat "$(scaled 16)"
	[[ $output == *"failed=0 "* ]]
	wait_for 10 sessions_ended $((64 + 64 * $(scaled 16)))
	refute session_like ' [^ ]*[A-Za-z][^ ]* [0-9]+/[0-9]+/[0-9]+/[0-9]+/'
}

# bats test_tags=covered
@test "relay: 64 echoed streams, adaptive, 1 thread" {
	echoes adaptive 1
}

# bats test_tags=covered
@test "relay: 64 echoed streams, adaptive, 2 threads" {
	echoes adaptive 2
}

# bats test_tags=covered,machine
@test "relay: 64 echoed streams, adaptive, 4 threads" {
	echoes adaptive 4
}

# bats test_tags=covered
@test "relay: 64 echoed streams, always, 1 thread" {
	echoes always 1
}

# bats test_tags=covered
@test "relay: 64 echoed streams, always, 2 threads" {
	echoes always 2
}

# bats test_tags=covered
@test "relay: 64 echoed streams, always, 4 threads" {
	echoes always 4
}

# bats test_tags=covered
@test "relay: bulk data is spliced, unused pipes are closed" {
	local before

	start_streams s
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\nserver = s %s\ncheck = off\n' "$(addr s)"
	} | sed "s|^log = .*|&\nadmin = $T/admin|" >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	before=$(fd_count)
	streams "127.0.0.1:$(port web)" --connections 8 --down 8388608
	[[ $output == *"ok=8 "*"failed=0 "* ]]
	"$CTL" -S "$T/admin" show info >"$T/info"
	grep -qE '^PipesCreated: [1-9]' "$T/info"
	wait_for 10 fds_at_most "$before"
}

@test "relay: without a descriptor for a pipe, bulk is copied" {
	start_streams s
	LIMIT='prlimit --nofile=34' web s
	streams "127.0.0.1:$(port web)" --connections 7 --down 8388608
	[[ $output == *"ok=7 "*"failed=0 "* ]]
}

# valgrind_config SERVER-LINE FRONTEND-LINES: without a filter of system calls,
# which valgrind does not know how to set.
valgrind_config() {
	cat <<-END
		[global]
		log = stderr
		admin = $T/admin
		seccomp = off
		[pool main]
		threads = 2
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		log = file=$T/access.log format=json
		$2
		[backend app]
		check = connect interval=200ms
		$1
	END
}

set_pool() {
	"$CTL" -S "$T/admin" set pool main "$@"
}

# Copied and spliced bytes, an end that is a reset, a refused server, a reload
# that takes away and brings servers, a frontend, and a log, and a resize.
@test "relay: nothing is left at exit (valgrind)" {
	local web

	[ "$SCALE" -eq 1 ] || skip "a sanitizer looks for the same"
	start_streams s
	start_streams s2
	valgrind_config "server = s $(addr s) maxconn=4" \
	    "log = syslog=unix:$T/nobody" >"$T/lfproxy.ini"
	# A stale event may name any handler there ever was, so the table of
	# them stays (lf/event_handler.c).
	printf '{\nhandlers\nMemcheck:Leak\nmatch-leak-kinds: reachable\n%s' \
	    $'fun:calloc\nfun:enter_locked\n}\n' >"$T/supp"
	# A socket's file is asked for by an ioctl that valgrind does not know.
	LIMIT="valgrind --quiet --sim-hints=lax-ioctls --leak-check=full \
	    --suppressions=$T/supp \
	    --show-leak-kinds=all --errors-for-leak-kinds=all \
	    --error-exitcode=97 --log-file=$T/valgrind" \
	    launch_lfproxy -c "$T/lfproxy.ini"
	web=$(listening web)
	streams "$web" --connections 4 --up 300000 --down 2000000
	run "$TOOLS/badclient" leave "$web" --at partial --how rst --count 8 \
	    --rate 100 --deadline $((60 * PATIENCE))
	set_pool threads 4
	set_pool shards 2
	spawn during "$TOOLS/streamer" client "$web" --connections 8 \
	    --mode echo --up 300000 --deadline 200
	valgrind_config "server = s2 $(addr s2)" \
	    $'[frontend other]\nbackend = app\nlisten = '"unix:$T/other" \
	    >"$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said 'listening on unix:'
	finish during
	set_pool shards 1
	set_pool threads 1
	streams "$web" --mode echo --connections 8 --up 100000
	stop_lfproxy || fail "valgrind: $(cat "$T/valgrind")"
	equal "what valgrind says" "" "$(cat "$T/valgrind")"
}

# half_closed LINE_OF_DEFAULTS LINE_OF_BACKEND SERVER: a session ends with the
# end of one side, the client's or the server's.
half_closed() {
	DEFAULTS=$1 BACKEND=$2$'\ncheck = off' web "$3"
	if [ "$3" = ends ]; then
		spawn client "$TOOLS/badclient" idle \
		    "127.0.0.1:$(port web)" --count 1 --deadline 600
	else
		spawn client socat -t 600 - "TCP:127.0.0.1:$(port web)"
	fi
	last_session
	equal "the code" -- "${S[code]}"
	stop_lfproxy
}

# bats test_tags=covered
@test "relay: with half_close = off the end of either side ends both" {
	local server

	start_bad ends half-close
	start_bad stays never-read
	for server in ends stays; do
		half_closed 'half_close = off' '' "$server"
		half_closed '' 'half_close = off' "$server"
	done
}

# A server with a small receive buffer that sends, and reads only when it may.
start_late_reader() {
	mkfifo "$T/read"
	serve "$1" python3 -B -c '
import socket, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
listener.bind(("127.0.0.1", 0))
listener.listen()
print("listening on 127.0.0.1:%d" % listener.getsockname()[1], flush=True)
peer = listener.accept()[0]
open(sys.argv[1]).read()
peer.sendall(b"not read by anyone any more")
got = 0
while piece := peer.recv(65536):
    got += len(piece)
print("got", got, flush=True)' "$T/read"
}

@test "relay: half_close = off loses no byte that came before the end" {
	start_late_reader a
	GLOBAL="admin = $T/admin.sock" DEFAULTS='half_close = off' \
	    web "a sndbuf=1m"
	spawn client sh -c "head -c 100000 /dev/zero |
	    socat -t 600 - TCP:127.0.0.1:$(port web)"
	# The server has some kilobytes, and the kernel has the others.
	wait_for 10 eval '"$CTL" -S "$T/admin.sock" show sess | grep -qF "scb=[9"'
	echo >"$T/read"
	wait_for 10 grep -qx "got 100000" "$T/a.out"
	last_session
	equal "the code" -- "${S[code]}"
}
