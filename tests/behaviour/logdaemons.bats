#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Messages and sessions as the programs that collect them read them: rsyslog,
# systemd-journald, and a JSON parser.

# bats file_tags=onethread

load helpers
load rights

ADMIN=$T/admin.sock
JOURNALD=/lib/systemd/systemd-journald

# logging LINE...: lfproxy before the server a, with these lines in [global].
logging() {
	start_app a
	{
		printf '[global]\nadmin = %s\nnode = edge1\n' "$ADMIN"
		printf '%s\n' "$@"
		cat <<-END
			[pool main]
			threads = 2
			[frontend web]
			listen = unix:$T/web.sock
			backend = app
			[backend app]
			check = connect interval=100ms fall=2 rise=1
			server = a $(addr a)
		END
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

shows_event() {
	"$CTL" -S "$ADMIN" show events | grep -q "$1"
}

# A message of each severity: a session, a reload that fails, a backend that
# loses its last server and has it back.
eventful() {
	PID=$LFPROXY_PID
	fetch -o /dev/null --unix-socket "$T/web.sock" 'http://x/?[1-3]' \
	    -H 'Connection: close'
	echo 'nonsense = 1' >>"$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 shows_event 'reload.*nonsense'
	end a
	wait_for 10 shows_event backend_down
	restart_app a
	wait_for 10 shows_event 'server_up'
	stop_lfproxy
}

# -- rsyslog --

FIELDS='%inputname% %syslogfacility-text%.%syslogseverity-text% '
FIELDS+='%programname%[%procid%] %msg:::drop-last-lf%\n'

rsyslog_ready() {
	[ -S "$T/dev.log" ] &&
	    [ -n "$(ss -Hltn "sport = :$1")" ] &&
	    [ -n "$(ss -Hlun "sport = :$1")" ]
}

# start_rsyslog: by UDP, TCP and a unix socket; what each input has got is in
# $T/got, a line each.  A copy of the program has no AppArmor profile, which
# forbids to read this directory.
start_rsyslog() {
	cp "$(command -v rsyslogd)" "$T/rsyslogd"
	cat >"$T/rsyslog.conf" <<-END
		global(workDirectory="$T")
		module(load="imudp")
		module(load="imtcp")
		module(load="imuxsock" SysSock.Use="off")
		input(type="imudp" address="127.0.0.1" port=\`echo \$LISTEN_AT\`)
		input(type="imtcp" address="127.0.0.1" port=\`echo \$LISTEN_AT\`)
		input(type="imuxsock" Socket="$T/dev.log")
		template(name="fields" type="string" string="$FIELDS")
		action(type="omfile" file="$T/got" template="fields")
	END
	on_free_port rsyslog rsyslog_ready env LISTEN_AT=PORT "$T/rsyslogd" -n \
	    -f "$T/rsyslog.conf" -i "$T/rsyslog.pid"
}

# got INPUT SEVERITY: the texts that came in that way, without tag and numbers.
got() {
	sed -n "s/^$1 $2 lfproxy\[$PID\]  *//p" "$T/got"
}

got_the_end() {
	[ "$(grep -c 'stopped with' "$T/got")" -eq 3 ]
}

@test "log: rsyslog reads messages and sessions with their severities, from each transport" {
	local where input

	start_rsyslog
	where=$(addr rsyslog)
	logging "log = syslog=unix:$T/dev.log" "log = syslog=$where" \
	    "log = syslog=tcp:$where rfc=5424" \
	    "log_messages = syslog=unix:$T/dev.log" \
	    "log_messages = syslog=$where" \
	    "log_messages = syslog=tcp:$where rfc=5424" 'log_messages = stderr'
	eventful
	wait_for 10 got_the_end
	cat "$T/got"
	for input in imuxsock imudp imtcp; do
		[[ $(got $input daemon.err) == *"not reloaded"*"'nonsense'"* ]]
		[[ $(got $input daemon.warning) == \
		    *"warning: server app/a is down: "* ]]
		[[ $(got $input daemon.alert) == \
		    *"backend app has no usable server"* ]]
		[[ $(got $input daemon.info) == *ready*"stopped with"* ]]
		equal "sessions by $input" 3 "$(got $input local0.info |
		    grep -c ' web app/a .* -- ')"
	done
	refute grep -vE "^im(uxsock|udp|tcp) (daemon\.(err|warning|alert|info)|local\
0\.info) lfproxy\[$PID\] " "$T/got"
}

# -- the journal --

# journal_place: writes a script that runs a command in a place of its own, whose
# journal is in $T/log.  The daemon ends with the command.  systemd-cat opens a
# stream as the service manager does; JOURNAL_STREAM comes from the manager.
journal_place() {
	cat >"$T/in_journal" <<-'END'
		where=$1
		shift
		mount -t tmpfs tmpfs /run
		mount --bind "$where/log" /var/log
		mkdir /run/systemd /run/systemd/journal.test
		ln -s journal.test /run/systemd/journal
		mkfifo "$where/never"
		setpriv --pdeathsig TERM "$JOURNALD" test &
		until [ -S /run/systemd/journal.test/stdout ]; do
		        read -rt 0.1 _ <>"$where/never" || :
		done
		exec systemd-cat -t lfproxy bash -c 'JOURNAL_STREAM=$(
		        stat -L -c %d:%i /proc/self/fd/2) exec "$@"' bash "$@"
	END
}

# need_journal: sets LIMIT for launch_lfproxy.
need_journal() {
	local place=(unshare --mount --propagation private)

	[ "$(id -u)" -eq 0 ] || place=(unshare --user --map-root-user \
	    --mount --propagation private)
	need "CAP_SYS_ADMIN or user namespaces (for mounts)" "${place[@]}" \
	    mount -t tmpfs tmpfs /run
	[ -s /etc/machine-id ] || skip "needs /etc/machine-id, for a journal"
	mkdir -p "$T/log/journal"
	journal_place
	export JOURNALD
	OUTLIVED=journald
	LIMIT="${place[*]} bash -eu $T/in_journal $T"
}

# journal OPTION...: what was sent by lfproxy.
journal() {
	journalctl -q --no-pager -o cat -t lfproxy \
	    --directory="$(echo "$T"/log/journal/*)" "$@"
}

in_journal() {
	journal | grep -q "$1"
}

@test "log: the journal selects messages of lfproxy by their severity" {
	need_journal
	# What launch_lfproxy waits for is not in the journal's stream.
	logging 'log = stderr' 'log_messages = stderr' \
	    "log_messages = file=$LFPROXY_LOG format=json"
	eventful
	wait_for 10 in_journal 'stopped with'
	journal | tee "$T/all"
	equal "errors" "$(grep '^lfproxy: error: ' "$T/all")" "$(journal -p err)"
	equal "warnings and errors" \
	    "$(grep -E '^lfproxy: (error|warning): ' "$T/all")" \
	    "$(journal -p warning)"
	[[ $(journal -p err..err) == *"not reloaded"*nonsense* ]]
	[[ $(journal -p alert) == "lfproxy: error: backend app has no usable"* ]]
	[[ $(journal -p warning) == *"warning: server app/a is down: "* ]]
	equal "sessions" 3 "$(journal -p info..info | grep -c ' web app/a .* -- ')"
}

# -- JSON --

@test "log: each line of standard error is JSON from the first to the last" {
	logging 'log = stderr format=json'
	eventful
	jq -es 'map(select(.event != "end")) | map(.time, .level, .message) |
	    all(type == "string")' "$LFPROXY_LOG"
	jq -es 'map(select(.event == "end")) | length == 3 and
	    all(.frontend == "web" and .code == "--")' "$LFPROXY_LOG"
	equal "levels" "alert error info warning" "$(jq -r '.level // empty' \
	    "$LFPROXY_LOG" | sort -u | paste -sd ' ')"
	equal "lines, and records" "$(wc -l <"$LFPROXY_LOG")" \
	    "$(jq -c . "$LFPROXY_LOG" | wc -l)"
}
