#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# No event may cost a futex call where no thread waits for another, or an
# allocation from the heap.

load helpers

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = ${LOG:-stderr}
		admin = $ADMIN mode=0600
		[pool main]
		threads = 2
		shards = ${SHARDS:-1}
		promotion = ${PROMOTION:-adaptive}
	END
}

# counted FILE: the word that a preloaded library counts in.
counted() {
	od -An -td8 -N8 "$1" | tr -d ' '
}

turns() {
	"$CTL" -S "$ADMIN" show pool main |
	    sed -n 's/^  turns  *\([0-9]*\),.*/\1/p'
}

# turned TURNS: requests and sessions, until the pool has run that many turns.
turned() {
	wrk -t1 -c32 -d1 "$(url)" >"$T/wrk" &&
	    wrk -t1 -c8 -d1 -H 'Connection: close' "$(url)" >"$T/wrk" &&
	    [ "$(turns)" -ge "$1" ]
}

# futex_calls: the pool's threads make in a million turns, in $futexes.
futex_calls() {
	local turns calls

	rm -f "$T/futexes"
	# A sanitizer wants to be the first library, and need not be.
	LIMIT="env FUTEX_COUNT=$T/futexes LD_PRELOAD=$TOOLS/futex_count.so
	    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0" \
	    web a
	# New sessions come and go before as well: nothing is left to warm up.
	wait_for 60 turned 1
	turns=$(turns)
	calls=$(counted "$T/futexes")
	wait_for 60 turned $((turns + $(scaled 16000)))
	calls=$(($(counted "$T/futexes") - calls))
	turns=$(($(turns) - turns))
	futexes=$((calls * 1000000 / turns))
	echo "$turns turns, $calls futex calls, $futexes in a million turns"
	stop_lfproxy
}

# Without an access log: its writer, a thread of its own, sleeps on a semaphore.
# A thread is woken there only beside a leader in a long turn, by the guard, or to
# lead in its place.
@test "cost: hardly any futex calls with a shard for each thread" {
	local own LOG=off

	start_app a
	SHARDS=2 futex_calls
	own=$futexes
	# The same look finds them where there are some.
	PROMOTION=always futex_calls
	[ "$futexes" -gt 10000 ]
	[ $((own * 10)) -lt "$futexes" ]
}

allocations() {
	counted "$T/allocations"
}

# works SECONDS: streams, requests that are kept alive, and connections.
works() {
	streams "$(listening web)" --connections 16 --up 300000 \
	    --down 300000 --repeat 2
	run -0 wrk -t1 -c32 -d"$1" "$(url http)"
	run -0 wrk -t1 -c32 -d"$1" -H 'Connection: close' "$(url http)"
}

# allocates_nothing PROMOTION SHARDS
allocates_nothing() {
	local before

	rm -f "$T/allocations"
	LIMIT="env ALLOC_COUNT=$T/allocations LD_PRELOAD=$TOOLS/alloc_count.so" \
	    start_lfproxy < <(
		PROMOTION=$1 SHARDS=$2 common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = s\n'
		printf '[frontend http]\nlisten = 127.0.0.1:0\nbackend = a\n'
		printf '[backend s]\ncheck = off\nserver = s %s\n' "$(addr s)"
		printf '[backend a]\ncheck = off\nserver = a %s\n' "$(addr a)"
	)
	works 1
	before=$(allocations)
	works 1
	equal "allocations under $*" 0 $(($(allocations) - before))
	# The counter works: a new thread takes its buffer from the heap.
	"$CTL" -S "$ADMIN" set pool main threads 4
	wait_for 10 allocated "$before"
	stop_lfproxy
}

allocated() {
	[ "$(allocations)" -gt "$1" ]
}

# bats test_tags=slow
@test "cost: no event takes memory from the heap, whatever the policy" {
	[ "$SCALE" -eq 1 ] || skip "the sanitizers have a heap of their own"
	start_streams s
	start_app a
	allocates_nothing adaptive 1
	allocates_nothing adaptive 2
	allocates_nothing always 1
	allocates_nothing kernel 1
}
