#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# lfproxyctl's use of the server's help: --json, and completion.

# bats file_tags=onethread

load helpers
load ctl

CLIENT=$CTL
CTL=$BUILD/lfproxyctl

@test "lfproxyctl: --json is the command's JSON form, where there is one" {
	two_apps
	for command in 'show pool main' 'show servers state app' \
	    'show stat json' 'show sess all'; do
		# shellcheck disable=SC2086
		ctl --json $command | python3 -m json.tool >/dev/null ||
		    fail "$command"
		ctl --json "$command" | python3 -m json.tool >/dev/null ||
		    fail "$command in one word"
	done
	run -64 ctl --json help
	[[ $output == *"'help' has no JSON form; commands that have one: "*"show pool"* ]]
	run -1 ctl --json show pool nope
	[[ $output == "Unknown pool 'nope'"* ]]
	run -1 ctl --json shew info
	[[ $output == "Unknown command"* ]]
	run -69 "$CTL" -S "$T/none.sock" --json show info
	run -0 "$CTL" -S "$(tcp_admin)" --json show info
}

# Also one that is added tomorrow.
@test "lfproxyctl: every command that shows has a JSON form" {
	local command n=0

	two_apps
	fetch "$(url)" >/dev/null
	ctl disable server app/b
	while IFS=$'\t' read -r _ command _; do
		command=${command%%" ["*}
		ctl --json $command >"$T/json" || fail "$command: $(cat "$T/json")"
		python3 -m json.tool "$T/json" >/dev/null || fail "$command"
		n=$((n + 1))
	done < <("$LFPROXY" --list-commands | grep -P '\tshow ')
	[ "$n" -ge 18 ]
}

# nearest ANSWER COMMAND...
nearest() {
	run -1 ctl "${@:2}"
	equal "the answer to ${*:2}" "$1" "$output"
}

@test "lfproxyctl: a name that does not exist is answered with the nearest one" {
	start_app a
	common >"$T/lfproxy.ini"
	cat >>"$T/lfproxy.ini" <<-END
		limit = sessions=10
		[list office]
		entry = 10.0.0.0/8
		[tls public]
		min_version = 1.2
		[backend app]
		tls = public
		server = app1 $(addr a)
		server = app2 $(addr a) check_port=9
	END
	launch_lfproxy -c "$T/lfproxy.ini"
	nearest "No such server. Did you mean 'app1'?" \
	    set server app/ap1 state drain
	nearest "No such server. There are app1, app2." enable server app/zzz
	nearest "No such backend. Did you mean 'app'?" \
	    set weight ap/app1 3
	nearest "Can't find backend. Did you mean 'app'?" \
	    show servers state apo
	nearest "No such frontend. Did you mean 'a-frontend-of-a-long-name'?" \
	    disable frontend a-frontend-of-a-lng-name
	nearest "No such proxy. Did you mean 'app'?" \
	    show stat apq 4 -1
	nearest "Unknown ACL identifier. Please use #<id> or <name>. Did you mean 'office'?" \
	    add acl ofice 10.0.0.1
	nearest "No such table. Did you mean 'a-frontend-of-a-long-name'?" \
	    show table a-frontend-of-a-long-nam
	nearest "No such [tls] section. Did you mean 'public'?" \
	    show tls publc
	nearest "Unknown pool 'mian'; did you mean 'main'? there are main, slow." \
	    set pool mian threads 2
	# Clients of HAProxy know its words alone.
	equal "HAProxy's" "No such server." \
	    "$(printf 'enable server app/ap1\n' | socat -t 10 - "UNIX-CONNECT:$ADMIN" | head -n 1)"
}

# Longer than it waits for any other answer.
# bats test_tags=covered
@test "lfproxyctl: wait is answered, however long it takes" {
	start_app a
	web a
	run -0 ctl wait 10500ms
	equal "the answer" "Done." "$output"
	run -1 ctl wait 100ms drained app/a
	[[ $output == "Server takes new sessions"* ]]
}

# answered TEXT COMMAND...: by a server that sends TEXT and closes.
answered() {
	printf '%b' "$1" >"$T/text"
	shift
	# socat ends half a second after the client's end, unless told otherwise.
	spawn fake socat -t 60 "UNIX-LISTEN:$T/fake.sock" \
	    "SYSTEM:read -r line; cat '$T/text'"
	wait_for 10 unix_listens "$T/fake.sock"
	run "$CTL" -S "$T/fake.sock" "$@"
	wait_for 10 ended "${PIDS[fake]}"
	rm -f "$T/fake.sock"
}

@test "lfproxyctl: an answer that is cut off is a failure" {
	local text

	local fine='[status 0]\n\n'

	for text in '# name\nap' '# name\n' 'No such'; do
		answered "\n$fine$text" show backend
		equal "the code of '$text'" 69 "$status"
		[[ $output == *"the answer is incomplete"* ]]
	done
	for text in '' "$fine" '# name\napp\n'"$fine" '[status 0]\n\n> '; do
		answered "\n$fine$text" show backend
		equal "the code of '$text' ($output)" 0 "$status"
	done
	answered "\n$fine"'No such thing.\n[status 1]\n\n' show backend
	equal "the code" 1 "$status"
	equal "the answer" "No such thing." "$output"
	answered "\n$fine"'Line too long.\n\n' show backend
	equal "the code of an answer without a status" 1 "$status"
}

# bats test_tags=covered
@test "lfproxyctl: HAProxy, which has severities and no status" {
	local no='\n[3]: one of none, number, string\n\n'

	answered "$no"'[3]: No such thing.\n\n' show backend
	equal "the code" 1 "$status"
	equal "the answer" "No such thing." "$output"
	answered "$no"'# name\napp\n\n' show backend
	equal "the code" 0 "$status"
	equal "the answer" $'# name\napp' "$output"
}

# fields COMMAND...: of its JSON form, the values of each object, a line each.
fields() {
	ctl "$@" json | python3 -c 'import json, sys
for row in json.load(sys.stdin):
    print(*["-" if value is None else value for value in row.values()])'
}

# bats test_tags=covered
@test "json: the values are those of the text" {
	local state

	two_apps
	# The third column from the front changes by the second.
	state='s/^((\S+ ){9})\S+/\1/'
	equal "servers state" \
	    "$(ctl show servers state | grep '^[0-9]* ' | sed -E "$state")" \
	    "$(fields show servers state | sed -E "$state")"
	equal "its names" \
	    "$(ctl show servers state | sed -n 's/^# //p')" \
	    "$(ctl show servers state json | python3 -c 'import json, sys
print(*json.load(sys.stdin)[0])')"
	equal "servers conn" "$(ctl show servers conn app |
	    sed -En 's|^(app)/|\1 |; s|/| |; s/ - / /; s/ 0 0 0$//p')" \
	    "$(fields show servers conn app)"
	equal "backends" "$(ctl show backend | sed 1d)" "$(fields show backend)"
	equal "sockets" "$(ctl show cli sockets | sed 1d)" \
	    "$(fields show cli sockets)"
	equal "the level" '{"level":"admin"}' "$(ctl show cli level json)"
	equal "a variable" '[{"name":"PATH","value":"'"$PATH"'"}]' \
	    "$(ctl show env PATH json)"
	equal "the version" "$(ctl show version)" "$(ctl show version json |
	    python3 -c 'import json, sys
print(json.load(sys.stdin)["version"])')"
	equal "errors" '{"events":0}' "$(ctl show errors json)"
	equal "tables" '[]' "$(ctl show table json)"
}

# bats test_tags=covered
@test "json: a session, its text and its JSON" {
	local id

	start_bad silent silent
	web silent
	spawn held "$TOOLS/badclient" silent "127.0.0.1:$(port web)" \
	    --deadline 200
	wait_for 10 is_there
	id=$(ctl show sess | cut -d: -f1)
	equal "in the list" "$id RELAYING web app silent 0 0" \
	    "$(ctl show sess json | session_of)"
	equal "with details" "$(ctl show sess json | session_of)" \
	    "$(ctl show sess all json | session_of)"
	equal "by itself" "$(ctl show sess json | session_of)" \
	    "$(ctl show sess "$id" json | session_of)"
	equal "filtered" "[]" "$(ctl show sess older 1h json)"
	equal "another" null "$(ctl show sess 0x1234567800000001 json)"
	run -1 ctl show sess bogus json
	[[ $output == "Unexpected argument 'bogus'"* ]]
	ctl shutdown session "$id"
	finish held
}

is_there() {
	[[ "$(ctl show sess json)" == *RELAYING* ]]
}

session_of() {
	python3 -c 'import json, sys
rows = json.load(sys.stdin)
for row in rows if isinstance(rows, list) else [rows]:
    print(*[row[name] for name in ("id", "state", "frontend", "backend",
                                   "server", "bytes_in", "bytes_out")])'
}

# bats test_tags=covered
@test "json: a backend, a variable that is called json" {
	start_app a
	export json=here
	web a
	sed -i 's/^backend = app/backend = json/; s/\[backend app\]/[backend json]/' \
	    "$T/lfproxy.ini"
	ctl reload
	equal "its servers" "1" "$(ctl show servers state json | head -1)"
	equal "they are" "json/a" "$(ctl show servers conn json |
	    sed -En 's|^(json/a) .*|\1|p')"
	equal "in JSON" "json" "$(ctl show servers state json json |
	    python3 -c 'import json, sys
print(json.load(sys.stdin)[0]["be_name"])')"
	equal "the variable" "json=here" "$(ctl show env json)"
	[[ "$(ctl show errors json)" == "Total events captured on "* ]]
}

# offers EXPECTED WORD...: lfproxyctl's candidates behind these words.
offers() {
	local expected=$1

	shift
	equal "behind '$*'" "$expected" "$(ctl --complete "$@" | xargs)"
}

@test "completion: commands as help has them, names as they are now" {
	two_apps
	offers "main slow json" show pool
	offers "main slow" set pool
	offers "json" show pool main
	offers "threads shards promotion order cpus" set pool slow
	offers "adaptive always kernel" set pool slow promotion
	offers "a-frontend-of-a-long-name web app typed json desc no-maint up" \
	    show stat
	offers "-c -d -n" top
	offers "--serve-check haproxy nginx" import
	offers "haproxy nginx" import --serve-check
	offers "" import haproxy
	offers "" show nonsense
	[[ " $(ctl --complete | xargs) " == *" top "*" reload resolve set show "*" help "* ]]
	[[ " $(ctl --complete show | xargs) " == *" stat table threads tls top version"* ]]
	offers "app/a app/b" set server
	offers "app/a app/b" del server
	offers "app/" add server
	offers "" add server app/c
	[[ " $(ctl --complete add server app/c 127.0.0.1:1 backup | xargs) " == \
	    *" check "*" weight "* ]]
	offers "ready drain maint" set server app/a state
	offers "app/a app/b" set weight
	offers "a-frontend-of-a-long-name web" disable frontend
	offers "app json" show servers state
	offers "all backend client frontend min-bytes older server sort json" show sess
	offers "backend cause client frontend last min-bytes server sort json" show closed
	offers "backend cause frontend last server json" show failures
	codes=$(ctl show closed cause xx 2>&1 || :)
	codes=${codes#*these are: }
	offers "${codes%.}" show closed cause
	offers "${codes%.}" show failures cause
	offers "${codes%.}" show closed backend app last 5m cause
	offers "bytes bytes-in bytes-out duration" show sess client 10.0.0.1 sort
	offers "backend cause frontend last server json" show failures cause SC
	offers "" show failures cause SC last
	offers "app/a app/b" show closed cause SC server
	offers "for" add acl banned 10.0.0.1
	offers "for" set rate-limit connections global 7
	offers "in= out= off" set bandwidth client 10.0.0.1
	[[ " $(ctl --complete show table app/sticky | xargs) " == *" data.server_id "* ]]
	[[ " $(ctl --complete set table app/sticky key 10.0.0.1 | xargs) " == *" data.server_key "* ]]
	equal "nobody there" "import save top" \
	    "$("$CTL" -S "$T/none" --complete | xargs)"
}

# The shell's own part: it asks by way of its options.
# bats test_tags=covered
@test "completion: bash and zsh ask the socket that was named" {
	two_apps
	mkdir "$T/bin"
	ln -s "$CTL" "$T/bin/lfproxyctl"
	cat >"$T/complete.bash" <<-END
		. "$ROOT/etc/completion/lfproxyctl"
		compopt() { echo "\$*"; }
		try() {
		  COMP_WORDS=("\$@") COMP_CWORD=\$((\$# - 1))
		  _lfproxyctl
		  echo "\${COMPREPLY[*]}"
		}
		try lfproxyctl -S "$ADMIN" show pool ma
		try lfproxyctl -S 127.0.0.1 : "$(tcp_admin | cut -d: -f2)" --json show pool s
		try lfproxyctl -
		try lfproxyctl -S "$ADMIN" add server a
		cd "$T" && try lfproxyctl -S admin
		try lfproxyctl import haproxy admin
	END
	PATH=$T/bin:$PATH run -0 bash "$T/complete.bash"
	equal "bash" $'main\nslow\n-S --json -h -V\n-o nospace\napp/\n-o filenames\nadmin.sock\n-o filenames\nadmin.sock' "$output"
	cat >"$T/complete.zsh" <<-END
		compadd() {
		  [[ \$1 == -a ]] && print -r -- \${(P)3} || print -r -- \$@
		}
		_files() { print files }
		try() {
		  words=("\$@") CURRENT=\$# PREFIX=\$words[-1]
		  . "$ROOT/etc/completion/_lfproxyctl"
		}
		try lfproxyctl -S "$ADMIN" show pool ''
		try lfproxyctl -S "$(tcp_admin)" --json set pool ''
		try lfproxyctl -S "$ADMIN" add server ''
		try lfproxyctl -S ''
		try lfproxyctl import nginx ''
		try lfproxyctl -
	END
	PATH=$T/bin:$PATH run -0 zsh -f "$T/complete.zsh"
	equal "zsh" $'main slow json\nmain slow\n-S -a -- candidates\nfiles\nfiles\n-- -S --json -h -V' "$output"
}

# bad COMMAND...: it is refused, with a message and status 1.
bad() {
	local rc=0

	timeout $((60 * PATIENCE)) "$CTL" -S "$ADMIN" "$@" </dev/null \
	    >"$T/said" 2>"$T/error" || rc=$?
	[ "$rc" -eq 1 ] && [ -s "$T/error" ] && [ ! -s "$T/said" ] ||
	    fail "'$*' ended with $rc: $(head -c 200 "$T/said" "$T/error")"
}

@test "lfproxyctl: bad arguments of every command are errors, with status 1" {
	# Hundreds of times the same in lfproxyctl, and another error in lfproxy.
	local CTL=$CLIENT command arguments n=0

	start_app a
	web a
	while read -r command; do
		for arguments in no-such 'no-such/thing no-such' 'app no-such' \
		    'app/a no-such' 'web no-such' 'main no-such' \
		    'json no-such' '5 no-such'; do
			# shellcheck disable=SC2086 # several words
			bad $command $arguments
			n=$((n + 1))
		done
	done < <("$BUILD/lfproxy" --list-commands | cut -f2 |
	    sed 's/ [<[].*//')
	[ $n -gt 300 ] || fail "$n tried"
}

# bats test_tags=covered
@test "lfproxyctl: errors that HAProxy words as warnings have status 1, too" {
	start_app a
	web a
	bad set server app/a addr nohost
	bad set server app/a addr 127.0.0.1 port x
	bad show sess 0x1234
	bad show stat jsno
	# HAProxy's clients see what HAProxy says.
	run -0 socat -t 60 - "UNIX:$ADMIN" <<<'show version of what'
	[[ $output != *Unexpected* ]]
}

# bats test_tags=covered
@test "lfproxyctl: data that looks like an error is none" {
	start_app a
	export ODD='[3]: not an error'
	web a
	run -0 ctl show env ODD
	equal "the variable" "ODD=$ODD" "$output"
	# Only its place distinguishes the status from the answer.
	printf '%s\n' 'set severity-output status;show version;show bogus' |
	    socat -t 60 - "UNIX:$ADMIN" >"$T/wire"
	equal "the statuses" "0 0 1" \
	    "$(sed -n 's/^\[status \([01]\)\]$/\1/p' "$T/wire" | xargs)"
}

# bats test_tags=covered
@test "show servers: a table that fits, of all backends or one" {
	two_apps
	ctl show servers >"$T/table"
	grep -qE "^ +server +address +state +for +check +weight +sess +rate +errors$" \
	    "$T/table"
	grep -qE "^app: roundrobin, 2 of 2 servers usable$" "$T/table"
	grep -qE "^  b +$(addr b) +no check +[0-9]+s - +50 +0 +0 +0$" "$T/table"
	[ "$(wc -L <"$T/table")" -le 80 ]
	# The seconds pass.
	equal "of one" "$(sed 's/ *[0-9]*s -/ 0s -/' "$T/table")" \
	    "$(ctl show servers app | sed 's/ *[0-9]*s -/ 0s -/')"
	bad show servers nope
	# HAProxy's commands of a similar name are still theirs.
	equal "state" 1 "$(ctl show servers state | head -n 1)"
	[[ "$(ctl show servers conn)" == "# bkname/svname"* ]]
}

@test "show servers: a server's fault is shown" {
	start_app a
	BACKEND='check = http path=/status/503 interval=100ms fall=1 timeout=5s' web a
	wait_for 10 says_down app/a
	[[ "$(ctl show servers)" == *"app: roundrobin, 0 of 1 server usable"*"DOWN"*"L7STS/503"* ]] ||
	    fail "$(ctl show servers)"
	ctl --json show servers | python3 -c 'import json, sys
[s] = json.load(sys.stdin)
assert (s["backend"], s["server"], s["up"]) == ("app", "a", False), s
assert (s["check_status"], s["check_code"]) == ("L7STS", 503), s
assert s["check_text"] == "Service Unavailable" and s["maxconn"] is None, s'
}

# bats test_tags=covered
@test "json: show stat and show info are flat, and HAProxy's form has its word" {
	two_apps
	fetch "$(url)" >/dev/null
	ctl show stat >"$T/csv"
	ctl --json show stat >"$T/flat"
	python3 - "$T/csv" "$T/flat" <<-'END'
		import csv, json, sys
		text = open(sys.argv[1]).read()[2:]
		rows = list(csv.DictReader(text.splitlines()))
		flat = json.load(open(sys.argv[2]))
		assert len(rows) == len(flat) > 3
		for row, got in zip(rows, flat):
		    for name in ("pxname", "svname", "status", "slim", "weight"):
		        want, value = row[name], got[name]
		        assert want == ("" if value is None else str(value)), name
		assert all(type(got["scur"]) is int for got in flat)
		assert {name for name in rows[0] if name not in ("", "-")} == \
		    set(flat[0]), set(rows[0]) ^ set(flat[0])
	END
	ctl --json show info | python3 -c 'import json, sys
info = json.load(sys.stdin)
assert type(info["Pid"]) is int and info["node"] == "edge-1", info'
	for form in 'show stat json' 'show info json' '--json show stat typed' \
	    '--json show info typed' '--json show stat json'; do
		# shellcheck disable=SC2086 # several words
		ctl $form | grep -q '"processNum":1' || fail "$form"
	done
}
