#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades under load: thousands of sessions of all kinds, and new ones.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load rights
load ctl
load upgrade

# load_site: three frontends, for the three addresses of the server.
load_site() {
	local i port

	port=$(addr load | sed 's/.*://')
	cat <<-END
		[global]
		log = off
		drain_timeout = 10m
		drain_idle_timeout = 10m
		admin = $ADMIN
		[pool main]
		threads = 2
		[defaults]
		timeout_connect = 10m
		timeout_queue = 10m
		timeout_client = 10m
		timeout_server = 10m
		timeout_client_fin = 10m
		timeout_server_fin = 10m
		retries = 0
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[frontend few]
		listen = 127.0.0.1:0
		backend = few
		[frontend late]
		listen = 127.0.0.1:0
		backend = late
		[backend few]
		check = off
		server = q $(of_load queue) maxconn=$FEW
		[backend late]
		check = off
		server = l $(of_load late)
		[backend app]
		check = off
	END
	# One address would have too few ports for them.
	for i in 1 2 3 4; do
		echo "server = s$i 127.0.0.$i:$port"
	done
}

# of_load NAME: an address that the server has printed.
of_load() {
	sed -n "s/^$1 //p" "$T/load.out"
}

# begin_load SESSIONS RATE
begin_load() {
	FEW=$((($1 + 999) / 1000))
	serve load "$TOOLS/upgradeload" server --deadline 900
	load_site >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	spawn clients "$TOOLS/upgradeload" client "$(listening web)" \
	    "$(listening few)" "$(listening late)" --sessions "$1" \
	    --rate "$2" --deadline 900
	wait_for 60 has_line clients '^established '
}

# meddle: changes of the pool and reloads, one after another, until SIGTERM.
meddle() {
	spawn meddle "${UPGRADE_TOOL[@]}" meddle "$BUILD/lfproxyctl" "$ADMIN" \
	    "$T/lfproxy.ini"
	wait_for 10 has_line meddle '^begun$'
}

# upgrade_meanwhile: as upgrade, but a reload may be under way.
upgrade_meanwhile() {
	local before=$LFPROXY_PID

	while :; do
		run ctl upgrade
		[[ $output == *"a reload is under way; try again later"* ]] ||
		    break
	done
	UPGRADED=$output
	[[ $output =~ ^process\ ([0-9]+)\ has\ taken\ over ]] || fail "$output"
	LFPROXY_PID=${BASH_REMATCH[1]}
	[ "$LFPROXY_PID" != "$before" ]
}

# of_times NAME MEMBER: a time that the clients have printed, in us.
of_times() {
	sed -n "s/^$1 .*\"$2\": \([0-9]*\).*/\1/p" "$T/clients.out"
}

sums_are() {
	local made=0 up=0 down=0 frontend

	for frontend in web few late; do
		made=$((made + $(stat_of $frontend FRONTEND stot)))
		up=$((up + $(stat_of $frontend FRONTEND bin)))
		down=$((down + $(stat_of $frontend FRONTEND bout)))
	done
	[ "made=$made up=$up down=$down" = "$1" ]
}

# upgrades_under_load N SECONDS: so many upgrades within that time, then all
# sessions end; during every other upgrade the pool and the file change.
upgrades_under_load() {
	local n=$1 every_ms=$(($2 * 1000 / $1)) i began answered former gone_ms
	local most_ms=0 took_ms=0 start clients

	start=$(now_ms)
	for ((i = 0; i < n; i++)); do
		former=$LFPROXY_PID
		((i % 2 == 0)) || meddle
		began=$(now_ms)
		upgrade_meanwhile
		answered=$(now_ms)
		wait_for 10 ended "$former"
		gone_ms=$(($(now_ms) - answered))
		[ "$gone_ms" -le "$most_ms" ] || most_ms=$gone_ms
		[ $((answered - began)) -le "$took_ms" ] ||
		    took_ms=$((answered - began))
		if ((i % 2 == 1)); then
			signal meddle TERM
			finish meddle
			[[ $output =~ ^begun$'\n'done=[1-9][0-9]*$ ]] ||
			    fail "$output"
		fi
		while [ "$(now_ms)" -lt $((start + (i + 1) * every_ms)) ]; do
			pause 0.05
		done
	done
	in_time $(($(now_ms) - start)) $(($2 * 1000 + 1000))
	signal load USR1
	signal clients USR1
	finish clients 120
	clients=$output
	end load
	echo "# the longest upgrade took $took_ms ms; a former process ended at" \
	    "most $most_ms ms after its answer" >&3
	echo "# answers: p50 $(of_times answers p50_us) us," \
	    "p99 $(of_times answers p99_us) us," \
	    "p99.9 $(of_times answers p999_us) us," \
	    "longest $(of_times answers max_us) us" >&3
	echo "# $(grep '^open=' "$T/clients.out")" >&3
	in_time 1900 "$(sed -n 's/.* pace=\([0-9]*\) .*/\1/p' "$T/clients.out")"
	in_time "$most_ms" 1000
	in_time "$(of_times answers p999_us)" 50000
	[[ $clients =~ open=0\ .*\ wrong=0\ cut=0\ refused=0\ (made=[0-9]+\ up=[0-9]+\ down=[0-9]+)\  ]] ||
	    fail "$clients"
	wait_for 10 sums_are "${BASH_REMATCH[1]}"
	grep -qE "^open=0 .* wrong=0 cut=0 .* queue_max=$FEW " "$T/load.out" ||
	    fail "$(cat "$T/load.out" "$T/load.err")"
	stop_newest
}

# load_with SESSIONS UPGRADES SECONDS: a session has two descriptors in lfproxy,
# and those of a pipe while a peer does not take its bytes; on a busy machine
# there are some hundred new ones at a time.
load_with() {
	need_descriptors $(($1 * 2 + 4000))
	ulimit -n "$(ulimit -Hn)"
	begin_load "$(scaled "$1")" "$(scaled 2000)"
	upgrades_under_load "$2" "$3"
}

# bats test_tags=slow
@test "upgrade_load: 2000 sessions and 2000 new ones a second, 10 upgrades in 20 s" {
	load_with 2000 10 20
}

# bats test_tags=slow
@test "upgrade_load: 10000 sessions and 2000 new ones a second, 20 upgrades in 60 s" {
	load_with "${UPGRADE_SESSIONS:-10000}" 20 60
}

# bats test_tags=slow,timing
@test "upgrade_load: a session pauses for less than 50 ms, a former process ends in 1 s" {
	JUDGE_TIME=1
	load_with "${UPGRADE_SESSIONS:-10000}" 20 60
}
