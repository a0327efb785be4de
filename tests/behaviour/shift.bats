#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sessions move between the shards of a pool when one shard is overloaded, with
# streams that check every byte.  Slow turns, in the build of MODE=fault, make
# four streams a shard's full load.

# bats file_tags=unsanitized

load helpers
load mainpool

LOG=stderr THREADS=2
FAULTY=$ROOT/build/fault/lfproxy
SLOW=LFPROXY_FAULT_SLOW_SESSIONS=100%:1ms

# stream NAME: one that lasts 13 seconds or longer, whatever the machine, as
# both ends rest two milliseconds after 16 sends on average.
stream() {
	spawn "$1" "$TOOLS/streamer" client "127.0.0.1:$(port web)" \
	    --chunk 100 --pause 4 --up 10000000 --down 10000000 \
	    --deadline $((100 * PATIENCE))
	wait_for 10 has_match established "$T/$1.out"
}

idle() {
	spawn "$1" "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --count 1 \
	    --deadline 200
}

# begin FAULT...: behind one shard four streams, and four idle sessions between
# them.  With a second shard every other session moves there.
begin() {
	local i n

	[ -x "$FAULTY" ] || skip "no $FAULTY; make MODE=fault builds it"
	start_streams s --chunk 100 --pause 4
	LFPROXY=$FAULTY LIMIT="env $SLOW LFPROXY_FAULT_NO_GUARD=1 $*" web s
	n=$(main 'p["handlers"]')
	for i in 1 2 3 4; do
		stream "stream$i"
		wait_for 10 is 'p["handlers"]' $((++n))
		idle "idle$i"
		wait_for 10 is 'p["handlers"]' $((++n))
	done
	set_main shards 2
}

# Of 400 turns or more each of the two threads, with a shard each, has run at
# least a quarter.  Begins anew with the next ones if that is not so.
both_work() {
	local status=0

	ctl show threads main json >"$T/now"
	[ -e "$T/before" ] || cp "$T/now" "$T/before"
	python3 -c '
import json, sys
a, b = ([t["turns"] for t in json.load(open(f))] for f in sys.argv[1:])
d = [y - x for x, y in zip(a, b)]
sys.exit(2 if sum(d) < 400 else min(d) * 4 < sum(d))
' "$T/before" "$T/now" || status=$?
	[ "$status" -ne 1 ] || mv "$T/now" "$T/before"
	return "$status"
}

streams_end_well() {
	local i

	for i in 1 2 3 4; do
		finish "stream$i" 100
		[[ $output == *"ok=1 lost=0 "*"failed=0 "* ]] ||
		    fail "stream$i: $output"
	done
}

# How many sessions were told to move, by the log.
told() {
	sed -n 's/^lfproxy: pool main: \([0-9]*\) sessions\{0,1\} move.*/\1/p' \
	    "$LFPROXY_LOG" | awk '{ n += $1 } END { print n + 0 }'
}

told_is() {
	[ "$(told)" = "$(main "$1")" ]
}

@test "shift: loaded sessions of one shard spread over both, and lose no byte" {
	begin
	wait_for 30 is 'p["moved"] > 0' True
	wait_for 30 both_work
	lfproxy_said 'pool main: [1-4] sessions? moves? from shard [01], which was busy for [0-9]+ % of the time, to shard [01], busy for [0-9]+ %'
	wait_for 10 told_is 'p["moved"]'
	set_main shards 1
	wait_for 10 is 'p["shards_closing"]' 0
	streams_end_well
	equal "the ledger" True "$(main 'p["fetched"] == p["dispatched"] +
	    p["merged"] + p["stale"] + p["in_batch"]')"
}

# Descriptors are added to a handle set: 2 at the start, 16 of the sessions, and
# for the second shard 1 of its own and 8 of the sessions that move there.  The
# next one is the first that moves to the other shard by load.
@test "shift: a session that the other shard refuses stays, and loses no byte" {
	PROMOTION=kernel begin LFPROXY_FAULT_EPOLL_CTL=ENOSPC:after=27:count=1
	wait_for 60 is 'p["moved"] > 0' True
	wait_for 10 told_is 'p["moved"] + 1'
	streams_end_well
}
