# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Upgrades: what their tests share.

# shellcheck disable=SC2034,SC2154 # for, and from, the files that load it

UPGRADE_TOOL=(python3 -B "$ROOT/tests/behaviour/upgradetool.py")
FIRST=

# site: a file with a TCP and a unix listener, an admin socket and an HTTP port.
site() {
	cat <<-END
		[global]
		log = ${LOG:-stderr}
		drain_timeout = ${DRAIN_TIMEOUT:-10m}
		drain_idle_timeout = 10m
		admin = $ADMIN
		http = 127.0.0.1:0
		[pool main]
		threads = 2
		[frontend web]
		listen = 127.0.0.1:0
		listen = unix:$T/web.sock
		backend = app
		[backend app]
		check = off
		server = a ${ADDRS[a]:-127.0.0.1:1}
	END
}

# begin: lfproxy with that file.
begin() {
	site >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
}

# begin_unconfirmed: the same with a service manager that confirms nothing, so
# that an upgrade waits between READY and the commit.
begin_unconfirmed() {
	serve manager python3 -B "$ROOT/tests/behaviour/notifytool.py" \
	    "$T/notify" --hold
	NOTIFY_SOCKET=$T/notify begin
	wait_for 10 has_line manager '^READY=1 '
}

# upgrade_in_vain: the other process dies there, and this one goes on.
upgrade_in_vain() {
	local other

	spawn asked "$BUILD/lfproxyctl" -S "$ADMIN" upgrade
	wait_for 10 has_line manager '^BARRIER=1'
	other=$(sed -n 's/^MAINPID=//p' "$T/manager.out")
	kill -9 "$other"
	wait_for 10 ended "${PIDS[asked]}"
	run -0 cat "$T/asked.out" "$T/asked.err"
	equal "the answer" "no upgrade, this process goes on: process $other has ended before it served" \
	    "$output"
	equal "the process that answers" "$FIRST" "$(pid_now)"
	equal "answer" a "$(fetch "http://$PORT/")"
}

# stat_of PROXY NAME COLUMN
stat_of() {
	ctl show stat | awk -F, -v px="$1" -v sv="$2" -v col="$3" '
	NR == 1 { sub(/^# /, ""); for (i = 1; i <= NF; i++) at[$i] = i }
	$1 == px && $2 == sv { print $at[col] }'
}

pid_now() {
	ctl show info | sed -n 's/^Pid: //p'
}

# upgrade [PROGRAM]: it succeeds; LFPROXY_PID is the other process then, and
# UPGRADED what was said.
upgrade() {
	local before=$LFPROXY_PID

	run -0 ctl upgrade "$@"
	[[ $output =~ ^process\ [0-9]+\ has\ taken\ over\ [0-9]+\ listening\ socket ]] ||
	    fail "$output"
	UPGRADED=$output
	LFPROXY_PID=${output#process }
	LFPROXY_PID=${LFPROXY_PID%% *}
	[ "$LFPROXY_PID" != "$before" ]
	equal "the process that answers" "$LFPROXY_PID" "$(pid_now)"
}

# refused PATTERN [PROGRAM]: an upgrade fails with that reason, and the present
# process goes on.
refused() {
	local pattern=$1

	shift
	run -1 ctl upgrade "$@"
	[[ $output =~ $pattern ]] || fail "$output"
	equal "the process that answers" "$LFPROXY_PID" "$(pid_now)"
	equal "answer" a "$(fetch "http://$PORT/")"
}

none_left() {
	local rc=0

	"$TOOLS/insession" "$FIRST" || rc=$?
	[ $rc -eq 1 ]
}

# The other processes are no children of the test's.
stop_newest() {
	local pid=$LFPROXY_PID

	[ -n "$FIRST" ] && [ "$pid" != "$FIRST" ] || return 0
	LFPROXY_PID=
	kill -TERM "$pid"
	wait_for 15 ended "$pid" || kill -KILL "$pid"
	wait_for 15 ended "$FIRST" || kill -KILL "$FIRST"
	wait "$FIRST"
	wait_for 15 none_left
	no_report
}

teardown() {
	local rc=0

	stop_others
	if [ -n "$LFPROXY_PID" ]; then
		stop_newest || rc=1
	fi
	if [ -n "$LFPROXY_PID" ]; then
		stop_lfproxy || rc=1
	fi
	if [ $rc -ne 0 ] || [ -z "${BATS_TEST_COMPLETED:-}" ]; then
		explain_failure
	fi
	return $rc
}

# begin_with NAME [OPTION...]: lfproxy with that server alone, and its options.
begin_with() {
	site >"$T/lfproxy.ini"
	sed -i "s/^server = a .*/server = s $(addr "$1") ${*:2}/" "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
}

# slow_server NAME: answers when it is told to.
slow_server() {
	serve "$1" "${UPGRADE_TOOL[@]}" server
}

# asks NAME LINE [half]: a client that waits for its answer.
asks() {
	spawn "$1" "${UPGRADE_TOOL[@]}" ask "$PORT" "$2" ${3:+"$3"}
	wait_for 10 has_line "$1" connected
}

# answers NAME LINE
answers() {
	finish "$1" 30
	equal "the answer of $1" "connected answered $2" "$(xargs <<<"$output")"
}

# in_state STATE N: so many sessions are in it.
in_state() {
	[ "$(ctl show sess json | grep -o "\"state\":\"$1\"" | wc -l)" = "$2" ]
}

# of_info NAME: a figure of `show info`.
of_info() {
	ctl show info | sed -n "s/^$1: //p"
}

# of_load NAME: an address that the server of upgradeload has printed.
of_load() {
	sed -n "s/^$1 //p" "$T/load.out"
}

# load_site FEW [LISTEN...]: the frontends of upgradeload's clients, web, few,
# late and head, with these listeners; the servers of web's backend follow.
load_site() {
	cat <<-END
		[global]
		log = off
		drain_timeout = 10m
		drain_idle_timeout = 10m
		admin = $ADMIN
		${GLOBAL:-}
		[pool main]
		threads = 2
		[defaults]
		check = off
		timeout_hello = 10m
		timeout_connect = 10m
		timeout_queue = 10m
		timeout_client = 10m
		timeout_server = 10m
		timeout_client_fin = 10m
		timeout_server_fin = 10m
		${DEFAULTS:-}
		[frontend web]
		listen = ${2:-127.0.0.1:0}
		backend = app
		[frontend few]
		listen = ${3:-127.0.0.1:0}
		backend = few
		[frontend late]
		listen = ${4:-127.0.0.1:0}
		backend = late
		[frontend head]
		listen = ${5:-127.0.0.1:0} accept_proxy=on
		backend = app
		[backend few]
		server = q $(of_load queue) maxconn=$1
		[backend late]
		server = l $(of_load late)
		[backend app]
	END
}

# put_names LINE: the file of nametool.py, whole at any moment.
put_names() {
	echo "$1" >"$T/names.new"
	mv "$T/names.new" "$T/names"
}

# late_names: an upgrade whose successor is not answered its first question for the
# name db; it waits two seconds for the answer.  Returns 1 if the machine was too
# busy for that, so that session c of server s stayed: all has ended then.
late_names() {
	local asked

	put_names 'db late 1 127.0.0.1'
	asked=$(wc -l <"$T/names.asked")
	run -0 ctl upgrade || return 2
	[ "$(wc -l <"$T/names.asked")" -gt $((asked + 1)) ] ||
	    fail "asked once: $(cat "$T/names.asked")" || return 2
	LFPROXY_PID=$(pid_now)
	[[ $output != *" and 1 session" ]] || return 0
	echo "$output"
	signal s USR1
	finish c 30 && stop_newest && end s && end names || return 2
	return 1
}
