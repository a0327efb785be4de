#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades: limits on bandwidth hold over many of them.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load ctl
load upgrade

# What sources share begins again with each upgrade: 1460 bytes at 128 KiB/s.
PORTION_MS=12

# holds SCOPE RATE BYTES [MORE]: so many bytes, 4 s at the rate, take that time,
# less MORE ms for each of the upgrades meanwhile.
holds() {
	local began took n=0

	start_streams s
	site >"$T/lfproxy.ini"
	sed -i -e "s/^server = a .*/server = s $(addr s)/" \
	    -e "s/^check = off/&\\nbandwidth = out=$2\\/s per=$1/" \
	    "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
	began=$(date +%s%N)
	spawn stream "$TOOLS/streamer" client "$PORT" --down "$3" --up 10 \
	    --deadline 200
	wait_for 20 has_line stream established
	while [ $(($(date +%s%N) - began)) -lt 3000000000 ]; do
		upgrade
		n=$((n + 1))
	done
	finish stream 60
	[[ $output == *"ok=1 "*"failed=0 "* ]] || fail "$output"
	took=$((($(date +%s%N) - began) / 1000000))
	echo "$n upgrades, $took ms"
	[ "$took" -ge $((3700 - ${4:-0} * n)) ]
	stop_newest
}

@test "upgrade: a session's bandwidth is not exceeded over many upgrades" {
	# A portion is 1460 bytes, 180 ms: what was read of it is not forgotten.
	holds session 8KiB 32768
}

@test "upgrade: a source's bandwidth is not exceeded over many upgrades" {
	holds source 128KiB 524288 "$PORTION_MS"
}

# bats test_tags=covered
@test "upgrade: the bandwidth of all is not exceeded over many upgrades" {
	holds backend 128KiB 524288 "$PORTION_MS"
}
