#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Several admin sockets: their places, their users, and the levels of these.

# bats file_tags=onethread

load helpers
load rights

ADMIN=$T/admin.sock
SOCKETS=

common() {
	cat <<-END
		[global]
		log = ${LOG:-off}
		drain_timeout = 2s
		$(printf '%b' "$SOCKETS")
		[pool main]
		threads = 2
	END
}

sockets() {
	SOCKETS=$1
	start_app a
	web a
}

# said SOCKET TEXT: what comes back for it, with a `|` for each line end.
said() {
	printf '%b' "$2" | socat -t 60 - "$1" 2>&1 | tr '\n' '|'
}

tcp() {
	"$CTL" -S "$ADMIN" show cli sockets |
	    sed -n 's/^ipv4@\([^ ]*\) .*/\1/p'
}

@test "admin sockets: each has its level" {
	sockets "admin = $ADMIN\nadmin = $T/op level=operator\nadmin = $T/user level=user\nadmin = 127.0.0.1:0 level=operator\nadmin = 127.0.0.1:0"
	equal "the list" "admin operator user operator user" \
	    "$("$CTL" -S "$ADMIN" show cli sockets | awk 'NR > 1 && NF { print $2 }' | xargs)"
	equal "operator" 'operator|||' "$(said "UNIX-CONNECT:$T/op" 'show cli level;show table\n')"
	equal "operator" 'Permission denied||' \
	    "$(said "UNIX-CONNECT:$T/op" 'set pool main threads 3\n')"
	[[ $(said "UNIX-CONNECT:$T/op" 'show errors\n') == Total* ]]
	equal "user" 'user||Permission denied||Permission denied||' \
	    "$(said "UNIX-CONNECT:$T/user" 'show cli level;show errors;reload\n')"
	equal "lfproxyctl and TCP" operator \
	    "$("$CTL" -S "$(tcp | sed -n 1p)" show cli level)"
	run -69 "$CTL" -S 127.0.0.1: show info
	[[ $output == *"HOST:PORT"* ]]
	equal "TCP" 'operator||' "$(said "TCP:$(tcp | sed -n 1p)" 'show cli level\n')"
	equal "TCP's default" 'user||' "$(said "TCP:$(tcp | sed -n 2p)" 'show cli level\n')"
}

# bats test_tags=covered
@test "admin sockets: a change through TCP is noted with its address" {
	sockets "admin = $ADMIN\nadmin = 127.0.0.1:0 level=admin"
	said "TCP:$(tcp)" 'set pool main threads 3\n'
	run -0 "$CTL" -S "$ADMIN" show changes
	[[ $output =~ ^1\ [^\ ]+\ 127\.0\.0\.1:[0-9]+:\ pool\ main\ threads:\ 2\ -\>\ 3$ ]] ||
	    fail "$output"
}

@test "admin sockets: TCP is for this host alone" {
	local address

	for address in 0.0.0.0:9999 :9999 10.1.2.3:9999 '[::]:9999' '[2001:db8::1]:9999'; do
		printf '[global]\nadmin = %s\n' "$address" >"$T/bad.ini"
		run -78 "$LFPROXY" -t -c "$T/bad.ini"
		[[ $output == *"$T/bad.ini:2: admin: '$address' can be reached from other hosts"* ]] ||
		    fail "$address: $output"
	done
	for address in '127.0.0.1:9999 mode=0600' '[::1]:9999 user=root' \
	    '127.0.0.1:9999 admins=root'; do
		printf '[global]\nadmin = %s\n' "$address" >"$T/bad.ini"
		run -78 "$LFPROXY" -t -c "$T/bad.ini"
		[[ $output == *"is for unix sockets only"* ]] || fail "$output"
	done
}

@test "admin sockets: bad options say what is allowed" {
	local line

	while read -r line; do
		printf '[global]\nadmin = %s\n' "${line%% -> *}" >"$T/bad.ini"
		run -78 "$LFPROXY" -t -c "$T/bad.ini"
		[[ $output == *"bad.ini:2: admin: "*"${line#* -> }"* ]] ||
		    fail "$line: $output"
	done <<-END
		/run/x level=root -> user, operator, admin
		/run/x user=no-such-user -> this host has no user 'no-such-user'
		/run/x group=no-such-group -> this host has no group 'no-such-group'
		/run/x admins=root,no-such-user -> this host has no user 'no-such-user'
		/run/x operators=@no-such-group -> this host has no group 'no-such-group'
		/run/x admins=root, -> this host has no user ''
		/run/x timeout=0s -> 1s to 1d
		/run/x maxconn=0 -> 1 to 1000
		/run/x maxconn=1001 -> 1 to 1000
		127.0.0.1:99999 -> port
	END
	printf '[global]\nadmin = /run/x\nadmin = unix:/run/x\n' >"$T/bad.ini"
	run -78 "$LFPROXY" -t -c "$T/bad.ini"
	[[ $output == *"bad.ini:3: admin: 'unix:/run/x' is an admin socket already"* ]]
}

# bats test_tags=covered
@test "admin sockets: a file has its mode and its owner, and goes with lfproxy" {
	need_to_give nobody:nogroup
	sockets "admin = $ADMIN\nadmin = $T/given mode=0620 user=nobody group=nogroup"
	equal "mode and owner" "620 nobody nogroup" "$(stat -c '%a %U %G' "$T/given")"
	stop_lfproxy
	[ ! -e "$T/given" ]
}

# may USER GROUP SOCKET: whether the user, in that group alone, may connect.
may() {
	setpriv --reuid "$1" --regid "$2" --clear-groups \
	    "$CTL" -S "$3" show cli level >"$T/may" 2>&1
}

may_not() {
	refute may "$@"
	grep -q 'Permission denied' "$T/may" || fail "$(cat "$T/may")"
}

# group_of OPTION...: the admin socket $T/s/a has them, after a reload that
# succeeds.
group_of() {
	sed -i "s|^admin = $T/s/a.*|admin = $T/s/a mode=0660 $*|" "$T/lfproxy.ini"
	run -0 "$CTL" -S "$ADMIN" reload
}

# Gives a file to the group 8 by a list of version 2: tag, rights and id of each.
SET_ACL='
import os, struct, sys
entries = (1, 6, -1), (4, 0, -1), (8, 7, 8), (16, 6, -1), (32, 0, -1)
acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *e) for e in entries)
os.setxattr(sys.argv[1], "system.posix_acl_access", acl)'

# give_without_chown COMMAND...: lfproxy is run by this command.
give_without_chown() {
	local LIMIT="$*"

	mkdir -m 777 "$T/s"
	mkfifo "$T/probe"
	need "access control lists in $T" python3 -c "$SET_ACL" "$T/probe"
	sockets "admin = $ADMIN mode=0600\nadmin = $T/s/a mode=0660 group=mail"
	may daemon mail "$T/s/a"
	may_not daemon daemon "$T/s/a"
	may_not daemon nogroup "$T/s/a"
	group_of group=daemon
	may daemon daemon "$T/s/a"
	may_not daemon mail "$T/s/a"
	# A reload that is refused puts it back.
	sed -i "s|^admin = $T/s/a.*|admin = $T/s/a group=mail\nadmin = $T/none/b|" \
	    "$T/lfproxy.ini"
	run -1 "$CTL" -S "$ADMIN" reload
	may daemon daemon "$T/s/a"
	may_not daemon mail "$T/s/a"
	sed -i "/^admin = .*none/d" "$T/lfproxy.ini"
	sed -i "s|^admin = $T/s/a.*|admin = $T/s/a mode=0600 group=daemon|" \
	    "$T/lfproxy.ini"
	run -0 "$CTL" -S "$ADMIN" reload
	may_not daemon daemon "$T/s/a"
	group_of
	may_not daemon daemon "$T/s/a"
	may_not daemon mail "$T/s/a"
}

# bats test_tags=covered
@test "admin sockets: a group that lfproxy is not in, without the right to chown" {
	need_nobody
	chmod 777 "$T"
	give_without_chown setpriv --reuid nobody --regid nogroup --clear-groups
	may daemon nogroup "$T/s/a"
}

@test "admin sockets: a group where a filter refuses chown(2), as in the unit" {
	need_nobody
	need "filters of system calls, seccomp(2)" \
	    python3 -B "$ROOT/tests/behaviour/seccomptool.py" unowned true
	give_without_chown python3 -B "$ROOT/tests/behaviour/seccomptool.py" \
	    unowned
	may daemon root "$T/s/a"
}

# bats test_tags=covered
@test "admin sockets: a user may have a higher level than the socket" {
	need_nobody
	sockets "admin = $ADMIN\nadmin = $T/all mode=0666 level=user operators=@nogroup admins=root\nadmin = $T/named mode=0666 level=user admins=nobody"
	equal "root" 'admin||' "$(said "UNIX-CONNECT:$T/all" 'show cli level\n')"
	equal "not named" 'user||' "$(said "UNIX-CONNECT:$T/named" 'show cli level\n')"
	equal "by group" 'operator' \
	    "$(nobody "$CTL" -S "$T/all" show cli level)"
	equal "by name" 'admin' \
	    "$(nobody "$CTL" -S "$T/named" show cli level)"
	nobody "$CTL" -S "$T/named" set pool main threads 3
	"$CTL" -S "$ADMIN" show changes |
	    grep -qE "^1 [^ ]+ nobody \(uid $(id -u nobody), pid [0-9]+\): pool main threads: 2 -> 3$"
}

@test "admin sockets: a supplementary group grants its level" {
	local group

	need_nobody
	group=$(getent group | awk -F: '$3 > 0 && $3 < 1000 { print $1; exit }')
	sockets "admin = $ADMIN\nadmin = $T/all mode=0666 level=user admins=@$group"
	equal "in the group" admin "$(setpriv --reuid nobody --regid nogroup \
	    --groups "$group" "$CTL" -S "$T/all" show cli level)"
	equal "not in it" user "$(nobody "$CTL" -S "$T/all" show cli level)"
}

# bats test_tags=covered
@test "admin sockets: each has its time-out and its limit on connections" {
	sockets "admin = $ADMIN\nadmin = $T/few timeout=1s maxconn=2"
	run -0 timeout $((100 * PATIENCE)) python3 -c '
import socket, sys, time
def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(sys.argv[1])
    return s
def busy():
    s = connect()
    s.sendall(b"prompt\n")
    assert s.recv(100) == b"\n> "
    return s
began = time.monotonic()
a = busy()
assert a.recv(100) == b"" and 0.9 < time.monotonic() - began, "time-out"
socks = [busy(), busy()]
# The third takes the place of one of the first two, of the same process.
c = busy()
c.sendall(b"show cli level\n")
assert c.recv(100) == b"admin\n\n> "
assert b"" in [s.recv(100) for s in socks]
' "$T/few"
}

# Symptom: 256 connections of short-lived children, each of which sent one byte
# every 150 ms, locked everyone else out.
# bats test_tags=covered
@test "admin sockets: one user cannot lock root out" {
	local i

	need_nobody
	sockets "admin = $T/shared mode=0666 level=user admins=root"
	spawn foe python3 -B "$ROOT/tests/behaviour/lockouttool.py" \
	    "$T/shared" 256 "$(id -u nobody)"
	wait_for 30 has_line foe '^ready$'
	for i in 1 2 3 4 5; do
		run -0 timeout $((60 * PATIENCE)) \
		    "$CTL" -S "$T/shared" show cli level
		equal "try $i" admin "$output"
	done
	end foe
}

# The same with one user: the connections of the attacker never complete
# anything, those of others do.
# bats test_tags=covered
@test "admin sockets: a byte now and then does not keep a place" {
	local i

	sockets "admin = $ADMIN"
	spawn foe python3 -B "$ROOT/tests/behaviour/lockouttool.py" "$ADMIN" 256
	wait_for 30 has_line foe '^ready$'
	for i in 1 2 3 4 5; do
		run -0 timeout $((60 * PATIENCE)) \
		    "$CTL" -S "$ADMIN" show cli level
		equal "try $i" admin "$output"
	done
	end foe
}

# Symptom: a page that a browser showed could give commands, since the lines of
# the request's body were run.
@test "admin sockets: an HTTP request is refused" {
	LOG=stderr sockets "admin = $ADMIN\nadmin = 127.0.0.1:0 level=admin"
	run timeout $((60 * PATIENCE)) curl -s --http0.9 -m 60 \
	    --data-binary $'\nset pool main threads 3\n' "http://$(tcp)/"
	equal "the answer" "Closed: this is not an HTTP port." "$output"
	equal "the changes" "" "$("$CTL" -S "$ADMIN" show changes | grep threads || true)"
	wait_for 10 lfproxy_said \
	    '^lfproxy: (warning: )?admin: 127\.0\.0\.1:[0-9]+: closed: it sent an HTTP request'
}

# bats test_tags=covered
@test "admin sockets: TCP above level user is warned of" {
	local warning="warning: admin: every user and every program of this host can give commands at 127.0.0.1:0 with level=operator; use a unix socket, or level=user"

	LOG=stderr sockets "admin = $ADMIN\nadmin = 127.0.0.1:0 level=operator\nadmin = [::1]:0"
	wait_for 10 lfproxy_said "lfproxy.ini:[0-9]+: $warning"
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *"lfproxy.ini:"*": $warning"* ]] || fail "$output"
	equal "warnings" 1 "$(grep -c warning: <<<"$output")"
	run -0 "$CTL" -S "$ADMIN" reload
	[[ $output == *"lfproxy.ini:"*": $warning"* ]] || fail "$output"
	wait_for 10 lfproxy_said "^lfproxy: .*lfproxy.ini:[0-9]+: $warning"
}

@test "admin sockets: a missing directory is made, but none above it" {
	SOCKETS="admin = $T/made/a.sock\nadmin = $T/no/where/b.sock" start_it
	equal "the mode" 755 "$(stat -c %a "$T/made")"
	"$CTL" -S "$T/made/a.sock" show cli level
	lfproxy_said 'warning: running without the admin socket: cannot listen on unix:.*/no/where/b.sock: No such file or directory.*the directory .*/no/where. does not exist'
	[ ! -e "$T/no" ]
	# A reload does not mind, and makes it as soon as it can.
	equal "the answer" "No change." "$("$CTL" -S "$T/made/a.sock" reload)"
	mkdir "$T/no"
	"$CTL" -S "$T/made/a.sock" reload
	"$CTL" -S "$T/no/where/b.sock" show cli level
}

start_it() {
	LOG=stderr
	start_app a
	web a
}

@test "admin sockets: a reload that adds one without a directory is refused" {
	SOCKETS="admin = $ADMIN" start_it
	sed -i "s|^admin = .*|admin = $T/no/where/a.sock|" "$T/lfproxy.ini"
	run -1 "$CTL" -S "$ADMIN" reload
	[[ $output == *"the directory '$T/no/where' does not exist"* ]]
	"$CTL" -S "$ADMIN" show cli level
}

@test "admin sockets: the directory that root makes is the user's" {
	need_nobody
	chmod 755 "$T"
	SOCKETS="user = nobody\nadmin = $T/made/a.sock" start_it
	equal "the owner" nobody "$(stat -c %U "$T/made")"
	stop_lfproxy
	[ ! -e "$T/made/a.sock" ]
}

@test "admin sockets: lfproxy runs where it may write no directory" {
	local as=()

	if [ "$(id -u)" -eq 0 ]; then
		need_nobody
		as=(setpriv --reuid nobody --regid nogroup --clear-groups)
	fi
	mkdir "$T/closed"
	chmod 555 "$T/closed"
	LIMIT="${as[*]}" SOCKETS="admin = $T/closed/a.sock\nadmin = $T/closed/in/b.sock" start_it
	lfproxy_said 'running without the admin socket: .*/closed/a.sock: Permission denied'
	lfproxy_said 'running without the admin socket: .*/closed/in/b.sock'
	equal "the answer" a "$(fetch "$(url)")"
}

@test "admin sockets: one that another lfproxy serves is an error, whatever its directory" {
	SOCKETS="admin = $T/made/a.sock" start_it
	chmod 555 "$T/made"
	run -71 "$BUILD/lfproxy" -l 127.0.0.1:0 -s 127.0.0.1:9 -a "$T/made/a.sock"
	[[ $output == *"another lfproxy serves the admin socket '$T/made/a.sock'"* ]]
	chmod 755 "$T/made"
}
