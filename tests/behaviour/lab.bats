# SPDX-License-Identifier: MIT
# The laboratory (tests/lab): that every experiment works.  No verdict depends on
# a time here; `make lab` is what measures.

# bats file_tags=onethread

load helpers

# The lab is built by make check, not for sanitizers.
need_lab() {
	[ -x "$BUILD/lab/lab_proxy_hshr" ] || skip "no lab in this build"
}

lab_python() {
	run env SHORT=2 PYTHONPATH="$ROOT/tests:$ROOT/tests/lab" timeout 200 \
	    python3 -B "$@"
	echo "$output"
}

# bats test_tags=covered
@test "lab: every experiment ends with figures that are numbers" {
	need_lab
	lab_python "$ROOT/tests/lab/lab.py" "$BUILD" "$T/report.md"
	[ "$status" -eq 0 ]
	# One table for each experiment but that of strace, and the verdicts.
	lab_python -c 'import experiments; print(len(experiments.ALL))'
	[ "$(grep -c '^## ' "$T/report.md")" -eq "$output" ]
	grep -q '^| lfproxy | one thread per shard makes less than a hundredth' \
	    "$T/report.md"
}

# bats test_tags=covered
@test "lab: every core passes on the bytes that were sent" {
	need_lab
	lab_python "$ROOT/tests/lab/check_bytes.py" "$BUILD"
	[ "$status" -eq 0 ]
	[[ $output == *hs/hr*adaptive*'reactor per thread'* ]]
}

# bats test_tags=covered
@test "lab: a figure that is missing or no number is an error" {
	lab_python - <<-END
		from lab import require_figures
		from measuring.process import MeasuringError
		columns = [("cpu_us", "CPU"), ("futexes", "calls")]
		require_figures("t", columns, {"a": [{"cpu_us": 1.5}]})
		for broken in ({"cpu_us": float("nan")}, {"cpu_us": 0}, {}, None,
		               {"cpu_us": 1, "futexes": float("inf")}):
		    try:
		        require_figures("t", columns, {"a": [broken]})
		    except MeasuringError:
		        continue
		    raise AssertionError(broken)
	END
	[ "$status" -eq 0 ]
}
