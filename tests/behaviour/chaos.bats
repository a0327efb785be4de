#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Everything that goes wrong, at once: slow readers, servers killed, storms of
# resets, descriptors that run out, threads and shards that come and go; and no
# byte is wrong on the streams whose server lives.

load helpers

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = off
		admin = $ADMIN
		drain_timeout = 10m
		maxconn = 150
		[pool main]
		threads = 2
	END
}

# Pieces of trouble, each until $T/enough is there.
write_trouble() {
	cat >"$T/resize" <<-'END'
		#!/bin/bash
		n=0
		while [ ! -e "$T/enough" ]; do
			for change in 'threads 4' 'shards 3' 'promotion always' \
			    'shards 1' 'promotion adaptive' 'threads 2'; do
				said=$("$CTL" -S "$T/admin.sock" \
				    set pool main $change 2>&1) && continue
				# A shard needs descriptors, which may be used up now.
				[[ $said == *'Too many open files'* ]] && continue
				echo "$said"
				exit 1
			done
			n=$((n + 1))
		done
		echo "rounds $n"
	END
	cat >"$T/storm" <<-'END'
		#!/bin/bash
		n=0
		while [ ! -e "$T/enough" ]; do
			for at in connect partial response half-close; do
				"$TOOLS/badclient" leave "$1" --at $at --how rst \
				    --rate 100 --count 30 --deadline 60 || true
			done
			n=$((n + 1))
		done
		echo "rounds $n"
	END
	# Three times as many as there may be; then they go, and come again.
	cat >"$T/crowd" <<-'END'
		#!/bin/bash
		n=0
		while [ ! -e "$T/enough" ]; do
			timeout 0.7 "$TOOLS/badclient" idle "$1" --count 450 \
			    --deadline 60
			sleep 0.3
			n=$((n + 1))
		done
		echo "rounds $n"
	END
	# Fewer descriptors than the budget counted on, then enough again.
	cat >"$T/starve" <<-'END'
		#!/bin/bash
		n=0
		while [ ! -e "$T/enough" ]; do
			prlimit --pid "$1" --nofile=60:4096 || exit 1
			sleep 0.3
			prlimit --pid "$1" --nofile=4096:4096 || exit 1
			sleep 0.7
			n=$((n + 1))
		done
		echo "rounds $n"
	END
	chmod +x "$T/resize" "$T/storm" "$T/crowd" "$T/starve"
	export T CTL TOOLS
}

# chaos SECONDS
chaos() {
	local until part fds

	start_streams s --pause 3
	start_streams doomed
	start_app a
	LIMIT='prlimit --nofile=4096' start_lfproxy <<-END
		$(common)
		[frontend web]
		listen = 127.0.0.1:0
		backend = streams
		[frontend lossy]
		listen = 127.0.0.1:0
		backend = lossy
		[frontend http]
		listen = 127.0.0.1:0
		backend = app
		[backend streams]
		check = off
		server = s $(addr s)
		[backend lossy]
		check = off
		server = doomed $(addr doomed)
		server = s $(addr s)
		[backend app]
		check = off
		server = a $(addr a)
	END
	write_trouble
	fds=$(fd_count)
	# Long ones, which were accepted before the descriptors ran out: they
	# must get every byte.
	spawn safe "$TOOLS/streamer" client "$(listening web)" \
	    --connections 8 --up "$2" --down "$2" --pause 3 \
	    --deadline $((($1 + 60) * PATIENCE))
	wait_for 20 has_line safe '^established'
	spawn lossy "$TOOLS/streamer" client "$(listening lossy)" \
	    --connections 8 --up 2000000 --down 2000000 --pause 2 \
	    --allow-loss doomed --duration "$1" \
	    --deadline $((($1 + 60) * PATIENCE))
	wait_for 20 has_line lossy '^established'
	spawn resize "$T/resize"
	spawn storm "$T/storm" "$(listening http)"
	spawn slow "$TOOLS/badclient" slow "$(listening http)" --count 20 \
	    --rate 1000 --deadline $((($1 + 60) * PATIENCE))
	spawn crowd "$T/crowd" "$(listening http)"
	spawn starve "$T/starve" "$LFPROXY_PID"
	until=$((SECONDS + $1))
	while [ $SECONDS -lt $until ]; do
		sleep 1
		end doomed KILL
		restart doomed
		refute ended "$LFPROXY_PID"
	done
	: >"$T/enough"
	finish starve 30
	for part in resize storm crowd; do
		finish $part 60
		[[ $output =~ rounds\ [1-9] ]] || fail "$part: $output"
	done
	end slow
	finish lossy 60
	echo "lossy: $output"
	[[ $output == *"failed=0 "* ]] || fail "$output"
	finish safe 200
	echo "safe: $output"
	[[ $output == *"ok=8 lost=0 "*"failed=0 "* ]] || fail "$output"
	# Recovered: requests are served as before and nothing has leaked.
	equal "an answer" a "$(fetch "$(url http)")"
	wait_for 30 fds_at_most $((fds + 4))
	quiet 20
}

restart() {
	LISTEN=$(addr "$1") start_streams "$1"
}

# bats test_tags=slow
@test "chaos: slow readers, kills, resets, no descriptors, resizes: 5 s" {
	chaos 5 "$(scaled 20000000)"
}

# bats test_tags=long
@test "chaos: slow readers, kills, resets, no descriptors, resizes: 60 s" {
	chaos "$(in_short 60)" "$(scaled 200000000)"
}
