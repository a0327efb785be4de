# SPDX-License-Identifier: MIT
# Which server gets the next session.

load helpers

# Makes connections one at a time; prints one server name a line.
names() {
	fetch -H 'Connection: close' "$(url)?[1-$1]"
}

# bats test_tags=covered
@test "balance: equal weights alternate exactly, 100 times" {
	local got

	start_app a
	start_app b
	web a b
	got=$(names 100 | tr -d '\n')
	[[ $got =~ ^(ab){50}$ || $got =~ ^(ba){50}$ ]] || fail "got $got"
}

# bats test_tags=covered
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

# bats test_tags=covered
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

# shares NAME...: how many of 30 sessions each of them serves.
shares() {
	local got name

	got=$(names 30)
	for name in "$@"; do
		grep -c "$name" <<<"$got"
	done | xargs
}

# Symptom: the retry of the first session was charged to no server, so the next
# session went to the server that had just got it: 16 to 14.
@test "balance: the others get as many when the first of three is dead" {
	start_bad r refuse
	start_app a
	start_app b
	BACKEND=$'check = off\neject_after = 1\neject_time = 1h\neject_time_max = 1h' web r a b
	equal "the shares" '15 15' "$(shares a b)"
	stop_lfproxy
	# It stays in the lineup, and is tried at each of its turns.
	BACKEND=$'check = off\neject_after = 0' web r a b
	equal "the shares, without ejections" '15 15' "$(shares a b)"
	stop_lfproxy
	BACKEND=$'check = off\neject_after = 1\neject_time = 1h\neject_time_max = 1h' \
	    web r 'a weight=200' 'b weight=100'
	equal "the shares by weight" '20 10' "$(shares a b)"
}

# bats test_tags=covered
@test "balance: weights spread over the cycle" {
	start_app a
	start_app b
	web 'a weight=30' 'b weight=10'
	# Three quarters, and never b twice running.
	got=$(names 40 | tr -d '\n')
	equal "a's share of $got" 30 "$(tr -cd a <<<"$got" | wc -c)"
	[[ $got != *bb* && $got != *aaaaaaa* ]]
}

# bats test_tags=covered
@test "balance: a server of weight 0 gets none" {
	start_app a
	start_app b
	start_app c
	web a 'b weight=0' c
	equal "the names" "a c" "$(names 40 | sort -u | xargs)"
}

# bats test_tags=covered
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

# bats test_tags=covered
@test "balance: leastconn fills up the server with the fewest sessions" {
	local before

	start_app a
	start_app b
	BALANCE=leastconn web 'a weight=10' 'b weight=30'
	before=$(fd_count)
	spawn idle "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --count 40
	# All there at once, each with its server.
	wait_for 10 fds_at_least $((before + 80))
	end idle
	wait_for 10 sessions_ended 40
	equal "a's sessions" 10 "$(sessions | grep -c ' app/a ')"
	equal "b's sessions" 30 "$(sessions | grep -c ' app/b ')"
}

# bats test_tags=covered
@test "balance: idle servers under leastconn take turns by weight" {
	local of_b

	start_app a
	start_app b
	BALANCE=leastconn web 'a weight=30' 'b weight=10'
	# The one before may not have ended when the next one comes.
	of_b=$(names 40 | grep -c '^b$')
	[ "$of_b" -ge 7 ] && [ "$of_b" -le 20 ] || fail "$of_b sessions at b"
}

# bats test_tags=covered
@test "balance: source keeps a client with its server, and moves it when it dies" {
	local home other

	start_app a
	start_app b
	start_app c
	GLOBAL="admin = $T/admin.sock" BALANCE=source \
	    BACKEND='check = connect interval=100ms fall=1 timeout=60s rise=1' \
	    web a b c
	home=$(names 1)
	equal "the names" "$home" "$(names 20 | sort -u)"
	end "$home"
	wait_for 10 says_down "app/$home"
	other=$(names 1)
	[ "$other" != "$home" ]
	equal "the others" "$other" "$(names 20 | sort -u)"
}

@test "balance: hash by destination port and by source port" {
	start_app a
	start_app b
	BACKEND=$'check = off\nhash_key = source-port' BALANCE=hash web a b
	equal "both get some" "a b" "$(names 40 | sort -u | xargs)"
	stop_lfproxy
	BACKEND=$'check = off\nhash_key = destination' BALANCE=hash web a b
	equal "one gets all" 1 "$(names 40 | sort -u | wc -l)"
}

# bats test_tags=slow
@test "balance: each algorithm serves and shows its name" {
	local kind

	start_app a
	start_app b
	for kind in roundrobin leastconn random source hash first ewma; do
		BALANCE=$kind web a b
		equal "$kind: answers" 60 "$(names 60 | grep -c '^[ab]$')"
		equal "$kind" "$kind" "$("$LFPROXY" -T -c "$T/lfproxy.ini" |
		    sed -n 's/^balance = //p')"
		stop_lfproxy
	done
}

@test "balance: settings without effect are refused" {
	refuses() {
		printf '%s\n' '[frontend web]' 'listen = 127.0.0.1:0' \
		    'backend = app' '[backend app]' 'server = a 127.0.0.1:1' \
		    "$@" >"$T/lfproxy.ini"
		run -78 "$LFPROXY" -t -c "$T/lfproxy.ini"
	}
	refuses 'balance = best'
	[[ $output == *"balance: 'best' is unknown; allowed are roundrobin, leastconn, random, source, hash, first, ewma"* ]]
	refuses 'hash_key = destination'
	[[ $output == *"hash_key needs balance = hash"* ]]
	refuses 'hash_balance_factor = 150'
	[[ $output == *"hash_balance_factor needs balance = hash or source"* ]]
	refuses 'balance = hash' 'hash_balance_factor = 100'
	[[ $output == *"hash_balance_factor: 100% leaves no room; allowed are 101% to 65535%"* ]]
}
