# SPDX-License-Identifier: MIT
# scripts/run-tests: what it tries once more, what it never excuses, and that its
# counts stay true.  Its test programs and its bats are scripts of these tests.

# bats file_tags=onethread,unsanitized

load helpers

tree() {
	mkdir -p "$T/tree/scripts" "$T/tree/tests/behaviour" \
	    "$T/tree/build/release/unit/a" "$T/tree/build/release/tools" \
	    "$T/tree/tests/fuzz/corpus/text" "$T/tree/build/release/fuzz" "$T/bin"
	cp "$ROOT"/scripts/{run-tests,tap.awk,total.awk} "$T/tree/scripts"
	echo '@test "area: one" {' >"$T/tree/tests/behaviour/area.bats"
	program tools/ends 'echo 1..1; echo ok 1 e'
	program tools/twins 'echo 1..1; echo ok 1 t'
	program fuzz/text 'echo 1..1; echo ok 1 f'
	program unit/a/test_a 'echo 1..1; echo ok 1 a'
	program ../../../bin/bats 'echo 1..1; echo "ok 1 area: one"'
}

# program NAME TEXT: a script; $n is how many times it was started.
program() {
	cat >"$T/tree/build/release/$1" <<-END
		#!/bin/sh
		echo >>"\$0.runs"
		n=\$(wc -l <"\$0.runs")
		$2
	END
	chmod +x "$T/tree/build/release/$1"
}

runs_of() {
	wc -l <"$T/tree/build/release/$1.runs"
}

# judge EXIT_CODE TOTAL [SUITE [FILE]]
judge() {
	local expected=$1 total=$2

	shift 2
	run env -u LFPROXY_COUNTS PATH="$T/bin:$PATH" \
	    LFPROXY_SKIPPED="$T/skipped" \
	    "$T/tree/scripts/run-tests" release "${@:-quick}"
	echo "$output"
	equal "the last line" "$total" "${lines[-1]}"
	equal "the exit code" "$expected" "$status"
}

says() {
	[[ $output == *"$1"* ]] || fail "not said: $1"
}

ONCE='echo 1..2; echo ok 1 x; [ $n -gt 1 ] && echo ok 2 y || { echo not ok 2 y; exit 1; }'

@test "run-tests: a program that fails beside others and passes by itself is unstable" {
	tree
	program unit/a/test_a "$ONCE"
	judge 0 '6 passed, 0 failed'
	says 'UNSTABLE unit/a/test_a: 1 of its tests: passed by itself'
	says 'FAILED unit/a/test_a: y'
}

@test "run-tests: a program that fails twice has failed" {
	tree
	program unit/a/test_a 'echo 1..2; echo ok 1 x; echo not ok 2 y; exit 1'
	judge 1 '5 passed, 1 failed'
	equal "runs" 2 "$(runs_of unit/a/test_a)"
	refute says UNSTABLE
}

@test "run-tests: ends, twins and stored inputs are tried once more as well" {
	tree
	for name in tools/ends tools/twins fuzz/text; do
		program "$name" "$ONCE"
	done
	judge 0 '8 passed, 0 failed'
	for name in ends twins fuzz/text; do
		says "UNSTABLE $name: 1 of its tests: passed by itself"
	done
}

@test "run-tests: a crash is not tried again" {
	local crash

	for crash in 'kill -SEGV $$' 'echo not ok 2 y; kill -ABRT $$' \
	    'echo not ok 2 y; echo "# Test failed with exception: Illegal"; exit 1' \
	    'echo not ok 2 y; echo "# lfproxy was killed by signal 6"; exit 1' \
	    'echo not ok 2 y; exit 66'; do
		tree
		program unit/a/test_a "echo 1..2; echo ok 1 x;
			[ \$n -gt 1 ] && echo ok 2 y || { $crash; }"
		rm -f "$T/tree/build/release/unit/a/test_a.runs"
		judge 1 '5 passed, 1 failed'
		equal "runs" 1 "$(runs_of unit/a/test_a)"
	done
}

@test "run-tests: a behaviour test is excused, but for a crash of lfproxy" {
	local bats

	tree
	bats='echo 1..1; [ $n -gt 1 ] && echo "ok 1 area: one" && exit
		echo "not ok 1 area: one"'
	program ../../../bin/bats "$bats; exit 1"
	judge 0 '5 passed, 0 failed'
	says 'UNSTABLE behaviour: area: one: passed by itself'
	rm "$T/bin/bats.runs"
	program ../../../bin/bats "$bats
		echo \"# failed: lfproxy's exit code: expected '0', got '134'\"
		exit 1"
	judge 1 '4 passed, 1 failed'
	equal "runs" 1 "$(wc -l <"$T/bin/bats.runs")"
}

@test "run-tests: a sanitizer's report is a failure though the program passes then" {
	tree
	program unit/a/test_a "[ \$n -gt 1 ] ||
		echo race >\"\${TSAN_OPTIONS##*log_path=}.1\"; $ONCE"
	judge 1 '6 passed, 1 failed'
	says 'FAILED a sanitizer reports'
}

@test "run-tests: nothing is tried again when much has failed" {
	tree
	program unit/a/test_a "$ONCE"
	program unit/a/test_b 'echo 1..3; [ $n -gt 1 ] && no= || no="not "
		for i in 1 2 3; do echo "${no}ok $i z"; done; [ -z "$no" ]'
	judge 1 '5 passed, 4 failed'
	equal "runs" 1 "$(runs_of unit/a/test_a)"
	rm "$T"/tree/build/release/unit/a/*.runs
	UNSTABLE_MAX=4 judge 0 '9 passed, 0 failed'
}

@test "run-tests: what was skipped by an unstable program is tried by root" {
	tree
	program unit/a/test_a 'echo 1..2; echo "not ok 1 # SKIP x"
		[ $n -gt 1 ] && echo ok 2 y || { echo not ok 2 y; exit 1; }'
	judge 0 '5 passed, 0 failed, 1 skipped'
	equal "the list" $'program\tunit/a/test_a\t1\t0\t1' "$(cat "$T/skipped")"
	program unit/a/test_a 'echo 1..2; echo ok 1 x; echo ok 2 y'
	judge 0 '1 passed, 0 failed, -1 skipped' skipped "$T/skipped"
}

@test "run-tests: a test that root skips too stays skipped, and does not fail" {
	tree
	program ../../../bin/bats 'echo 1..1; echo "ok 1 area: one # skip not here"'
	judge 0 '4 passed, 0 failed, 1 skipped'
	cp "$T/skipped" "$T/list"
	judge 0 '0 passed, 0 failed' skipped "$T/list"
	program ../../../bin/bats 'echo 1..1; echo "not ok 1 area: one"; exit 1'
	judge 1 '0 passed, 1 failed, -1 skipped' skipped "$T/list"
}

# The program's second half waits for what is said about the first.
@test "run-tests: progress is said while the program runs" {
	tree
	program tools/ends "echo 1..100; seq -f 'ok %g e' 50
		until grep -q 'ends: 50 of 100' '$T/said'; do sleep 0.1; done
		seq -f 'ok %g e' 51 100"
	: >"$T/said"
	env -u LFPROXY_COUNTS PATH="$T/bin:$PATH" TIMEOUT=60 \
	    "$T/tree/scripts/run-tests" release quick >"$T/said" ||
	    fail "$(cat "$T/said")"
	grep '^ends .* 100 passed, 0 failed' "$T/said"
}
