#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Bytes and ends arrive whole, with TLS on either side.

# bats file_tags=basic

load helpers
load stat
load tls

# between CLIENT SERVER NAME...: lfproxy with a frontend web in front of these
# servers; CLIENT and SERVER are tls or plain.
between() {
	local name

	make_site www.example
	{
		common
		echo "${GLOBALS:-}"
		printf '[tls public]\ncert = %s\n' "$T/www.example.pem"
		printf '[tls upstream]\nca = %s\n' "$T/ca.pem"
		echo '[frontend web]'
		if [ "$1" = tls ]; then
			echo 'listen = 127.0.0.1:0 tls=public'
		else
			echo 'listen = 127.0.0.1:0'
		fi
		unhurried timeout_handshake ''
		printf 'backend = app\n[backend app]\ncheck = off\n'
		unhurried timeout_connect ''
		[ "$2" = plain ] || echo 'tls = upstream'
		for name in "${@:3}"; do
			echo "server = $name $(addr "$name")"
		done
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# client_options KIND, server_options KIND: those of a streamer at a side of that
# kind; tool_options KIND: those of tlsendstool.py.
client_options() {
	[ "$1" = plain ] || echo "--secure --ca $T/ca.pem --sni www.example"
}
server_options() {
	[ "$1" = plain ] || echo "--secure --cert $T/www.example.pem"
}
tool_options() {
	[ "$1" = plain ] || echo "--tls --cert $T/www.example.pem"
}

SIDES=("tls plain" "plain tls" "tls tls")

# bats test_tags=covered
@test "tls ends: big streams arrive unchanged, both ways, with TLS on any side" {
	local sides client server

	make_site www.example
	for sides in "${SIDES[@]}"; do
		read -r client server <<<"$sides"
		# shellcheck disable=SC2046
		start_streams s $(server_options "$server")
		between "$client" "$server" s
		# shellcheck disable=SC2046
		for size in "--up $(scaled 33554432)" \
		    "--down $(scaled 33554432)" \
		    "--up $(scaled 33554432) --down $(scaled 33554432)" \
		    "--connections 4 --up 3000000 --down 5000000 --tls 1.2"; do
			[ "$client" = tls ] || size=${size% --tls 1.2}
			# shellcheck disable=SC2086
			streams "$(listening web)" $size \
			    $(client_options "$client")
			[[ $output == *"lost=0 unnamed=0 failed=0"* ]] ||
			    fail "$sides: $output"
		done
		stop_lfproxy
		end s
	done
}

# bats test_tags=covered
@test "tls ends: echoes in random pieces with pauses, 1 to 4 threads" {
	local threads

	make_site www.example
	# shellcheck disable=SC2046
	start_streams s $(server_options tls) --chunk 0
	for threads in 1 2 4; do
		between tls tls s
		ctl set pool main threads $threads
		# shellcheck disable=SC2046
		streams "$(listening web)" --mode echo --connections 32 \
		    --up 200000 --chunk 0 --pause 2 $(client_options tls)
		[[ $output == *"ok=32 "*"failed=0"* ]] || fail "$output"
		stop_lfproxy
	done
}

# A stream of mode both ends the client's half first, one of mode first the
# server's; the other half goes on and has to arrive.
# bats test_tags=covered
@test "tls ends: halves end on their own, whichever is the first" {
	local sides client server mode

	make_site www.example
	for sides in "${SIDES[@]}"; do
		read -r client server <<<"$sides"
		# shellcheck disable=SC2046
		start_streams s $(server_options "$server")
		between "$client" "$server" s
		for mode in both first; do
			# shellcheck disable=SC2046
			streams "$(listening web)" --mode $mode \
			    --connections 8 --up 300000 --down 300000 \
			    $(client_options "$client")
			[[ $output == *"ok=8 "*"failed=0"* ]] ||
			    fail "$sides, $mode: $output"
		done
		stop_lfproxy
		end s
	done
}

# bats test_tags=covered
@test "tls ends: a client's end is passed on as it was: clean, cut, or reset" {
	local sides client server end seen

	make_site www.example
	for sides in "${SIDES[@]}"; do
		read -r client server <<<"$sides"
		# shellcheck disable=SC2046
		start_taker s $(tool_options "$server")
		between "$client" "$server" s
		for end in clean cut reset; do
			# An end that was not announced is passed on as a reset.
			seen=$end
			[ $end != cut ] || seen=reset
			[ "$client $end" != "plain cut" ] || continue
			# shellcheck disable=SC2046
			tls_tool send "$(listening web)" --size 50000 \
			    $(tool_options "$client") --end $end
			wait_for 10 has_line s "^got [0-9]+ .* $seen\$" ||
			    fail "$sides, $end: $(cat "$T/s.out")"
			[ $end != clean ] ||
			    [[ $output == *"got "*" clean"*"answer +s 50000 "* ]] ||
			    fail "$sides: $output"
			printf 'listening on %s\n' "$(addr s)" >"$T/s.out"
		done
		stop_lfproxy
		end s
	done
}

@test "tls ends: a server's end is passed on as it was: clean, cut, or reset" {
	local sides client server end seen

	make_site www.example
	for sides in "${SIDES[@]}"; do
		read -r client server <<<"$sides"
		for end in clean cut reset; do
			seen=$end
			[ $end != cut ] || seen=reset
			[ "$server $end" != "plain cut" ] || continue
			# shellcheck disable=SC2046
			start_taker s $(tool_options "$server") --end $end
			between "$client" "$server" s
			# shellcheck disable=SC2046
			tls_tool send "$(listening web)" --size 50000 \
			    $(tool_options "$client")
			[[ $output =~ $'\n'got\ [0-9]+\ [0-9a-f]+\ $seen ]] ||
			    fail "$sides, $end: $output"
			stop_lfproxy
			end s
		done
	done
}

# bats test_tags=covered
@test "tls ends: a server that ends first still gets the client's bytes" {
	local sides client server

	make_site www.example
	for sides in "${SIDES[@]}"; do
		read -r client server <<<"$sides"
		# shellcheck disable=SC2046
		start_taker s $(tool_options "$server") --first
		between "$client" "$server" s
		# shellcheck disable=SC2046
		tls_tool send "$(listening web)" --size 1000 --rest 70000 \
		    $(tool_options "$client")
		[[ $output == *" clean"*"answer +s"* ]] || fail "$output"
		wait_for 10 has_line s '^got 71000 .* clean$'
		stop_lfproxy
		end s
	done
}

# bats test_tags=covered
@test "tls ends: records and segments of single bytes are put together" {
	local sides client server cut sent

	make_site www.example
	for sides in "${SIDES[@]}"; do
		read -r client server <<<"$sides"
		# shellcheck disable=SC2046
		start_taker s $(tool_options "$server") --record 1 --piece 3
		between "$client" "$server" s
		for cut in '--size 400 --piece 1' '--size 3000 --record 1' \
		    '--size 300 --record 1 --piece 1' \
		    '--size 100000 --record 7001 --piece 997'; do
			# shellcheck disable=SC2046,SC2086
			tls_tool send "$(listening web)" $cut \
			    $(tool_options "$client")
			sent=${output#sent }
			sent=${sent%%$'\n'*}
			[[ $output == *"answer +s $sent clean"* ]] ||
			    fail "$sides, $cut: $output"
		done
		stop_lfproxy
		end s
	done
}

# A client can use the first bytes of an answer before much of it has arrived,
# and a long answer costs few records.  Each has a byte for its type and a tag of
# 16 beside its data.
# bats test_tags=covered
@test "tls ends: an answer begins with short records and goes on with long ones" {
	make_site www.example
	serve s python3 -u "$ROOT/tests/tools/inetd.py" \
	    python3 -c 'import os
os.read(0, 1)
left = 400000
while left:
    left -= os.write(1, bytes(left))'
	between tls plain s
	tls_tool records "$(listening web)" --size 1
	python3 - "${output##*records }" <<-'EOF'
		import sys
		records = []
		for item in sys.argv[1].split():
		    size, times = map(int, item.split("x"))
		    records += [size - 17] * times
		long = next(i for i, n in enumerate(records) if n > 4096)
		begin = sum(records[:long])
		assert 65536 <= begin < 65536 + 8192, begin
		assert 16384 in records, records
	EOF
}

# bats test_tags=covered
@test "tls ends: TLS 1.2 ends as 1.3 does" {
	local end

	make_site www.example
	# shellcheck disable=SC2046
	start_taker s $(tool_options tls)
	between tls tls s
	for end in clean cut reset; do
		tls_tool send "$(listening web)" --tls 1.2 --end $end
	done
	wait_for 10 sessions_ended 3
	got_all() { [ "$(grep -c '^got' "$T/s.out")" -eq 3 ]; }
	wait_for 10 got_all
	equal "ends" "clean reset reset" "$(sed -n 's/^got .* //p' "$T/s.out" |
	    xargs)"
}

# memory_is_bounded KIB: lfproxy's memory is no larger than that and what the sockets of a few
# dozen sessions, with their records, may need.
memory_is_bounded() {
	local limit=$(($1 + 64 * 96 + 8192))

	[ "$SCALE" -eq 1 ] || return 0
	quiet 60
	[ "$(rss_kib)" -le $limit ] || fail "$(rss_kib) KiB, limit $limit"
}

# bats test_tags=covered
@test "tls ends: memory is bounded while 64 clients do not read" {
	local before size=8388608

	make_site www.example
	start_streams s
	between tls plain s
	# shellcheck disable=SC2046
	streams "$(listening web)" --connections 64 --up 1000 --down 1000 \
	    $(client_options tls)
	before=$(rss_kib)
	# shellcheck disable=SC2046
	spawn c "$TOOLS/streamer" client "$(listening web)" --connections 64 \
	    --down $size --hold-reading --deadline 200 $(client_options tls)
	wait_for 10 has_line c established
	memory_is_bounded "$before"
	signal c USR1
	finish c 100
	[[ $output == *"ok=64 "*"failed=0 up=0 down=$((64 * size)) "* ]]
}

# bats test_tags=covered
@test "tls ends: memory is bounded while a server does not read 64 clients" {
	local before size=8388608

	make_site www.example
	# shellcheck disable=SC2046
	start_streams s --hold-reading $(server_options tls)
	between plain tls s
	before=$(rss_kib)
	spawn c "$TOOLS/streamer" client "$(listening web)" --connections 64 \
	    --up $size --deadline 200
	wait_for 10 has_line c established
	memory_is_bounded "$before"
	signal s USR1
	finish c 100
	[[ $output == *"ok=64 "*"failed=0 up=$((64 * size)) "* ]]
}

# OpenSSL keeps the client's key of ML-KEM as long as the connection.
# bats test_tags=covered
@test "tls ends: an idle session keeps less than 20 KiB, and 28 KiB with ML-KEM" {
	local before count most=20

	! has_hybrid || most=28
	count=$(scaled 500)
	make_site www.example
	start_app s
	between tls plain s
	"$TOOLS/tlsload" handshakes --connections 50 --count 200 --deadline 100 \
	    "$(listening web)"
	before=$(rss_kib)
	spawn c "$TOOLS/tlsload" idle --connections "$count" --deadline 200 \
	    "$(listening web)"
	wait_for 60 has_line c '^established'
	quiet 60
	[ "$SCALE" -ne 1 ] || [ $((($(rss_kib) - before) / count)) -lt "$most" ] ||
	    fail "$((($(rss_kib) - before))) KiB for $count sessions"
	signal c TERM
	finish c
}
