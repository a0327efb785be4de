# SPDX-License-Identifier: MIT
# Which server gets the next session.

load helpers

# One connection after the other; one name a line.
names() {
	fetch -H 'Connection: close' "$(url)?[1-$1]"
}

@test "balance: equal weights alternate exactly, 100 times" {
	local got

	start_app a
	start_app b
	web a b
	got=$(names 100 | tr -d '\n')
	[[ $got =~ ^(ab){50}$ || $got =~ ^(ba){50}$ ]] || fail "got $got"
}

@test "balance: three servers take turns" {
	local got

	start_app a
	start_app b
	start_app c
	web a b c
	got=$(names 30 | tr -d '\n')
	equal "the period of 3" "${got:0:3}" "$(fold -w 3 <<<"$got" | sort -u)"
	equal "in each period" abc "$(fold -w 1 <<<"${got:0:3}" | sort |
	    tr -d '\n')"
}

@test "balance: weights 3 and 1 are exact in every cycle" {
	local got cycle

	start_app a
	start_app b
	web 'a weight=3' 'b weight=1'
	got=$(names 80 | tr -d '\n')
	for cycle in $(fold -w 4 <<<"$got"); do
		equal "a in $cycle of $got" 3 "$(tr -cd a <<<"$cycle" | wc -c)"
	done
}

@test "balance: weights spread over the cycle" {
	start_app a
	start_app b
	web 'a weight=30' 'b weight=10'
	# Three quarters, and never b twice running.
	got=$(names 40 | tr -d '\n')
	equal "a's share of $got" 30 "$(tr -cd a <<<"$got" | wc -c)"
	[[ $got != *bb* && $got != *aaaaaaa* ]]
}

@test "balance: a server of weight 0 gets none" {
	start_app a
	start_app b
	start_app c
	web a 'b weight=0' c
	equal "the names" "a c" "$(names 40 | sort -u | xargs)"
}

@test "balance: concurrent sessions on 4 threads are shared out exactly" {
	local n

	n=$(($(scaled 1600) / 16))
	start_streams a
	start_streams b
	THREADS=4 web a b
	streams "127.0.0.1:$(port web)" --connections 16 --repeat "$n" --up 99
	wait_for 10 sessions_ended $((16 * n))
	equal "a's sessions" $((8 * n)) "$(sessions | grep -c ' app/a ')"
	equal "b's sessions" $((8 * n)) "$(sessions | grep -c ' app/b ')"
}
