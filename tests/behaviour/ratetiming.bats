#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# How exact limits on bandwidth are.

load helpers
load stat

# start_limited LINE: lfproxy with that line in its frontend.
start_limited() {
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '%s\n[backend app]\ncheck = off\n' "$1"
		printf 'server = s %s\n' "$(addr s)"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# load_sessions N: so many sessions get more than the limits let through.
load_sessions() {
	"$TOOLS/streamer" client "$(listening web)" --connections "$1" --up 0 \
	    --down 1000000000000 --deadline 600 >"$T/stream" 2>&1 3>&- &
	STREAM=$!
	wait_for 10 session_count "$1"
}

session_count() {
	[ "$(ctl show sess | grep -c .)" -eq "$1" ]
}

# measure SECONDS: the bytes per second of all sessions, and the part of a fair
# share that the slowest gets, in percent.
measure() {
	python3 - "$1" "$CTL" "$ADMIN" <<-'END'
		import json, subprocess, sys, time
		def look():
		    out = subprocess.run([sys.argv[2], "-S", sys.argv[3], "show",
		                          "sess", "json"], capture_output=True)
		    return time.monotonic(), {s["id"]: s["bytes_out"]
		                              for s in json.loads(out.stdout)}
		t0, before = look()
		time.sleep(float(sys.argv[1]))
		t1, after = look()
		got = [after[i] - before[i] for i in before]
		print(int(sum(got) / (t1 - t0)), min(got) * len(got) * 100 // sum(got))
	END
}

# keeps RATE SECONDS FAIR: the rate is kept within 3 %, and the slowest session
# gets at least FAIR percent of its share.
keeps() {
	local rate fair

	read -r rate fair <<<"$(measure "$2")"
	echo "$rate bytes a second of $1, the slowest has $fair % of its share"
	[ $((rate * 100)) -ge $(($1 * 97)) ] &&
	    [ $((rate * 100)) -le $(($1 * 103)) ] && [ "$fair" -ge "$3" ]
}

# bats test_tags=timing
@test "bandwidth: 8 KiB/s are exact within 3 %" {
	start_streams s
	start_limited 'bandwidth = out=8KiB/s per=session'
	load_sessions 1
	tries 3 keeps 8192 12 100
	kill "$STREAM"
}

# bats test_tags=timing
@test "bandwidth: 10 MiB/s of each of four sessions are exact within 3 %" {
	start_streams s
	start_limited 'bandwidth = out=10MiB/s per=session'
	load_sessions 4
	tries 3 keeps 41943040 3 97
	kill "$STREAM"
}

# bats test_tags=timing
@test "bandwidth: 100 MiB/s are exact within 3 %, and twenty sessions share them" {
	start_streams s
	start_limited 'bandwidth = out=100MiB/s per=frontend'
	load_sessions 20
	tries 3 keeps 104857600 4 75
	kill "$STREAM"
}
