# SPDX-License-Identifier: MIT
# Notifications to the service manager: sd_notify(3).

# bats file_tags=onethread

load helpers

# manager [TRY...]: the manager's socket, see notifytool.py; NOTIFY_SOCKET names
# it.
manager() {
	local name=${MANAGER:-$T/notify}

	serve manager python3 -B "$ROOT/tests/behaviour/notifytool.py" \
	    "$name" "$@"
	export NOTIFY_SOCKET=$name
}

# told REGEX: the manager has received a message like that.
told() {
	has_line manager "$1"
}

told_times() {
	[ "$(grep -cE -- "$1" "$T/manager.out")" -ge "$2" ]
}

# line REGEX: the number of the first line that matches.
line() {
	grep -nE -m 1 -- "$1" "$T/manager.out" | cut -d : -f 1
}

configuration() {
	cat <<-END
		[global]
		log = stderr
		drain_timeout = ${DRAIN_TIMEOUT:-10m}
		admin = $T/admin.sock
		[frontend web]
		listen = unix:$T/web.sock
		backend = app
		[backend app]
		check = off
		server = a 127.0.0.1:9
	END
}

# bats test_tags=covered
@test "notify: READY comes once the listeners and the admin socket are open" {
	manager "$T/web.sock" "$T/admin.sock"
	start_lfproxy < <(configuration)
	wait_for 10 told '^READY=1 STATUS=Ready$'
	told "^open $T/web.sock$"
	told "^open $T/admin.sock$"
	refute told '^closed'
	equal "READY, so many times" 1 "$(grep -c READY "$T/manager.out")"
}

# bats test_tags=covered
@test "notify: no READY when a port is taken" {
	local address

	manager
	start_app taken
	address=$(addr taken)
	run -71 timeout 60 "$LFPROXY" -l "$address" -s 127.0.0.1:9
	[[ $output == *"cannot listen on $address"* ]]
	refute told READY
}

@test "notify: an abstract socket" {
	MANAGER=@lfproxy-notify-$$-$RANDOM manager
	start_lfproxy < <(configuration)
	wait_for 10 told '^READY=1 '
}

@test "notify: a wrong socket name is a warning" {
	NOTIFY_SOCKET=vsock:2:1 start_lfproxy < <(configuration)
	wait_for 10 lfproxy_said 'NOTIFY_SOCKET=vsock:2:1 is neither'
}

# bats test_tags=covered
@test "notify: a manager that is gone is a warning, once" {
	manager
	end manager KILL
	start_lfproxy < <(configuration)
	wait_for 10 lfproxy_said 'NOTIFY_SOCKET\) takes no messages: Conn'
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said 'reloaded:'
	equal "warnings" 1 "$(grep -c NOTIFY_SOCKET "$LFPROXY_LOG")"
}

# bats test_tags=covered
@test "notify: a reload is reported with its start, its time and its end" {
	local before after at

	manager
	start_lfproxy < <(configuration)
	before=$(sed 's/[. ].*//' /proc/uptime)
	kill -HUP "$LFPROXY_PID"
	wait_for 10 told 'READY=1 STATUS=Ready; reloaded with 0 changes$'
	after=$(sed 's/[. ].*//' /proc/uptime)
	[ "$(line '^RELOADING=1')" -lt "$(line 'reloaded with')" ]
	at=$(sed -n 's/^RELOADING=1 MONOTONIC_USEC=\([0-9]*\) .*/\1/p' \
	    "$T/manager.out")
	[ $((at / 1000000)) -ge "$before" ]
	[ $((at / 1000000)) -le "$after" ]
}

# bats test_tags=covered
@test "notify: a refused reload ends in READY with the reason" {
	manager
	start_lfproxy < <(configuration)
	echo 'nonsense = 1' >>"$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 told \
	    '^READY=1 STATUS=Ready; a reload was refused: .*nonsense'
	told '^RELOADING=1'
}

# bats test_tags=covered
@test "notify: STOPPING asks for as much time as draining may take" {
	manager
	start_lfproxy < <(DRAIN_TIMEOUT=90s configuration)
	stop_lfproxy
	wait_for 10 told '^STOPPING=1 EXTEND_TIMEOUT_USEC=[0-9]+ STATUS=Drain'
	[ "$(sed -n 's/.*TIMEOUT_USEC=\([0-9]*\) .*/\1/p' \
	    "$T/manager.out")" -gt 90000000 ]
}

@test "notify: signs of life, for the process that is watched alone" {
	manager
	export WATCHDOG_USEC=200000 WATCHDOG_PID=1
	start_lfproxy < <(configuration)
	wait_for 10 told '^READY=1 '
	stop_lfproxy
	refute told WATCHDOG
	unset WATCHDOG_PID
	start_lfproxy < <(configuration)
	wait_for 10 told_times '^WATCHDOG=1' 5
}

# bats test_tags=covered
@test "notify: no sign of life while no turn ends" {
	local faulty=$ROOT/build/fault/lfproxy

	[ -x "$faulty" ] || skip "no $faulty; make MODE=fault builds it"
	manager
	WATCHDOG_USEC=400000 LFPROXY_FAULT_SLOW=100%:3s LFPROXY=$faulty \
	    start_lfproxy < <(configuration)
	wait_for 10 told_times '^WATCHDOG=1' 2
	spawn client curl -sS -m 60 --unix-socket "$T/web.sock" http://x/
	wait_for 10 lfproxy_said 'pool main: no turn has ended for 200 ms'
	grep -v STATUS "$T/manager.out" >"$T/before"
	wait_for 10 lfproxy_said 'turns end again'
	wait_for 10 told_times '^WATCHDOG=1' \
	    "$(($(grep -c WATCHDOG "$T/before") + 3))"
}

# bats test_tags=covered
@test "notify: no sign of life while the keeper is stuck" {
	local faulty=$ROOT/build/fault/lfproxy
	local ctl=$ROOT/build/fault/lfproxyctl n

	[ -x "$faulty" ] || skip "no $faulty; make MODE=fault builds it"
	start_app a
	manager
	WATCHDOG_USEC=1000000 LFPROXY_FAULT_STOP_KEEPER=1 LFPROXY=$faulty \
	    start_lfproxy < <(configuration | sed "s/127.0.0.1:9/$(addr a)/")
	wait_for 10 told_times '^WATCHDOG=1' 3
	curl -sS -m 60 --unix-socket "$T/web.sock" http://x/
	wait_for 10 lfproxy_said 'lf-keeper has not answered for 500 ms'
	n=$(grep -c '^WATCHDOG' "$T/manager.out")
	pause 2
	# The control thread still works.
	"$ctl" -S "$T/admin.sock" show info >/dev/null
	equal "signs of life" "$n" "$(grep -c '^WATCHDOG' "$T/manager.out")"
	kill -KILL "$LFPROXY_PID"
	wait "$LFPROXY_PID" || equal "exit status" 137 $?
	LFPROXY_PID=
}

# bats test_tags=covered
@test "notify: the status has sessions and usable servers" {
	start_app a
	manager
	start_lfproxy < <(configuration | sed "s/127.0.0.1:9/$(addr a)/")
	wait_for 20 told '^STATUS=Ready: 0 sessions, 0 new a second, 1 of 1 server usable$'
}

@test "notify: the manager keeps the TCP sockets that are in the file" {
	local port

	start_app a
	manager
	port=$(free_port)
	configuration >"$T/lfproxy.ini"
	sed -i "s/^listen = .*/&\nlisten = 127.0.0.1:$port/" "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	wait_for 10 told "^FDSTORE=1 FDNAME=listen-127.0.0.1-$port\$"
	equal "sockets" 1 "$(grep -c FDSTORE "$T/manager.out")"
	configuration >"$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 told "^FDSTOREREMOVE=1 FDNAME=listen-127.0.0.1-$port\$"
}

# The newest state, of those that arrived, is READY.
ready_is_last() {
	[ "$(sed -nE 's/^(READY|RELOADING)=.*/\1/p' "$T/manager.out" |
	    tail -n 1)" = READY ]
}

@test "notify: a full queue delays READY, and does not lose it" {
	local room i

	manager
	stop_process "${PIDS[manager]}"
	start_lfproxy < <(configuration)
	room=$(cat /proc/sys/net/unix/max_dgram_qlen)
	# Two messages each: the queue is full with an odd one.
	for ((i = 0; i < room / 2 + 5; i++)); do
		"$CTL" -S "$T/admin.sock" reload >/dev/null
	done
	refute told READY
	signal manager CONT
	wait_for 10 told '^RELOADING=1'
	wait_for 10 ready_is_last
}

# bats test_tags=covered
@test "notify: check scripts do not find NOTIFY_SOCKET" {
	manager
	printf '#!/bin/sh\nenv >%s/env.new\nmv %s/env.new %s/env\n' \
	    "$T" "$T" "$T" >"$T/check"
	chmod +x "$T/check"
	start_lfproxy < <(
		configuration
		printf '[backend b]\ncheck = script\ncheck_command = %s\n' \
		    "$T/check"
		printf 'server = s 127.0.0.1:9\n'
	)
	wait_for 10 test -s "$T/env"
	refute grep NOTIFY_SOCKET "$T/env"
}
