# SPDX-License-Identifier: MIT
# show capacity: what is used of what there is, and when it will run out.

load helpers

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = stderr
		drain_timeout = 10m
		admin = $ADMIN mode=0600
		${GLOBAL:-}
		[pool main]
		threads = 2
	END
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# row RESOURCE OF KEY: of `show capacity json`.
row() {
	ctl show capacity json | python3 -c 'import json, sys
resource, of, key = sys.argv[1:]
for row in json.load(sys.stdin)["rows"]:
    if row["resource"] == resource and row["of"].startswith(of):
        value = row[key]
        print(int(value) if isinstance(value, float) and
              value == int(value) else value)
        break' "$@"
}

row_is() {
	[ "$(row "$1" "$2" "$3")" = "$4" ]
}

row_at_least() {
	[ "$(row "$1" "$2" "$3")" -ge "$4" ]
}

# hold NAME N [MORE...]: N clients that hold on.
hold() {
	spawn "$1" "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count "$2" --deadline 600
}

held() {
	has_line "$1" "^established $2\$"
}

is_full() {
	ctl show capacity |
	    grep -qE '^sessions +40 +40 +100\.0 %  server app/a: .*full'
}

# bats test_tags=onethread, covered
@test "capacity: sessions and descriptors are those that there are" {
	local n

	start_app a
	GLOBAL='maxconn = 60' web 'a maxconn=40'
	ctl set maxconn frontend web 50
	hold first 20
	wait_for 10 held first 20
	wait_for 10 row_is sessions server used 20
	equal "sessions" "20 60" \
	    "$(row sessions '' used) $(row sessions '' limit)"
	equal "frontend" "20 50 40" "$(row sessions frontend used) $(row \
	    sessions frontend limit) $(row sessions frontend percent)"
	equal "server" "40 50" \
	    "$(row sessions server limit) $(row sessions server percent)"
	n=$(fd_count)
	# The client that asks has one more.
	equal "descriptors" $((n + 1)) "$(row descriptors '' used)"
	equal "their limit" "$(awk '/^Max open files/ { print $4 }' \
	    "/proc/$LFPROXY_PID/limits")" "$(row descriptors '' limit)"
	hold second 25
	wait_for 10 row_is queue backend used 5
	equal "server" "40 100" \
	    "$(row sessions server used) $(row sessions server percent)"
	# Once there are samples enough.
	wait_for 20 is_full
}

# bats test_tags=onethread, covered
@test "capacity: memory is the kernel's figure" {
	local said

	start_app a
	web a
	said=$(($(row memory '' used) / 1024))
	((said > $(rss_kib) / 2 && said < 2 * $(rss_kib))) ||
	    fail "$said KiB said, $(rss_kib) KiB seen"
	equal "the limit" "$(awk '/^MemTotal/ { print $2 }' /proc/meminfo)" \
	    "$(($(row memory '' limit) / 1024))"
}

# After a few samples; until then nothing is said of where it goes.
grows_at_this_pace() {
	ctl show capacity json >"$T/json"
	python3 - "$T/json" 2>"$T/why" <<-'END'
		import json, sys
		rows = json.load(open(sys.argv[1]))["rows"]
		row = [r for r in rows if r["resource"] == "sessions" and
		       r["of"] == "server app/a"][0]
		assert row["per_second"] and 1 < row["per_second"] < 11, row
		left = (row["limit"] - row["used"]) / row["per_second"]
		assert abs(row["full_in_s"] - left) < 1, row
		ports = [r for r in rows if r["resource"] == "source ports"][0]
		assert ports["per_second"] == row["per_second"], ports
		fds = [r for r in rows if r["resource"] == "descriptors"][0]
		assert fds["per_second"] > row["per_second"], fds
	END
}

# bats test_tags=onethread, covered
@test "capacity: the time until full is given for growing resources only" {
	start_app a
	web 'a maxconn=900'
	cat >"$T/grow.py" <<-'END'
		import socket, sys, time
		kept = []
		for i in range(800):
		    kept.append(socket.create_connection(
		        ("127.0.0.1", int(sys.argv[1]))))
		    time.sleep(0.1)
	END
	spawn grow python3 "$T/grow.py" "$(port web)"
	wait_for 20 row_at_least sessions server used 40
	wait_for 20 grows_at_this_pace || { cat "$T/why"; return 1; }
	run -0 ctl show capacity
	[[ $output =~ server\ app/a:\ \+[0-9.]+/s,\ full\ in\ [0-9ms]+\ at\ 20 ]] ||
	    fail "$output"
	end grow
	wait_for 20 row_is sessions server used 0
	# Falling now, or thought to be going nowhere.
	wait_for 20 row_is sessions server full_in_s None
}

# bats test_tags=onethread
@test "capacity: the backlog, and what overflows it" {
	local before

	start_app a
	WEB='127.0.0.1:0 backlog=8' web a
	ctl set maxconn frontend web 1
	equal "backlog" "0 8" \
	    "$(row backlog frontend used) $(row backlog frontend limit)"
	hold first 1
	wait_for 10 held first 1
	hold more 3
	wait_for 10 row_is backlog frontend used 3
	equal "whose" "frontend web 127.0.0.1:$(port web)" \
	    "$(row backlog frontend of)"
	before=$(row 'backlog overflows' '' used)
	hold many 30
	wait_for 20 row_at_least 'backlog overflows' '' used $((before + 1))
	[[ $(row 'backlog overflows' '' note) == *"all programs"* ]]
	ctl disable frontend web
	equal "disabled" "None disabled: no client can connect" \
	    "$(row backlog frontend used) $(row backlog frontend note)"
}

# bats test_tags=onethread
@test "capacity: source ports by destination, and those of a range" {
	local range reserved

	start_app a
	{
		common
		cat <<-END
			[frontend web]
			listen = 127.0.0.1:0
			backend = app
			[backend app]
			check = off
			server = a $(addr a)
			server = again $(addr a)
			server = ranged $(addr a) source=127.0.0.1:20000-20099
			server = local unix:$T/none.sock weight=0
		END
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	hold first 9
	wait_for 10 row_is 'source ports' 'server app/a ' used 6
	equal "the same address" 6 "$(row 'source ports' 'server app/again ' used)"
	equal "the range" "3 100 3" "$(row 'source ports' 'server app/ranged ' \
	    used) $(row 'source ports' 'server app/ranged ' limit) $(row \
	    'source ports' 'server app/ranged ' percent)"
	equal "unix" "" "$(row 'source ports' 'server app/local ' used)"
	range=$(awk '{ print $2 - $1 + 1 }' \
	    /proc/sys/net/ipv4/ip_local_port_range)
	reserved=$(cat /proc/sys/net/ipv4/ip_local_reserved_ports)
	[ -n "$reserved" ] ||
	    equal "the limit" "$range" "$(row 'source ports' 'server app/a ' \
	        limit)"
}

@test "capacity: threads that are busy" {
	start_streams a
	web a
	wait_for 10 row_at_least threads 'pool main' limit 2
	spawn load "$TOOLS/streamer" client "127.0.0.1:$(port web)" \
	    --connections 8 --up 100000 --down 100000 --duration 30 \
	    --deadline 600
	busy() {
		ctl show capacity | grep -qE \
		    '^threads +(0\.[1-9]|0\.0[1-9]|[12]\.)[0-9]* +2\.00 .*main'
	}
	wait_for 20 busy
}

# A pool has a row once it was looked at, within two seconds.
same_rows() {
	[ "$(ctl show capacity | grep -vc '^#')" -eq \
	    "$(ctl show capacity json | python3 -c 'import json, sys
print(len(json.load(sys.stdin)["rows"]))')" ]
}

# bats test_tags=onethread, covered
@test "capacity: text and json have the same rows, through a reload, too" {
	start_app a
	start_app b
	web a b
	wait_for 10 same_rows
	sed -i '/^server = b/d' "$T/lfproxy.ini"
	ctl reload
	run -0 ctl show capacity
	[[ $output != *app/b* ]]
	equal "no argument" "Unexpected argument 'all'; the usage is: [json]" \
	    "$(ctl show capacity all 2>&1 | sed 's/^[a-z]*: //')"
}
