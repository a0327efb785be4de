#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Files on a mount that does not answer: they delay no other kind of file, no
# command, no reload but their own, and not the end.

# bats file_tags=unsanitized

load helpers
load stat
load tls
load upgrade

setup_file() {
	[ -x "$ROOT/build/fault/lfproxy" ] ||
	    skip "no $ROOT/build/fault/lfproxy; make MODE=fault builds it"
}

# start_site [LINE...]: lfproxy with a file of each kind, and these lines besides.
start_site() {
	write_site "$@"
	LFPROXY_FAULT_HANG_FILES=1 LFPROXY=$ROOT/build/fault/lfproxy \
	    launch_lfproxy -c "$T/lfproxy.ini"
	HTTP=$(sed -n 's|.*monitoring at \(http.*\)/$|\1|p' "$LFPROXY_LOG")
	wait_for 10 refute at_work
}

write_site() {
	[ -e "$T/ca.pem" ] || make_ca ca
	for i in list cert members users; do
		[ -e "$T/$i" ] || change "$i"
	done
	{
		common
		printf '[list office]\nfile = %s\n' "$T/list"
		printf '[tls public]\ncert = %s\n' "$T/cert"
		printf '[frontend web]\nlisten = 127.0.0.1:0 tls=public\n'
		printf 'deny = list:office\nbackend = app\n'
		printf '[backend app]\ncheck = off\nservers = app 5 file=%s\n' \
		    "$T/members"
		[ $# -eq 0 ] || printf '%s\n' "$@"
	} | sed "s|^\[global\]|&\nhttp = 127.0.0.1:0 users=$T/users|" \
	    >"$T/lfproxy.ini"
}

# change KIND: the file gets other contents.
change() {
	CHANGES=$((${CHANGES:-0} + 1))
	case $1 in
	list) echo "192.0.2.$CHANGES" ;;
	members) echo "127.0.0.1:$CHANGES" ;;
	cert)
		make_cert site ca DNS:site.example
		cat "$T/site.pem" "$T/site.key"
		;;
	users) echo "alice:$(openssl passwd -6 -salt "$CHANGES" secret):admin" ;;
	esac >"$T/$1.new"
	chmod 600 "$T/$1.new"
	mv "$T/$1.new" "$T/$1"
}

# follow KIND: makes lfproxy read the file.
follow() {
	change "$1"
	[ "$1" != users ] ||
	    spawn login curl -sS -m 60 -u alice:secret "$HTTP/api/v1/closed"
}

# is_read KIND: what the file has now is in force.
is_read() {
	case $1 in
	list) ctl get acl office "$(cat "$T/list")" | grep -q 'match=yes' ;;
	members) ctl show servers app | grep -qF "$(cat "$T/members")" ;;
	cert) [ "$(openssl s_client -connect "$(listening web)" </dev/null \
	    2>/dev/null | openssl x509)" = "$(cat "$T/site.pem")" ] ;;
	users) ended "${PIDS[login]}" ;;
	esac
}

at_work() {
	grep -qx lf-worker "/proc/$LFPROXY_PID/task/"*/comm
}

# hang KIND: the file does not answer, and lfproxy reads it.
hang() {
	touch "$T/$1.hangs"
	follow "$1"
	wait_for 10 at_work
}

# delays_nothing KIND: a file of this kind that hangs.
delays_nothing() {
	start_site
	hang "$1"
	for i in list cert members users; do
		[ "$i" = "$1" ] && continue
		follow "$i"
		wait_for 10 is_read "$i"
	done
	at_work
	refute is_read "$1"
	rm "$T/$1.hangs"
	wait_for 10 is_read "$1"
	wait_for 10 refute at_work
	hang "$1"
	kill -TERM "$LFPROXY_PID"
	await_lfproxy 15
	lfproxy_said 'they are left behind'
}

@test "hanging: a list delays nothing else" {
	delays_nothing list
}

@test "hanging: a certificate delays nothing else" {
	delays_nothing cert
}

@test "hanging: a file of servers delays nothing else" {
	delays_nothing members
}

@test "hanging: a file of users delays nothing else" {
	delays_nothing users
}

# ask NAME [LINE...]: a reload with these lines besides.
ask() {
	local name=$1

	shift
	write_site "$@"
	spawn "$name" "$CTL" -S "$ADMIN" reload
	wait_for 10 at_work
}

@test "hanging: reloads wait for a list, and take effect in their order" {
	start_site
	touch "$T/list.hangs"
	ask first '[backend first]' 'check = off' 'server = s 127.0.0.1:1'
	ask second '[backend second]' 'check = off' 'server = s 127.0.0.1:1'
	change list
	ctl show info >"$T/info"
	refute ended "${PIDS[first]}"
	refute ended "${PIDS[second]}"
	refute lfproxy_said 'reloaded: '
	rm "$T/list.hangs"
	finish first 30
	finish second 30
	grep -q 'backend first is new' "$T/first.out"
	grep -q 'backend first is removed' "$T/second.out"
	grep -q 'backend second is new' "$T/second.out"
	wait_for 10 is_read list
}

@test "hanging: a reload that waits for a list says so, and is refused at the end" {
	start_site
	touch "$T/list.hangs"
	ask first
	change list
	wait_for 30 lfproxy_said 'list office: .* after 5 s; a reload waits'
	wait_for 30 lfproxy_said 'list office: .* after 10 s; .* change of lists'
	kill -TERM "$LFPROXY_PID"
	await_lfproxy 15
	lfproxy_said 'not reloaded; .*the files of lists could not be read in time'
	lfproxy_said 'they are left behind'
}

# forget: the configuration has none of the files that hang any more.
forget() {
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\ncheck = off\nserver = s 127.0.0.1:1\n'
	} >"$T/lfproxy.ini"
}

@test "hanging: files that a reload removes while they are read are not used" {
	start_site
	for i in list cert members; do
		hang "$i"
	done
	forget
	run -0 ctl reload
	rm "$T"/*.hangs
	wait_for 10 refute at_work
	refute lfproxy_said 'files have changed|the set app has|is another'
	stop_lfproxy
}

@test "hanging: a process that waits for files ends when it is upgraded" {
	start_site
	FIRST=$LFPROXY_PID
	for i in list cert members; do
		hang "$i"
	done
	forget
	upgrade
	wait_for 15 ended "$FIRST"
	lfproxy_said 'they are left behind'
}
