#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades to a file that has other listeners, frontends, backends and pools.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load ctl
load upgrade

# Symptom: the other process removed the files before it served, so no client
# reached the sockets of the present one.
@test "upgrade: unix sockets that the file has no longer are open until then" {
	start_app a
	begin_unconfirmed
	sed -i -e "s|^listen = unix.*|listen = unix:$T/other.sock|" \
	    -e "s|^admin = .*|admin = $T/moved.sock|" "$T/lfproxy.ini"
	upgrade_in_vain
	equal "unix" a "$(fetch --unix-socket "$T/web.sock" http://x/)"
	signal manager USR1
	run -0 ctl upgrade
	[ ! -e "$T/web.sock" ]
	[ ! -e "$ADMIN" ]
	ADMIN=$T/moved.sock
	LFPROXY_PID=$(pid_now)
	[ "$LFPROXY_PID" != "$FIRST" ]
	equal "unix" a "$(fetch --unix-socket "$T/other.sock" http://x/)"
	stop_newest
}

# Symptom: the socket of the present process had the mode of the file that was
# refused, which kept clients out.
# bats test_tags=covered
@test "upgrade: a file that is refused leaves the modes of sockets as they are" {
	start_app a
	begin
	start_app taken
	sed -i -e "s/^http = .*/http = $(addr taken)/" \
	    -e 's/^listen = unix.*/& mode=0600/' \
	    -e 's/^admin = .*/& mode=0600/' "$T/lfproxy.ini"
	refused "no upgrade, .*cannot listen on $(addr taken)"
	equal "modes" "666 660" "$(stat -c %a "$T/web.sock" "$ADMIN" | xargs)"
	stop_newest
}

# Symptom: another program was said to listen there.
@test "upgrade: a unix socket may have another path to its file" {
	start_app a
	begin
	ln -s "$T" "$T/link"
	sed -i -e "s|^listen = unix.*|listen = unix:$T/link/web.sock|" \
	    -e "s|^admin = .*|admin = $T/link/admin.sock|" "$T/lfproxy.ini"
	upgrade
	equal "unix" a "$(fetch --unix-socket "$T/web.sock" http://x/)"
	upgrade
	equal "unix" a "$(fetch --unix-socket "$T/web.sock" http://x/)"
	stop_newest
}

# Symptom: the client was reset, as its address had another number.
# bats test_tags=covered
@test "upgrade: a client goes on that is inspected at the second of two addresses" {
	serve s "${UPGRADE_TOOL[@]}" server
	ADDRS[a]=$(addr s)
	site | sed -e '/^listen = unix/d' \
	    -e 's/^listen = 127.*/listen = 127.0.0.2:0\n&/' \
	    -e 's/^backend = app/&\nsni = *.example.com backend=app\ntimeout_hello = 10m/' \
	    >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web 2)
	spawn c "${UPGRADE_TOOL[@]}" hello "$PORT" www.example.com
	wait_for 10 has_line c connected
	inspected() { [[ $(ctl show sess json) == *'"state":"INSPECTING"'* ]]; }
	wait_for 10 inspected
	sed -i '/^listen = 127.0.0.2:0/d' "$T/lfproxy.ini"
	upgrade
	equal "reset" 0 "$(of_info FormerSessionsReset)"
	signal c USR1
	wait_for 10 has_line s 'got .*www.example.com'
	signal s USR1
	finish c
	stop_newest
}

@test "upgrade: a session goes on whose frontend, backend and pool have other names" {
	start_app a
	start_streams s
	begin_with s
	spawn stream "$TOOLS/streamer" client "$PORT" --connections 4 \
	    --up 1000000 --down 40000000 --hold-reading --deadline 200
	wait_for 10 has_line stream established
	sed -i -e 's/^\[pool main\]/[pool other]/' \
	    -e 's/^\[frontend web\]/[frontend site]/' \
	    -e 's/^backend = .*/backend = sites/' \
	    -e 's/^\[backend app\]/[backend sites]/' \
	    -e "s/^server = .*/server = a $(addr a)/" "$T/lfproxy.ini"
	upgrade
	[[ $UPGRADED == *"; 4 sessions of process $FIRST may end within 10m" ]] ||
	    fail "$UPGRADED"
	equal "TCP" a "$(fetch "http://$PORT/")"
	equal "unix" a "$(fetch --unix-socket "$T/web.sock" http://x/)"
	signal stream USR1
	finish stream 60
	[[ $output == *"ok=4 "*"failed=0 "* ]] || fail "$output"
	wait_for 15 ended "$FIRST"
	stop_newest
}

# Symptom: the answer was that another program listened there.
# bats test_tags=covered
@test "upgrade: an address that the present process is in the way of is refused" {
	start_app a
	begin
	sed -i "s|^listen = 127.*|listen = *:${PORT##*:}|" "$T/lfproxy.ini"
	refused "cannot listen on .*; the lfproxy before this one still listens on $PORT, so upgrade once without the new address"
	stop_newest
}
