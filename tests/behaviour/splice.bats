#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Splicing where it is hard: no pipes, small pipes, bytes that stay in a pipe
# while threads and shards come and go, urgent data.

load helpers
load mainpool

LOG=stderr GLOBAL='drain_timeout = 10m' THREADS=2
FAULTY=$ROOT/build/fault/lfproxy

info() {
	ctl show info | sed -n "s/^$1: //p"
}

info_at_least() {
	[ "$(info "$1")" -ge "$2" ]
}

# bulk: verified streams in both directions.
bulk() {
	streams "$(listening web)" --connections 8 \
	    --up "$(scaled 8388608)" --down "$(scaled 8388608)"
	[[ $output == *"ok=8 "*"failed=0 "* ]] || fail "$output"
}

# faulty PIPE: in front of streams, where pipes fail like this.
faulty() {
	[ -x "$FAULTY" ] || skip "no $FAULTY; make MODE=fault builds it"
	LFPROXY=$FAULTY LIMIT="env LFPROXY_FAULT_PIPE=$1" web s
}

# bats test_tags=unsanitized
@test "splice: no pipe can be had: bulk is copied, and that is counted" {
	start_streams s
	faulty EMFILE
	bulk
	equal "pipes made" 0 "$(info PipesCreated)"
	info_at_least PipesRefused 1
	wait_for 10 sessions_ended 8
	refute session_like ' [^ ]*[A-Za-z][^ ]* [0-9]+/[0-9]+/[0-9]+/[0-9]+/'
	wait_for 10 lfproxy_said 'ready'
}

# bats test_tags=unsanitized
@test "splice: pipes that can be had again are used again" {
	start_streams s
	faulty ENFILE:count=1
	bulk
	info_at_least PipesRefused 1
	wait_for 10 bulk_makes_pipes
}

bulk_makes_pipes() {
	bulk
	info_at_least PipesCreated 1
}

# A user without CAP_SYS_RESOURCE above the soft limit of pages gets pipes of
# two pages or fewer, for which splicing is not worth it.  Pages are counted for
# the user, so it is one without other processes.
@test "splice: a user whose pages are used up goes on copying" {
	local uid=$((61000 + RANDOM % 3000)) as soft before

	need_root "another user is needed"
	soft=$(cat /proc/sys/fs/pipe-user-pages-soft)
	[ "$soft" -gt 0 ] && [ "$soft" -le 65536 ] ||
	    skip "fs.pipe-user-pages-soft is $soft: not to be used up here"
	as="setpriv --reuid=$uid --regid=$uid --clear-groups"
	need "CAP_SETUID, CAP_SETGID and CAP_SETPCAP (to become another user)" \
	    $as --bounding-set=-all --inh-caps=-all true
	as+=" --bounding-set=-all --inh-caps=-all"
	cat >"$T/hoard.py" <<-'END'
		import fcntl, os, sys, time
		os.setgroups([])
		os.setresgid(*[int(sys.argv[1])] * 3)
		os.setresuid(*[int(sys.argv[1])] * 3)
		F_SETPIPE_SZ = 1031
		pipes = []
		try:
		    for size in [1 << 20] * 4096 + [1 << 16] * 32:
		        pipes.append(os.pipe())
		        fcntl.fcntl(pipes[-1][1], F_SETPIPE_SZ, size)
		except OSError:
		    pass
		# The remaining pages do not suffice for a pipe of 64 KiB.
		for _ in range(32):
		    pipes.append(os.pipe())
		print("hoarded", len(pipes), flush=True)
		time.sleep(600)
	END
	open_path
	start_streams s
	LIMIT=$as web s
	bulk
	info_at_least PipesCreated 1
	wait_for 10 no_pipes
	spawn hoard python3 -B "$T/hoard.py" $uid
	wait_for 20 has_line hoard '^hoarded'
	before=$(info PipesCreated)
	bulk
	equal "pipes made" "$before" "$(info PipesCreated)"
	info_at_least PipesRefused 1
	end hoard
	wait_for 20 bulk_makes_more_pipes "$before"
}

bulk_makes_more_pipes() {
	bulk
	info_at_least PipesCreated $(($1 + 1))
}

no_pipes() {
	[ "$(info PipesFree)" -eq 0 ] && [ "$(info PipesUsed)" -eq 0 ]
}

# The other user may go through the suite's own directories; else skips.
open_path() {
	chmod 777 "$T"
	chmod o+x "$BATS_RUN_TMPDIR" "${T%/*}" "${T%/*/*}"
	$as test -w "$T" || skip "another user cannot use $T"
	$as test -x "$LFPROXY" || skip "another user cannot run $LFPROXY"
}

# both_ways OPTION...: sessions through lfproxy, full in both directions.
both_ways() {
	mkfifo "$T/told"
	spawn ends bash -c "exec '$ROOT/tests/tools/bothways.py' $* <'$T/told'"
	exec {TELL}>"$T/told"
	wait_for 10 has_line ends '^listening on '
	ADDRS[ends]=$(sed -n 's/^listening on //p' "$T/ends.out")
	web ends
	listening web >&"$TELL"
	wait_for 60 has_line ends '^stuck'
}

in_pipes() {
	info_at_least PipesUsed 1 || fail "nothing lies in a pipe"
}

# read_on: both ends read from now on.
read_on() {
	echo >&"$TELL"
}

# all_came: each end has got what the other has sent.
all_came() {
	finish ends 120
	exec {TELL}>&-
	[[ $output == *"ok "* ]] || fail "$output"
	wait_for 20 no_pipes
}

# bats test_tags=slow
@test "splice: slow readers in both directions at once get every byte" {
	both_ways --sessions 4 --pace
	in_pipes
	# Full is at rest: nothing spins.
	quiet 20
	read_on
	all_came
}

# bats test_tags=slow
@test "splice: sessions move between shards with bytes in their pipes" {
	local round

	both_ways --sessions 6
	in_pipes
	for round in 1 2 3; do
		set_main threads 4
		set_main shards 4
		set_main promotion always
		wait_for 10 is 'p["shards"], p["shards_closing"]' '(4, 0)'
		set_main shards 1
		wait_for 10 is 'p["shards"], p["shards_closing"]' '(1, 0)'
		set_main promotion adaptive
		set_main threads 1
	done
	in_pipes
	read_on
	all_came
}

# bats test_tags=slow
@test "splice: sessions move while slow readers empty their pipes" {
	local n=0

	both_ways --sessions 4 --pace --bytes 48000000
	in_pipes
	read_on
	while ! has_line ends '^ok'; do
		refute ended "${PIDS[ends]}"
		set_main threads 4
		set_main shards $((2 + n++ % 3))
		set_main threads 4
		set_main shards 1
		set_main threads 1
	done
	[ "$n" -ge 1 ] || fail "no round of changes"
	all_came
}

# bats test_tags=slow
@test "splice: urgent data in bulk stops nothing, and no byte is lost" {
	both_ways --sessions 4 --urgent
	# While some lies ahead a direction is copied; it was spliced before.
	info_at_least PipesCreated 1 || fail "nothing was spliced"
	read_on
	all_came
}
