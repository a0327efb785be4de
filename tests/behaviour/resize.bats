#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Threads, shards, promotion and order change every 50 ms while streams that
# check every byte, kept-alive requests and short connections go on.

load helpers
load mainpool

# Few, or ended sessions would count as memory that is not given back.
GLOBAL=$'drain_timeout = 10m\nclosed_sessions = 16'
# The changes cycle through these values.
PROMOTIONS='always adaptive'
ORDERS='fifo priority lifo'

# serving: streams behind the frontend `web`, requests behind `http`.
serving() {
	start_streams s
	start_app a
	start_lfproxy <<-END
		$(common)
		[frontend web]
		listen = 127.0.0.1:0
		backend = streams
		[frontend http]
		listen = 127.0.0.1:0
		backend = app
		[backend streams]
		check = off
		server = s $(addr s)
		[backend app]
		check = off
		server = a $(addr a)
	END
}

# Prints a round of changes, one a line: threads 1, 8, 2, 5, 1 and shards 1, 4,
# 1, where there are threads enough for them.
changes() {
	local promotion order

	for promotion in $PROMOTIONS; do
		for order in $ORDERS; do
			printf '%s\n' 'threads 8' 'shards 4' \
			    "promotion $promotion" 'shards 1' 'threads 2' \
			    "order $order" 'threads 5' 'shards 4' 'shards 1' \
			    'threads 1'
		done
	done
}

# Writes $T/resizer: makes the changes, one every 50 ms, until $T/enough is
# there; each must be answered by nothing.  The sleep is the pace.
write_resizer() {
	changes >"$T/changes"
	cat >"$T/resizer" <<-'END'
		#!/bin/bash
		n=0
		while [ ! -e "$3/enough" ]; do
			while read -r what value && [ ! -e "$3/enough" ]; do
				answer=$("$1" -S "$2" set pool main $what $value 2>&1) &&
				    [ -z "$answer" ] || {
					echo "set pool main $what $value: $answer"
					exit 1
				}
				n=$((n + 1))
				sleep 0.05
			done <"$3/changes"
		done
		echo "changes $n"
	END
	chmod +x "$T/resizer"
}

# load_for SECONDS: everything at once; each part must end well.
load_for() {
	local web=127.0.0.1:$(port web) deadline=$((($1 + 60) * PATIENCE))

	rm -f "$T/enough"
	spawn resizer "$T/resizer" "$CTL" "$ADMIN" "$T"
	spawn long "$TOOLS/streamer" client "$web" --connections 16 \
	    --up 1000000 --down 1000000 --chunk 0 --pause 2 \
	    --duration "$1" --deadline "$deadline"
	spawn short "$TOOLS/streamer" client "$web" --connections 16 \
	    --up 3000 --down 3000 --duration "$1" --deadline "$deadline"
	spawn requests wrk -t1 -c64 -d"$1" --timeout $((10 * PATIENCE)) \
	    "$(url http)"
	spawn connects wrk -t1 -c16 -d"$1" --timeout $((10 * PATIENCE)) \
	    -H 'Connection: close' "$(url http)"
	for part in long short; do
		finish $part $(($1 + 60))
		[[ $output == *"lost=0 "*"failed=0 "* && $output != *"ok=0 "* ]] ||
		    fail "$part: $output"
	done
	for part in requests connects; do
		finish $part $(($1 + 60))
		[[ $output == *" requests in "* ]] || fail "$part: $output"
		[[ $output != *"Socket errors"* && $output != *Non-2xx* ]] ||
		    fail "$part: $output"
	done
	: >"$T/enough"
	finish resizer 30
	echo "$output"
	made=${output#*changes }
}

# Back where it began, and the books are closed.
settled() {
	set_main promotion adaptive
	set_main order lifo
	set_main shards 1
	set_main threads 1
	wait_for 20 is '(p["threads"], p["resident"], p["shards"],
	    p["shards_closing"], p["handlers"])' '(1, 1, 1, 0, 0)'
	wait_for 10 is 'p["fetched"] == p["dispatched"] + p["merged"] +
	    p["stale"] + p["in_batch"]' True
	equal "failed waits" 0 "$(main 'p["wait_errors"]')"
}

# The pages of programs and libraries do not count: as whose memory these count
# depends on the processes that run beside.
memory_kib() {
	awk '/^Anonymous:/ { print $2 }' "/proc/$LFPROXY_PID/smaps_rollup"
}

# How many threads there have been at once: each place is used again.
places() {
	ctl show memory json | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
print(next(row["count"] for row in rows if row["what"] == "threads"))'
}

# memory_at_most KIB PLACES: so much when there were so many places.  For each
# further one there are statistics, a ring of ended sessions, a stack, and what
# malloc keeps of the relay buffer: 60 to 80 KiB.  The sanitizers keep what is
# freed.
memory_at_most() {
	[ "$SCALE" -gt 1 ] ||
	    [ "$(memory_kib)" -le $(($1 + 256 + 128 * ($(places) - $2))) ]
}

# resized SECONDS: the first load brings everything to its largest: the memory
# of sessions stays for the next ones.
resized() {
	local fds memory places

	write_resizer
	serving
	load_for 3
	settled
	fds=$(fd_count)
	memory=$(memory_kib)
	places=$(places)
	load_for "$1"
	# Their pace is that at which this machine starts a program.
	[ "$made" -ge $(($1 * 2 / PATIENCE)) ] || fail "only $made changes"
	settled
	wait_for 10 fds_at_most "$fds"
	echo "memory $memory KiB and $places places before," \
	    "$(memory_kib) and $(places) after"
	wait_for 10 memory_at_most "$memory" "$places"
}

# bats test_tags=slow
@test "resize: every 50 ms for 5 s, nothing is lost, doubled or left over" {
	resized 5
}

# bats test_tags=long
@test "resize: every 50 ms for 60 s, nothing is lost, doubled or left over" {
	resized "$(in_short 60)"
}

@test "resize: two operators at once, their changes follow one another" {
	write_resizer
	serving
	cp "$T/resizer" "$T/resizer2"
	spawn streams "$TOOLS/streamer" client "127.0.0.1:$(port web)" \
	    --connections 8 --up 20000 --down 20000 --duration 2 \
	    --rest 20 --deadline $((60 * PATIENCE))
	# Shards stay 1, so that each change is possible whatever the other
	# operator did last.
	printf 'threads %d\n' 8 2 5 1 >"$T/changes"
	spawn one "$T/resizer" "$CTL" "$ADMIN" "$T"
	mkdir "$T/two"
	printf 'threads %d\n' 3 7 1 6 >"$T/two/changes"
	spawn two "$T/resizer2" "$CTL" "$ADMIN" "$T/two"
	finish streams 60
	[[ $output == *"lost=0 "*"failed=0 "* ]] || fail "$output"
	: >"$T/enough"
	: >"$T/two/enough"
	finish one 30
	finish two 30
	settled
}
