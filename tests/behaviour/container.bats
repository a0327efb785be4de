#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# lfproxy as the first process of a container: a process-id namespace stands for
# one.

# bats file_tags=onethread

load helpers
load ctl
load rights

PIDNS='unshare --pid --fork --kill-child=KILL --mount-proc'
[ "$EUID" -eq 0 ] || PIDNS="unshare --user --map-root-user ${PIDNS#unshare }"

# site: GLOBAL has further lines of [global], DRAIN that of drain_timeout.
site() {
	cat <<-END
		[global]
		log = stderr
		admin = $ADMIN
		${GLOBAL:-}
		[frontend web]
		listen = ${WEB:-127.0.0.1:0}
		backend = app
		[backend app]
		${CHECK:-check = off}
		server = a $(addr a)
	END
}

# contained [COMMAND...]: an lfproxy that COMMAND starts as process 1.  FIRST is
# its process id outside.
contained() {
	# shellcheck disable=SC2086
	need "the right to make a process-id namespace" $PIDNS true
	LIMIT="$PIDNS $*" start_lfproxy < <(site)
	FIRST=$(pgrep -P "$LFPROXY_PID")
}

# main_pid: of the main process, outside.
main_pid() {
	local inside pid

	inside=$(ctl show info | sed -n 's/^Pid: //p')
	for pid in $(pgrep -P "$FIRST"); do
		[ "$(sed -n 's/^NSpid:.*\t//p' "/proc/$pid/status")" != \
		    "$inside" ] || echo "$pid"
	done
}

end_contained() {
	kill -TERM "$FIRST"
	await_lfproxy 15
}

@test "container: upgrades leave the container running, and refuse no client" {
	local i

	start_app a
	contained
	equal "the main process" 2 "$(ctl show info | sed -n 's/^Pid: //p')"
	url=$(url)
	spawn clients sh -c "for i in \$(seq 300); do
		curl -sS -m 60 -o /dev/null '$url' || exit; done"
	for i in 1 2 3; do
		run -0 ctl upgrade
		[[ $output == "process "*" has taken over 2 listening sockets"* ]]
	done
	finish clients
	refute ended "$FIRST"
	# The former processes have ended, and were reaped.
	wait_for 10 has_children 1
	kill -HUP "$FIRST"
	wait_for 10 lfproxy_said '^lfproxy: reloaded: '
	equal "the answer" a "$(fetch "$url")"
	end_contained
}

# has_children N: of the first process.
has_children() {
	[ "$(pgrep -c -P "$FIRST")" -eq "$1" ]
}

@test "container: the first process reaps what check scripts have left" {
	start_app a
	cat >"$T/script" <<-END
		#!/bin/sh
		setsid sh -c 'echo left >>$T/left' &
		exit 0
	END
	chmod +x "$T/script"
	CHECK="check = script interval=50ms
		check_command = $T/script" contained
	wait_for 10 has_left 5
	ctl disable health app/a
	wait_for 10 has_children 1
	end_contained
}

has_left() {
	[ -e "$T/left" ] && [ "$(wc -l <"$T/left")" -ge "$1" ]
}

@test "container: time to drain fits the ten seconds of an engine" {
	start_app a
	contained
	end_contained
	wait_for 10 lfproxy_said 'draining: .* may end within 8s'
	GLOBAL='shutdown_delay = 2s' contained
	# shellcheck disable=SC2086
	run -0 $PIDNS "$LFPROXY" -T -c "$T/lfproxy.ini"
	[[ $output == *$'\ndrain_timeout = 6s\n'* ]]
	end_contained
	wait_for 10 lfproxy_said 'draining: .* may end within 6s'
	GLOBAL='drain_timeout = 25s' contained
	end_contained
	wait_for 10 lfproxy_said 'draining: .* may end within 25s'
}

@test "container: the exit status is that of the main process" {
	local pid rc=0

	start_app a
	contained
	kill -KILL "$(main_pid)"
	pid=$LFPROXY_PID
	LFPROXY_PID=
	wait "$pid" || rc=$?
	equal "status" 137 "$rc"

	contained
	ctl upgrade
	kill -ABRT "$(main_pid)"
	pid=$LFPROXY_PID rc=0
	LFPROXY_PID=
	wait "$pid" || rc=$?
	equal "status" 134 "$rc"

	echo '[global]' >"$T/wrong.ini"
	# shellcheck disable=SC2086
	run -78 $PIDNS "$LFPROXY" -c "$T/wrong.ini"
}

@test "container: one SIGTERM drains, a second one stops at once" {
	start_app a
	GLOBAL='drain_timeout = 10m
		drain_idle_timeout = 10m' contained
	spawn held "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --deadline 200
	wait_for 10 holds_one
	kill -TERM "$FIRST"
	wait_for 10 lfproxy_said 'draining: 1 session'
	refute lfproxy_said 'stopping now'
	kill -TERM "$FIRST"
	await_lfproxy 15
	lfproxy_said 'stopping now: 1 session'
}

holds_one() {
	[ "$(ctl show info | sed -n 's/^CurrConns: //p')" -eq 1 ]
}

@test "container: a manager outside gets the messages, but not which process is the main one" {
	serve manager python3 -B "$ROOT/tests/behaviour/notifytool.py" "$T/notify"
	export NOTIFY_SOCKET=$T/notify
	start_app a
	contained
	unset NOTIFY_SOCKET
	wait_for 10 has_line manager '^READY=1 '
	ctl upgrade
	end_contained
	wait_for 10 has_line manager '^STOPPING=1 '
	refute has_line manager 'MAINPID|BARRIER|FDSTORE'
}

@test "container: sockets that an engine passes are the main process's alone" {
	start_app a
	cat >"$T/activate" <<-'END'
		import os, socket, sys
		s = socket.create_server(("127.0.0.1", 0))
		os.dup2(os.dup(s.fileno()), 3)
		os.set_inheritable(3, True)
		os.environ.update(LISTEN_FDS="1", LISTEN_FDNAMES="web",
		    LISTEN_PID=str(os.getpid()))
		os.execv(sys.argv[1], sys.argv[1:])
	END
	WEB=fd:web contained python3 -B "$T/activate"
	url=$(url)
	equal "the answer" a "$(fetch "$url")"
	ctl shutdown frontend web
	wait_for 10 refused "$url"
	end_contained
}

@test "container: the first process gives up root with the main one" {
	need_nobody
	without kill
	start_app a
	GLOBAL='user = nobody' contained "${WITHOUT[@]}"
	wait_for 10 is_nobody
	end_contained
}

# is_nobody: the first process has all ids of nobody, and no capability.
is_nobody() {
	local id

	id=$(id -u nobody)
	grep -q "^Uid:\s$id\s$id\s$id\s$id$" "/proc/$FIRST/status" &&
	    grep -q '^CapEff:\s0*$' "/proc/$FIRST/status"
}

# group CONTROLLER: a control group of its own for that controller, in GROUP, and
# how to start a command in it, in ENTER.  Skips the test where there can be none.
group() {
	local root=/sys/fs/cgroup

	if [ -e "$root/$1/cgroup.procs" ]; then # version 1
		root+=/$1
	else
		need "the controller $1" grep -qw "$1" \
		    "$root/cgroup.subtree_control"
	fi
	GROUP=$root/lfproxy-test-$BASHPID
	need "the right to make a control group" mkdir "$GROUP"
	echo "echo \$\$ >'$GROUP/cgroup.procs' && exec \"\$@\"" >"$T/enter"
	ENTER="sh $T/enter"
}

# The group is empty once its processes have been reaped.
leave_group() {
	stop_lfproxy
	rmdir "$GROUP"
}

@test "container: threads are as many as the CPU quota, rounded up" {
	[ "$(nproc)" -gt 1 ] || skip "needs two CPUs"
	group cpu
	if [ -e "$GROUP/cpu.max" ]; then
		echo '50000 100000' >"$GROUP/cpu.max"
	else
		echo 50000 >"$GROUP/cpu.cfs_quota_us"
	fi
	start_app a
	LIMIT=$ENTER start_lfproxy < <(site)
	equal "threads" 1 "$("$CTL" -S "$ADMIN" show info |
	    sed -n 's/^Nbthread: //p')"
	equal "the answer" a "$(fetch "$(url)")"
	leave_group
}

@test "container: too few process ids for the threads are reported" {
	local most said=() line

	group pids
	start_app a
	site >"$T/lfproxy.ini"
	for most in 1 2 3; do
		echo $most >"$GROUP/pids.max"
		# shellcheck disable=SC2086
		run $ENTER "$LFPROXY" -c "$T/lfproxy.ini"
		said+=("$status ${lines[-1]}")
	done
	rmdir "$GROUP"
	for line in "${said[@]}"; do
		[[ $line == "71 lfproxy: error: "*" cannot be started: "*"; raise"*pids.max* ]] ||
		    fail "$line"
	done
}
