# SPDX-License-Identifier: MIT
# Targets of the access log: kinds, rotation, and targets that accept nothing.

load helpers
load rights

ADMIN=$T/admin.sock

# logging [LINE...]: lfproxy before the server a, with these `log` lines.
logging() {
	{
		printf '[global]\nadmin = %s\nnode = edge1\n' "$ADMIN"
		printf 'log = %s\n' "$@"
		printf '%s\n' "${GLOBAL:-}"
		printf '[pool main]\nthreads = 2\n'
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '%s\n[backend app]\nserver = a %s\n%s\n' \
		    "${FRONTEND:-}" "$(addr a)" "${BACKEND:-check = off}"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# receive NAME WHERE: a syslog daemon; what it gets is in $T/NAME.out.
receive() {
	serve "$1" python3 -B "$ROOT/tests/behaviour/logtool.py" receive "$2"
}

lines_in() {
	grep -cE -- "$2" "$1" 2>/dev/null || true
}

at_least() {
	[ "$(lines_in "$1" "$2")" -ge "$3" ]
}

# at_once N: many short sessions at once.
at_once() {
	streams "127.0.0.1:$(port web)" --connections 8 --repeat $(($1 / 8)) \
	    --up 10
}

dropped() {
	"$CTL" -S "$ADMIN" show info |
	    sed -n 's/^DroppedLogs: //p'
}

drops_at_least() {
	[ "$(dropped)" -ge "$1" ]
}

# Lines that lfproxy says were dropped.
reported() {
	sed -n 's/^lfproxy: warning: \([0-9]*\) log lines were dropped, .*/\1/p' \
	    "$LFPROXY_LOG" | awk '{ n += $1 } END { print n + 0 }'
}

accounted() {
	[ $(($(lines_in "$1" "$2") + $(reported))) -eq "$3" ]
}

TCPLOG=' web app/a [0-9]+/[0-9]+/[0-9]+ [0-9]+ -- '

# every_target FORMAT MARK: one session, one line with MARK to each target at
# once, all alike but for what syslog puts before.
every_target() {
	local line head date

	start_app a
	receive local "unix:$T/log.sock"
	receive new "unix:$T/new.sock"
	receive remote udp
	logging "stderr format=$1" "file=$T/access.log format=$1" \
	    "syslog=unix:$T/log.sock format=$1" \
	    "syslog=unix:$T/new.sock format=$1 facility=local7 tag=lb rfc=5424" \
	    "syslog=$(addr remote) format=$1 facility=daemon"
	fetch -o /dev/null "$(url)"
	wait_for 10 at_least "$T/access.log" "$2" 1
	wait_for 10 at_least "$LFPROXY_LOG" "$2" 1
	wait_for 10 has_line local "$2"
	wait_for 10 has_line new "$2"
	wait_for 10 has_line remote "$2"
	line=$(cat "$T/access.log")
	equal "standard error" "$line" "$(sessions)"
	date='[A-Z][a-z]{2} [ 1-3][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2}'
	head="^<134>$date lfproxy\[$LFPROXY_PID\]: "
	grep -qE "$head" "$T/local.out"
	equal "the local daemon's" "$line" \
	    "$(sed 1d "$T/local.out" | sed -E "s/$head//")"
	date='[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z'
	head="^<190>1 $date edge1 lb $LFPROXY_PID - - "
	equal "by RFC 5424" "$line" \
	    "$(sed 1d "$T/new.out" | sed -E "s/$head//")"
	date='[A-Z][a-z]{2} [ 1-3][0-9] [0-9]{2}:[0-9]{2}:[0-9]{2}'
	head="^<30>$date edge1 lfproxy\[$LFPROXY_PID\]: "
	equal "the remote daemon's" "$line" \
	    "$(sed 1d "$T/remote.out" | sed -E "s/$head//")"
}

# bats test_tags=covered
@test "log: tcplog to every target at once" {
	every_target tcplog "$TCPLOG"
	parse_session "$(cat "$T/access.log")"
}

# bats test_tags=covered
@test "log: json to every target at once" {
	every_target json '^[^{]*\{"time":.*"frontend":"web"'
	python3 -B "$ROOT/tests/behaviour/logtool.py" read json \
	    <"$T/access.log"
}

@test "log: logfmt to every target at once" {
	every_target logfmt 'time=.* frontend=web '
	python3 -B "$ROOT/tests/behaviour/logtool.py" read logfmt \
	    <"$T/access.log"
}

# bats test_tags=onethread, covered
@test "log: a file is made with its mode, and appended to" {
	start_app a
	echo before >"$T/old.log"
	umask 077
	logging "file=$T/new.log mode=0644" "file=$T/default.log" \
	    "file=$T/old.log mode=0600"
	equal "the mode" 644 "$(stat -c %a "$T/new.log")"
	equal "the default mode" 640 "$(stat -c %a "$T/default.log")"
	fetch -o /dev/null "$(url)"
	wait_for 10 at_least "$T/old.log" "$TCPLOG" 1
	equal "what was there" before "$(head -n 1 "$T/old.log")"
}

# bats test_tags=onethread
@test "log: the mode holds behind a link, and a reload changes it for new files" {
	start_app a
	umask 077
	mkdir "$T/there"
	ln -s "$T/there/linked.log" "$T/linked.log"
	logging "file=$T/linked.log mode=0644" "file=$T/access.log mode=0600"
	equal "behind a link" 644 "$(stat -c %a "$T/there/linked.log")"
	equal "at the start" 600 "$(stat -c %a "$T/access.log")"
	sed -i 's/mode=0600/mode=0664/' "$T/lfproxy.ini"
	run -0 "$CTL" -S "$ADMIN" reload
	equal "a file that is there" 600 "$(stat -c %a "$T/access.log")"
	mv "$T/access.log" "$T/access.log.1"
	rm "$T/there/linked.log"
	kill -USR1 "$LFPROXY_PID"
	wait_for 10 said_times 1 "reopened log file $T/access.log"
	wait_for 10 said_times 1 "reopened log file $T/linked.log"
	equal "after a reload" 664 "$(stat -c %a "$T/access.log")"
	equal "behind a link again" 644 "$(stat -c %a "$T/there/linked.log")"
}

# bats test_tags=onethread, covered
@test "log: a file that cannot be opened is an error at the start" {
	start_app a
	refute logging "file=$T/no/such/file"
	wait_for 10 lfproxy_said "error: the log file $T/no/such/file cannot be opened: No such"
	LFPROXY_PID=
}

# bats test_tags=covered
@test "log: a frontend's log takes the place of the global one" {
	start_app a
	FRONTEND="log = file=$T/own.log format=logfmt" logging \
	    "file=$T/global.log"
	fetch -o /dev/null "$(url)"
	wait_for 10 at_least "$T/own.log" 'frontend=web' 1
	equal "the global log" "" "$(cat "$T/global.log")"
}

# bats test_tags=covered
@test "log: a frontend may turn it off" {
	start_app a
	FRONTEND="log = off" logging "file=$T/global.log"
	fetch -o /dev/null "$(url)"
	stop_lfproxy
	[ ! -s "$T/global.log" ]
}

# bats test_tags=slow
@test "log: a file that is rotated under load loses no line" {
	local n i total

	n=$(($(scaled 4000) / 8))
	start_streams a
	logging "file=$T/access.log"
	for i in 1 2 3 4 5 6; do
		spawn load "$TOOLS/streamer" client "127.0.0.1:$(port web)" \
		    --deadline $((60 * PATIENCE)) --connections 8 \
		    --repeat "$n" --up 10
		wait_for 20 at_least "$T/access.log" "$TCPLOG" 10
		mv "$T/access.log" "$T/access.log.$i"
		kill -USR1 "$LFPROXY_PID"
		wait_for 10 test -e "$T/access.log"
		wait_for 10 said_times "$i" "reopened log file $T/access.log"
		finish load 60
	done
	n=$((6 * 8 * n))
	stop_lfproxy
	total=$(cat "$T"/access.log* | wc -l)
	equal "lines" "$n" "$total"
	equal "whole lines" "$n" "$(cat "$T"/access.log* |
	    grep -cE "$SESSION")"
	equal "lines dropped" 0 "$(reported)"
}

# bats test_tags=covered
@test "log: the package's logrotate file rotates it, and loses no line" {
	local n file

	n=$(($(scaled 8000) / 8 * 8))
	start_streams a
	mkdir -m 750 "$T/logs"
	logging "file=$T/logs/access.log" "file=$T/logs/access.json format=json"
	# Ours instead of the service's directory, user and process.
	sed -e "s,/var/log/lfproxy,$T/logs,g" -e '/^\tsu /d' \
	    -e "s,^\t\tsystemctl .*,\t\tkill -USR1 $LFPROXY_PID," \
	    "$ROOT/packaging/debian/lfproxy.logrotate" >"$T/logrotate.conf"
	chmod 600 "$T/logrotate.conf"
	spawn load "$TOOLS/streamer" client "127.0.0.1:$(port web)" \
	    --deadline $((60 * PATIENCE)) --connections 8 \
	    --repeat $((n / 8)) --up 10 --rest 5
	wait_for 20 at_least "$T/logs/access.log" "$TCPLOG" 10
	wait_for 20 test -s "$T/logs/access.json"
	run -0 logrotate -f -s "$T/state" "$T/logrotate.conf"
	wait_for 10 lfproxy_said "reopened log file $T/logs/access.json"
	finish load 60
	# The outage may have ended before.
	streams "127.0.0.1:$(port web)" --connections 8 --repeat 1 --up 10
	stop_lfproxy
	for file in access.log access.json; do
		[ -s "$T/logs/$file" ]
		[ -s "$T/logs/$file.1" ]
	done
	n=$((n + 8))
	equal "lines" "$n" "$(cat "$T"/logs/access.log* | wc -l)"
	equal "lines of JSON" "$n" "$(cat "$T"/logs/access.json* | wc -l)"
}

@test "log: a file that cannot be reopened stays open" {
	start_app a
	mkdir "$T/logs"
	logging "file=$T/logs/access.log"
	mv "$T/logs" "$T/moved"
	kill -USR1 "$LFPROXY_PID"
	wait_for 10 lfproxy_said 'warning: .*cannot be reopened: No such file'
	fetch -o /dev/null "$(url)"
	wait_for 10 at_least "$T/moved/access.log" "$TCPLOG" 1
}

# full_disk N: more sessions than lines that can wait, to a full device.
full_disk() {
	start_streams a
	ln -s /dev/full "$T/access.log"
	logging "file=$T/access.log" "syslog=unix:$T/log.sock format=json"
	at_once "$1"
	wait_for 10 drops_at_least 100
	wait_for 10 lfproxy_said "log file $T/access.log takes no lines: No space left"
}

# bats test_tags=slow
@test "log: a full disk stops neither sessions nor another target" {
	receive local "unix:$T/log.sock"
	full_disk 8000
	wait_for 20 at_least "$T/local.out" '"event":"end"' 8000
	equal "answers of the admin socket" 1 "$(dropped | wc -l)"
}

@test "log: lines go on when a full disk has room again, drops are counted" {
	receive local "unix:$T/log.sock"
	full_disk 8000
	ln -sfn "$T/room.log" "$T/access.log"
	kill -USR1 "$LFPROXY_PID"
	wait_for 10 accounted "$T/room.log" "$TCPLOG" 8000
	equal "what show info counts" "$(dropped)" "$(reported)"
	equal "whole lines" "$(wc -l <"$T/room.log")" \
	    "$(grep -cE "$SESSION" "$T/room.log")"
}

# The writer has a second to report the lines, which is too little on a machine
# that stalls: 1 is returned then.
stops_with_a_full_disk() {
	local begin

	logging "file=/dev/full" && at_once 80 || return 2
	begin=$(now_ms)
	stop_lfproxy || return 2
	in_time $(($(now_ms) - begin)) $((5000 * PATIENCE)) || return 2
	! lfproxy_said 'a log could not be written to its end in time' || return
	equal "lines dropped" 80 "$(reported)" || return 2
}

# bats test_tags=covered
@test "log: a full disk does not keep it from stopping" {
	start_streams a
	tries 5 stops_with_a_full_disk
}

# bats test_tags=timing
@test "log: a full disk does not make it stop later" {
	start_streams a
	JUDGE_TIME=1 tries 5 stops_with_a_full_disk
}

# bats test_tags=covered
@test "log: a syslog daemon that hangs stops neither sessions nor checks" {
	receive local "unix:$T/log.sock"
	start_streams a
	BACKEND='check = connect interval=100ms fall=2' logging \
	    "syslog=unix:$T/log.sock" "file=$T/access.log"
	stop_process "${PIDS[local]}"
	at_once 8000
	wait_for 10 drops_at_least 100
	wait_for 10 at_least "$T/access.log" "$TCPLOG" 8000
	end a
	wait_for 10 says_down a
	signal local CONT
	wait_for 20 accounted "$T/local.out" "$TCPLOG" 8000
	equal "what show info counts" "$(dropped)" "$(reported)"
}

@test "log: a restarted syslog daemon gets the lines of its absence" {
	receive local "unix:$T/log.sock"
	start_app a
	logging "syslog=unix:$T/log.sock"
	fetch -o /dev/null "$(url)"
	wait_for 10 has_line local "$TCPLOG"
	end local
	fetch -o /dev/null "$(url)?[1-3]" -H 'Connection: close'
	wait_for 10 lfproxy_said 'syslog unix:.* takes no lines: '
	receive local "unix:$T/log.sock"
	wait_for 10 at_least "$T/local.out" "$TCPLOG" 3
	equal "lines dropped" 0 "$(dropped)"
}

@test "log: an absent remote daemon is counted and delays no session" {
	start_streams a
	logging "syslog=127.0.0.1:$(free_port)"
	at_once 800
	wait_for 10 drops_at_least 1
	wait_for 10 lfproxy_said 'log lines were dropped, syslog 127'
}

# bats test_tags=covered
@test "log: a full pipe delays no session" {
	start_streams a
	mkfifo "$T/pipe"
	exec {reader}<>"$T/pipe"
	logging "file=$T/pipe"
	at_once 8000
	wait_for 10 drops_at_least 100
	spawn reader cat "$T/pipe"
	exec {reader}<&-
	wait_for 20 accounted "$T/reader.out" "$TCPLOG" 8000
}

log_threads() {
	grep -lx lfproxy-log "/proc/$LFPROXY_PID/task"/*/comm | wc -l
}

log_threads_are() {
	[ "$(log_threads)" -eq "$1" ]
}

holds() {
	find "/proc/$LFPROXY_PID/fd" -lname "$1" | grep -q .
}

let_go() {
	! holds "$1"
}

# bats test_tags=covered
@test "log: a target that a reload no longer names goes with its last session" {
	local n=0 file

	start_app a --delay 100
	logging "file=$T/old.log" "file=$T/both.log"
	equal "log threads" 3 "$(log_threads)"
	# A session of the old model still logs to the old target.
	spawn held "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --count 1 \
	    --deadline 200
	wait_for 10 has_line held '^established'
	fetch -o /dev/null "$(url)"
	wait_for 10 at_least "$T/old.log" "$TCPLOG" 1
	sed -i "s|old.log|new.log|" "$T/lfproxy.ini"
	"$CTL" -S "$ADMIN" reload
	fetch -o /dev/null "$(url)"
	wait_for 10 at_least "$T/new.log" "$TCPLOG" 1
	holds "$T/old.log"
	end held
	wait_for 20 let_go "$T/old.log"
	wait_for 10 log_threads_are 3
	equal "lines in the old log" 2 "$(wc -l <"$T/old.log")"
	equal "lines in the log of both" 3 "$(wc -l <"$T/both.log")"
	# And again and again: nothing piles up, no line is lost.
	while [ $((n += 1)) -le 6 ]; do
		file=$T/turn$((n % 2)).log
		sed -i "s|$T/[a-z0-9]*.log$|$file|" "$T/lfproxy.ini"
		"$CTL" -S "$ADMIN" reload
		fetch -o /dev/null "$(url)"
	done
	wait_for 20 let_go "$T/turn1.log"
	wait_for 10 log_threads_are 2
	at_least "$T/turn0.log" "$TCPLOG" 3
	at_least "$T/turn1.log" "$TCPLOG" 3
}

# Symptom: root followed a link that another user had put in the place of the
# log, and appended to that user's choice of files.
# bats test_tags=onethread
@test "log: a link in a directory that others can write is not followed" {
	local kind

	mkdir "$T/open" "$T/closed"
	chmod 1777 "$T/open"
	chmod 755 "$T/closed"
	for kind in -s ''; do
		echo secret >"$T/victim"
		# shellcheck disable=SC2086
		ln $kind "$T/victim" "$T/open/lfproxy.log"
		printf '[global]\nlog = file=%s\n[frontend w]\nlisten = 127.0.0.1:0\nbackend = b\n[backend b]\nserver = a 127.0.0.1:1\n' \
		    "$T/open/lfproxy.log" >"$T/bad.ini"
		run -71 timeout $((60 * PATIENCE)) "$LFPROXY" -c "$T/bad.ini"
		[[ $output == *"the log file $T/open/lfproxy.log cannot be opened: "*"it is a link in a directory that others can write"* ]] ||
		    fail "$output"
		equal "the victim" secret "$(cat "$T/victim")"
		rm "$T/open/lfproxy.log" "$T/victim"
	done
	# A link of the administrator's, in a directory of the administrator's.
	ln -s "$T/there.log" "$T/closed/lfproxy.log"
	start_app a
	logging "file=$T/closed/lfproxy.log"
	fetch "$(url)" >/dev/null
	wait_for 10 test -s "$T/there.log"
}

# -- standard output --

@test "log: standard output has the lines, also after USR1" {
	start_app a
	logging 'stdout format=json'
	fetch -o /dev/null "$(url)"
	wait_for 10 at_least "$T/lfproxy.out" '^\{"time":.*"frontend":"web"' 1
	kill -USR1 "$LFPROXY_PID"
	fetch -o /dev/null "$(url)"
	wait_for 10 at_least "$T/lfproxy.out" '^\{"time":.*"frontend":"web"' 2
	stop_lfproxy
	refute lfproxy_said '"frontend":'
	equal "lines" 2 "$(wc -l <"$T/lfproxy.out")"
}

# passed KIND: LIMIT for an lfproxy whose standard output is a socket or a pipe;
# what goes there is in $T/passed.
passed() {
	cat >"$T/pass" <<-'END'
		import os, socket, sys
		kind, out = sys.argv[1:3]
		if kind == "socket":
		    ends = [s.detach() for s in socket.socketpair()]
		else:
		    ends = os.pipe()
		if os.fork() == 0:
		    os.close(ends[1])
		    os.close(1)
		    with open(out, "wb", 0) as to:
		        while data := os.read(ends[0], 65536):
		            to.write(data)
		    os._exit(0)
		os.close(ends[0])
		os.dup2(ends[1], 1)
		os.execv(sys.argv[3], sys.argv[3:])
	END
	LIMIT="python3 -B $T/pass $1 $T/passed"
}

@test "log: /dev/stdout, and a link to it, where it is a socket" {
	start_app a
	passed socket
	ln -s /dev/stdout "$T/access.log"
	logging 'file=/dev/stdout format=json' "file=$T/access.log"
	fetch -o /dev/null "$(url)"
	wait_for 10 at_least "$T/passed" '^\{"time":.*"frontend":"web"' 1
	wait_for 10 at_least "$T/passed" "$TCPLOG" 1
	kill -USR1 "$LFPROXY_PID"
	wait_for 10 lfproxy_said '^lfproxy: reopened log file /dev/stdout$'
	fetch -o /dev/null "$(url)"
	wait_for 10 at_least "$T/passed" '^\{"time":.*"frontend":"web"' 2
	stop_lfproxy
}

@test "log: /dev/stdout where it is a pipe of another user" {
	need_nobody
	start_app a
	passed pipe
	chmod 711 "$T"
	FRONTEND='log = file=/dev/stdout
		log = file=/proc/self/fd/1 format=logfmt'
	logging "stderr
		user = nobody"
	fetch -o /dev/null "$(url)"
	wait_for 10 at_least "$T/passed" "$TCPLOG" 1
	wait_for 10 at_least "$T/passed" 'frontend=web' 1
	kill -USR1 "$LFPROXY_PID"
	wait_for 10 lfproxy_said '^lfproxy: reopened log file /dev/stdout$'
	fetch -o /dev/null "$(url)"
	wait_for 10 at_least "$T/passed" "$TCPLOG" 2
	stop_lfproxy
}

# messages TARGET...: sets GLOBAL.
messages() {
	GLOBAL=$(printf 'log_messages = %s\n' "$@")
}

# A server that goes down, with the last server of its backend.
lose_the_server() {
	BACKEND='check = connect interval=100ms fall=2' logging off
	end a
	wait_for 10 eval '"$CTL" -S "$ADMIN" show events | grep -q backend_down'
}

@test "log: messages go to a syslog daemon with their severity" {
	receive local "unix:$T/log.sock"
	start_app a
	messages "syslog=unix:$T/log.sock" stderr
	lose_the_server
	wait_for 10 has_line local \
	    '^<30>[A-Z].* lfproxy\[[0-9]*\]: ready$'
	wait_for 10 has_line local \
	    '^<28>.*: warning: server app/a is down: '
	wait_for 10 has_line local \
	    '^<25>.*: error: backend app has no usable server'
}

@test "log: messages in JSON name event and server" {
	start_app a
	messages "file=$T/messages format=json" "stderr format=logfmt"
	lose_the_server
	wait_for 10 at_least "$T/messages" backend_down 1
	stop_lfproxy
	python3 -B "$ROOT/tests/behaviour/logtool.py" read json \
	    <"$T/messages" >"$T/records"
	has_match '"about": "app/a", "event": "server_down", "level": "warning"' \
	    "$T/records"
	has_match '"about": "app", "event": "backend_down", "level": "alert"' \
	    "$T/records"
	python3 -B "$ROOT/tests/behaviour/logtool.py" read logfmt \
	    <"$LFPROXY_LOG" >"$T/records"
	has_match '"event": "server_down"' "$T/records"
}

# A container engine puts both streams into one log.
@test "log: beside an access log in JSON messages are JSON as well" {
	start_app a
	logging "stdout format=json"
	fetch -o /dev/null "$(url)"
	stop_lfproxy
	python3 -B "$ROOT/tests/behaviour/logtool.py" read json \
	    <"$LFPROXY_LOG" >"$T/records"
	has_match '"event": "start", "level": "info", "message": "ready"' \
	    "$T/records"
}

@test "log: a reload changes where messages go" {
	start_app a
	logging off
	sed -i "s|^node = .*|&\nlog_messages = file=$T/messages|" \
	    "$T/lfproxy.ini"
	"$CTL" -S "$ADMIN" reload
	"$CTL" -S "$ADMIN" disable server app/a
	wait_for 10 at_least "$T/messages" \
	    '^[0-9-]*T[0-9:.]*Z lfproxy: .*app/a' 1
	refute lfproxy_said 'app/a .*maint'
	sed -i /log_messages/d "$T/lfproxy.ini"
	"$CTL" -S "$ADMIN" reload
	"$CTL" -S "$ADMIN" enable server app/a
	wait_for 10 lfproxy_said 'app/a'
}

@test "log: a syslog daemon by TCP gets lines with their length" {
	receive remote tcp
	start_app a
	messages "syslog=tcp:$(addr remote) format=json" stderr
	logging "syslog=tcp:$(addr remote) rfc=5424"
	fetch -o /dev/null "$(url)?[1-3]" -H 'Connection: close'
	wait_for 10 at_least "$T/remote.out" "^<134>1 .* edge1 .*$TCPLOG" 3
	stop_lfproxy
	wait_for 10 has_line remote '^<30>.* edge1 .*"event":"stop"'
	equal "lines dropped" 0 "$(reported)"
}

@test "log: a syslog daemon by TCP that restarts gets the lines of its absence" {
	local port

	receive remote tcp
	port=$(addr remote)
	start_app a
	logging "syslog=tcp:$port"
	fetch -o /dev/null "$(url)"
	wait_for 10 has_line remote "$TCPLOG"
	end remote
	fetch -o /dev/null "$(url)?[1-3]" -H 'Connection: close'
	wait_for 10 lfproxy_said 'syslog tcp:.* takes no lines: Connection refused'
	receive remote "tcp:${port##*:}"
	wait_for 10 at_least "$T/remote.out" "$TCPLOG" 3
	equal "lines dropped" 0 "$(dropped)"
}

# One that reads nothing holds neither sessions nor the stop.
@test "log: a syslog daemon by TCP that hangs stops no session" {
	receive remote tcp
	start_streams a
	logging "syslog=tcp:$(addr remote)" "file=$T/access.log"
	stop_process "${PIDS[remote]}"
	at_once 8000
	wait_for 10 at_least "$T/access.log" "$TCPLOG" 8000
	signal remote CONT
	wait_for 20 accounted "$T/remote.out" "$TCPLOG" 8000
}
