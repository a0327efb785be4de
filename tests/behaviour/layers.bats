#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The check for circles of calls within a folder of src.

setup() {
	cd "$BATS_TEST_TMPDIR"
	mkdir -p here there
}

# unit FOLDER NAME CALLED: an object with the function NAME, which calls CALLED.
unit() {
	printf 'void %s(void);\nvoid %s(void);\nvoid %s(void) { %s(); }\n' \
		"$2" "$3" "$2" "$3" | gcc -xc -c -o "$1/$2.o" -
}

check() {
	run "$BATS_TEST_DIRNAME/../../scripts/check-circles.py" "$@" ./*/*.o
}

@test "layers: a circle of calls that is too large fails, with its calls" {
	unit here one two
	unit here two three
	unit here three one
	unit here four one
	check 2
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "src/here: 3 objects call each other in a circle; allowed: 2" ]
	[ "${lines[1]}" = "  one calls two: two" ]
	[ "${#lines[@]}" -eq 4 ]
	check 3
	[ "$status" -eq 0 ]
	check 2 here=3
	[ "$status" -eq 0 ]
	check 2 there=3
	[ "$status" -eq 1 ]
}

@test "layers: calls into another folder are not part of a circle" {
	unit here one two
	unit there two one
	check 1
	[ "$status" -eq 0 ]
}
