#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Two hundred admin clients that stall, send garbage, half lines and endless
# lines, or do not read: neither other admin clients nor sessions notice.

load helpers

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = off
		drain_timeout = 10m
		admin = $ADMIN
		[pool main]
		threads = 2
	END
}

# Sessions' p99, beside rounds without them; others' answers within 100 ms;
# memory and descriptors.  What is compared with what: tests/bench/admin.py.  Two
# milliseconds more are what the foes cost wherever they are, because they take
# CPU time; a machine with other things to do is as noisy as that.
# bats test_tags=timing
@test "hostile: neither sessions nor other admin clients notice 200 of them" {
	local rc=0

	[ "$PATIENCE" -eq 1 ] || skip "times under a sanitizer say little"
	PYTHONPATH=$ROOT/tests timeout 600 python3 -B "$ROOT/tests/bench/admin.py" \
	    "$BUILD" --judge --more-us 2000 --rounds 5 --ms 1000 2>"$T/rounds" || rc=$?
	[ "$rc" -ne 75 ] ||
	    skip "no verdict with a load of $(cut -d' ' -f1 /proc/loadavg)"
	[ "$rc" -eq 0 ] || cat "$T/rounds"
	equal "the exit code" 0 "$rc"
}

rss_kb() {
	awk '/^VmRSS:/ { print $2 }' "/proc/$LFPROXY_PID/status"
}

# bats test_tags=slow
@test "hostile: a long answer takes no memory, however slowly it is read" {
	local before after part=128

	# A sanitizer keeps for a while what was freed.
	((PATIENCE == 1)) || part=1024
	start_app a
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\nbalance = roundrobin\ncheck = off\n'
		for i in $(seq 3000); do
			echo "server = s$i $(addr a)"
		done
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	"$CTL" -S "$ADMIN" show stat typed >"$T/whole"
	equal "servers" 3000 "$(grep -c '^S\..*\.svname\.' "$T/whole")"
	before=$(rss_kb)
	spawn slow python3 -c '
import socket, sys, time
socks = []
for i in range(40):
    s = socket.socket(socket.AF_UNIX)
    s.connect(sys.argv[1])
    s.sendall(b"show stat typed\n")
    socks.append(s)
for s in socks:
    s.recv(1000)
print("ready", flush=True)
time.sleep(600)
' "$ADMIN"
	wait_for 30 has_line slow '^ready$'
	"$CTL" -S "$ADMIN" show cli level
	after=$(rss_kb)
	echo "an answer has $(stat -c %s "$T/whole") bytes; KiB before $before, with 40 of them $after"
	# 40 parts of answers and 40 line buffers, not 40 answers of 5 MB.
	((after - before < 40 * part))
	end slow
}

@test "hostile: random commands are answered, each with its prompt" {
	start_app a
	web a
	for seed in 1 2; do
		run -0 timeout $((100 * PATIENCE)) python3 \
		    "$ROOT/tests/behaviour/adminfoes.py" random "$ADMIN" \
		    "$(scaled 1500)" "$seed"
	done
	equal "the level" admin "$("$CTL" -S "$ADMIN" show cli level)"
}
