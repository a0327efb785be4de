#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# How often lfproxy wakes up when there is nothing to do.

load helpers

# wakeups PID: voluntary context switches so far, of all its threads.
wakeups() {
	cat "/proc/$1/task/"*/status | awk '
		/^voluntary_ctxt_switches/ { n += $2 } END { print n }'
}

# idle PID MOST: at most MOST wake-ups a second over five seconds, as long as
# they really take.
idle() {
	local from began took n

	from=$(wakeups "$1")
	began=$(now_ms)
	sleep 5
	n=$(($(wakeups "$1") - from))
	took=$(($(now_ms) - began))
	echo "$n wake-ups in $took ms"
	[ $((n * 1000)) -le $(($2 * took)) ]
}

haproxy_ready() {
	curl -s -o /dev/null -m 2 "http://127.0.0.1:$1/"
}

# bats test_tags=timing
@test "wakeups: an idle lfproxy wakes no more than twice a second, with sessions or without" {
	start_app a
	web a
	equal "the answer" a "$(fetch "$(url)")"
	sleep 2
	tries 3 idle "$LFPROXY_PID" 2
	spawn idlers "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count 200 --deadline 100
	wait_for 10 lfproxy_has_sockets 400
	sleep 2
	tries 3 idle "$LFPROXY_PID" 2
	end idlers
	command -v haproxy >/dev/null || return 0
	cat >"$T/ha.in" <<-END
		defaults
		 mode tcp
		 timeout client 5m
		 timeout server 5m
		 timeout connect 5s
		frontend web
		 bind 127.0.0.1:@LISTEN@
		 default_backend app
		backend app
		 server a $(addr a)
	END
	on_free_port haproxy haproxy_ready sh -c "
		sed 's/@LISTEN@/PORT/' '$T/ha.in' >'$T/ha.cfg'
		exec haproxy -db -q -f '$T/ha.cfg'"
	echo "haproxy:"
	idle "${PIDS[haproxy]}" 1000
}

lfproxy_has_sockets() {
	[ "$(find "/proc/$LFPROXY_PID/fd" -lname 'socket:*' | wc -l)" -ge "$1" ]
}
