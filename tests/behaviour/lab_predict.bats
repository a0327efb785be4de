# SPDX-License-Identifier: MIT
# The predictions of the laboratory: the arithmetic of tests/lab/predict.py.
# What the model computes is tested by make check-sim, and the run as a whole by
# scripts/smoke.

# bats file_tags=onethread,unsanitized

load helpers

predict_python() {
	run env PYTHONPATH="$ROOT/tests:$ROOT/tests/lab" timeout 60 python3 -B -
	echo "$output"
	[ "$status" -eq 0 ]
}

@test "lab-predict: throughput is compared without what slows a whole cell" {
	predict_python <<-END
		from predict import relative
		slow = relative({"adaptive": 1000, "always": 500})
		fast = relative({"adaptive": 4000, "always": 2000})
		for policy in slow:
		    assert abs(slow[policy] - fast[policy]) < 1e-9, (slow, fast)
		assert abs(slow["adaptive"] / slow["always"] - 2) < 1e-9, slow
	END
}

@test "lab-predict: the error is that of two predictions in three" {
	predict_python <<-END
		from predict import spread
		assert abs(spread([1, 1.1, 4]) - 1.1) < 1e-9
		assert abs(spread([1, 1 / 1.1, 4]) - 1.1) < 1e-9
		assert abs(spread([2, 2, 2, 2, 8, 8]) - 2) < 1e-9
	END
}

@test "lab-predict: policies that are close together are not ranked" {
	predict_python <<-END
		from predict import rankings
		measured = {"adaptive": 100, "always": 50, "kernel": 99}
		assert rankings(measured, measured) == (2, 2)
		wrong = {"adaptive": 40, "always": 50, "kernel": 60}
		assert rankings(measured, wrong) == (1, 2)
	END
}
