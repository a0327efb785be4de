#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What differs between the files, what was loaded and what runs: `show drift`,
# and `lfproxyctl save config`.

# bats file_tags=onethread

load helpers
load operator

# shellcheck disable=SC2034 # for the helpers
CTL=$BUILD/lfproxyctl

shop() {
	cat >"$T/lfproxy.ini" <<-END
		; the shop
		include = more.ini
		$(common)

		[frontend web]
		listen = 127.0.0.1:0 ; chosen by the kernel
		backend = app
		deny = list:few

		[list few]
		  # of the office
		  entry = 192.0.2.0/24
	END
	# The last line has no line end.
	printf '%s' "[backend app]
server_defaults = maxconn=50
; the first one
server = a 127.0.0.1:1 \\
    ; and its weight
    weight=20  ; heavy
server=b 127.0.0.1:2 disabled
	server = c 127.0.0.1:3 maxconn=9 \\
		weight=5
server = d 127.0.0.1:4" >"$T/more.ini"
	cp "$T/lfproxy.ini" "$T/first.ini"
	cp "$T/more.ini" "$T/second.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

drift() {
	"$CTL" -S "$ADMIN" show drift
}

changed() {
	ctl set weight app/a 7
	ctl set server app/b state ready
	ctl set server app/c state maint
	ctl set server app/c addr 127.0.0.9 port 99
	ctl set maxconn server app/c 44
	ctl set maxconn frontend web 100
	ctl set rate-limit sessions global 500
	ctl set pool main threads 3
	ctl add server app/x 127.0.0.5:80 weight=3
	ctl enable server app/x
	ctl add acl few 203.0.113.0/24
	ctl set server app/d state maint
	ctl del server app/d
}

# bats test_tags=covered
@test "drift: show config is the configuration that runs, as a file" {
	shop
	ctl show config >"$T/printed.ini"
	"$LFPROXY" -T -c "$T/lfproxy.ini" >"$T/file.ini"
	diff "$T/printed.ini" <(sed '/^$/d; /^; lfproxy /d' "$T/file.ini")
	ctl add server app/z 127.0.0.1:9 weight 3
	sed -i 's/entry = .*/entry = 198.51.100.0\/24/' "$T/lfproxy.ini"
	# The file has changed, what runs has not.
	ctl show config >"$T/printed.ini"
	grep -q '^server = z 127.0.0.1:9 .*weight=3' "$T/printed.ini"
	grep -q '^entry = 192.0.2.0/24' "$T/printed.ini"
	"$LFPROXY" -T -c "$T/printed.ini" | sed '/^$/d; /^; lfproxy /d' |
	    diff "$T/printed.ini" -
	ctl show config json | python3 -c 'import json, sys
print("".join(s["section"] for s in json.load(sys.stdin)), end="")' |
	    diff "$T/printed.ini" -
	equal "for a user" 'Permission denied' \
	    "$(printf 'user; show config\n' | socat -t 20 - "UNIX-CONNECT:$ADMIN" |
	        sed '/^$/d; s/^.*Permission/Permission/')"
}

@test "drift: a change of the file, and changes by commands" {
	shop
	run -0 drift
	equal drift "# 0 changes of the files since they were loaded
# 0 changes by commands that the files do not have" "$output"
	changed
	sed -i 's/^server = d.*/& weight=3/' "$T/more.ini"
	sed -i 's/threads = 2/threads = 5/; s/^backend = app/&\ntimeout_client = 7s/' \
	    "$T/lfproxy.ini"
	run -0 drift
	[[ $output == '# 2 changes of the files since they were loaded
pool main: threads: 2 -> 5
frontend web: timeout_client: 5m -> 7s
# 11 changes by commands that the files do not have
'* ]] || fail "$output"
	for line in 'server app/a weight: 20 -> 7' \
	    'server app/b state: maint -> ready' \
	    'server app/c addr: 127.0.0.1 port 3 -> 127.0.0.9 port 99' \
	    'server app/c maxconn: 9 -> 44' 'server app/d: in the file -> deleted' \
	    'list few: none -> 203.0.113.0/24' 'sessions per second: 0 -> 500' \
	    'pool main threads: 2 -> 3'; do
		[[ $output == *"$line"* ]] || fail "no $line: $output"
	done
	ctl --json show drift | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert len(d["file"]) == 2 and not d["errors"], d
a = [c for c in d["running"] if c["what"] == "server app/a weight"][0]
assert a["line"] == 4 and a["path"].endswith("/more.ini"), a
assert a["commands"] == "set weight app/a 7\n", a'
	# The reload's answer is what was told.
	run -0 ctl reload
	[[ $output == *'timeout_client: 5m -> 7s'* ]] || fail "$output"
	# It leaves what the operator has set.
	run -0 drift
	[[ $output == *'server app/a weight: 20 -> 7'* ]] || fail "$output"
}

@test "drift: files that are not valid are told with their line" {
	shop
	echo 'nonsense = 1' >>"$T/lfproxy.ini"
	run -0 drift
	[[ $output == *"# the files are not valid now"*lfproxy.ini:*nonsense* ]] ||
	    fail "$output"
	ctl set weight app/a 7
	cp "$T/lfproxy.ini" "$T/first.ini"
	run -1 "$CTL" -S "$ADMIN" save config
	[[ $output == *"nothing was saved: "*nonsense* ]] || fail "$output"
	# It has not written first.
	refute grep -q 'the changed files' <<<"$output"
	cmp "$T/lfproxy.ini" "$T/first.ini"
	cmp "$T/more.ini" "$T/second.ini"
}

@test "drift: save config writes what runs, and leaves the rest as it was" {
	shop
	changed
	ctl set server app/a state drain
	run -0 "$CTL" -S "$ADMIN" save config dry-run
	[[ $output == *'app/a state: ready -> drain: not saved, the file cannot'* ]] ||
	    fail "$output"
	[[ $output == *'11 changes would be saved, 1 left.' ]] || fail "$output"
	cmp "$T/lfproxy.ini" "$T/first.ini"
	cmp "$T/more.ini" "$T/second.ini"
	chmod 640 "$T/more.ini"
	run -0 "$CTL" -S "$ADMIN" save config
	[[ $output == *'11 changes saved, 1 left.' ]] || fail "$output"
	equal mode 640 "$(stat -c %a "$T/more.ini")"
	cat "$T/lfproxy.ini" "$T/more.ini"
	diff "$T/more.ini" - <<END
[backend app]
server_defaults = maxconn=50
; the first one
server = a 127.0.0.1:1 \\
    ; and its weight
    weight=7  ; heavy
server=b 127.0.0.1:2 disabled=off
	server = c 127.0.0.9:99 maxconn=44 \\
		weight=5 disabled=on
	server = x 127.0.0.5:80 weight=3 maxconn=0 check=off agent=off
END
	diff "$T/lfproxy.ini" - < <(sed \
	    's/^threads = 2$/threads = 3/
s/^\[frontend web\]$/&\nmaxconn = 100/
s/^\[global\]$/&\nrate_sessions = 500/
s|^  entry = .*|&\n  entry = 203.0.113.0/24|' "$T/first.ini")
	# It is what runs, and was loaded.
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	run -0 ctl reload
	refute grep -q -- '->' <<<"$output"
	equal weight '7 (initial 7)' "$(ctl get weight app/a)"
	run -0 drift
	equal drift "# 0 changes of the files since they were loaded
# 1 change by commands that the files do not have
server app/a state: ready -> drain (the file cannot say this)" "$output"
}

@test "drift: save config wants the files that were loaded, and may write them" {
	shop
	ctl set weight app/a 7
	sed -i 's/^server=b.*/& weight=3/' "$T/more.ini"
	run -1 "$CTL" -S "$ADMIN" save config
	[[ $output == *'have changed since they were loaded'* ]] || fail "$output"
	cp "$T/second.ini" "$T/more.ini"
	# Lines that have moved are found.
	sed -i '1s/^/\n\n/' "$T/more.ini"
	run -0 "$CTL" -S "$ADMIN" save config
	[[ $output == *'1 change saved, 0 left.' ]] || fail "$output"
	grep -qx '    weight=7  ; heavy' "$T/more.ini"
	run -64 "$CTL" -S "$ADMIN" save
	run -64 "$CTL" -S "$ADMIN" save config now
	run -1 "$CTL" -S "$T/operator.sock" show drift now
	run -0 "$CTL" -S "$T/operator.sock" show drift
}

@test "drift: save config names a file that cannot be read" {
	shop
	ctl set weight app/a 7
	mv "$T/lfproxy.ini" "$T/away.ini"
	run -1 "$CTL" -S "$ADMIN" save config
	[[ $output == *"nothing was saved: $T/lfproxy.ini: cannot be read: No such file"* ]] ||
	    fail "$output"
	run -0 drift
	refute grep -q 'lfproxy.ini:0:' <<<"$output"
}

# farm INCLUDED HEAD: a backend with a check, a server and a set of servers;
# INCLUDED is all.ini, HEAD comes before the frontend.
farm() {
	echo 127.0.0.1:7 >"$T/members"
	printf '%s\n' "$1" >"$T/all.ini"
	cat >"$T/lfproxy.ini" <<-END
		include = all.ini
		$2
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = connect interval=1h
		server = a 127.0.0.1:1
		servers = m 3 file=$T/members
	END
	launch_lfproxy -c "$T/lfproxy.ini"
}

@test "drift: checks, frontends, limits, members of sets, servers that were added" {
	farm '' "$(common | sed "s|^\[global\]|&\nadmin = $T/user.sock level=user|")"
	ctl disable health app/a
	ctl disable frontend web
	ctl set rate-limit connections global 400
	ctl set maxconn global 100
	ctl set weight app/m1 9
	ctl add server app/x 127.0.0.5:80 weight=3
	ctl set weight app/x 5
	run -0 drift
	for line in \
	    'server app/a health checks: enabled -> disabled (the file cannot say this)' \
	    'server app/m1 weight: 100 -> 9 (the file cannot say this)' \
	    'frontend web: enabled -> disabled' \
	    'connections per second: 0 -> 400' \
	    'server app/x: none -> 127.0.0.5:80 weight=3 check=off agent=off'; do
		grep -qxF "$line" <<<"$output" || fail "no $line: $output"
	done
	grep -qx 'global maxconn: [0-9]* -> 100' <<<"$output" || fail "$output"
	run -1 "$CTL" -S "$T/user.sock" show drift
	equal answer 'Permission denied' "$output"
	run -0 "$CTL" -S "$ADMIN" save config
	# The server has a line before its weight is written there.
	[[ $output == *'server app/x weight: 3 -> 5
6 changes saved, 2 left.' ]] || fail "$output"
	grep -q '^server = x .*weight=5 ' "$T/lfproxy.ini"
	grep -A1 -x '\[frontend web\]' "$T/lfproxy.ini" | grep -qx 'disabled = on'
	grep -qx 'maxconn = 100' "$T/lfproxy.ini"
	grep -qx 'rate_connections = 400' "$T/lfproxy.ini"
	equal "servers of the file" 'a x' \
	    "$(sed -n 's/^server = \([a-z0-9]*\) .*/\1/p' "$T/lfproxy.ini" |
	        sort | tr '\n' ' ' | sed 's/ $//')"
}

@test "drift: [global] of an included file is saved there" {
	farm "$(common)"
	cp "$T/lfproxy.ini" "$T/first.ini"
	ctl set maxconn global 100
	run -0 "$CTL" -S "$ADMIN" save config
	cmp "$T/lfproxy.ini" "$T/first.ini"
	grep -A1 -x '\[global\]' "$T/all.ini" | grep -qx 'maxconn = 100'
	ctl reload
	run -0 drift
	[[ $output != *maxconn* ]] || fail "$output"
}

# A folder takes the place of one of the files on the way between what was written
# and its check: nothing can be written there.
@test "drift: a file that cannot be put back is named, and the others are" {
	farm "$(common)"
	cp "$T/all.ini" "$T/second.ini"
	ctl set maxconn frontend web 50
	ctl set maxconn global 100
	cat >"$T/between" <<-END
		#!/bin/sh
		if [ -e "$T/asked" ]; then
			mv "$T/lfproxy.ini" "$T/written.ini"
			mkdir "$T/lfproxy.ini"
		fi
		: >"$T/asked"
		exec socat -t 60 - "UNIX-CONNECT:$ADMIN"
	END
	chmod +x "$T/between"
	spawn between socat -t 60 "UNIX-LISTEN:$T/between.sock,fork" \
	    "EXEC:$T/between"
	wait_for 10 unix_listens "$T/between.sock"
	run -1 "$CTL" -S "$T/between.sock" save config
	end between
	[[ $output == *"lfproxyctl: $T/lfproxy.ini was changed and cannot be put back: "* ]] ||
	    fail "$output"
	[[ $output == *"lfproxyctl: $T/all.ini is as it was before"* ]] ||
	    fail "$output"
	[[ $output == *"lfproxyctl: the changes were saved in a part of the files: "* ]] ||
	    fail "$output"
	[[ $output != *"nothing was saved"* ]]
	cmp "$T/all.ini" "$T/second.ini"
}

# The file gets a wrong line on the way between what was written and its check.
@test "drift: files that lfproxy does not accept are put back" {
	farm "$(common)"
	cp "$T/lfproxy.ini" "$T/first.ini"
	cp "$T/all.ini" "$T/second.ini"
	ctl set maxconn frontend web 50
	ctl set maxconn global 100
	cat >"$T/between" <<-END
		#!/bin/sh
		[ ! -e "$T/asked" ] || echo nonsense = 1 >>"$T/lfproxy.ini"
		: >"$T/asked"
		exec socat -t 60 - "UNIX-CONNECT:$ADMIN"
	END
	chmod +x "$T/between"
	spawn between socat -t 60 "UNIX-LISTEN:$T/between.sock,fork" \
	    "EXEC:$T/between"
	wait_for 10 unix_listens "$T/between.sock"
	run -1 "$CTL" -S "$T/between.sock" save config
	end between
	[[ $output == *"nothing was saved: lfproxy does not accept the changed files: "*nonsense* ]] ||
	    fail "$output"
	cmp "$T/lfproxy.ini" "$T/first.ini"
	cmp "$T/all.ini" "$T/second.ini"
}

# Symptom: save config made them permanent.
@test "drift: what is set for a time is no drift, and is not saved" {
	shop
	ctl set weight app/a 7
	ctl set weight app/a 5 for 1h
	ctl set weight app/c 9 for 1h
	ctl set server app/d state maint for 1h
	ctl disable health app/d for 1h
	ctl set maxconn global 100 for 1h
	ctl set pool main threads 3 for 1h
	run -0 drift
	[[ $output == *'# 1 change by commands that the files do not have
server app/a weight: 20 -> 7
# '?' changes for a time
'*'server app/a weight: 5, and 7 in '* ]] || fail "$output"
	run -0 "$CTL" -S "$ADMIN" save config
	[[ $output == *'1 change saved, 0 left.'* ]] || fail "$output"
	grep -q '^    weight=7 ' "$T/more.ini"
	refute grep -qE 'weight=[59]( |$)|disabled=on' <(grep -v '^.*weight=5$' "$T/more.ini")
}

# Symptom: after a save all that was saved was still a change.
@test "drift: after save config there is none, and a further change is saved" {
	local line sid

	shop
	changed
	sid=$(column sid c)
	run -0 drift
	run -0 "$CTL" -S "$ADMIN" save config
	[[ $output == *' 0 left.' ]] || fail "$output"
	run -0 drift
	equal drift "# 0 changes of the files since they were loaded
# 0 changes by commands that the files do not have" "$output"
	# What was saved has moved the lines of the files.
	ctl set weight app/c 6
	ctl set maxconn server app/a 90
	run -0 "$CTL" -S "$ADMIN" save config
	[[ $output == *'2 changes saved, 0 left.' ]] || fail "$output"
	run -0 drift
	equal drift "# 0 changes of the files since they were loaded
# 0 changes by commands that the files do not have" "$output"
	# A change by hand is one.
	sed -i 's/^maxconn = 100/maxconn = 91/; s/203.0.113.0.24/&\nentry = 198.51.100.0\/24/' \
	    "$T/lfproxy.ini"
	run -0 drift
	[[ $output == '# 2 changes of the files since they were loaded
list few: entry: '*'198.51.100.0/24
frontend web: maxconn: 100 -> 91
# 0 changes'* ]] || fail "$output"
	ctl reload
	run -0 drift
	equal drift "# 0 changes of the files since they were loaded
# 0 changes by commands that the files do not have" "$output"
	ctl get weight app/c | grep -qx '6 (initial 6)'
	# The same setting is saved again, also a server's address, which stays
	# the same server.
	for line in 31 32; do
		ctl set weight app/c "$line"
		ctl set server app/c addr "127.0.0.$line"
		ctl set pool main threads "${line#3}"
		run -0 "$CTL" -S "$ADMIN" save config
		[[ $output == *'
3 changes saved, 0 left.' ]] || fail "$output"
		shows "show events" \
		    "server c: .* -> 127.0.0.$line:99, which a command has set before"
	done
	refute shows "show events" 'another server'
	grep -q '127.0.0.32:99 .*' "$T/more.ini"
	[ "$(column sid c)" = "$sid" ]
}

# Symptom: the reload after a save ended them.
@test "drift: a value for a time over a saved one goes on, and ends with that" {
	shop
	ctl set weight app/a 7
	ctl set weight app/a 5 for 1h
	ctl set pool main threads 4
	ctl set pool main threads 3 for 1h
	run -0 "$CTL" -S "$ADMIN" save config
	[[ $output == *'2 changes saved, 0 left.' ]] || fail "$output"
	ctl get weight app/a | grep -qx '5 (initial 7)'
	shows "show pool main" 'threads +3'
	shows "show expiring" 'app/a weight: 5 -> 7 in'
	shows "show expiring" 'pool main threads: 3 -> 4 in'
	# Another value in the file ends them.
	sed -i 's/^threads = 4/threads = 5/' "$T/lfproxy.ini"
	sed -i 's/weight=7/weight=8/' "$T/more.ini"
	ctl reload
	ctl get weight app/a | grep -qx '8 (initial 8)'
	shows "show pool main" 'threads +5'
}

@test "drift: what was saved and could not be loaded is told" {
	farm "$(common)"
	ctl set maxconn global 100
	cat >"$T/between" <<-END
		#!/bin/sh
		if [ -e "$T/asked2" ]; then
			echo nonsense = 1 >>"$T/lfproxy.ini"
		elif [ -e "$T/asked" ]; then
			: >"$T/asked2"
		fi
		: >"$T/asked"
		exec socat -t 60 - "UNIX-CONNECT:$ADMIN"
	END
	chmod +x "$T/between"
	spawn between socat -t 60 "UNIX-LISTEN:$T/between.sock,fork" \
	    "EXEC:$T/between"
	wait_for 10 unix_listens "$T/between.sock"
	run -1 "$CTL" -S "$T/between.sock" save config
	end between
	[[ $output == *"saved, but lfproxy has not loaded the files; reload later: "*nonsense* ]] ||
	    fail "$output"
}

# Symptom: one refused value kept all others from being saved, and the dry run
# did not tell it.
@test "drift: what the files refuse beside the rest is left out with the reason" {
	cat >"$T/lfproxy.ini" <<-END
		[global]
		admin = $ADMIN
		[pool main]
		threads = 6
		shards = 4
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = off
		server = a 127.0.0.1:+5
		server = b 127.0.0.1:1
	END
	launch_lfproxy -c "$T/lfproxy.ini"
	ctl set weight app/b 7
	ctl set pool main shards 2 for 1h
	ctl set pool main threads 3
	ctl set server app/a addr 127.0.0.9 port 90 >"$T/said"
	ctl set server app/a addr 127.0.0.9 port +5 for 1h >"$T/said"
	for how in dry-run ''; do
		# shellcheck disable=SC2086 # no word when it is empty
		run -0 "$CTL" -S "$ADMIN" save config $how
		[[ $output == *'server app/a addr: 127.0.0.1 port +5 -> 127.0.0.9 port 90: not saved, the port that is set for a time needs '* ]] ||
		    fail "$output"
		[[ $output == *'pool main threads: 6 -> 3: not saved, 4 shards need '* ]] ||
		    fail "$output"
		[[ $output == *'1 change '*'saved, 2 left.' ]] || fail "$output"
	done
	grep -qx 'server = b 127.0.0.1:1 weight=7' "$T/lfproxy.ini"
	shows "show drift" 'server app/a addr: .* \(the port that is set for a time'
	shows "show expiring" 'app/a addr: 127.0.0.9 port \+5 -> 127.0.0.9 port 90 in'
	# Both are saved together, though one would be refused alone.
	ctl set pool main shards 2
	ctl set server app/a addr 127.0.0.9 port 90 >"$T/said"
	run -0 "$CTL" -S "$ADMIN" save config
	[[ $output == *'3 changes saved, 0 left.' ]] || fail "$output"
}

@test "drift: what undo drift cannot undo is named with its command" {
	shop
	ctl set bandwidth client 10.8.0.1 out=1MiB/s
	run -1 ctl undo drift bandwidth client 10.8.0.1
	[[ $output == *"undo 'set bandwidth client 10.8.0.1 out="* ]]
	run -1 ctl undo drift bandwidth client 10.8.0.2
	[[ $output == *"No command has changed a setting 'bandwidth client 10.8.0.2'"* ]]
}
