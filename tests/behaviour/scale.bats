#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What commands cost the control thread beside thousands of servers.

load helpers

# shellcheck disable=SC2034 # read by common
GLOBAL="admin = $T/admin.sock mode=0600"

# servers N BACKENDS: a configuration of N servers in as many backends.
servers() {
	common
	python3 - "$1" "$2" <<-'END'
		import sys
		n, backends = int(sys.argv[1]), int(sys.argv[2])
		print("[frontend web]\nlisten = 127.0.0.1:0\nbackend = b0")
		for b in range(backends):
		    print(f"[backend b{b}]\ncheck = off")
		    for i in range(n // backends):
		        print(f"server = s{i} 10.0.{i // 250}.{i % 250 + 1}:80")
	END
}

# frontends N: a configuration of N frontends with a backend each.
frontends() {
	local i

	common
	for ((i = 0; i < $1; i++)); do
		printf '%s\n' "[frontend f$i]" 'listen = 127.0.0.1:0' \
		    "backend = b$i" "[backend b$i]" 'check = off' \
		    'server = s 10.0.0.1:80'
	done
}

# The CPU time that the control thread has taken so far, in us.
control_us() {
	awk '{ printf "%d\n", $1 / 1000 }' \
	    "/proc/$LFPROXY_PID/task/$LFPROXY_PID/schedstat"
}

# cost_us COMMAND...: what the command takes of it, the median of nine times.
cost_us() {
	local before

	for _ in {1..9}; do
		before=$(control_us)
		"$CTL" -S "$T/admin.sock" "$@" >"$T/answer"
		echo $(($(control_us) - before))
	done | sort -n | sed -n 5p
}

# costs_at_most MS COMMAND...
costs_at_most() {
	local ms=$1 us

	shift
	us=$(cost_us "$@")
	echo "$*: $us us"
	((us <= ms * 1000))
}

# bats test_tags=timing
@test "scale: a reload of 20 000 servers in one backend takes 200 ms" {
	start_lfproxy < <(servers 20000 1)
	tries 5 costs_at_most 200 reload
	grep -q '^No change' "$T/answer"
}

# bats test_tags=timing
@test "scale: a reload of 20 000 servers in 200 backends takes 200 ms" {
	start_lfproxy < <(servers 20000 200)
	tries 5 costs_at_most 200 reload
}

# bats test_tags=timing
@test "scale: a reload of 5 000 frontends takes 400 ms" {
	[ "$(ulimit -Hn)" = unlimited ] || (($(ulimit -Hn) >= 20000)) ||
	    skip "needs 20000 descriptors: ulimit -Hn"
	start_lfproxy < <(frontends 5000)
	tries 5 costs_at_most 400 reload
}

# changing_costs_at_most MS: add server and del server, the median of nine each.
changing_costs_at_most() {
	local ms=$1 before add del

	for i in {1..9}; do
		before=$(control_us)
		"$CTL" -S "$T/admin.sock" add server "b0/x$i" 10.9.9.9:80
		echo $(($(control_us) - before)) >>"$T/add"
		before=$(control_us)
		"$CTL" -S "$T/admin.sock" del server "b0/x$i"
		echo $(($(control_us) - before)) >>"$T/del"
	done
	add=$(sort -n "$T/add" | sed -n 5p)
	del=$(sort -n "$T/del" | sed -n 5p)
	rm "$T/add" "$T/del"
	echo "add server: $add us, del server: $del us"
	((add <= ms * 1000 && del <= ms * 1000))
}

# bats test_tags=timing
@test "scale: beside 20 000 servers, add server and del server take 5 ms" {
	start_lfproxy < <(servers 20000 1)
	tries 5 changing_costs_at_most 5
}

# bats test_tags=timing
@test "scale: show drift of 20 000 servers takes 50 ms" {
	start_lfproxy < <(servers 20000 1)
	tries 5 costs_at_most 50 show drift
}

# turns_take_at_most MS: no turn of the control loop takes more CPU in three
# reloads of 20 000 servers.
turns_take_at_most() {
	local us

	start_lfproxy < <(servers 20000 1)
	for _ in {1..3}; do
		"$CTL" -S "$T/admin.sock" reload
	done
	us=$("$CTL" -S "$T/admin.sock" show info |
	    sed -n 's/^LoopMaxCpu_us: //p')
	stop_lfproxy
	echo "the longest turn: $us us"
	((us <= $1 * 1000))
}

# bats test_tags=timing
@test "scale: no turn of the loop takes 50 ms in a reload of 20 000 servers" {
	tries 5 turns_take_at_most 50
}

# grows_with_servers COMMAND...: beside four times as many servers the command
# costs at most six times as much.
grows_with_servers() {
	local few many

	start_lfproxy < <(servers 5000 1)
	few=$(cost_us "$@")
	stop_lfproxy
	start_lfproxy < <(servers 20000 1)
	many=$(cost_us "$@")
	stop_lfproxy
	echo "$*: $few us beside 5 000 servers, $many us beside 20 000"
	((many <= 6 * few))
}

# bats test_tags=timing
@test "scale: reload, show stat and show servers state take linear time" {
	tries 3 grows_with_servers reload
	tries 3 grows_with_servers show stat
	tries 3 grows_with_servers show servers state
}

# rearranged: a reload after the servers of the file were turned round.
rearranged() {
	local before us

	before=$(control_us)
	tac "$T/lines" >"$T/turned"
	cat "$T/head" "$T/turned" >"$T/lfproxy.ini"
	"$CTL" -S "$T/admin.sock" reload
	us=$(($(control_us) - before))
	mv "$T/turned" "$T/lines"
	echo "in another order: $us us"
	((us <= 300000))
}

# bats test_tags=timing
@test "scale: 20 000 servers in another order are reloaded in 300 ms" {
	servers 20000 1 >"$T/all"
	grep -v '^server ' "$T/all" >"$T/head"
	grep '^server ' "$T/all" >"$T/lines"
	start_lfproxy <"$T/all"
	tries 5 rearranged
}
