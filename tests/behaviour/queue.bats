# SPDX-License-Identifier: MIT
# Servers with a maxconn: which sessions wait, how long, and in which order.

load helpers

QUEUETOOL=$ROOT/tests/behaviour/queuetool.py

# Clients that send nothing and hold on.
hold() {
	spawn "$1" "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count "$2" --deadline 200
}

# A session takes the only place at server a, so that later ones are queued.
full() {
	start_app a
	DEFAULTS="log_on_connect = on"$'\n'"$1" web 'a maxconn=1'
	hold first 1
	wait_for 10 session_like ' app/a [0-9]+/[0-9]+/\+'
}

# column NAME SERVER: of `show stat`.
column() {
	echo 'show stat' | socat -t 20 - "UNIX:$T/admin.sock" |
	    column_of "$1" "$2"
}

# many THREADS SHARDS SLACK: 1000 clients for two servers with maxconn 10.  None
# is served more than SLACK places before or behind its own.
many() {
	local n addresses

	n=$(scaled 1000)
	spawn servers "$QUEUETOOL" servers 10 "$3"
	wait_for 10 has_line servers '^ready'
	mapfile -t addresses < <(sed -n 's/^listening on //p' "$T/servers.out")
	start_lfproxy <<-END
		[global]
		log = stderr
		admin = $T/admin.sock mode=0600
		[pool main]
		threads = $1
		shards = $2
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = off
		balance = leastconn
		timeout_queue = 100s
		server = a ${addresses[0]} maxconn=10
		server = b ${addresses[1]} maxconn=10
	END
	run -0 "$QUEUETOOL" clients "127.0.0.1:$(port web)" "$n"
	equal "the answers" "answered $n of $n" "$output"
	equal "what the servers complain of" "" \
	    "$(sed '/^listening/d; /^ready/d' "$T/servers.out")"
	equal "slim" 10 "$(column slim a)"
	[ "$(column smax a)" -le 10 ]
	[ "$(column smax b)" -le 10 ]
	equal "qcur" 0 "$(column qcur BACKEND)"
	wait_for 10 sessions_ended "$n"
	refute session_like ' (sQ|SQ|CQ) '
	# A slow build and its few clients need not fill the servers.
	[ "$SCALE" -eq 1 ] || return 0
	equal "smax of both" "10 10" "$(column smax a) $(column smax b)"
	[ "$(column qmax BACKEND)" -gt 1 ]
	wait_for 10 session_like ' 0/[1-9][0-9]*$'
}

# bats test_tags=covered
@test "queue: a thousand clients, two servers of ten places, in order" {
	# As many as are served at a time may be out of order among themselves.
	many 1 1 40
}

# bats test_tags=covered
@test "queue: the same with threads" {
	many 4 1 40
}

# Each shard queues the clients that it has, and one may be some milliseconds
# behind the other.
@test "queue: with several shards about in order" {
	many 4 2 "$(scaled 400)"
}

# bats test_tags=covered
@test "queue: timeout_queue" {
	full 'timeout_queue = 600ms'
	hold others 3
	wait_for 20 sessions_ended 4
	while read -r line; do
		parse_session "$line"
		equal "the server" '<NOSRV>' "${S[server]}"
		[ "${S[tw]}" -ge 595 ] || fail "too early: $line"
		equal "the connect's time" -1 "${S[tc]}"
	done < <(sessions | grep ' sQ ')
	equal "those in time-out" 3 "$(sessions | grep -c ' sQ ')"
	wait_for 10 session_like ' sQ .* 0/1$'
	wait_for 10 session_like ' sQ .* 0/3$'
}

# bats test_tags=covered
@test "queue: timeout_connect holds where no timeout_queue is set" {
	full 'timeout_connect = 500ms'
	hold others 1
	wait_for 20 session_like ' sQ '
}

# bats test_tags=covered
@test "queue: maxqueue" {
	full $'timeout_queue = 60s\nmaxqueue = 2'
	hold others 5
	wait_for 20 sessions_ended 4
	equal "those too many" 3 "$(sessions | grep -c ' SQ ')"
}

@test "queue: a client that leaves is noticed, and the next one is served" {
	full 'timeout_queue = 60s'
	exec 7<>"/dev/tcp/127.0.0.1/$(port web)"
	spawn reset "$TOOLS/badclient" leave "127.0.0.1:$(port web)" \
	    --at connect --how rst --deadline $((60 * PATIENCE))
	exec 7>&-
	wait_for 20 session_like ' CQ .* 0/1$'
	wait_for 20 sessions_ended 3
	equal "those who left" 2 "$(sessions | grep -c ' CQ ')"
	# Half-closed, but with something to say.
	spawn half sh -c "printf 'GET / HTTP/1.0\r\n\r\n' |
		socat -t 50 - TCP:127.0.0.1:$(port web)"
	end first
	wait_for 20 has_line half '^a$|200'
}
