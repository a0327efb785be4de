#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades under load: thousands of sessions of all kinds, and new ones.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load rights
load ctl
load upgrade

# begin_load SESSIONS RATE
begin_load() {
	local i

	FEW=$((($1 + 99) / 100))
	serve load "$TOOLS/upgradeload" server --deadline 900
	{
		GLOBAL=$(printf 'maxconn = %d\nstrict_limits = off' \
		    $(($1 + 900))) DEFAULTS='retries = 0' load_site "$FEW"
		# One address would have too few ports for them.
		for i in 1 2 3 4; do
			echo "server = s$i 127.0.0.$i:$(addr load | sed 's/.*://')"
		done
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	spawn clients "$TOOLS/upgradeload" client "$(listening web)" \
	    "$(listening few)" "$(listening late)" "$(listening head)" \
	    --direct "$(addr load)" --sessions "$1" --rate "$2" --deadline 900
	wait_for 90 has_line clients '^established '
}

# meddle: changes of the pool and reloads, one after another, until SIGTERM.
meddle() {
	spawn meddle "${UPGRADE_TOOL[@]}" meddle "$CTL" "$ADMIN" \
	    "$T/lfproxy.ini"
	wait_for 10 has_line meddle '^begun$'
}

end_meddling() {
	signal meddle TERM
	finish meddle
	[[ $output =~ ^begun$'\n'done=[1-9][0-9]*$ ]] || fail "$output"
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

# print_times NAME TEXT
print_times() {
	echo "# $2: p50 $(of_times "$1" p50_us) us," \
	    "p99 $(of_times "$1" p99_us) us," \
	    "p99.9 $(of_times "$1" p999_us) us," \
	    "longest $(of_times "$1" max_us) us" >&3
}

sums_are() {
	local made=0 up=0 down=0 frontend

	for frontend in web few late head; do
		made=$((made + $(stat_of $frontend FRONTEND stot)))
		up=$((up + $(stat_of $frontend FRONTEND bin)))
		down=$((down + $(stat_of $frontend FRONTEND bout)))
	done
	[ "made=$made up=$up down=$down" = "$1" ]
}

# at_least NAME VALUE: NAME becomes VALUE if that is greater.
at_least() {
	[ "$2" -le "${!1}" ] || printf -v "$1" %s "$2"
}

# note_upgrade FORMER BEGAN ANSWERED: how long it has taken.
note_upgrade() {
	at_least TOOK_MS $(($3 - $2))
	at_least GONE_MS $(($(now_ms) - $3))
	PAUSES_N=$((PAUSES_N + $(of_info FormerSessionsTaken)))
	PAUSES_LONG=$((PAUSES_LONG + $(of_info FormerPausesLong)))
	PAUSES+=" $(of_info FormerPauseP999_us)/$(of_info FormerPauseMax_us)"
}

# upgrades N SECONDS [meddle]: so many upgrades within that time; during every
# other one the pool and the file change.
upgrades() {
	local every_ms=$(($2 * 1000 / $1)) i began answered former start

	TOOK_MS=0 GONE_MS=0 PAUSES_N=0 PAUSES_LONG=0 PAUSES=
	start=$(now_ms)
	for ((i = 0; i < $1; i++)); do
		former=$LFPROXY_PID
		[ "${3:-}" != meddle ] || ((i % 2 == 0)) || meddle
		began=$(now_ms)
		upgrade_meanwhile
		answered=$(now_ms)
		wait_for 10 ended "$former"
		note_upgrade "$former" "$began" "$answered"
		[ -z "${PIDS[meddle]:-}" ] || end_meddling
		while [ "$(now_ms)" -lt $((start + (i + 1) * every_ms)) ]; do
			pause 0.05
		done
	done
	in_time $(($(now_ms) - start)) $(($2 * 1000 + 1000))
}

# end_load: all sessions end, and nothing was lost; prints times and judges them.
end_load() {
	local clients

	signal load USR1
	signal clients USR1
	finish clients 120
	clients=$output
	end load
	echo "# the longest upgrade took $TOOK_MS ms; a former process ended at" \
	    "most $GONE_MS ms after its answer; load average" \
	    "$(cut -d' ' -f1 /proc/loadavg)" >&3
	echo "# pauses, p99.9 and longest of each upgrade, us:$PAUSES" >&3
	echo "# $PAUSES_LONG of $PAUSES_N pauses were longer than 50 ms" >&3
	print_times answers "answers"
	print_times directs "answers without lfproxy"
	echo "# $(grep '^open=' "$T/clients.out")" >&3
	echo "# $(grep '^idle=' "$T/clients.out")" >&3
	[[ $clients =~ open=0\ .*\ wrong=0\ cut=0\ refused=0\ (made=[0-9]+\ up=[0-9]+\ down=[0-9]+)\  ]] ||
	    fail "$clients"
	wait_for 10 sums_are "${BASH_REMATCH[1]}"
	grep -qE "^open=0 .* wrong=0 cut=0 .* queue_max=$FEW " "$T/load.out" ||
	    fail "$(cat "$T/load.out" "$T/load.err")"
	in_time 1900 "$(sed -n 's/.* pace=\([0-9]*\) .*/\1/p' "$T/clients.out")"
	in_time "$GONE_MS" 1000
	# p99.9 of all upgrades: 50 ms.
	in_time $((PAUSES_LONG * 1000)) "$PAUSES_N"
	stop_newest
}

# load_with SESSIONS UPGRADES SECONDS [meddle]: of a hundred sessions 76 have two
# descriptors in lfproxy, and two those of a pipe; on a busy machine there are
# some hundred new ones at a time.
load_with() {
	need_descriptors $(($1 * 18 / 10 + 2000))
	ulimit -n "$(ulimit -Hn)"
	begin_load "$(scaled "$1")" "$(scaled 2000)"
	upgrades "$2" "$3" "${4:-}"
	end_load
}

# load_with_many [meddle]
load_with_many() {
	load_with "$(in_short 10000)" "$(in_short 20)" "$(in_short 60)" "${1:-}"
}

# bats test_tags=slow
@test "upgrade_load: 2000 sessions and 2000 new ones a second, 10 upgrades in 20 s" {
	load_with 2000 10 20 meddle
}

# bats test_tags=long
@test "upgrade_load: 10000 sessions and 2000 new ones a second, 20 upgrades in 60 s" {
	load_with_many
}

# bats test_tags=long
@test "upgrade_load: the same, while threads, shards, policy and the file change" {
	load_with_many meddle
}

# bats test_tags=slow, timing
@test "upgrade_load: a session pauses for less than 50 ms, a former process ends in 1 s" {
	JUDGE_TIME=1
	load_with_many
}

# bats test_tags=slow, timing
@test "upgrade_load: the same pauses, while threads, shards, policy and the file change" {
	JUDGE_TIME=1
	load_with_many meddle
}
