# SPDX-License-Identifier: MIT
# show memory: what lfproxy's memory goes to; and that it, explain and show
# capacity do not hold up the control loop.

load helpers

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = stderr
		drain_timeout = 10m
		admin = $ADMIN mode=0600
		[pool main]
		threads = 2
	END
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# memory KEY [ROW]: of `show memory json`, or of one of its rows.
memory() {
	ctl show memory json | python3 -c 'import json, sys
x = json.load(sys.stdin)
if len(sys.argv) > 2:
    x = [r for r in x["rows"] if r["what"] == sys.argv[2]][0]
print(x[sys.argv[1]])' "$@"
}

memory_at_least() {
	[ "$(memory "$1" "$2")" -ge "$3" ]
}

memory_is() {
	[ "$(memory "$1" "$2")" = "$3" ]
}

held() {
	has_line "$1" "^established $2\$"
}

hold() {
	spawn "$1" "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count "$2" --deadline 600
}

# bats test_tags=onethread, covered
@test "memory: the heap grows with the configuration and is given back" {
	local before

	start_app a
	web a
	before=$(memory heap)
	((before > 0)) || skip "this malloc does not tell what is in use"
	for i in {1..2000}; do
		echo "server = s$i 127.0.0.1:1"
	done >>"$T/lfproxy.ini"
	ctl reload
	((($(memory heap) > before + 1000000)))
	sed -i '/^server = s[0-9]/d' "$T/lfproxy.ini"
	ctl reload
	shrunk() { [ "$(memory heap)" -lt $((before + 500000)) ]; }
	wait_for 20 shrunk
}

@test "memory: resident is the kernel's figure" {
	local resident

	start_app a
	web a
	resident=$(($(memory resident) / 1024))
	((resident > $(rss_kib) * 2 / 3 && resident < $(rss_kib) * 3 / 2)) ||
	    fail "$resident KiB said, $(rss_kib) KiB seen"
	(($(memory anonymous) > 0 && $(memory anonymous) < resident * 1024))
}

# bats test_tags=covered
@test "memory: sessions, buffers and former models are counted while they are" {
	local size

	start_app b
	web b
	size=$(memory mapped sessions)
	equal "none" "0 0" "$(memory count sessions) $size"
	hold first 70
	wait_for 10 held first 70
	wait_for 10 memory_is count sessions 70
	# Two chunks of 64.
	((($(memory mapped sessions) >= 128 * 384)))
	equal "former models" 0 "$(memory count 'former models')"
	echo 'timeout_queue = 7s' >>"$T/lfproxy.ini"
	ctl reload
	wait_for 10 memory_is count 'former models' 1
	end first
	wait_for 10 memory_is count sessions 0
	wait_for 20 memory_is count 'former models' 0
	((($(memory mapped sessions) >= 128 * 384)))
}

# bats test_tags=onethread
@test "memory: pending data is counted in buffers or in pipes" {
	local splice row bytes

	for splice in off auto; do
		row='pending buffers' bytes=mapped
		[ $splice = off ] || row='splice pipes' bytes=kernel
		start_streams a --hold-reading
		DEFAULTS="splice = $splice" web a
		spawn up "$TOOLS/streamer" client "127.0.0.1:$(port web)" \
		    --up 30000000 --deadline 600
		wait_for 30 memory_at_least count "$row" 1
		((($(memory $bytes "$row") >= 65536)))
		signal a USR1
		finish up 60
		wait_for 20 memory_is count "$row" 0
		stop_lfproxy
		end a
	done
}

# bats test_tags=onethread, covered
@test "memory: text and JSON have the same rows" {
	start_app a
	web a
	equal "rows" "$(ctl show memory | grep -vcE \
	    '^(#|heap in use|resident|  at most|swapped out)')" \
	    "$(ctl show memory json | python3 -c 'import json, sys
print(len(json.load(sys.stdin)["rows"]))')"
	run -1 ctl show memory all
	[[ $output == *"Unexpected argument 'all'; the usage is: [json]"* ]]
}

# longest COMMAND...: CPU time of the loop's longest turn while it is answered,
# in us: the least of several times, as on a busy machine each may be long.
longest() {
	for _ in {1..5}; do
		ctl clear loop
		ctl "$@" >"$T/answer"
		ctl show info | sed -n 's/^LoopMaxCpu_us: //p'
	done | sort -n | head -n 1
}

# 0.2 to 0.6 ms where it was measured; a turn that makes all of an answer of 500
# servers takes 3 to 6.
# bats test_tags=onethread, timing
@test "memory: no answer blocks the loop with 500 servers" {
	local i us

	{
		common
		printf '%s\n' '[frontend web]' 'listen = 127.0.0.1:0' \
		    'backend = app' '[backend app]' 'check = off' \
		    'balance = ewma'
		for i in {1..500}; do
			echo "server = server$i 127.0.0.1:$((10000 + i))"
		done
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	for i in 'explain 127.0.0.1' 'explain 127.0.0.1 json' \
	    'show capacity' 'show capacity json' 'show memory' \
	    'show memory json'; do
		# shellcheck disable=SC2086
		us=$(longest $i)
		echo "$i: $us us"
		((us < 1000 * PATIENCE)) || fail "$i: $us us"
		equal "$i" 1 $(($(wc -l <"$T/answer") > 5))
	done
}
