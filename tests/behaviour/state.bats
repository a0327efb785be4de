#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The state file: changes of operators and counters over a restart.

load helpers
load ctl
load stat

STATE=$T/state

# site [LINE...]: a file with two servers, and further lines of [global].
site() {
	cat >"$T/site.ini" <<-END
		[global]
		log = off
		admin = $ADMIN
		state_file = $STATE
		$(printf '%s\n' "$@")
		[pool main]
		threads = 2
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		allow = list:few 127.0.0.0/8
		deny = all
		[list few]
		entry = 192.0.2.0/24
		[backend app]
		check = off
		server = a $(addr a)
		server = b $(addr b)
	END
}

start() {
	launch_lfproxy -c "$T/site.ini"
	PORT=$(listening web)
}

written() {
	grep -q "$1" "$STATE"
}

# column NAME COLUMN
column() {
	ctl show stat | awk -F, -v sv="$1" -v col="$2" '
	NR == 1 { sub(/^# /, ""); for (i = 1; i <= NF; i++) at[$i] = i }
	$1 == "app" && $2 == sv { print $at[col] }'
}

change() {
	ctl set server app/a state maint
	ctl set weight app/b 7
	ctl set pool main threads 3
	ctl add acl few 10.0.0.0/8
}

changed() {
	equal "a" maint "$(column a lf_admin)"
	equal "weight" 7 "$(column b weight)"
	[[ $(ctl get acl few 10.1.2.3) == *match=yes* ]]
	[[ $(ctl show pool main json) == *'"threads":3,'* ]]
}

setup() {
	LEVEL=$BASH_SUBSHELL
	start_app a
	start_app b
	site
}

@test "state: changes and counters are there after a stop" {
	local sessions

	start
	change
	for _ in 1 2 3; do
		equal "answer" b "$(fetch "http://$PORT/")"
	done
	sessions_are() { [ "$(column b stot)" = "$1" ]; }
	wait_for 10 sessions_are 3
	ctl show changes >"$T/changes"
	stop_lfproxy
	equal "the mode of the file" 600 "$(stat -c %a "$STATE")"
	[ ! -e "$STATE.new" ]
	changes=$(cat "$T/changes")
	start
	changed
	equal "changes" "$changes" "$(ctl show changes)"
	equal "sessions" 3 "$(column b stot)"
	equal "answer" b "$(fetch "http://$PORT/")"
	wait_for 10 sessions_are 4
	refute lfproxy_said 'is not used'
}

@test "state: after kill -9 it is that of the last seconds" {
	local rc=0

	start
	change
	wait_for 20 written '^set pool main threads 3$'
	kill -KILL "$LFPROXY_PID"
	wait "$LFPROXY_PID" || rc=$?
	equal "the exit code" 137 $rc
	LFPROXY_PID=
	start
	changed
}

# Of two writes that are less than 5 seconds apart, the reload causes the second.
# bats test_tags=timing
@test "state: a reload has the file written in a moment" {
	start
	ctl set weight app/b 7
	wait_for 20 written '^set weight app/b 7$'
	sed 's|server = b .*|& weight=80|' "$T/site.ini" >"$T/new.ini"
	mv "$T/new.ini" "$T/site.ini"
	ctl reload
	unwritten() { ! written '^set weight app/b 7$'; }
	wait_for 3 unwritten
}

@test "state: a file that is cut off, changed or another one's is not used, and is told" {
	start
	change
	stop_lfproxy
	cp "$STATE" "$T/good"
	sed -i 's/weight app\/b 7/weight app\/b 8/' "$STATE"
	start
	lfproxy_said "warning: state_file $STATE is not used: it is cut off, or was changed"
	equal "weight" 100 "$(column b weight)"
	stop_lfproxy
	head -c 100 "$T/good" >"$STATE"
	start
	lfproxy_said "state_file $STATE is not used: it is cut off"
	stop_lfproxy
	echo nonsense >"$STATE"
	start
	lfproxy_said "state_file $STATE is not used: it is not of this version"
	stop_lfproxy
	cp "$T/good" "$STATE"
	cp "$T/site.ini" "$T/other.ini"
	launch_lfproxy -c "$T/other.ini"
	lfproxy_said "state_file $STATE is not used: it is of the configuration $T/site.ini"
	stop_lfproxy
	# A relative path is the same file.
	cp "$T/good" "$STATE"
	cd "$T"
	launch_lfproxy -c site.ini
	refute lfproxy_said 'is not used'
	changed
}

@test "state: a change whose server is gone is told, and the others are made" {
	start
	change
	stop_lfproxy
	sed -i '/^server = a /d' "$T/site.ini"
	start
	lfproxy_said "'set server app/a state maint' could not be done again: "
	equal "weight" 7 "$(column b weight)"
}

@test "state: a file that cannot be written is told, and nothing else suffers" {
	sed -i "s|^state_file = .*|state_file = $T/none/state|" "$T/site.ini"
	start
	wait_for 20 lfproxy_said "warning: state_file $T/none/state cannot be written: No such file"
	equal "answers" $'a\nb' "$({ fetch "http://$PORT/"; fetch "http://$PORT/"; } | sort)"
	mkdir "$T/none"
	wait_for 20 lfproxy_said "state_file $T/none/state is written again"
	[ -s "$T/none/state" ]
	sed -i "s|^state_file = .*|state_file = state|" "$T/site.ini"
	run -78 "$BUILD/lfproxy" -t -c "$T/site.ini"
	[[ $output == *"state_file: a path that starts with / is needed"* ]] ||
	    fail "$output"
}

weight_is() {
	[ "$(column "$1" weight)" = "$2" ]
}

phases() {
	ctl show drains json | grep -o '"phase":"[a-z ]*"'
}

past() {
	((EPOCHSECONDS >= $1))
}

@test "state: changes for a time and drains go on after a restart, or ended meanwhile" {
	local ends

	start
	ctl set weight app/a 20 for 3s
	ends=$((EPOCHSECONDS + 4))
	ctl disable server app/a for 12s
	ctl set weight app/b 30 for 1h
	ctl drain server app/b over 1h
	stop_lfproxy
	written 'later expires.*app/a.*former=100'
	wait_for 10 past "$ends"
	start
	# What has ended before the start ends at once.
	wait_for 3 weight_is a 100
	equal "state" maint "$(column a lf_admin)"
	equal "drains" '"phase":"fading"' "$(phases)"
	ctl show drains | grep -qE '^app/b fading .* left 59m' ||
	    fail "$(ctl show drains)"
	ctl show expiring | grep -qE 'app/b weight: 30 -> 100 in 59m' ||
	    fail "$(ctl show expiring)"
	enabled() { [ "$(column a lf_admin)" = ready ]; }
	wait_for 20 enabled
	refute grep -q 'app/a' <(ctl show expiring)
}

# Symptom: what the file had replaced came back.
@test "state: a value that the file has replaced does not come back" {
	start
	ctl set weight app/a 50
	ctl set weight app/b 0
	ctl set maxconn server app/a 9
	ctl set server app/a state maint
	ctl set pool main threads 3
	# The file is edited while lfproxy runs, and again while it does not.
	sed -i 's/^server = b .*/& weight=80/' "$T/site.ini"
	ctl reload
	weight_is b 80
	refute grep -q 'app/b' <(ctl show drift)
	ctl set pool main threads 3
	wait_for 20 written '^set pool main threads 3$'
	kill -KILL "$LFPROXY_PID"
	wait "$LFPROXY_PID" || [ $? -eq 137 ]
	LFPROXY_PID=
	sed -i 's/^server = a .*/& weight=70 disabled/; s/^threads = .*/threads = 4/' \
	    "$T/site.ini"
	start
	weight_is a 70
	weight_is b 80
	equal "maxconn" 9 "$(column a slim)"
	[[ $(ctl show pool main json) == *'"threads":4,'* ]]
	lfproxy_said "server app/a weight is not set again: the file has 70, and no longer 100"
	equal "drift" 'server app/a maxconn: 0 -> 9' "$(ctl show drift | grep -v '^#')"
	# The former values of the file do not bring them back.
	sed -i 's/ weight=.*//; s/^threads = .*/threads = 2/' "$T/site.ini"
	ctl reload
	weight_is a 100
	weight_is b 100
}
