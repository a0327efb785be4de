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

pool_tids() {
	grep -lx 'lf-main-[0-9]*' "/proc/$LFPROXY_PID/task"/*/comm |
	    sed 's|.*/task/\([0-9]*\)/comm|\1|'
}

traced() {
	grep -q '^TracerPid:.[1-9]' "/proc/$LFPROXY_PID/task/$1/status"
}

# own_futexes TRACE: its futex calls, each with its stack, without those that
# a sanitizer's runtime makes for itself, which come straight from there.
own_futexes() {
	awk '
		function keep() {
			if (futex && caller !~ /\/lib[alut]+san\.so/)
				printf "%s", call
		}
		/^[0-9]/ {
			keep()
			# The other half of a call that was interrupted: its
			# stack.
			futex = /futex/ && !/<unfinished/
			call = caller = ""
		}
		{ call = call $0 "\n" }
		/^ > / && !caller { caller = $2 }
		END { keep() }' "$1"
}

# futex_calls: under load, by the pool's threads, in $futexes, with their
# stacks in $T/futexes.
futex_calls() {
	local tids tid args=()

	# New sessions come and go before as well: nothing is left to warm up.
	run -0 wrk -t1 -c32 -d1 "$(url)"
	tids=$(pool_tids)
	for tid in $tids; do
		args+=(-p "$tid")
	done
	[ ${#args[@]} -eq 4 ] || fail "threads: $tids"
	spawn strace strace -k -o "$T/trace" -e trace=futex -e signal=none \
	    "${args[@]}"
	for tid in $tids; do
		wait_for 10 traced "$tid"
	done
	run -0 wrk -t1 -c32 -d1 "$(url)"
	run -0 wrk -t1 -c8 -d1 -H 'Connection: close' "$(url)"
	for tid in $tids; do
		traced "$tid" || fail "thread $tid is traced no longer"
	done
	end strace
	own_futexes "$T/trace" >"$T/futexes"
	futexes=$(grep -c '^[0-9]' "$T/futexes") || true
}

# Without an access log: its writer, a thread of its own, sleeps on a futex.
@test "cost: no futex calls with a shard for each thread" {
	local why LOG=off

	why=$(strace -o "$T/can" -e trace=none true 2>&1) ||
	    skip "strace may not trace here: $why"
	start_app a
	SHARDS=2 web a
	# More sessions than ever before make a slab grow, and two acceptors
	# that both want to make it grow meet on its lock: once, not for good.
	for _ in 1 2 3; do
		futex_calls
		[ "$futexes" -ne 0 ] || break
		echo "futex calls: $futexes"
		head -n 60 "$T/futexes"
	done
	equal "futex calls" 0 "$futexes"
	stop_lfproxy
	# The same look finds them where there are some.
	PROMOTION=always web a
	futex_calls
	[ "$futexes" -gt 0 ] || fail "no futex call under always either"
}

allocations() {
	od -An -td8 -N8 "$T/allocations" | tr -d ' '
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
	"$BUILD/lfproxyctl" -S "$ADMIN" set pool main threads 4
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
