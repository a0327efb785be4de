#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Address lists: [list] sections, their files, and the commands about them.

load helpers
load stat

# start_listed SECTION: a frontend web that admits list:office alone;
# SECTION are the lines of the list.
start_listed() {
	start_greeter app
	{
		common
		printf '[list office]\n%s\n' "$1"
		echo '[frontend web]'
		echo 'listen = 127.0.0.1:0'
		printf 'allow = list:office\ndeny = all\nbackend = app\n'
		printf '[backend app]\ncheck = off\nserver = s %s\n' "$(addr app)"
	} >"$T/lfproxy.ini"
	sed -i 's/^\[global\]/&\nhttp = 127.0.0.1:0/' "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# becomes RESULT [SOURCE]: what becomes of a client.
becomes() {
	equal "what becomes of ${2:-127.0.0.1}" "$1" "$(python3 -B \
	    "$ROOT/tests/behaviour/accesstool.py" knock "$(listening web)" \
	    --source "${2:-127.0.0.1}")"
}

# matches N: of the list, in time.
matches() {
	wait_for 10 has_matches "$1"
}

has_matches() {
	ctl show acl | grep -q "(office) .* matches=$1 "
}

# entries N: the list has so many entries.
entries() {
	ctl show acl | grep -q "(office) .* entry_cnt=$1 "
}

@test "lists: entries and files decide who comes in, and explain says which" {
	printf '# own\n127.0.0.4/30\n\n2001:db8::/32\n' >"$T/office.list"
	start_listed $'entry = 127.0.0.1 10.0.0.0/8\nfile = '"$T/office.list"
	becomes served
	becomes served 127.0.0.7
	becomes reset 127.0.0.8
	matches 2
	run -0 ctl explain 127.0.0.7 web
	[[ $output == *"allowed by 'allow list:office' in $T/lfproxy.ini:"* ]]
	[[ $output == *"  entry    127.0.0.4/30 in $T/office.list:2"* ]]
	run -0 ctl --json explain 127.0.0.1 web
	[[ $output == *'"entry":"127.0.0.1","entry_file":"'"$T/lfproxy.ini"'","entry_line":'* ]]
	run -0 ctl explain 127.0.0.8 web
	[[ $output == *"denied by 'deny all'"* && $output != *'  entry '* ]]
	# To explain is not to decide.
	matches 2
	run -0 fetch "$(sed -n 's|.*monitoring at ||p' "$LFPROXY_LOG")metrics"
	[[ $output == *'lfproxy_list_entries{list="office"} 4'* ]]
	[[ $output == *'lfproxy_list_matches_total{list="office"} 2'* ]]
}

@test "lists: a file is followed when it is written, replaced or moved away" {
	printf '127.0.0.1\n' >"$T/office.list"
	start_listed "file = $T/office.list"
	becomes served
	becomes reset 127.0.0.2
	printf '127.0.0.2\n' >"$T/office.list"
	wait_for 10 lfproxy_said 'list office: its files have changed: 1 -> 1 entry'
	becomes reset
	becomes served 127.0.0.2
	printf '127.0.0.1\n127.0.0.2\n' >"$T/next.list"
	mv "$T/next.list" "$T/office.list"
	wait_for 10 entries 2
	becomes served
	mv "$T/office.list" "$T/gone.list"
	wait_for 10 lfproxy_said 'list office: its files have changed and cannot be used; .*No such file'
	becomes served 127.0.0.2
	run -0 ctl show acl
	[[ $output == *", not read: $T/office.list: "* ]]
	mv "$T/gone.list" "$T/office.list"
	wait_for 10 lfproxy_said 'its files are valid again, contents unchanged'
}

@test "lists: a file with a wrong line changes nothing, and is told with its line" {
	printf '127.0.0.1\n' >"$T/office.list"
	start_listed "file = $T/office.list"
	printf '127.0.0.2\nwww.example.com\n' >"$T/office.list"
	wait_for 10 lfproxy_said "stay in force: $T/office.list:2: 'www.example.com' is not a range"
	becomes served
	becomes reset 127.0.0.2
	run -0 ctl reload
	[[ $output == *"list office: $T/office.list:2: "*'the former contents stay in force'* ]]
	becomes served
	printf '127.0.0.2\n' >"$T/office.list"
	run -0 ctl reload
	becomes reset
	becomes served 127.0.0.2
}

@test "lists: at start, and for a new list, a file that cannot be read is an error" {
	printf '[list a]\nfile = %s\n[list b]\nentry = 10.0.0.1/8\n' \
	    "$T/none.list" >"$T/bad.ini"
	printf '[frontend web]\nlisten = 127.0.0.1:0\nallow = list:c\nbackend = b\n' \
	    >>"$T/bad.ini"
	printf '[backend b]\nserver = s 127.0.0.1:1\n' >>"$T/bad.ini"
	run -78 "$LFPROXY" -t -c "$T/bad.ini"
	[[ $output == *"$T/bad.ini:4: entry: '10.0.0.1/8' has bits beyond the first 8; write 10.0.0.0/8"* ]]
	[[ $output == *"$T/bad.ini:7: allow: 'c' is unknown; allowed are a, b"* ]]
	sed -i 's|10.0.0.1/8|10.0.0.0/8|; s/list:c/list:b/' "$T/bad.ini"
	run -78 "$LFPROXY" -t -c "$T/bad.ini"
	[[ $output == *"$T/none.list: the file cannot be read: No such file or directory"* ]]
	start_listed 'entry = 127.0.0.1'
	printf '[list new]\nfile = %s\n' "$T/none.list" >>"$T/lfproxy.ini"
	run -1 ctl reload
	[[ $output == *'Nothing was changed:'*"$T/none.list: the file cannot be read"* ]]
	becomes served
}

@test "lists: commands add, find and delete entries, also over a reload" {
	start_listed $'entry = 127.0.0.1\nentry = 127.0.0.16/28'
	becomes reset 127.0.0.2
	run -0 ctl add acl office 127.0.0.2
	[ -z "$output" ]
	becomes served 127.0.0.2
	run -0 ctl get acl office 127.0.0.2
	equal answer 'type=ip, case=sensitive, match=yes, idx=tree, pattern="127.0.0.2", at add acl' "$output"
	run -0 ctl del acl '#0' 127.0.0.16/28
	becomes reset 127.0.0.17
	run -0 ctl get acl office 127.0.0.17
	equal answer 'type=ip, case=sensitive, match=no' "$output"
	run -1 ctl del acl office 127.0.0.16/28
	equal answer 'Key not found.' "$output"
	run -1 ctl add acl nowhere 10.0.0.1
	[[ $output == 'Unknown ACL identifier.'* ]]
	run -0 ctl show acl office
	equal entries $'- 127.0.0.2\n'"$T/lfproxy.ini:$(grep -n '^entry = 127.0.0.1$' \
	    "$T/lfproxy.ini" | cut -d: -f1) 127.0.0.1" "$output"
	run -0 ctl show changes
	[[ $output == *'acl office: 127.0.0.2 is added'*'acl office: 127.0.0.16/28 is deleted'* ]]
	# The same entries in other lines change nothing.
	sed -i '1s/^/\n/' "$T/lfproxy.ini"
	run -0 ctl reload
	refute grep -q office <<<"$output"
	becomes served 127.0.0.2
	becomes reset 127.0.0.17
	# What was deleted stays so while the file has it, and what was added until
	# the file had it.
	sed -i 's/^entry = 127.0.0.1$/&\nentry = 127.0.0.2\nentry = 127.0.0.3/' \
	    "$T/lfproxy.ini"
	run -0 ctl reload
	becomes reset 127.0.0.17
	becomes served 127.0.0.2
	becomes served 127.0.0.3
	sed -i '/^entry = 127.0.0.2$/d; /^entry = .*\/28$/d' "$T/lfproxy.ini"
	ctl reload
	becomes reset 127.0.0.2
	sed -i 's/^entry = 127.0.0.1$/&\nentry = 127.0.0.16\/28/' "$T/lfproxy.ini"
	ctl reload
	becomes served 127.0.0.17
	run -0 ctl clear acl office
	becomes reset
	entries 0
}

# answers ANSWER STATUS COMMAND...
answers() {
	run -"$2" ctl "${@:3}"
	equal "${*:3}" "$1" "$output"
}

@test "lists: a version is prepared beside the list, and committed at once" {
	start_listed $'entry = 127.0.0.1\nentry = 10.0.0.0/8'
	ctl add acl office 127.0.0.2
	answers 'New version created: 1' 0 prepare acl office
	answers '' 0 add acl @1 office 127.0.0.3
	answers '' 0 add acl @1 '#0' 2001:db8::/32
	becomes reset 127.0.0.3
	[[ $(ctl show acl) == *", curr_ver=0 next_ver=1 entry_cnt=3 "* ]]
	answers $'- 127.0.0.3\n- 2001:db8::/32' 0 show acl @1 office
	answers '' 0 commit acl @1 office
	becomes served 127.0.0.3
	becomes reset
	becomes reset 127.0.0.2
	[[ $(ctl show acl) == *", curr_ver=1 next_ver=1 entry_cnt=2 "* ]]
	# The version in force has its number.
	answers '' 0 add acl @1 office 127.0.0.4
	becomes served 127.0.0.4
	equal entries 3 "$(ctl show acl @1 office | wc -l)"
	[[ $(ctl show changes) == *'acl office entries, version 1: 3 -> 2'* ]]
	run -0 ctl reload
	becomes reset
	becomes served 127.0.0.4
	sed -i '/^entry = 10.0.0.0.8$/d' "$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *'list office: 2 entries that clear acl or commit acl had deleted are back'* ]]
	becomes served
	becomes served 127.0.0.4
}

@test "lists: versions have HAProxy's order and answers" {
	start_listed 'entry = 127.0.0.1'
	answers "Version number in the future, please use 'prepare acl' before." \
	    1 add acl @1 office 127.0.0.9
	answers 'Version number out of range.' 1 commit acl @0 office
	answers 'Missing version number.' 1 commit acl
	answers 'Missing ACL identifier.' 1 commit acl @1
	answers 'Unknown ACL identifier. Please use #<id> or <name>. There is office.' 1 \
	    commit acl @1 nowhere
	answers 'Unknown ACL identifier. Please use #<id> or <name>. There is office.' 1 \
	    prepare acl nowhere
	for n in 1 2 3; do
		answers "New version created: $n" 0 prepare acl office
		ctl add acl "@$n" office "127.0.0.1$n"
	done
	answers '' 0 clear acl @3 office
	answers '' 0 show acl @3 office
	answers '' 0 commit acl @2 office
	becomes served 127.0.0.12
	becomes reset 127.0.0.11
	# What was prepared before is gone, what came after is not.
	answers 'Version number out of range.' 1 commit acl @1 office
	answers 'Version number out of range.' 1 add acl @1 office 127.0.0.1
	answers '' 0 commit acl @3 office
	becomes reset 127.0.0.12
	entries 0
	for ((n = 4; n <= 35; n++)); do
		ctl prepare acl office
	done
	answers 'Too many versions are prepared; commit the last one.' 1 \
	    prepare acl office
	run -0 ctl reload
	answers '' 0 commit acl @35 office
	answers 'New version created: 36' 0 prepare acl office
	run -1 ctl add acl office 10.0.0.1 10.0.0.2
	[[ $output == *'the usage is: [@<ver>] <acl> <pattern>'* ]]
	equal "behind a version" office "$(ctl --complete add acl @36)"
	equal "behind a list" '' "$(ctl --complete add acl office)"
}

# On the control thread, sorting them would take 15 ms and more.  What is added
# meanwhile waits, and is not lost.
# Its longest turn takes below 5 ms of CPU time; sorting the entries takes 25.
commit_beside_commands() {
	run -0 python3 -B "$ROOT/tests/behaviour/acltool.py" "$T/admin.sock" office 100000
	read -r answers longest_us entries <<<"$output"
	((answers > 0)) || fail "no answer during the commit: $output"
	equal entries 100001 "$entries"
	# With a sanitizer all takes several times as long.
	[[ $LFPROXY_BUILD != */release ]] || ((longest_us < 5000)) || {
		echo "the loop took $longest_us us"
		return 1
	}
}

# has_record TEXT: `show changes` has it.
has_record() {
	[[ $(ctl show changes) == *"$1"* ]]
}

# bats test_tags=covered
@test "lists: a commit whose client has left is done and recorded" {
	start_listed 'entry = 127.0.0.1'
	python3 -B "$ROOT/tests/behaviour/acltool.py" "$T/admin.sock" office \
	    100000 leave
	wait_for 20 has_record 'acl office entries, version 1: 1 -> 100000'
	entries 100000
}

@test "lists: a commit of many entries goes on beside other commands" {
	start_listed 'entry = 127.0.0.1'
	tries 5 commit_beside_commands
	becomes reset
	ctl add acl office 127.0.0.1
	becomes served
	# Two clients made them, which learn of their ends in any order.
	run -0 ctl show changes
	[[ $output == *'acl office entries, version 1: 1 -> 100000'* ]] || fail "$output"
	[[ $output == *'acl office: 192.0.2.1 is added'* ]] || fail "$output"
}

# many_entries FAMILY N: N ranges of the family, none beside another.
many_entries() {
	awk -v family="$1" -v n="$2" 'BEGIN {
		for (i = 0; i < 2 * n; i += 2)
			if (family == 4)
				printf "127.%d.%d.%d\n", 1 + i / 65536, i / 256 % 256, i % 256
			else
				printf "2001:db8:%x:%x::/64\n", i / 65536, i % 65536
	}'
}

# delete_many N: deletes N entries of $T/office.list; prints the longest
# iteration of the control loop, in us, and how many entries are left.
delete_many() {
	python3 -B "$ROOT/tests/behaviour/acltool.py" "$T/admin.sock" office "$1" \
	    delete "$T/office.list"
}

@test "lists: 6000 deletions from a large list are in force" {
	many_entries 4 20000 >"$T/office.list"
	start_listed "file = $T/office.list"
	becomes served 127.1.0.0
	run -0 delete_many 6000
	[[ $output == *' 14000' ]] || fail "$output"
	becomes reset 127.1.0.0
	becomes served 127.1.0.2
	becomes reset 127.1.140.154	# entry 17997
	becomes served 127.1.140.152
}

@test "lists: a deletion that uncovers thousands of entries is in force" {
	{
		echo 127.0.0.0/8
		many_entries 4 20000
	} >"$T/office.list"
	start_listed "file = $T/office.list"
	becomes served
	ctl del acl office 127.0.0.0/8
	becomes reset
	becomes served 127.1.0.2
	becomes reset 127.1.0.1
	entries 20000
	has_record 'acl office: 127.0.0.0/8 is deleted'
	run -1 ctl del acl office 127.0.0.0/8
	[[ $output == *'Key not found.'* ]]
}

# IPv6 is the family that takes longer.  The reload brings the entries back.
# bats test_tags=slow, timing
@test "lists: 5000 changes of a million entries block the loop for less than 20 ms each" {
	many_entries 6 1000000 >"$T/office.list"
	start_listed "file = $T/office.list"
	tries 3 deletions_are_short
}

deletions_are_short() {
	run -0 delete_many 5000
	echo "longest iteration in us, entries: $output"
	ctl reload
	((${output%% *} < 20000))
}

# The first content of a process is the one whose memory goes back to the kernel,
# so that a second try would prove nothing.  Freeing it takes 4 ms of the loop.
# bats test_tags=slow, timing
@test "lists: replacing a million entries blocks the loop for less than 20 ms" {
	echo 127.0.0.1 >"$T/office.list"
	start_listed "file = $T/office.list"
	many_entries 6 1000000 >"$T/office.list"
	wait_for 60 entries 1000000
	ctl clear loop
	echo 127.0.0.1 >"$T/office.list"
	wait_for 20 entries 1
	longest_us=$(ctl show info | sed -n 's/^LoopMaxCpu_us: //p')
	echo "longest iteration in us: $longest_us"
	((longest_us < 20000))
}

# bats test_tags=covered
@test "lists: additions stay when a file changes, and so do deletions" {
	printf '127.0.0.1\n127.0.0.3\n' >"$T/office.list"
	start_listed "file = $T/office.list"
	ctl add acl office 127.0.0.2
	ctl del acl office 127.0.0.1
	becomes reset
	printf '127.0.0.1\n127.0.0.4\n' >"$T/office.list"
	wait_for 10 lfproxy_said 'its files have changed: 1 -> 1 entry$'
	becomes served 127.0.0.4
	becomes served 127.0.0.2
	becomes reset 127.0.0.1
	becomes reset 127.0.0.3
	# All at once, as a version replaces them, they come back.
	ctl prepare acl office
	ctl commit acl @1 office
	becomes reset 127.0.0.4
	printf '127.0.0.4\n127.0.0.5\n' >"$T/office.list"
	wait_for 10 lfproxy_said 'its files have changed.*entries that commands had deleted'
	becomes served 127.0.0.4
}

@test "lists: entries without effect, and lists without entries, are told" {
	start_listed $'entry = 127.0.0.0/8\nentry = 127.0.0.1 10.1.0.0/16\nentry = 10.1.0.0/16'
	printf '[list unused]\n' >>"$T/lfproxy.ini"
	n=$(grep -n '^entry = 127.0.0.0/8' "$T/lfproxy.ini")
	n=${n%%:*}
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *":$((n + 1)): warning: [list office]: 127.0.0.1 is without effect: 127.0.0.0/8 on line $n has it; remove one"* ]]
	[[ $output == *":$((n + 2)): warning: [list office]: 10.1.0.0/16 is without effect: 10.1.0.0/16 on line $((n + 1)) has it; remove one"* ]]
	[[ $output == *'warning: [list unused]: nothing uses it; remove it'* ]]
	[[ $output == *'warning: [list unused] is empty; '* ]]
	equal warnings 4 "$(grep -c 'warning: ' <<<"$output")"
}

@test "lists: a file with entries that another one covers is told once, with the first" {
	printf '10.2.0.0/16\n127.0.0.1\n127.0.0.0/8\n10.0.0.0/8\n10.2.3.4\n' >"$T/office.list"
	printf '10.3.0.0/16\n192.0.2.1\n' >"$T/other.list"
	start_listed $'entry = 127.0.0.9\nfile = '"$T/office.list"$'\nfile = '"$T/other.list"
	told="$T/office.list:1: warning: [list office]: 10.2.0.0/16 is without effect: 10.0.0.0/8 on line 4 has it; remove one; 2 more entries of this file are without effect"
	other="$T/other.list:1: warning: [list office]: 10.3.0.0/16 is without effect: 10.0.0.0/8 on line 4 of $T/office.list has it; remove one"
	own="warning: [list office]: 127.0.0.9 is without effect: 127.0.0.0/8 on line 3 of $T/office.list has it; remove one"
	[[ $(<"$LFPROXY_LOG") == *"$told"* ]]
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *"$told"* && $output == *"$other"* && $output == *"$own"* ]]
	equal warnings 3 "$(grep -c 'warning: ' <<<"$output")"
	[[ $(ctl show acl) == *'(office) '*' covered=5'* ]]
	[[ $(ctl --json show acl) == *'"covered":5'* ]]
	# Commands may add such entries.
	ctl add acl office 127.0.0.1
	[[ $(ctl show acl) == *' covered=5'* ]]
	printf '10.0.0.0/8\n10.2.3.4\n127.0.0.0/8\n' >"$T/office.list"
	run -0 ctl reload
	[[ $output == *"$T/office.list:2: warning: [list office]: 10.2.3.4 is without effect: 10.0.0.0/8 on line 1 has it; remove one"$'\n'* ]]
	[[ $(ctl show acl) == *' covered=3'* ]]
}

# bats test_tags=covered
@test "lists: the path of a file names its list, unless two have it" {
	echo 127.0.0.1 >"$T/office.list"
	start_listed "file = $T/office.list"
	run -0 ctl add acl "$T/office.list" 127.0.0.2
	becomes served 127.0.0.2
	run -0 ctl show acl "$T/office.list"
	[[ $output == *"$T/office.list:1 127.0.0.1"* && $output == *"- 127.0.0.2"* ]] ||
	    fail "$output"
	run -0 ctl del acl "$T/office.list" 127.0.0.2
	becomes reset 127.0.0.2
	run -1 ctl add acl "$T/other.list" 127.0.0.2
	printf '[list second]\nfile = %s\n' "$T/office.list" >>"$T/lfproxy.ini"
	ctl reload
	run -1 ctl add acl "$T/office.list" 127.0.0.2
	[[ $output == *"lists office and second have this file"* ]]
}

# left ENTRY: of `show acl office`, in ms, or None.
left() {
	ctl show acl office json | python3 -c '
import json, sys
print(next((e["left_ms"] for e in json.load(sys.stdin)
    if e["pattern"] == sys.argv[1]), "absent"))' "$1"
}

is_absent() {
	[ "$(left "$1")" = absent ]
}

@test "lists: an entry that is added for a time is deleted again" {
	start_listed 'entry = 127.0.0.9'
	ctl add acl office 127.0.0.2 for 1h
	ctl add acl office 127.0.0.3 for 100ms
	becomes served 127.0.0.2
	[ "$(left 127.0.0.2)" -gt 3000000 ]
	wait_for 10 is_absent 127.0.0.3
	becomes reset 127.0.0.3
	[[ $(ctl show acl office) == *"- 127.0.0.2 for "* ]]
	[[ $(ctl show expiring) == *" acl office 127.0.0.2: added -> absent in "* ]]
	run -0 ctl show drift
	[[ $output == *"0 changes by commands"*"list office: 127.0.0.2, and absent in "* ]]
	# What the file has stays, and so does what is added without an end.
	ctl add acl office 127.0.0.9 for 100ms
	ctl add acl office 127.0.0.4
	ctl add acl office 127.0.0.4 for 100ms
	ctl add acl office 127.0.0.5 for 1h
	ctl add acl office 127.0.0.5
	equal 'no end' None "$(left 127.0.0.4)"
	equal 'no end any more' None "$(left 127.0.0.5)"
	wait_for 10 entries 4
	becomes served 127.0.0.9
	# A later entry does not inherit the end of a deleted one.
	ctl del acl office 127.0.0.2
	ctl add acl office 127.0.0.2
	equal 'no end after del acl' None "$(left 127.0.0.2)"
	ctl add acl office 127.0.0.6 for 1h
	ctl prepare acl office
	ctl add acl @1 office 127.0.0.6
	ctl commit acl @1 office
	equal 'no end after commit acl' None "$(left 127.0.0.6)"
	run ! ctl add acl '#0' 127.0.0.7 for 1h
	[[ $output == *"by the list's name"* ]]
	run ! ctl add acl office 127.0.0.7 for
	run ! ctl add acl @2 office 127.0.0.7 for 1h
}

@test "lists: adding an entry that the file has changes nothing" {
	start_listed 'entry = 127.0.0.2 127.0.0.3'
	ctl add acl office 127.0.0.2
	ctl del acl office 127.0.0.3
	[[ $(ctl show drift) == *"1 change by commands"* ]]
	sed -i 's/^entry = .*/entry = 127.0.0.4/' "$T/lfproxy.ini"
	ctl reload
	becomes reset 127.0.0.2
	becomes served 127.0.0.4
}

expiring() {
	ctl show expiring | sed 's/^[0-9]* *//; s/ in [0-9].*//'
}

@test "lists: an entry for a time that the file gains stays, with the file's reason" {
	local was='acl office 127.0.0.[0-9], after 1h: it stays added: the file has set it since then'

	echo 127.0.0.1 >"$T/office.list"
	start_listed "file = $T/office.list"
	ctl add acl office 127.0.0.2 for 1h
	ctl add acl office 127.0.0.3 for 1h
	printf '127.0.0.1\n127.0.0.2\n' >"$T/office.list"
	wait_for 10 lfproxy_said 'its files have changed: 1 -> 2 entries'
	equal expiring 'acl office 127.0.0.3: added -> absent' "$(expiring)"
	printf 'entry = 127.0.0.3\n' >"$T/more"
	sed -i "/^file = /r $T/more" "$T/lfproxy.ini"
	ctl reload
	equal expiring '' "$(expiring)"
	run -0 ctl show events
	equal events 2 "$(grep -c "$was" <<<"$output")"
	[[ $(ctl show drift) == *'0 changes by commands'* ]]
	becomes served 127.0.0.2
	becomes served 127.0.0.3
	# Without an effect there is nothing to record.
	run -0 ctl add acl office 127.0.0.1 for 1h
	[[ $output == *'Nothing was changed'* ]] || fail "$output"
	ctl add acl office 127.0.0.2
	refute grep -q '127.0.0.1 is added\|127.0.0.2 is added$' <<<"$(ctl show changes)"
	equal expiring '' "$(expiring)"
}

deleted_again() {
	ctl show events | grep -q 'acl office 127.0.0.1, after .*: added -> absent'
}

@test "lists: a deleted entry can be put back for a time" {
	start_listed 'entry = 127.0.0.1 127.0.0.9'
	ctl del acl office 127.0.0.1
	ctl add acl office 127.0.0.1 for 1h
	becomes served
	[ "$(left 127.0.0.1)" -gt 3000000 ]
	run -0 ctl show drift
	[[ $output == *"1 change by commands"*"list office: 127.0.0.1 -> deleted"*"1 change for a time"*"list office: 127.0.0.1, and absent in "* ]] ||
		fail "$output"
	ctl add acl office 127.0.0.1 for 100ms
	wait_for 10 deleted_again
	becomes reset
	run -0 ctl show drift
	[[ $output == *"1 change by commands"*"list office: 127.0.0.1 -> deleted"* ]] ||
		fail "$output"
	# The same command without a time takes the deletion back.
	ctl add acl office 127.0.0.1 for 1h
	ctl add acl office 127.0.0.1
	[[ $(ctl show drift) == *"0 changes by commands"* ]]
}

@test "lists: what a list had for a time does not come back with its name" {
	start_listed 'entry = 127.0.0.9'
	cp "$T/lfproxy.ini" "$T/before.ini"
	printf '[list spare]\n' >>"$T/lfproxy.ini"
	ctl reload
	ctl add acl spare 127.0.0.2 for 1h
	cp "$T/before.ini" "$T/lfproxy.ini"
	ctl reload
	equal expiring '' "$(expiring)"
	[[ $(ctl show events) == *'acl spare 127.0.0.2, after 1h: it stays absent: it no longer exists'* ]]
	printf '[list spare]\n' >>"$T/lfproxy.ini"
	ctl reload
	equal entries '' "$(ctl show acl spare)"
	equal expiring '' "$(expiring)"
}
