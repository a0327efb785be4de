#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Reload of what the operator and monitoring reach lfproxy by: admin sockets and
# the HTTP port come, change, move and go.

# bats file_tags=onethread

load helpers

INI=$T/lfproxy.ini

# file LINE...: a configuration with these lines in [global]; SERVERS so many.
# With this maxconn a reload has nothing to say of descriptors.
file() {
	local i

	{
		printf '[global]\nlog = off\nmaxconn = 50\n'
		printf '%s\n' "$@"
		printf '[frontend web]\nlisten = unix:%s\nbackend = app\n' \
		    "$T/web"
		printf '[backend app]\ncheck = off\n'
		for ((i = 0; i < ${SERVERS:-1}; i++)); do
			echo "server = s$i 127.0.0.1:9"
		done
	} >"$INI.new"
	mv "$INI.new" "$INI"
}

begin() {
	file "$@"
	launch_lfproxy -c "$INI"
}

ctl() {
	"$CTL" -S "$@"
}

# reloads N: the log says so often that it was done, or refused.
hup() {
	kill -HUP "$LFPROXY_PID"
	wait_for 10 said_times "$1" "${2:-reloaded: }"
}

tool() {
	python3 -B "${BATS_TEST_FILENAME%/*}/adminreloadtool.py" "$@"
}

# Lists the sockets in $T: inode, mode, owner, name.
files() {
	find "$T" -maxdepth 2 -type s -printf '%i %m %u %g %f\n' | sort
}

http() {
	sed -n 's|.*monitoring at http://\(.*\)/$|\1|p' "$LFPROXY_LOG" |
	    tail -n 1
}

level_of() {
	ctl "$1" show cli level
}

@test "admin reload: sockets appear, move and go, the client is answered" {
	local first second

	begin "admin = $T/a"
	file "admin = $T/b" "admin = 127.0.0.1:0"
	run -0 ctl "$T/a" reload
	equal "the answer" "global: admin: $T/a is removed
global: admin: $T/b is new
global: admin: 127.0.0.1:0 is new" "$output"
	[ ! -e "$T/a" ]
	ctl "$T/b" show changes |
	    grep -qE "^2 .* reload: global: admin: $T/b is new\$"
	run -0 ctl "$T/b" show cli sockets
	[[ $output == *"unix@$T/b admin all"*$'\nipv4@127.0.0.1:'*" user all"* ]]
	first=$(grep -o '127.0.0.1:[0-9]*' <<<"$output")
	# The port that the kernel chose stays, and the other one beside it.
	file "admin = 127.0.0.1:0 level=operator" "admin = 127.0.0.1:0" \
	    "admin = $T/b"
	run -0 ctl "$T/b" reload
	equal "the answer" "global: admin: 127.0.0.1:0: level: user -> operator
global: admin: 127.0.0.1:0 is new" "$(grep -v ': warning: ' <<<"$output")"
	equal "by the same port" operator "$(level_of "$first")"
	second=$(ctl "$T/b" show cli sockets |
	    sed -n 's/^ipv4@\([^ ]*\) user all/\1/p')
	equal "by the other" user "$(level_of "$second")"
	# The same file by another path is the same socket.
	first=$(stat -c %i "$T/b")
	file "admin = $T/./b"
	run -0 ctl "$T/b" reload
	equal "the inode" "$first" "$(stat -c %i "$T/b")"
	equal "the level" admin "$(level_of "$T/b")"
	file
	run -0 ctl "$T/b" reload
	equal "no files" '' "$(files | grep -v ' web$' || true)"
	# And without any a signal brings one back.
	file "admin = $T/a"
	hup 5
	equal "again" admin "$(level_of "$T/a")"
}

@test "admin reload: options change without a disconnect, levels at once" {
	local inode

	begin "admin = $T/a mode=0666"
	inode=$(stat -c %i "$T/a")
	file "admin = $T/a mode=0600 level=operator timeout=20s maxconn=1"
	mv "$INI" "$T/one"
	run -0 tool levels "$T/a" "$T/one" "$INI"
	# The third takes the place of one of the two, but not before it comes.
	equal "what they saw" "global: admin: $T/a: mode: 0666 -> 0600
global: admin: $T/a: level: admin -> operator
global: admin: $T/a: timeout: 10s -> 20s
global: admin: $T/a: maxconn: 256 -> 1
['operator', 'user'] operator" "$output"
	equal "the file" "$inode 600" "$(stat -c '%i %a' "$T/a")"
	# A higher level applies to new connections.
	file "admin = $T/a level=user"
	mv "$INI" "$T/one"
	file "admin = $T/a level=user admins=$(id -un)"
	hup 2
	run -0 tool levels "$T/a" "$T/one" "$INI"
	equal "what they saw" "global: admin: $T/a: admins: $(id -un) -> (none)
['user', 'user'] user" "$output"
	file "admin = $T/a level=admin"
	hup 4
	equal "the level" admin "$(level_of "$T/a")"
}

# bats test_tags=covered
@test "admin reload: answers that are under way end whole, and then it is over" {
	SERVERS=100 begin "admin = $T/a" "admin = $T/b"
	mkfifo "$T/go"
	# shellcheck disable=SC2016
	spawn whole sh -c 'exec python3 -B "$@" <"$0"' "$T/go" \
	    "${BATS_TEST_FILENAME%/*}/adminreloadtool.py" whole "$T/b" 60 \
	    'show stat' 4096
	exec {go}>"$T/go"
	wait_for 10 has_line whole '^asked'
	coproc socat -T 60 - "UNIX-CONNECT:$T/b"
	PIDS[idle]=$COPROC_PID
	exec {idle}<&"${COPROC[0]}"
	printf 'prompt\n' >&"${COPROC[1]}"
	read -r -t $((60 * PATIENCE)) _ <&"$idle"
	SERVERS=100 file "admin = $T/a"
	run -0 ctl "$T/a" reload
	equal "the answer" "global: admin: $T/b is removed" "$output"
	[ ! -e "$T/b" ]
	# Jobs counts the frontend's socket, the admin socket, and this client.
	wait_for 10 jobs_are 4
	wait_for 10 ended_by_peer
	echo >&"$go"
	finish whole
	equal "what it got" $'asked\nanswers 60 the last True' "$output"
	wait_for 10 jobs_are 3
}

jobs_are() {
	ctl "$T/a" show info | grep -qx "Jobs: $1"
}

# The prompt, and nothing behind it.
ended_by_peer() {
	local rest rc=0

	read -r -t 1 rest <&"$idle" || rc=$?
	[ $rc -eq 1 ] && [[ $rest == '> ' || -z $rest ]]
}

# refused_reload ADMIN PATTERN...: an error with these lines, and no socket's
# file is another one.
refused_reload() {
	local admin=$1 before pattern

	before=$(files)
	shift
	run -1 ctl "$admin" reload
	for pattern in 'Nothing was changed:' "$@"; do
		# shellcheck disable=SC2053 # a pattern
		[[ $output == *$pattern* ]] || fail "no $pattern in $output"
	done
	equal "the files" "$before" "$(files)"
	equal "the level" admin "$(level_of "$admin")"
}

@test "admin reload: an impossible change is refused with its place" {
	local fds

	start_app a
	begin "admin = $T/a mode=0600" 'http = 127.0.0.1:0'
	: >"$T/file"
	quiet 10
	fds=$(fd_count)
	# Several errors in one reload; the changes already made are undone.
	file "admin = $T/a mode=0666 level=user" "admin = $T/new" \
	    "admin = $T/none/x" "admin = $T/file" "http = $(addr a)"
	refused_reload "$T/a" \
	    "$INI:6: admin: cannot listen on unix:$T/none/x: No such file or directory; the directory '$T/none' does not exist" \
	    "$INI:7: admin: the admin socket cannot be '$T/file': that is a file of another kind" \
	    "$INI:8: http: cannot listen on $(addr a): Address already in use"
	[ -f "$T/file" ]
	# A port that goes with this reload, too, is still taken.
	file "admin = $T/a" "http = :$(http | sed 's/.*://')"
	# The file cannot name a port that the kernel has chosen.
	refused_reload "$T/a" "$INI:5: http: cannot listen on "
	file "admin = $T/a" "http = 127.0.0.1:$(free_port)"
	run -0 ctl "$T/a" reload
	sed 's/^http = 127.0.0.1/http = */' "$INI" >"$INI.x"
	mv "$INI.x" "$INI"
	refused_reload "$T/a" \
	    "this lfproxy itself listens on 127.0.0.1:*, so reload once without both"
	# Another lfproxy's socket.
	printf '[global]\nadmin = %s\n[frontend f]\nlisten = unix:%s\nbackend = b\n[backend b]\ncheck = off\nserver = s 127.0.0.1:9\n' \
	    "$T/other" "$T/f" >"$T/other.ini"
	spawn other "$LFPROXY" -c "$T/other.ini"
	wait_for 10 grep -q ready "$T/other.err"
	file "admin = $T/a" "admin = $T/other"
	refused_reload "$T/a" "$INI:5: admin: another lfproxy serves the admin socket '$T/other'"
	wait_for 10 fds_at_most "$fds"
	# A stale socket file belongs to no process.
	end other KILL
	unset 'ADDRS[other]'
	run -0 ctl "$T/a" reload
	equal "the level" admin "$(level_of "$T/other")"
}

@test "admin reload: a lost socket file is made again, a foreign one is kept" {
	begin "admin = $T/a" "admin = $T/b"
	rm "$T/a"
	run -0 ctl "$T/b" reload
	equal "the answer" "global: admin: $T/a: its file was lost, it was bound again" \
	    "$output"
	equal "the level" admin "$(level_of "$T/a")"
	# A foreign file in the socket's place is treated as at the start.
	rm "$T/a"
	: >"$T/a"
	refused_reload "$T/b" "$INI:4: admin: the admin socket cannot be '$T/a': that is a file of another kind"
	file "admin = $T/b"
	run -0 ctl "$T/b" reload
	equal "the answer" "global: admin: $T/a is removed" "$output"
	[ -f "$T/a" ]
}

# bats test_tags=covered
@test "admin reload: a file stays the same one by whichever way it is reached" {
	local before

	mkdir "$T/real"
	ln -s real "$T/way"
	begin "admin = $T/way/a" "admin = $T/b"
	before=$(files)
	rm "$T/way"
	file "admin = $T/real/a" "admin = $T/b"
	run -0 ctl "$T/b" reload
	equal "the answer" "global: admin: $T/way/a is removed
global: admin: $T/real/a is new" "$output"
	equal "the files" "$before" "$(files)"
	equal "the level" admin "$(level_of "$T/real/a")"
	file "admin = $T/b"
	run -0 ctl "$T/b" reload
	[ ! -e "$T/real/a" ]
}

# bats test_tags=covered
@test "admin reload: without root's rights it says what they are needed for" {
	local GLOBAL

	need_nobody
	need_to_give nobody
	mkdir "$T/theirs"
	chown nobody "$T/theirs"
	begin 'user = nobody' "admin = $T/theirs/a" "admin = $T/b"
	file 'user = nobody' "admin = $T/theirs/a" "admin = $T/b mode=0666" \
	    "admin = $T/c" "admin = $T/theirs/d user=daemon"
	refused_reload "$T/theirs/a" \
	    "$INI:6: admin: the admin socket '$T/b' cannot be given mode=0666: Operation not permitted; this lfproxy does not run as root (any more), so that takes a restart" \
	    "$INI:7: admin: cannot listen on unix:$T/c: Permission denied; this lfproxy runs with uid $(id -u nobody), which may not make files in '$T'" \
	    "$INI:8: admin: the admin socket '$T/theirs/d' cannot be given to daemon: Operation not permitted"
	[ ! -e "$T/theirs/d" ]
	file 'user = nobody' "admin = $T/theirs/d"
	run -0 ctl "$T/theirs/a" reload
	equal "the answer" "global: admin: $T/theirs/a is removed
global: admin: $T/b is removed
global: admin: $T/theirs/d is new
global: admin: $T/b: its file cannot be removed: Permission denied; remove it by hand" \
	    "$output"
	equal "the level" admin "$(level_of "$T/theirs/d")"
	[ -e "$T/b" ] && [ ! -e "$T/theirs/a" ]
}

@test "admin reload: root gives a file away and takes it back" {
	local inode

	need_to_give nobody:mail daemon
	begin "admin = $T/a"
	inode=$(stat -c %i "$T/a")
	file "admin = $T/a user=nobody group=mail mode=0620"
	run -0 ctl "$T/a" reload
	equal "the file" "$inode nobody mail 620" "$(stat -c '%i %U %G %a' "$T/a")"
	file "admin = $T/a group=mail" "admin = $T/none/b"
	refused_reload "$T/a" "the directory '$T/none' does not exist"
	file "admin = $T/a"
	run -0 ctl "$T/a" reload
	equal "the file" "$inode root root 660" "$(stat -c '%i %U %G %a' "$T/a")"
}

# bats test_tags=covered
@test "admin reload: the HTTP port comes, moves and goes, and requests end whole" {
	local old

	SERVERS=200 begin "admin = $T/a"
	SERVERS=200 file "admin = $T/a" 'http = 127.0.0.1:0'
	run -0 ctl "$T/a" reload
	equal "the answer" 'global: http: (none) -> 127.0.0.1:0 level=user' "$output"
	wait_for 10 lfproxy_said 'monitoring at'
	old=$(http)
	SERVERS=200 file "admin = $T/a" "http = 127.0.0.2:0"
	run -0 tool page "$old" '/stats;json' "$T/a"
	[[ $output =~ ^"global: http: 127.0.0.1:0 level=user -> 127.0.0.2:0 level=user
last True
end b''
silent b'' True
page "[0-9]{6,}" end b''"$ ]] || fail "$output"
	refused "http://$old/healthz"
	equal "at the new one" ok "$(fetch "http://$(http)/healthz")"
	SERVERS=200 file "admin = $T/a"
	run -0 ctl "$T/a" reload
	refused "http://$(http)/healthz"
}

@test "admin reload: clients in the backlog of a closed socket are answered" {
	begin "admin = $T/a" "admin = $T/b" 'http = 127.0.0.1:0'
	file "admin = $T/a"
	run -0 tool backlog "$LFPROXY_PID" "$T/b" "$(http)" 40
	equal "the answers" "admin 40 http 40" "$output"
	wait_for 10 said_times 1 'reloaded: 2 changes'
	refused "http://$(http)/healthz"
	[ ! -e "$T/b" ]
}

# bats test_tags=covered
@test "admin reload: repeated reloads under many clients cut no answer off" {
	local fds port other n

	port=$(free_port)
	other=$(free_port)
	n=$(scaled 50)
	[ "$n" -ge 10 ] || n=10
	file "admin = $T/s" "admin = $T/b" "http = 127.0.0.1:$other"
	mv "$INI" "$T/two"
	file "admin = $T/s" "admin = $T/a" "http = 127.0.0.1:$port"
	mv "$INI" "$T/one"
	ln -s "$T/one" "$INI"
	launch_lfproxy -c "$INI"
	ctl "$T/s" show info >/dev/null
	fetch "http://127.0.0.1:$port/metrics" >/dev/null
	quiet 10
	fds=$(fd_count)
	run -0 timeout $((60 * PATIENCE)) python3 -B \
	    "${BATS_TEST_FILENAME%/*}/adminreloadtool.py" storm "$INI" \
	    "$T/one" "$T/two" "$T/s" "127.0.0.1:$port,127.0.0.1:$other" \
	    "$T/a,$T/b" "$n"
	echo "$output"
	[[ $output == "wrong []"$'\n'*"all ['http', 'moving', 'prompt', 'stable']"* ]]
	equal "the reloads" "$n" "$(grep -c 'lfproxy: reloaded: ' "$LFPROXY_LOG")"
	wait_for 10 fds_at_most "$fds"
	equal "the sockets" "a s web" "$(files | awk '{ print $5 }' | sort | xargs)"
}
