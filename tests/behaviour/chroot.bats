#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The key chroot: what is looked up inside, and what is refused at start.

# bats file_tags=onethread

load helpers
load ctl

# A sanitizer looks for leaks by /proc, which is not inside.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
JAIL=$T/jail
ADMIN=$JAIL/run/admin.sock

# need_chroot: the root directory may be changed; an ordinary user may in a user
# namespace, through ENTER.
ENTER=
need_chroot() {
	[ "$(id -u)" -eq 0 ] || ENTER="unshare --user --map-root-user"
	# shellcheck disable=SC2086
	need "CAP_SYS_CHROOT" $ENTER chroot / true
}

# jail LINE...: the directory, with a configuration inside and outside that has
# these lines in [global].
jail() {
	mkdir -p "$JAIL/etc" "$JAIL/run" "$JAIL/dev" "$JAIL$T"
	chmod 755 "$JAIL" "$JAIL$T"
	grep -E '^(root|nobody|nogroup):' /etc/passwd >"$JAIL/etc/passwd"
	grep -E '^(root|nobody|nogroup):' /etc/group >"$JAIL/etc/group"
	{
		printf '%s\n' '[global]' 'log = stderr' "chroot = $JAIL" \
		    "admin = /run/admin.sock" "$@" \
		    '[frontend web]' 'listen = 127.0.0.1:0' \
		    'listen = unix:/run/web.sock' 'backend = app' \
		    '[backend app]' "${BACKEND:-check = off}" \
		    "server = a $(addr a)"
	} >"$T/lfproxy.ini"
	cp "$T/lfproxy.ini" "$JAIL$T/lfproxy.ini"
}

# furnish PROGRAM...: the programs, and the libraries that they need.
furnish() {
	local file

	for file in "$@" $(ldd "$@" | grep -oE '/[^ :]+' | sort -u); do
		[ ! -f "$file" ] || [ -e "$JAIL$file" ] ||
		    install -D "$(readlink -f "$file")" "$JAIL$file"
	done
}

status_field() {
	sed -n "s/^$1:[[:space:]]*//p" "/proc/$LFPROXY_PID/status"
}

# enter [LINE...]: lfproxy with that jail; returns when it serves.
enter() {
	start_app a
	jail "$@"
	# shellcheck disable=SC2034 # for launch_lfproxy
	LIMIT=$ENTER
	launch_lfproxy -c "$T/lfproxy.ini"
}

# bats test_tags=covered
@test "chroot: all paths are looked up inside, also by reloads" {
	need_chroot
	enter
	equal root "$JAIL" "$(readlink "/proc/$LFPROXY_PID/root")"
	equal info "$JAIL" "$(ctl show info | sed -n 's/^Lfproxy_chroot: //p')"
	equal "an answer" a "$(fetch "$(url)")"
	equal "an answer by the unix socket" a \
	    "$(fetch --unix-socket "$JAIL/run/web.sock" http://x/)"
	# CAP_SYS_CHROOT is given up.
	(($((16#$(status_field CapPrm))) & 1 << 18)) && fail CAP_SYS_CHROOT
	(($((16#$(status_field CapBnd))) & 1 << 18)) && fail CAP_SYS_CHROOT

	echo 'nonsense = 1' >>"$T/lfproxy.ini"
	run -0 ctl reload
	sed -i 's/^listen = 127.*/&\nmaxconn = 77/' "$JAIL$T/lfproxy.ini"
	run -0 ctl reload
	equal reload 'frontend web: maxconn: auto -> 77' "$output"
	sed -i 's/^chroot = .*/chroot = \/other/' "$JAIL$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *"chroot: $JAIL -> /other takes a restart; it stays $JAIL"* ]] ||
	    fail "$output"
	echo 'nonsense = 1' >>"$JAIL$T/lfproxy.ini"
	run ctl reload
	[[ $output == *"$T/lfproxy.ini:"*nonsense* ]] || fail "$output"
}

# bats test_tags=covered
@test "chroot: with another user, which is looked up inside" {
	need_nobody
	need_chroot
	chmod 1777 "$T"
	start_app a
	jail 'user = nobody'
	chmod 777 "$JAIL/run"
	launch_lfproxy -c "$T/lfproxy.ini"
	equal root "$JAIL" "$(readlink "/proc/$LFPROXY_PID/root")"
	for field in CapPrm CapEff CapBnd CapAmb; do
		equal "$field" 0000000000000000 "$(status_field "$field")"
	done
	equal uid "$(id -u nobody)" "$(status_field Uid | cut -f 1)"
	equal "an answer" a "$(fetch "$(url)")"
	stop_lfproxy
	: >"$JAIL/etc/passwd"
	run -78 "$LFPROXY" -c "$T/lfproxy.ini"
	[[ $output == *"user: "*nobody* ]] || fail "$output"
}

@test "chroot: the file has to be inside, and the same" {
	need_chroot
	start_app a
	jail
	echo '; another' >>"$JAIL$T/lfproxy.ini"
	# shellcheck disable=SC2086
	run -78 $ENTER "$LFPROXY" -c "$T/lfproxy.ini"
	[[ $output == *"$T/lfproxy.ini is not the same inside, where reloads read it; copy it to $JAIL$T/lfproxy.ini" ]] ||
	    fail "$output"
	# shellcheck disable=SC2086
	run -78 $ENTER "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *'is not the same inside'* ]] || fail "$output"
	rm "$JAIL$T/lfproxy.ini"
	# shellcheck disable=SC2086
	run -78 $ENTER "$LFPROXY" -c "$T/lfproxy.ini"
	[[ $output == *"is not inside, where reloads read it (No such file or directory); copy it to $JAIL$T/lfproxy.ini" ]] ||
	    fail "$output"
	cp "$T/lfproxy.ini" "$JAIL$T/"
	cd "$T"
	# shellcheck disable=SC2086
	run -78 $ENTER "$LFPROXY" -c lfproxy.ini
	[[ $output == *'lfproxy.ini is a relative path'* ]] || fail "$output"
	# shellcheck disable=SC2086
	run -78 $ENTER "$LFPROXY" -c /dev/stdin < <(cat lfproxy.ini)
	[[ $output == *'is not a regular file'* ]] || fail "$output"
	sed -i "s|^chroot = .*|chroot = $T/none|" lfproxy.ini
	# shellcheck disable=SC2086
	run -78 $ENTER "$LFPROXY" -c "$T/lfproxy.ini"
	[[ $output == *"chroot = $T/none: No such file or directory" ]] ||
	    fail "$output"
}

@test "chroot: without the right to it lfproxy -t warns, and lfproxy fails" {
	without sys_chroot
	start_app a
	jail
	run -78 "${WITHOUT[@]}" "$LFPROXY" -c "$T/lfproxy.ini"
	[[ $output == *'takes CAP_SYS_CHROOT; start lfproxy as root, or leave chroot out' ]] ||
	    fail "$output"
	run -0 "${WITHOUT[@]}" "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *'warning: chroot = '*'looked up outside'* ]] ||
	    fail "$output"
}

# bats test_tags=covered
@test "chroot: check scripts and upgrades run what is inside" {
	local first

	[ "$SCALE" -eq 1 ] || skip "a sanitizer starts with /proc alone"
	need_chroot
	start_app a
	BACKEND="check = script interval=200ms timeout=20s
		check_command = /check" jail
	furnish "$LFPROXY" /bin/sh /bin/ls
	: >"$JAIL/dev/null"
	printf '%s\n' '#!/bin/sh' "echo *" >"$JAIL/check"
	chmod +x "$JAIL/check"
	# shellcheck disable=SC2034
	LIMIT=$ENTER
	launch_lfproxy -c "$T/lfproxy.ini"
	wait_for 20 inside_is_seen
	first=$LFPROXY_PID
	run -0 ctl upgrade
	[[ $output =~ ^process\ ([0-9]+)\  ]] || fail "$output"
	LFPROXY_PID=${BASH_REMATCH[1]}
	equal root "$JAIL" "$(readlink "/proc/$LFPROXY_PID/root")"
	equal program "$JAIL$LFPROXY" "$(readlink "/proc/$LFPROXY_PID/exe")"
	equal "an answer" a "$(fetch "$(url)")"
	wait_for 10 ended "$first"

	# The variable of an upgrade is not what a file can contradict.
	sed -i '/^chroot/d' "$JAIL$T/lfproxy.ini"
	run ctl upgrade
	[[ $output == *"has chroot = $JAIL, and the file has none; that takes a restart"* ]] ||
	    fail "$output"
	kill -TERM "$LFPROXY_PID"
	wait_for 15 ended "$LFPROXY_PID"
	LFPROXY_PID=
}

manager_heard() {
	has_line manager "$1"
}

# bats test_tags=covered
@test "chroot: the service manager outside is told, and an upgrade refused" {
	need_chroot
	serve manager python3 -B "$ROOT/tests/behaviour/notifytool.py" \
	    "$T/notify"
	export NOTIFY_SOCKET=$T/notify
	enter
	wait_for 10 manager_heard '^READY=1 STATUS=Ready$'
	run ctl upgrade
	[[ $output == *"(NOTIFY_SOCKET) is outside of chroot = $JAIL"* ]] ||
	    fail "$output"
	equal "an answer" a "$(fetch "$(url)")"
	stop_lfproxy
	manager_heard '^STOPPING=1'
}

# inside_is_seen: the check's output is a list of the directory.
inside_is_seen() {
	[[ $(ctl show stat | column_of last_chk a) == *'check dev etc'* ]]
}
