#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What commands set holds until the file's value for it changes, over any order of
# saves, reloads, upgrades and ends.

# bats file_tags=onethread

load helpers

# plays N SEQUENCE...
plays() {
	local n=$1

	shift
	run -0 python3 -B "$ROOT/tests/behaviour/settingstool.py" "$T" "$@"
	[[ $output == "ok $n sequences" ]] || fail "$output"
}

# forms: the commands in the table of settings of the source.
forms() {
	local file

	file=$(grep -rl '^const struct setting_row setting_rows' "$ROOT/src")
	sed -n '/^const struct setting_row setting_rows/,/^};/p' "$file" \
	    >"$T/table"
	grep -oE 'POOL_ROW\("[a-z_]+"\)|"[^"]* ="|"= [^"]*"' "$T/table" |
	    sed 's/POOL_ROW("\(.*\)")/set pool @ \1 =/; s/"//g'
}

@test "settings: each row of the table has one in the tests" {
	forms | sort >"$T/forms"
	equal "rows with a command" "$(grep -c '\[SETTING_' "$T/table")" \
	    "$(wc -l <"$T/forms")"
	run -0 python3 -B "$ROOT/tests/behaviour/settingstool.py" "$T" rows
	diff "$T/forms" <(sort <<<"$output")
}

@test "settings: what was set is saved, goes on, is undone" {
	plays 4 set,dry,save set,save,set,save set,undo,set brief,for,undo
}

@test "settings: undo drift sets the value of the file" {
	plays 4 set,unset for,unset,upgrade set,for,unset set,save,unset
}

@test "settings: a command that changes nothing is not recorded" {
	plays 2 again set,again
}

@test "settings: a value of the file ends what was set, and for a time" {
	plays 4 set,same,other set,other,other for,save,other set,for,save
}

@test "settings: whatever a command accepts is saved, or left out with a reason" {
	run -0 python3 -B "$ROOT/tests/behaviour/settingstool.py" "$T" extremes
	[[ $output =~ ^ok\ [0-9]+\ values,\ [1-9][0-9]+\ saved$ ]] || fail "$output"
}

@test "settings: the next process has what was set" {
	plays 3 other,set,upgrade for,other,restart set,restart,save
}

@test "settings: a value for a time goes on if the file gets the one before it" {
	plays 4 set,for,former set,for,former-upgrade set,for,former-restart \
	    set,for,former-kill
}

@test "settings: a server at another address in the file has none of them" {
	plays 5 set,move set,move-upgrade for,move-restart set,move-kill \
	    for,other-upgrade
}

@test "settings: so has the process after kill -9" {
	plays 3 set,kill,other for,kill,save set,upgrade-crash
}

# SHORT=1: orders that have each step at each place.
# bats test_tags=long
@test "settings: all orders of three steps" {
	local every=1 n=1331

	if [ "${SHORT:-0}" = 1 ]; then
		every=109 n=13
	fi
	plays $n every $every
}
