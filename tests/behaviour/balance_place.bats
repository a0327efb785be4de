#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Roundrobin keeps its place while servers come and go, as HAProxy does.

load helpers
load stat

ROUNDS=30

# shares SOCKET URL: two sessions a round, d in maintenance for the first one.
# How many a, b, c and d had is in $had.
shares() {
	local got='' i

	for ((i = 0; i < ROUNDS; i++)); do
		"$CTL" -S "$1" 'set server app/d state maint'
		got+=$(fetch -H 'Connection: close' "$2")
		"$CTL" -S "$1" 'set server app/d state ready'
		got+=$(fetch -H 'Connection: close' "$2")
	done
	had=$(for i in a b c d; do
		tr -dc $i <<<"$got" | wc -c
	done | tr '\n' ' ')
}

# By how much what a, b and c had differs.
spread() {
	# shellcheck disable=SC2086
	printf '%s\n' ${had% * } | sort -n |
	    awk 'NR == 1 { least = $1 } END { print $1 - least }'
}

haproxy_ready() {
	curl -s -o /dev/null -m 2 "http://127.0.0.1:$1/"
}

start_haproxy() {
	cat >"$T/ha.in" <<-END
		global
		 stats socket $T/ha.sock level admin
		defaults
		 mode tcp
		 timeout client 1m
		 timeout server 1m
		 timeout connect 5s
		frontend web
		 bind 127.0.0.1:@LISTEN@
		 default_backend app
		backend app
		 balance roundrobin
		 server a $(addr a)
		 server b $(addr b)
		 server c $(addr c)
		 server d $(addr d)
	END
	on_free_port haproxy haproxy_ready sh -c "
		sed 's/@LISTEN@/PORT/' '$T/ha.in' >'$T/ha.cfg'
		exec haproxy -db -q -f '$T/ha.cfg'"
}

@test "balance: a server that comes and goes leaves the others even shares" {
	local had ours

	for name in a b c d; do
		start_app $name
	done
	web a b c d
	shares "$ADMIN" "$(url)"
	ours=$(spread)
	echo "lfproxy: $had"
	[ "$ours" -le 1 ]
	command -v haproxy >/dev/null || return 0
	start_haproxy
	shares "$T/ha.sock" "http://$(addr haproxy)/"
	echo "haproxy: $had"
	[ "$ours" -le $(($(spread) + 1)) ]
}
