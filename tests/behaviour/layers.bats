#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The checks of the layers of src, and of circles of calls.

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
	unit there two three
	check 1
	[ "$status" -eq 0 ]
}

@test "layers: folders that call each other fail, with their calls" {
	unit here one two
	unit there two three
	unit here three none
	check 1
	[ "$status" -eq 1 ]
	[ "${lines[0]}" = "folders of src call each other in a circle" ]
	[ "${lines[1]}" = "  here calls there: two" ]
	[ "${lines[2]}" = "  there calls here: three" ]
}

# Copies the script to a tree of its own, whose lower layer has a file.
layers_tree() {
	mkdir -p tree/scripts tree/src/up tree/src/down
	cp "$BATS_TEST_DIRNAME/../../scripts/check-layers" tree/scripts
	printf '## Layers\n\n    up    what calls         down\n    down  what is called\n' \
		>tree/src/README.md
	touch tree/src/down/down.h tree/src/down/down_internal.h
	printf '#include "%s"\n' "$1" >tree/src/up/up.c
}

check_layers() {
	run tree/scripts/check-layers 'down=' 'up=down'
}

@test "layers: an include from above or of another folder's internals fails" {
	layers_tree down/down.h
	check_layers
	[ "$status" -eq 0 ]
	layers_tree down/down_internal.h
	check_layers
	[ "$status" -eq 1 ]
	[[ "$output" == 'src/up/up.c:1: "down/down_internal.h" is for'* ]]
	layers_tree down/down.h
	echo '#include "up/up.h"' >tree/src/down/down.h
	check_layers
	[ "$status" -eq 1 ]
	[[ "$output" == 'src/down/down.h:1: src/down may not include'* ]]
}

@test "layers: a picture that differs from the table fails" {
	layers_tree down/down.h
	sed -i 's/ down$//' tree/src/README.md
	check_layers
	[ "$status" -eq 1 ]
	[[ "$output" == *'up has other layers below it in the Makefile'* ]]
	layers_tree down/down.h
	sed -i '/^    down/d' tree/src/README.md
	check_layers
	[ "$status" -eq 1 ]
	[[ "$output" == *'the picture lacks src/down'* ]]
	layers_tree down/down.h
	printf '## Layers\n\n    down  what is called\n    up    what calls         down\n' \
		>tree/src/README.md
	check_layers
	[ "$status" -eq 1 ]
	[[ "$output" == *'up stands below down'* ]]
}
