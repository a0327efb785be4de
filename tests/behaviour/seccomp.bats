#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The filter of system calls.  All other tests run under it as well, because it
# is set by default.

# bats file_tags=onethread, basic

load helpers
load ctl
load checks

SECCOMPTOOL=(python3 -B "$ROOT/tests/behaviour/seccomptool.py")

# site LINE...: lfproxy with these lines in [global], and a server whose check
# makes system calls.
site() {
	printf '%s\n' '#!/bin/sh' "exec >$T/new 2>&1" \
	    "${SECCOMPTOOL[*]} try && mv $T/new $T/tried" >"$T/script"
	chmod +x "$T/script"
	{
		printf '%s\n' '[global]' 'log = stderr' "admin = $ADMIN" "$@" \
		    '[frontend web]' 'listen = 127.0.0.1:0' 'backend = app' \
		    '[backend app]' "$(checked script)" \
		    "check_command = $T/script" "server = a $(addr a)"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

filter() {
	ctl show info | sed -n 's/^Lfproxy_seccomp: //p'
}

# threads_have FIELD VALUE: in the status of each thread.
threads_have() {
	equal "$1 of the threads" "$2" "$(sed -n "s/^$1:[[:space:]]*//p" \
	    /proc/"$LFPROXY_PID"/task/*/status | sort -u)"
}

own_filters() {
	sed -n 's/^Seccomp_filters:[[:space:]]*//p' /proc/self/status
}

need_filters() {
	need "filters of system calls, seccomp(2)" "${SECCOMPTOOL[@]}" unable true
}

# tried NAME RESULT: of the check's system calls.
tried() {
	wait_for 20 has_match "^$1 $2\$" "$T/tried"
}

# bats test_tags=covered
@test "seccomp: by default every thread has a filter, and checks inherit it" {
	local name

	need_filters
	start_app a
	site
	equal info on "$(filter)"
	threads_have Seccomp 2
	threads_have Seccomp_filters $(($(own_filters) + 1))
	wait_for 20 [ -e "$T/tried" ]
	for name in ptrace bpf unshare keyctl; do
		# A sanitizer looks for leaks by ptrace.
		[[ $name == ptrace && $SCALE != 1 ]] || tried $name EPERM
	done
	tried clone3 ENOSYS
	tried packet EAFNOSUPPORT
	tried getppid ok
	tried inet ok
	equal "an answer" a "$(fetch "$(url)")"
}

# bats test_tags=covered
@test "seccomp: off sets none, and a reload sets it for all threads" {
	need_filters
	start_app a
	site 'seccomp = off'
	threads_have Seccomp_filters "$(own_filters)"
	tried unshare ok
	sed -i 's/^seccomp.*/seccomp = on/' "$T/lfproxy.ini"
	run -0 ctl reload
	equal answer 'global: seccomp: off -> on' "$output"
	equal info on "$(filter)"
	threads_have Seccomp_filters $(($(own_filters) + 1))
	tried unshare EPERM
	fetch -o /dev/null "$(url)"

	sed -i 's/^seccomp.*/seccomp = off/' "$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *'seccomp: on -> off takes a restart; it stays on'* ]] ||
	    fail "$output"
	equal info on "$(filter)"
}

@test "seccomp: log refuses nothing that on refuses" {
	need_filters
	start_app a
	site 'seccomp = log'
	equal info log "$(filter)"
	threads_have Seccomp 2
	tried unshare ok
	sed -i 's/^seccomp.*/seccomp = on/' "$T/lfproxy.ini"
	run -0 ctl reload
	tried unshare EPERM
}

# A filter for each upgrade would slow lfproxy down, and end at the kernel's limit.
@test "seccomp: upgrades keep one filter, also when the file turns it off" {
	local n

	need_filters
	start_app a
	site
	for n in 1 2 3; do
		run -0 ctl upgrade
		[[ $output =~ ^process\ ([0-9]+)\  ]] || fail "$output"
		wait_for 10 ended "$LFPROXY_PID"
		LFPROXY_PID=${BASH_REMATCH[1]}
		threads_have Seccomp_filters $(($(own_filters) + 1))
		equal info on "$(filter)"
		sed -i '/^\[global\]/a seccomp = off' "$T/lfproxy.ini"
		[ "$n" -lt 2 ] || sed -i '/^seccomp/d' "$T/lfproxy.ini"
	done
	kill -TERM "$LFPROXY_PID"
	wait_for 15 ended "$LFPROXY_PID"
	LFPROXY_PID=
}

# bats test_tags=covered
@test "seccomp: where none can be set lfproxy starts unless it was asked for" {
	need_filters
	start_app a
	LIMIT="${SECCOMPTOOL[*]} unable" site
	wait_for 10 lfproxy_said \
	    '^lfproxy: the kernel, or the container .* permits no filter of system calls'
	equal info inherited "$(filter)"
	equal "an answer" a "$(fetch "$(url)")"
	sed -i '/^\[global\]/a seccomp = on' "$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *'seccomp = on: the kernel, or the container that lfproxy runs in, permits no filter'* ]] ||
	    fail "$output"
	stop_lfproxy
	run -71 "${SECCOMPTOOL[@]}" unable "$LFPROXY" -c "$T/lfproxy.ini"
	[[ $output == *'seccomp = on: the kernel, or the container '*'write seccomp = auto'* ]] ||
	    fail "$output"
}
