#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# kill -9 of either process during upgrades: listeners stay, a session goes on in
# one process or is cut, and no byte comes twice.  KILL_SEED repeats the moments;
# the seed is printed.

load helpers
load rights
load ctl
load upgrade

KILL_TOOL=$ROOT/tests/behaviour/upgradekilltool.py

kill_site() {
	load_site 1 "${PORTS[@]:0:4}"
	cat <<-END
		server = a 127.0.0.1:$(addr load | sed 's/.*://')
		[frontend page]
		listen = ${PORTS[4]}
		backend = page
		[backend page]
		server = p $(addr page)
	END
}

# ports_are ADDRESS...: their ports, with commas between them.
ports_are() {
	local IFS=,

	echo "${*#*:}"
}

kills_are_done() {
	has_line kills '^done$' || ended "${PIDS[kills]}"
}

# kills N: upgrades of which one side is killed, under a load whose sessions come
# again when they are cut.
kills() {
	local seed=${KILL_SEED:-$RANDOM} deadline=$((600 + $1 * 60)) i

	echo "# KILL_SEED=$seed" >&3
	serve load "$TOOLS/upgradeload" server --cuts --deadline "$deadline"
	start_app page --deadline "$deadline"
	PORTS=()
	for i in 0 1 2 3 4; do
		PORTS[i]=127.0.0.1:$(free_port)
	done
	kill_site >"$T/lfproxy.ini"
	spawn kills python3 -B "$KILL_TOOL" "$T" "$LFPROXY" "${PORTS[4]}" \
	    "$(ports_are "${PORTS[@]:0:4}")" "$1" "$seed"
	wait_for 20 has_line kills '^ready$'
	spawn clients "$TOOLS/upgradeload" client "${PORTS[@]:0:4}" --cuts \
	    --sessions "$(scaled 400)" --rate 100 --deadline "$deadline"
	wait_for 60 has_line clients '^established '
	: >"$T/begin"
	wait_for "$deadline" kills_are_done
	signal load USR1
	signal clients USR1
	finish clients 300
	echo "# $(grep '^open=' "$T/clients.out")" >&3
	echo "# $(grep '^rounds' "$T/kills.out")" >&3
	[[ $output =~ open=0\ .*\ wrong=0\ .*\ refused=0\  ]] || fail "$output"
	signal load TERM
	finish load
	[[ $output == *" wrong=0 "* ]] || fail "$output"
	signal kills TERM
	finish kills 60
	refute lfproxy_said 'Sanitizer|runtime error:|this must hold and does not'
}

# bats test_tags=slow
@test "upgrade_kill: either side is killed at 40 random moments" {
	kills 40
}

# bats test_tags=long
@test "upgrade_kill: either side is killed at 200 random moments" {
	kills "$(in_short 200)"
}

teardown() {
	stop_others
	[ -n "${BATS_TEST_COMPLETED:-}" ] || explain_failure
}
