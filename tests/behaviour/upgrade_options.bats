#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Options of listening sockets, and the modes and owners of their files, that an
# upgrade changes or, when it fails, leaves as they were.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

# bats file_tags=basic

load helpers
load rights
load ctl
load upgrade
load sockopts

OPTIONS="backlog=77 keepalive=61s:11s:4 user_timeout=31s sndbuf=48k rcvbuf=24k"
OPTIONS+=" mss=1000 dscp=af41 congestion=reno defer_accept=7s tfo=16"

listener() {
	kernel listen "local=127.0.0.1:${PORT##*:} "
}

# edit_listen [OPTION...]: the options of the TCP listener in the file.
edit_listen() {
	sed -i "s/^\(listen = 127.0.0.1:0\).*/\1 $*/" "$T/lfproxy.ini"
}

# as_before WITHOUT: the listener's options, and the files' modes.
as_before() {
	listener
	equal "the options" "$1" "$line"
	equal "the modes" "666 660" "$(stat -c %a "$T/web.sock" "$ADMIN" | xargs)"
}

# Symptom: the sockets that both processes have kept the options of the other
# one, and the files its modes, when it was killed.
@test "upgrade: a process that is killed leaves the options of sockets as they were" {
	local without

	start_app a
	begin_unconfirmed
	readable
	listener
	without=$line
	edit_listen "$OPTIONS"
	sed -i -e 's/^listen = unix.*/& mode=0600/' \
	    -e 's/^admin = .*/& mode=0640/' "$T/lfproxy.ini"
	upgrade_in_vain
	as_before "$without"
	signal manager USR1
	run -0 ctl upgrade
	LFPROXY_PID=$(pid_now)
	listener
	has backlog=77 keepalive=1 idle=61 mss=1000 tos=136 congestion=reno \
	    defer=7 tfo=16
	stop_newest
}

# bats test_tags=covered
@test "upgrade: a file that is refused leaves the options of sockets as they were" {
	local without

	start_app a
	begin
	readable
	start_app taken
	listener
	without=$line
	edit_listen "$OPTIONS"
	sed -i "s/^http = .*/http = $(addr taken)/" "$T/lfproxy.ini"
	refused "no upgrade, .*cannot listen on $(addr taken)"
	as_before "$without"
	stop_newest
}

@test "upgrade: a process that is killed leaves a file's owner as it was" {
	need_to_give nobody:nogroup
	start_app a
	begin_unconfirmed
	sed -i -e 's/^listen = unix.*/& user=nobody group=nogroup mode=0600/' \
	    -e 's/^admin = .*/& group=nogroup/' "$T/lfproxy.ini"
	upgrade_in_vain
	equal "the files" "666 root root 660 root root" \
	    "$(stat -c '%a %U %G' "$T/web.sock" "$ADMIN" | xargs)"
	signal manager USR1
	run -0 ctl upgrade
	LFPROXY_PID=$(pid_now)
	equal "the files" "600 nobody nogroup 660 root nogroup" \
	    "$(stat -c '%a %U %G' "$T/web.sock" "$ADMIN" | xargs)"
	stop_newest
}

# Symptom: the socket kept it, since the other process did not know of it.
# bats test_tags=covered
@test "upgrade: an option that the file has no longer is the kernel's again" {
	local without

	start_app a
	begin
	readable
	listener
	without=$line
	edit_listen "$OPTIONS"
	upgrade
	listener
	has backlog=77 keepalive=1 user_timeout=31000 sndbuf=98304 mss=1000 \
	    tos=136 congestion=reno defer=7 tfo=16
	edit_listen
	upgrade
	listener
	equal "the options" "$without" "$line"
	stop_newest
}

# started_with NAME: lfproxy gets a socket with keepalive under that name.
started_with() {
	: >"$LFPROXY_LOG"
	setsid "${UPGRADE_TOOL[@]}" activate "$1=$PORT/keepalive" -- \
	    "$LFPROXY" -c "$T/lfproxy.ini" </dev/null >"$T/lfproxy.out" \
	    2>"$LFPROXY_LOG" 3>&- &
	LFPROXY_PID=$!
	FIRST=$LFPROXY_PID
	wait_for 10 lfproxy_ready_or_ended
	listener
	stop_lfproxy
}

# What the manager stores is lfproxy's own; a socket unit has its own options.
@test "upgrade: a restart resets the options of stored sockets, not of a unit's" {
	start_app a
	begin
	readable
	stop_lfproxy
	sed -i "s/^listen = 127.0.0.1:0/listen = $PORT/" "$T/lfproxy.ini"
	started_with "listen-${PORT/:/-}"
	has keepalive=0
	started_with lfproxy.socket
	has keepalive=1
	started_with listen-web.socket
	has keepalive=1
	sed -i "s/^listen = $PORT/listen = fd:web/" "$T/lfproxy.ini"
	started_with web
	has keepalive=1
}
