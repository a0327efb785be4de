#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades: another process takes over the listening sockets.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

# bats file_tags=basic

load helpers
load rights
load ctl
load upgrade

# bats test_tags=covered,machine
@test "upgrade: another process has the listeners, the admin socket and the HTTP port" {
	local http

	start_app a
	begin
	http=$(sed -n 's|.*monitoring at http://\(.*\)/$|\1|p' "$LFPROXY_LOG")
	upgrade
	wait_for 10 ended "$FIRST"
	equal "TCP" a "$(fetch "http://$PORT/")"
	equal "unix" a "$(fetch --unix-socket "$T/web.sock" http://x/)"
	[ "$(fetch -o /dev/null -w '%{http_code}' "http://$http/metrics")" = 200 ]
	# A second one, and a reload of the second process.
	upgrade
	equal "TCP" a "$(fetch "http://$PORT/")"
	equal "reload" "No change." "$(ctl reload)"
	kill -TERM "$LFPROXY_PID"
	wait_for 15 ended "$LFPROXY_PID"
	LFPROXY_PID=$FIRST
	[ ! -e "$T/web.sock" ]
	[ ! -e "$ADMIN" ]
	wait "$FIRST"
	LFPROXY_PID=
}

@test "upgrade: a client of the HTTP port that asks for it is answered" {
	local http

	start_app a
	site | sed 's/^http = .*/& level=admin/' >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
	http=$(sed -n 's|.*monitoring at http://\(.*\)/$|\1|p' "$LFPROXY_LOG")
	# The former process ends well although its last client has gone before.
	run -0 curl -sS -m 60 -H 'Content-Type: application/json' \
	    -d '{"command":"upgrade"}' "http://$http/api/v1/command"
	[[ $output == '{"answer":"process '*' has taken over '* ]] ||
	    fail "$output"
	LFPROXY_PID=${output#*process }
	LFPROXY_PID=${LFPROXY_PID%% *}
	wait_for 10 ended "$FIRST"
	equal "TCP" a "$(fetch "http://$PORT/")"
	[ "$(fetch -o /dev/null -w '%{http_code}' "http://$http/metrics")" = 200 ]
	stop_newest
}

@test "upgrade: no client is refused or reset while processes change" {
	local kind

	start_app a
	begin
	spawn tcp "${UPGRADE_TOOL[@]}" connect "$PORT"
	spawn unix "${UPGRADE_TOOL[@]}" connect "unix:$T/web.sock"
	wait_for 10 has_line tcp begun
	wait_for 10 has_line unix begun
	for _ in 1 2 3 4 5; do
		upgrade
	done
	for kind in tcp unix; do
		signal $kind TERM
		finish $kind 20
		[[ $output =~ ok=[1-9][0-9]*\ failed=0$ ]] ||
		    fail "$kind: $output"
	done
	stop_newest
}

# switches: how often the former process's pool threads have slept.
switches() {
	awk '/^Name:/ { pool = $2 ~ /^lf-main-/ }
	    /^voluntary_ctxt_switches/ && pool { n += $2 } END { print n }' \
	    "/proc/$FIRST/task/"*/status
}

# asleep: the former process's pool threads sleep while new clients come.
asleep() {
	local before n

	before=$(switches)
	for _ in {1..40}; do
		fetch "http://$PORT/" >/dev/null || return 2
	done
	n=$(($(switches) - before))
	echo "$n switches"
	[ $n -lt 10 ]
}

one_session() {
	[ "$(ctl show info | sed -n 's/^CurrConns: //p')" = 1 ]
}

@test "upgrade: the former process does not wake for new clients" {
	start_app a
	start_app b
	begin
	spawn idle "$TOOLS/badclient" silent "$PORT" --deadline 200
	wait_for 10 one_session
	# Its server is no server of the other process.
	sed -i "s/^server = a .*/server = b $(addr b)/" "$T/lfproxy.ini"
	upgrade
	[[ $UPGRADED == *"; 1 session of process $FIRST may end within 10m" ]] ||
	    fail "$UPGRADED"
	# What the upgrade has left to do may still wake them.
	tries 3 asleep
	refute ended "$FIRST"
	signal idle KILL
	stop_newest
}

@test "upgrade: a failure leaves the present process as it was, and says why" {
	start_app a
	begin
	cp "$T/lfproxy.ini" "$T/good.ini"
	echo 'nonsense = 1' >>"$T/lfproxy.ini"
	refused "no upgrade, .*lfproxy.ini:16: unknown key 'nonsense'"
	cp "$T/good.ini" "$T/lfproxy.ini"
	start_app taken
	sed -i "s/^http = .*/http = $(addr taken)/" "$T/lfproxy.ini"
	refused "no upgrade, .*cannot listen on $(addr taken)"
	cp "$T/good.ini" "$T/lfproxy.ini"
	refused "no upgrade, .*ended with exit status 0 .*; see its messages in the log" "$(type -P true)"
	printf '#!/bin/sh\nkill -SEGV $$\n' >"$T/crash"
	chmod +x "$T/crash"
	refused "no upgrade, .*ended by signal 11 .SIGSEGV." "$T/crash"
	printf '#!/bin/sh\nexec %s speak 99\n' "${UPGRADE_TOOL[*]}" >"$T/other"
	chmod +x "$T/other"
	refused "no upgrade, .*has version 99 .* this process version 1" "$T/other"
	run -1 ctl upgrade bin/lfproxy
	[[ $output == *"is not the absolute path of a program"* ]]
	# All that is undone.
	upgrade
	stop_newest
}

@test "upgrade: a program that cannot be started is named" {
	unless_emulated "memory that a child of vfork shares, for the error"
	start_app a
	begin
	refused "'/nonexistent' cannot be started: No such file" /nonexistent
}

# Symptom: the other process crashed at the commands that the thousands of changes
# had become: a table of all entries was to be made on a thread, too early.
@test "upgrade: a list to which thousands were added goes over" {
	local i

	for ((i = 0; i < 24000; i += 2)); do
		echo "10.$((i >> 16)).$((i >> 8 & 255)).$((i & 255))"
	done >"$T/added"
	start_app a
	site | sed "/^\[frontend web\]/a deny = list:office" >"$T/lfproxy.ini"
	printf '[list office]\nentry = 192.0.2.0/24\n' >>"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
	run -0 python3 -B "$ROOT/tests/behaviour/acltool.py" "$ADMIN" office 12000 \
	    add "$T/added"
	upgrade
	[[ $(ctl show acl) == *' entry_cnt=12001 '*' added=12000 '* ]] ||
	    fail "$(ctl show acl)"
	[[ $(ctl get acl office 10.0.93.190) == *match=yes* ]]	# the last
	[[ $(ctl get acl office 10.0.93.191) == *match=no* ]]
	ctl add acl office 10.1.0.0
	[[ $(ctl get acl office 10.1.0.0) == *match=yes* ]]
	stop_newest
}

# Symptom: lfproxy kept them open.
@test "upgrade: descriptors that the other process sends are closed" {
	local before

	start_app a
	begin
	printf '#!/bin/sh\nexec %s descriptors 100\n' "${UPGRADE_TOOL[*]}" \
	    >"$T/sends"
	chmod +x "$T/sends"
	before=$(fd_count)
	refused "no upgrade, .*unexpected message from process" "$T/sends"
	[ "$(fd_count)" -lt $((before + 50)) ] || fail "$before -> $(fd_count)"
	upgrade
	stop_newest
}

# bats test_tags=covered
@test "upgrade: what a program that fails has started ends with it" {
	local group

	start_app a
	begin
	group=$(ps -o pgid= "$FIRST")
	printf '#!/bin/sh\nsleep 1000 &\necho $! >%s\nexit 3\n' "$T/left" \
	    >"$T/leaves"
	chmod +x "$T/leaves"
	refused "no upgrade, .*ended with exit status 3" "$T/leaves"
	wait_for 10 ended "$(<"$T/left")"
	upgrade
	equal "the process group" "$group" "$(ps -o pgid= "$LFPROXY_PID")"
	stop_newest
}

# bats test_tags=slow
@test "upgrade: a process that says nothing is ended after 30 s" {
	start_app a
	begin
	printf '#!/bin/sh\nexec sleep 1000\n' >"$T/mute"
	chmod +x "$T/mute"
	refused "no upgrade, .*did not serve within 30 s" "$T/mute"
	upgrade
	stop_newest
}

# bats test_tags=covered
@test "upgrade: the file of the other process may have other listeners" {
	start_app a
	begin
	sed -i -e '/^listen = unix/d' \
	    -e 's/^listen = 127.0.0.1:0/&\nlisten = 127.0.0.2:0/' \
	    "$T/lfproxy.ini"
	upgrade
	wait_for 10 ended "$FIRST"
	[ ! -e "$T/web.sock" ]
	lfproxy_said 'warning: 1 listening socket that lfproxy was given is closed'
	equal "the port that stays" a "$(fetch "http://$PORT/")"
	stop_newest
}

@test "upgrade: while one is under way there is no other, and no reload" {
	start_app a
	begin
	printf '#!/bin/sh\n: >%s\nexec sleep 1000\n' "$T/begun" >"$T/mute"
	chmod +x "$T/mute"
	spawn one "$CTL" -S "$ADMIN" upgrade "$T/mute"
	wait_for 10 test -e "$T/begun"
	run -1 ctl upgrade /bin/true
	[[ $output == *"an upgrade is under way; try again later"* ]]
	run -1 ctl reload
	[[ $output == *"an upgrade is under way"* ]]
	kill -TERM "$FIRST"
	await_lfproxy 15
	wait_for 10 ended "${PIDS[one]}"
	equal "answer" 'no upgrade: lfproxy is stopping' \
	    "$(cat "$T/one.out" "$T/one.err")"
	unset 'PIDS[one]'
	LFPROXY_PID=
}

@test "upgrade: what operators have changed is taken along" {
	start_app a
	start_app b
	site >"$T/lfproxy.ini"
	cat >>"$T/lfproxy.ini" <<-END
		server = b $(addr b)
		[backend spare]
		check = connect interval=1h fall=1 rise=1
		server = down 127.0.0.1:$(free_port)
		server = other $(addr b)
		server = other2 $(addr b)
		[frontend paused]
		listen = unix:$T/paused.sock
		listen = 127.0.0.1:$(free_port)
		backend = spare
		allow = list:few
		deny = all
		[list few]
		entry = 192.0.2.0/24
	END
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
	down() { [ "$(stat_of spare down status)" = DOWN ]; }
	wait_for 10 down
	ctl set server app/a state maint
	ctl set weight app/b 7
	ctl set maxconn server app/b 9
	ctl set server spare/other state drain
	ctl disable health spare/other
	ctl add acl few 10.0.0.0/8
	ctl disable frontend paused
	ctl set pool main threads 3
	ctl set pool main order fifo
	ctl set maxconn frontend web 77
	ctl set rate-limit sessions global 5000
	ctl add server spare/added "$(addr a)" weight=3
	ctl enable server spare/added
	ctl set server spare/other2 state maint
	ctl del server spare/other2
	upgrade
	wait_for 10 ended "$FIRST"
	for _ in 1 2 3; do
		equal "answer" b "$(fetch "http://$PORT/")"
	done
	equal "a" maint "$(stat_of app a lf_admin)"
	equal "weight" 7 "$(stat_of app b weight)"
	equal "maxconn" 9 "$(stat_of app b slim)"
	equal "other" drain "$(stat_of spare other lf_admin)"
	equal "down" DOWN "$(stat_of spare down status)"
	equal "paused" PAUSED "$(stat_of paused FRONTEND status)"
	[[ $(ctl get acl few 10.1.2.3) == *match=yes* ]] ||
	    fail "$(ctl get acl few 10.1.2.3)"
	[[ $(ctl show pool main json) == *'"threads":3,'* ]] ||
	    fail "$(ctl show pool main json)"
	[[ $(ctl show pool main json) == *'"order":"fifo"'* ]] ||
	    fail "$(ctl show pool main json)"
	equal "frontend's maxconn" 77 "$(stat_of web FRONTEND slim)"
	ctl show info | grep -q '^SessRateLimit: 5000$'
	equal "added" "no check 3" \
	    "$(stat_of spare added status) $(stat_of spare added weight)"
	equal "deleted" '' "$(stat_of spare other2 status)"
	refute lfproxy_said 'could not be done again'
	# The same once more, and with a file without one of these servers.
	sed -i '/^server = other/d' "$T/lfproxy.ini"
	upgrade
	equal "a" maint "$(stat_of app a lf_admin)"
	lfproxy_said "'set server spare/other state drain' could not be done again: "
	stop_newest
}

@test "upgrade: the service manager hears of the other process, then READY" {
	unless_emulated "clone with CLONE_PARENT, for a child of the manager"
	start_app a
	serve manager python3 -B "$ROOT/tests/behaviour/notifytool.py" "$T/notify"
	NOTIFY_SOCKET=$T/notify WATCHDOG_USEC=400000 begin
	wait_for 10 has_line manager '^READY=1 '
	: >"$T/manager.out"
	upgrade
	wait_for 10 has_line manager '^READY=1 STATUS=Ready$'
	equal "what the manager hears" "MAINPID=$LFPROXY_PID READY=1" \
	    "$(grep -oE '^(MAINPID=[0-9]+|READY=1|STOPPING=1)' "$T/manager.out" |
	    xargs)"
	wait_for 10 ended "$FIRST"
	: >"$T/manager.out"
	wait_for 10 has_line manager '^WATCHDOG=1'
	stop_newest
}

parent_of() {
	sed -n 's/^PPid:\t//p' "/proc/$1/status"
}

# Symptom: no process accepted clients when the other one had died before the
# manager believed in it, for then the manager started none.
# bats test_tags=covered
@test "upgrade: this process stays until the service manager knows the other one" {
	local parent

	unless_emulated "clone with CLONE_PARENT, for a child of the manager"
	start_app a
	begin_unconfirmed
	parent=$(parent_of "$FIRST")
	upgrade_in_vain
	# A manager that does not confirm in time.  It is told of the end of its own
	# children alone.
	upgrade
	equal "whose child it is" "$parent" "$(parent_of "$LFPROXY_PID")"
	wait_for 10 has_line manager '^READY=1 STATUS=Ready$'
	signal manager USR1
	upgrade
	stop_newest
}

# bats test_tags=covered
@test "upgrade: the mode of a unix socket, and the rights of the admin socket, stay" {
	start_app a
	begin
	chmod 600 "$T/web.sock"
	upgrade
	equal "mode" 666 "$(stat -c %a "$T/web.sock")"
	equal "admin" 660 "$(stat -c %a "$ADMIN")"
	stop_newest
}

# begin_as_nobody: lfproxy is started by root, and gives that up.
begin_as_nobody() {
	need_nobody
	start_app a
	site | sed 's/^\[global\]/&\nuser = nobody/' >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
}

# Symptom: the files of unix sockets are root's, and their mode could not be set.
# bats test_tags=covered
@test "upgrade: a process that has given up root is replaced by one of its user" {
	begin_as_nobody
	upgrade
	equal "user" "$(id -u nobody)" "$(stat -c %u "/proc/$LFPROXY_PID")"
	equal "unix" a "$(fetch --unix-socket "$T/web.sock" http://x/)"
	upgrade
	equal "TCP" a "$(fetch "http://$PORT/")"
	stop_newest
}

# Symptom: the process of root's refused that of another user.
@test "upgrade: root takes over with -x from a process that has given up root" {
	begin_as_nobody
	spawn second "$BUILD/lfproxy" -x "$ADMIN" -c "$T/lfproxy.ini"
	wait_for 20 ended "$FIRST"
	wait "$FIRST"
	LFPROXY_PID=
	equal "the process that answers" "${PIDS[second]}" "$(pid_now)"
	equal "TCP" a "$(fetch "http://$PORT/")"
	signal second TERM
	finish second 20
}

# intruders: processes of another user connect to the name before the process
# that was asked, which is stopped meanwhile.
intruders() {
	spawn intruders setpriv --reuid nobody --clear-groups python3 -c '
import re, socket, time
while True:
    for name in re.findall(r"@(lfproxy-\S+)", open("/proc/net/unix").read()):
        try:
            held = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                    for _ in range(3)]
            for s in held:
                s.settimeout(9)
                s.connect("\0" + name)
            print("connected", flush=True)
            time.sleep(600)
        except OSError:
            pass
    time.sleep(0.01)'
}

# Symptom: the take-over failed if another user was the first to connect.
@test "upgrade: other users that connect to the name of -x do not spoil it" {
	begin_as_nobody
	kill -STOP "$FIRST"
	intruders
	spawn second "$BUILD/lfproxy" -x "$ADMIN" -c "$T/lfproxy.ini"
	wait_for 20 has_line intruders '^connected'
	kill -CONT "$FIRST"
	wait_for 20 ended "$FIRST"
	wait "$FIRST"
	LFPROXY_PID=
	equal "the process that answers" "${PIDS[second]}" "$(pid_now)"
	equal "TCP" a "$(fetch "http://$PORT/")"
	signal second TERM
	finish second 20
	end intruders
}

@test "upgrade: only root and lfproxy's own user name a program" {
	need_nobody
	start_app a
	site | sed "s|^admin = .*|& mode=0666|" >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	run -0 nobody socat -t 60 - "UNIX-CONNECT:$ADMIN" \
	    < <(echo 'upgrade /bin/true')
	[[ $output == *"may name a program"* ]] || fail "$output"
}

@test "upgrade: sockets of a service manager are used, with their backlogs" {
	start_app a
	site | sed -e "s|^listen = 127.*|listen = 127.0.0.1:$(free_port)|" \
	    >"$T/lfproxy.ini"
	PORT=$(sed -n 's/^listen = \(127.*\)/\1/p' "$T/lfproxy.ini")
	setsid "${UPGRADE_TOOL[@]}" activate "$PORT" "unix:$T/web.sock" -- "$LFPROXY" \
	    -c "$T/lfproxy.ini" </dev/null >"$T/lfproxy.out" \
	    2>"$LFPROXY_LOG" 3>&- &
	LFPROXY_PID=$!
	FIRST=$LFPROXY_PID
	wait_for 10 lfproxy_ready_or_ended
	both() { [ "$(grep -c '^answered$' "$T/lfproxy.out")" -eq 2 ]; }
	wait_for 10 both
	equal "TCP" a "$(fetch "http://$PORT/")"
	upgrade
	stop_newest
}

# replace_program FILE: as dpkg does it.
replace_program() {
	cp "$1" "$T/program.new"
	mv "$T/program.new" "$T/program"
}

@test "upgrade: a reload by systemd lets a program that was replaced take over" {
	local built=$LFPROXY

	export RUNTIME_DIRECTORY=$T
	start_app a
	cp "$built" "$T/program"
	LFPROXY=$T/program begin
	run -0 "$built" --reload "$FIRST"
	equal "the process that answers" "$FIRST" "$(pid_now)"
	# One that cannot take over is refused, and the present process goes on.
	replace_program /bin/false
	run -78 "$built" --reload "$FIRST"
	[[ $output == *"not reloaded"*"ended with exit status 1 before it served"* ]]
	replace_program "$built"
	echo "nonsense = 1" >>"$T/lfproxy.ini"
	run -78 "$built" --reload "$FIRST"
	[[ $output == *"not reloaded"*"lfproxy.ini:"*"unknown key 'nonsense'"* ]]
	equal "the process that answers" "$FIRST" "$(pid_now)"
	sed -i '$d' "$T/lfproxy.ini"
	sed -i 's/^server = a/server = b/' "$T/lfproxy.ini"
	run -0 "$built" --reload "$FIRST"
	equal "output" "" "$output"
	LFPROXY_PID=$(pid_now)
	[ "$LFPROXY_PID" != "$FIRST" ]
	[[ $(ctl show servers) == *" b "* ]]
	equal "answer" a "$(fetch "http://$PORT/")"
}
