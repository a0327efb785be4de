#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What outlives a process: each kind of record goes along to the next process, in
# an upgrade, and over a stop and a start by the state file.  A test's name begins
# with that of the record.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load ctl
load stat
load tls
load upgrade

# begin_kept: lfproxy with the servers r, which refuses, and a, and a state file.
begin_kept() {
	ADDRS[r]=127.0.0.1:$(free_port)
	start_app a
	site >"$T/lfproxy.ini"
	sed -i "s|^admin = .*|&\nstate_file = $T/state|" "$T/lfproxy.ini"
	cat >>"$T/lfproxy.ini" <<-END
		server = r $(addr r)
		eject_after = 1
		eject_time = 10m
		eject_time_max = 1h
	END
	begin_again
}

begin_again() {
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
}

# restart: lfproxy ends, and starts from the state file.
restart() {
	if [ "$LFPROXY_PID" = "$FIRST" ]; then
		stop_lfproxy
	else
		stop_newest
	fi
	begin_again
	refute lfproxy_said 'could not be done again'
}

shows() {
	[[ $("$1") == *"$2"* ]]
}

# goes_along SEE: what the function SEE prints is the same after an upgrade, and
# after a restart.
goes_along() {
	local before

	before=$("$1")
	[ -n "$before" ] || fail "$1 prints nothing"
	upgrade
	wait_for 10 shows "$1" "$before" || fail "was: $before"$'\n'"is: $("$1")"
	restart
	wait_for 10 shows "$1" "$before" || fail "was: $before"$'\n'"is: $("$1")"
	stop_lfproxy
}

# goes_over SEE: the same for records that only an upgrade takes along.
goes_over() {
	local before

	before=$("$1")
	[ -n "$before" ] || fail "$1 prints nothing"
	upgrade
	wait_for 10 shows "$1" "$before" || fail "was: $before"$'\n'"is: $("$1")"
}

@test "records: each one has a test" {
	run -0 "$LFPROXY" --list-records
	for line in "${lines[@]}"; do
		[[ $line != left_out* ]] || continue
		grep -q "^@test \"records: ${line%%$'\t'*}: " \
		    "$BATS_TEST_FILENAME" || fail "no test of $line"
	done
	[ ${#lines[@]} -gt 10 ]
}

settings() {
	ctl show drift | sed -n 's/: .* -> /: /p'
}

@test "records: settings: what operators have changed holds" {
	begin_kept
	ctl set weight app/a 50
	ctl set maxconn server app/a 7
	ctl set server app/r state maint
	ctl set maxconn frontend web 70
	ctl set pool main threads 3
	equal "changes" 5 "$(settings | wc -l)"
	goes_along settings
}

# of_r: what operators have done to r.
of_r() {
	ctl show drift | grep 'app/r'
	ctl get weight app/r
}

@test "records: settings: a server that was deleted and added again is there" {
	begin_kept
	ctl set server app/r state maint
	ctl del server app/r
	ctl add server app/r "$(addr a)" weight=7
	ctl enable server app/r
	equal "the weight" "7 (initial 7)" "$(of_r | tail -n 1)"
	goes_along of_r
}

@test "records: settings: a server that was added is not the file's of that name" {
	begin_kept
	ctl add server app/n "$(addr a)" weight=7
	ctl enable server app/n
	sed -i "s/^server = r .*/&\nserver = n $(addr r) weight=9 disabled/" \
	    "$T/lfproxy.ini"
	upgrade
	wait_for 10 lfproxy_said "'add server app/n .*could not be done again"
	equal "the weight" "9 (initial 9)" "$(ctl get weight app/n)"
	[[ $(ctl show drift) == *"0 changes by commands"* ]] ||
		fail "$(ctl show drift)"
}

# shut: a command for a time came before.
shut() {
	ctl show drift | grep '^frontend web'
}

@test "records: settings: a frontend that was shut down stays shut" {
	begin_kept
	ctl disable frontend web for 1h
	ctl shutdown frontend web
	goes_along shut
}

# entries: what commands have changed in lists, without changes of the file.
entries() {
	ctl show drift | grep '^list ' | grep -v '^list [a-z]*: entry: '
}

@test "records: settings: entries of lists stay deleted, and are saved so" {
	begin_kept
	stop_lfproxy
	printf '%s\n' 192.0.2.7 >"$T/file"
	cat >>"$T/lfproxy.ini" <<-END
		[list some]
		entry = 10.1.0.0/16 10.2.0.0/16 ; two
		entry = 10.3.0.0/16
		entry = 10.2.0.0/16 10.4.0.0/16
		[list all]
		entry = 10.5.0.0/16
		file = $T/file
	END
	begin_again
	ctl del acl some 10.2.0.0/16
	ctl del acl some 10.3.0.0/16
	ctl add acl some 10.6.0.0/16
	ctl clear acl all
	equal "drift" "list some: 10.2.0.0/16 -> deleted
list some: 10.3.0.0/16 -> deleted
list some: none -> 10.6.0.0/16
list all: 10.5.0.0/16 -> deleted
list all: 192.0.2.7 -> deleted (delete it from the list's file)" \
	    "$(entries)"
	goes_along entries
	begin_again
	run -0 ctl save config
	[[ $output == *"4 changes saved, 1 left." ]] || fail "$output"
	equal "the file" "entry = 10.1.0.0/16 ; two
entry = 10.4.0.0/16
entry = 10.6.0.0/16" "$(grep '^entry' "$T/lfproxy.ini")"
	[[ $(entries) != *some* ]]
	[[ $(ctl get acl some 10.3.0.1) == *"match=no"* ]]
	[[ $(ctl get acl some 10.4.0.1) == *"match=yes"* ]]
	# What is deleted and added again, and the other way round, is no change.
	ctl del acl some 10.4.0.0/16
	ctl add acl some 10.4.0.0/16
	ctl add acl some 10.7.0.0/16
	ctl del acl some 10.7.0.0/16
	[[ $(entries) != *some* ]]
	# Other entries in the file change nothing, in this process and the next.
	ctl del acl some 10.4.0.0/16
	sed -i 's|^entry = 10.1.0.0/16|& 10.9.0.0/16|' "$T/lfproxy.ini"
	ctl reload
	equal "drift" "list some: 10.4.0.0/16 -> deleted" "$(entries | grep some)"
	sed -i 's|^entry = 10.1.0.0/16|& 10.10.0.0/16|' "$T/lfproxy.ini"
	goes_along entries
	# A deletion ends with the entry.
	sed -i '/^entry = 10.4.0.0.16$/d' "$T/lfproxy.ini"
	begin_again
	lfproxy_said 'del acl some 10.4.0.0/16 is not done again: the list no longer has it'
	[[ $(entries) != *some* ]]
	refute lfproxy_said 'could not be done again'
	stop_lfproxy
}

@test "records: settings: entries of the files of lists stay deleted" {
	local left='(its files have entries that this would bring back)'
	local of_file="(delete it from the list's file)"

	begin_kept
	stop_lfproxy
	printf '%s\n' 192.0.2.7 192.0.2.8 198.51.100.0/24 >"$T/file"
	cat >>"$T/lfproxy.ini" <<-END
		[list all]
		entry = 10.5.0.0/16 10.6.0.0/16
		file = $T/file
	END
	begin_again
	ctl del acl all 198.51.100.0/24
	ctl del acl all 192.0.2.7
	ctl del acl all 10.6.0.0/16
	equal "drift" "list all: 10.6.0.0/16 -> deleted
list all: 192.0.2.7 -> deleted $of_file
list all: 198.51.100.0/24 -> deleted $of_file" "$(entries)"
	goes_along entries
	begin_again
	[[ $(ctl get acl all 192.0.2.7) == *"match=no"* ]]
	[[ $(ctl get acl all 192.0.2.8) == *"match=yes"* ]]
	run -0 ctl save config
	[[ $output == *"1 change saved, 2 left." ]] || fail "$output"
	[[ $(ctl get acl all 192.0.2.7) == *"match=no"* ]]
	ctl clear acl all
	equal "drift" 4 "$(entries | grep -c 'deleted')"
	goes_along entries
	# All at once: their number goes along.
	seq -f '10.7.%.0f.0/24' 0 255 >"$T/file"
	for n in 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23; do
		sed "s/10.7./10.$n./" "$T/file"
	done >"$T/many"
	echo 192.0.2.7 >>"$T/many"
	cp "$T/many" "$T/file"
	begin_again
	ctl clear acl all
	equal "drift" "list all: 4097 entries of its files -> deleted $left" \
	    "$(entries | tail -n 1)"
	goes_along entries
	# Other entries bring the former ones back, also in the next process.
	echo 192.0.2.9 >>"$T/file"
	begin_again
	equal "drift" '' "$(entries)"
	[[ $(ctl get acl all 192.0.2.7) == *"match=yes"* ]]
	lfproxy_said 'clear acl all is not done again: the list has other entries'
	stop_lfproxy
}

served() {
	"$BUILD/lfproxyctl" -S "$ADMIN" show drift | grep '^tls '
	handshake | openssl x509 -noout -fingerprint
}

# handshake: the certificate that a client gets.
handshake() {
	openssl s_client -connect "$TLS_AT" -servername site </dev/null \
	    2>"$T/s_client"
}

@test "records: certificates: what commands have set, with its key" {
	local TLS_AT pem

	make_site site
	make_site other
	begin_kept
	stop_lfproxy
	TLS_AT=127.0.0.1:$(free_port)
	cat >>"$T/lfproxy.ini" <<-END
		[tls site]
		cert = $T/site.pem
		[frontend shop]
		listen = $TLS_AT tls=site
		backend = app
	END
	begin_again
	ctl set tls cert site "$T/site.pem" <"$T/other.pem"
	equal "drift" "tls site certificate '$T/site.pem': as in the file -> CN=other" \
	    "$(ctl show drift | sed -n 's/, until .*//p')"
	goes_along served
	# The key is where the manual says, and nowhere else.
	equal "mode" 600 "$(stat -c %a "$T/state")"
	pem=$(sed -n '/PRIVATE KEY/{n;p;q}' "$T/other.key")
	grep -qF "$pem" "$T/state"
	refute grep -qF "$pem" "$LFPROXY_LOG"
	begin_again
	refute grep -qF "$pem" <(ctl show drift json)
	# Another certificate in the file ends it, in the next process as well.
	stop_lfproxy
	make_site new
	cp "$T/new.pem" "$T/site.pem"
	begin_again
	lfproxy_said "tls site: certificate '$T/site.pem' is from its file, and no longer as it was set by a command: the file has another certificate"
	[[ $(ctl show drift) != *'as in the file'* ]]
	equal "certificate" "$(openssl x509 -in "$T/new.pem" -noout -fingerprint)" \
	    "$(handshake | openssl x509 -noout -fingerprint)"
	stop_lfproxy
}

healths() {
	stat_of app a status
	stat_of app r status
}

# refused TEXT COMMAND...: the command fails, with that text.
refused() {
	run -1 ctl "${@:2}"
	[[ $output == "$1"*"not committed before the upgrade to this process has ended"* ]] ||
		fail "$output"
}

@test "records: what is not committed ends with an upgrade, and a commit names that" {
	local TLS_AT pem

	make_site site
	begin_kept
	stop_lfproxy
	TLS_AT=127.0.0.1:$(free_port)
	cat >>"$T/lfproxy.ini" <<-END
		[list all]
		[tls site]
		cert = $T/site.pem
		verify = required
		ca = $T/ca.pem
		[frontend shop]
		listen = $TLS_AT tls=site
		backend = app
	END
	begin_again
	run -1 ctl commit ssl cert "$T/site.pem"
	equal "before" "No ongoing transaction! !
Can't commit $T/site.pem!" "$output"
	ctl set ssl cert "$T/site.pem" <"$T/site.pem"
	ctl set ssl ca-file "$T/ca.pem" <"$T/ca.pem"
	ctl prepare acl all
	upgrade
	refused 'No ongoing transaction! !' commit ssl cert "$T/site.pem"
	refused 'No ongoing transaction!' abort ssl cert "$T/site.pem"
	refused 'No ongoing transaction! !' commit ssl ca-file "$T/ca.pem"
	refused 'Version number out of range.' commit acl @1 all
	ctl set ssl cert "$T/site.pem" <"$T/site.pem"
	ctl commit ssl cert "$T/site.pem"
	stop_newest
}

@test "records: health: servers stay down and stopping" {
	begin_kept
	ctl set server app/a health down
	ctl set server app/r health stopping
	equal "health" 'DOWN NOLB' "$(healths | xargs)"
	goes_along healths
}

expiring() {
	ctl show expiring | sed -E 's/ in [0-9.]+[mh][0-9smh]*/ in time/'
}

@test "records: expires: changes for a time end then" {
	begin_kept
	ctl set weight app/a 50 for 30m
	ctl disable server app/r for 30m
	equal "changes" 2 "$(expiring | grep -c ' in time')"
	goes_along expiring
}

drains() {
	ctl show drains json | grep -oE '"(server|phase|over_ms|then)":[^,}]*'
}

@test "records: drains: they go on" {
	begin_kept
	ctl drain server app/a over 1h then maint
	goes_along drains
}

events() {
	ctl show events | grep -v '^# complete since '
}

# follow_on: the numbers of all events, without gaps.
follow_on() {
	local first

	first=$(events | sed -n '1s/ .*//p')
	equal "numbers" "$(seq "$first" $((first + $(events | wc -l) - 1)))" \
	    "$(events | cut -d' ' -f1)"
}

ends_well() {
	shows events ' upgrade -: process '
}

@test "records: events: they keep their numbers, and new ones follow" {
	local before

	begin_kept
	ctl set server app/a state maint
	ctl set server app/a state ready
	before=$(events)
	upgrade
	[[ $(events) == "$before"$'\n'* ]] || fail "$(events)"
	wait_for 10 ends_well
	equal "starts" 2 "$(events | grep -c ' info start -: ready$')"
	follow_on
	ctl set server app/a state maint
	before=$(events)
	upgrade
	[[ $(events) == "$before"$'\n'* ]] || fail "$(events)"
	wait_for 10 ends_well
	restart
	[[ $(events) == "$before"$'\n'* ]] || fail "$(events)"
	equal "starts" 4 "$(events | grep -c ' info start -: ready$')"
	follow_on
	stop_lfproxy
}

# Events that are gone leave numbers behind, and so many come at once that the
# channel is full meanwhile.
@test "records: events: of a thousand the last ones go along" {
	local i before

	begin_kept
	{
		echo prompt
		for ((i = 0; i < 600; i++)); do
			echo 'set pool main order fifo'
			echo 'set pool main order lifo'
		done
		echo quit
	} | socat -t 60 - "UNIX:$ADMIN" >/dev/null
	before=$(events | sed 1,5d)
	equal "the last" 1201 "$(tail -n 1 <<<"$before" | cut -d' ' -f1)"
	upgrade
	wait_for 10 ends_well
	equal "kept" 1000 "$(events | wc -l)"
	shows events "$before" || fail "$(events | head)"
	follow_on
	stop_newest
}

changes() {
	ctl show changes
}

@test "records: changes: they keep their ids, and new ones follow" {
	begin_kept
	ctl set weight app/a 50
	ctl set weight app/a 60
	goes_along changes
	begin_again
	ctl set weight app/a 70
	equal "ids" "1 2 3" "$(changes | cut -d' ' -f1 | xargs)"
	stop_lfproxy
}

is_ejected() {
	[ "$(stat_of app r status)" = 'DOWN (ejected)' ]
}

@test "records: ejected: a server is until the time when it was to be back" {
	begin_kept
	fetch "http://$PORT/" >/dev/null
	fetch "http://$PORT/" >/dev/null
	wait_for 10 is_ejected
	upgrade
	wait_for 10 is_ejected
	restart
	wait_for 10 is_ejected
	equal "restored" 2 "$(events | grep -cE 'app/r is ejected for another (10m|[0-9]+s): since before')"
	ctl set server app/r health up
	equal "no longer" 'no check' "$(stat_of app r status)"
	stop_lfproxy
}

# counters: the sessions of all objects, which have had some.
counters() {
	ctl show stat | awk -F, '
	NR == 1 { sub(/^# /, ""); for (i = 1; i <= NF; i++) at[$i] = i; next }
	$at["stot"] > 0 {
		print $1, $2, $at["stot"], $at["bin"], $at["bout"]
	}'
}

counted() {
	[ "$(of_info CurrConns)" = 0 ] &&
	    [ "$(stat_of app BACKEND stot)" = "$1" ]
}

@test "records: counters: they go on, those of added servers as well" {
	local i

	begin_kept
	start_app b
	ctl add server app/b "$(addr b)"
	ctl enable server app/b
	ctl set server app/r state maint
	for i in 1 2 3 4; do
		fetch "http://$PORT/" >/dev/null
	done
	wait_for 10 counted 4
	[ "$(counters | wc -l)" = 4 ] || fail "$(counters)"
	goes_along counters
	begin_again
	fetch "http://$PORT/" >/dev/null
	wait_for 10 counted 5
	stop_lfproxy
}

sessions() {
	ctl show sess json | grep -oE '"(id|state)":"[^"]*"'
}

@test "records: sessions: they go on" {
	slow_server s
	begin_with s
	asks one one
	wait_for 10 has_line s 'got one'
	goes_over sessions
	signal s USR1
	answers one one
	stop_newest
}

sources() {
	ctl show table web | grep -oE '(key|conn_cnt|tokens)=[^ ]*'
}

counts_two() {
	[[ $(sources) == *conn_cnt=2* ]]
}

@test "records: sources: their use of limits counts on" {
	start_app a
	site >"$T/lfproxy.ini"
	sed -i 's|^\[frontend web\]|&\nlimit = rate=1/h burst=5|' "$T/lfproxy.ini"
	begin_again
	fetch "http://$PORT/" >/dev/null
	fetch "http://$PORT/" >/dev/null
	wait_for 10 counts_two
	goes_over sources
	stop_newest
}

closed() {
	ctl show closed
}

two_closed() {
	[ "$(closed | wc -l)" = 2 ]
}

@test "records: closed: sessions that have ended are shown" {
	begin_kept
	fetch "http://$PORT/" >/dev/null
	fetch "http://$PORT/" >/dev/null
	wait_for 10 two_closed
	goes_over closed
	stop_newest
}

failures() {
	ctl show failures json
}

one_failure() {
	[[ $(failures) == '{"failures":1,'* ]]
}

@test "records: failures: they are counted on" {
	start_app a
	start_bad dead refuse
	site >"$T/lfproxy.ini"
	sed -i "s/^server = a .*/server = a $(addr dead)/" "$T/lfproxy.ini"
	begin_again
	run fetch "http://$PORT/"
	wait_for 10 one_failure
	goes_over failures
	stop_newest
}
