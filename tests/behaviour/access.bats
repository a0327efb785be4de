#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Who may come in: allow, deny, and what becomes of those that are denied.

load helpers
load stat

tool() {
	python3 -B "$ROOT/tests/behaviour/accesstool.py" "$@"
}

# gates SECTION...: lfproxy in front of a server that speaks first; each section
# is a frontend, its name and the lines of it.  OPTIONS: of their listens.
gates() {
	local section

	[ -n "${PIDS[app]:-}" ] || start_greeter app
	{
		common
		echo "${GLOBAL:-}"
		for section in "$@"; do
			echo "[frontend ${section%%$'\n'*}]"
			echo "listen = ${GATE:-127.0.0.1:0} ${OPTIONS:-}"
			echo 'backend = app'
			echo "${section#*$'\n'}"
		done
		printf '[backend app]\ncheck = off\nserver = s %s\n' "$(addr app)"
	} >"$T/lfproxy.ini"
}

start_gates() {
	gates "$@"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# knocks RESULT FRONTEND [OPTION...]
knocks() {
	equal "what becomes of ${*:2}" "$1" \
	    "$(tool knock "$(listening "$2")" "${@:3}")"
}

# counts FRONTEND COLUMN VALUE: of `show stat`, in time.
counts() {
	wait_for 10 has_count "$@" ||
	    fail "$2 of $1: $(column_at "$1" "$2"), expected $3"
}

column_at() {
	ctl show stat json | python3 -c '
import json, sys
name, column = sys.argv[1:]
for row in json.load(sys.stdin):
    fields = {f["field"]["name"]: f["value"]["value"] for f in row}
    if fields["pxname"] == name and fields["svname"] == "FRONTEND":
        print(fields.get(column, "-"))' "$@"
}

has_count() {
	[ "$(column_at "$1" "$2")" = "$3" ]
}

no_sessions() {
	[ "$(column_at "$1" scur)" = 0 ]
}

# bats test_tags=covered
@test "access: the first rule that matches decides, across both keys" {
	start_gates $'web\ndeny = 127.1.0.0/16\nallow = 127.0.0.0/8 ::1\ndeny = all'
	knocks served web --source 127.0.0.1
	knocks reset web --source 127.1.2.3
	knocks served web --source 127.2.0.1
	counts web dcon 1
	# It was no session.
	counts web stot 2
	wait_for 10 lfproxy_said "frontend web: a client from 127\.1\.2\.3 is denied by 'deny 127\.1\.0\.0/16', .*lfproxy\.ini:"
}

@test "access: IPv4 clients of an IPv6 socket are IPv4 clients" {
	GATE=:0 start_gates \
	    $'web\ndeny = 127.1.0.0/16 ::1' $'six\nallow = ::1\ndeny = all'
	equal 'an IPv4 client' reset \
	    "$(tool knock "127.0.0.1:$(port web)" --source 127.1.0.1)"
	equal 'another' served "$(tool knock "127.0.0.1:$(port web)")"
	equal 'an IPv6 client' reset "$(tool knock "[::1]:$(port web)")"
	equal 'an IPv4 client of six' reset "$(tool knock "127.0.0.1:$(port six)")"
	equal 'an IPv6 client of six' served "$(tool knock "[::1]:$(port six)")"
}

@test "access: a unix client matches unix and all, and no range" {
	gates $'one\ndeny = 0.0.0.0/0 ::/0' $'two\ndeny = unix' \
	    $'three\nallow = unix\ndeny = all' \
	    $'four\ndeny = all\non_deny = drop'
	sed -i "s|^listen = .*|listen = unix:$T/@.sock|" "$T/lfproxy.ini"
	awk '/^listen/ { sub("@", "gate" ++n) } 1' "$T/lfproxy.ini" >"$T/x.ini"
	launch_lfproxy -c "$T/x.ini"
	equal one served "$(tool knock "unix:$T/gate1.sock")"
	equal two closed "$(tool knock "unix:$T/gate2.sock")"
	equal three served "$(tool knock "unix:$T/gate3.sock")"
	equal four closed "$(tool knock "unix:$T/gate4.sock")"
	counts two dcon 1
}

# bats test_tags=covered
@test "access: close ends with a FIN" {
	start_gates $'web\ndeny = all\non_deny = close'
	knocks closed web
	counts web dcon 1
}

@test "access: drop tells the client nothing" {
	setpriv --inh-caps +net_admin true 2>/dev/null ||
	    skip 'this takes CAP_NET_ADMIN'
	start_gates $'web\ndeny = all\non_deny = drop'
	spawn client python3 -B "$ROOT/tests/behaviour/accesstool.py" hold \
	    "$(listening web)" "$T/looked"
	counts web dcon 1
	# The kernel has no such connection any more, on this side.
	equal 'connections of lfproxy' '' \
	    "$(ss -Htn state established "sport = :$(port web)")"
	: >"$T/looked"
	finish client
	equal 'what the client sees' silent "$output"
}

@test "access: without CAP_NET_ADMIN drop falls back to a reset" {
	without net_admin
	LIMIT=${WITHOUT[*]} start_gates $'web\ndeny = all\non_deny = drop'
	# Nothing is between this client and lfproxy that would discard it.
	knocks reset web
	counts web dcon 1
}

# bats test_tags=covered
@test "access: a tarpit holds a client for its time, then resets" {
	local took

	start_gates $'web\ndeny = all\non_deny = tarpit 500ms'
	took=$(tool knock "$(listening web)" --time)
	[[ $took == reset\ * ]]
	[ "${took#reset }" -ge 500 ] || fail "$took"
	counts web dcon 1
	# It was a session, of no backend.
	counts web stot 1
	wait_for 10 lfproxy_said ' web web/<NOSRV> -1/-1/[0-9]+ 0 PT '
	ctl show closed | grep -q 'PT'
	equal 'sessions of the backend' 0 "$(column stot BACKEND)"
}

@test "access: a tarpit ends with its client, by order, and when lfproxy stops" {
	local how

	start_gates $'web\ndeny = all\non_deny = tarpit 10m'
	for how in fin rst; do
		tool leave "$(listening web)" $how
		wait_for 10 no_sessions web
	done
	spawn one python3 -B "$ROOT/tests/behaviour/accesstool.py" knock \
	    "$(listening web)"
	counts web scur 1
	ctl show sess | grep -q 'fe=web'
	ctl shutdown session "$(ctl show sess | sed -n 's/^\(0x[0-9a-f]*\):.*fe=web.*/\1/p')"
	finish one
	equal 'the client' reset "$output"
	wait_for 10 lfproxy_said ' web/<NOSRV> .* KR '
	spawn two python3 -B "$ROOT/tests/behaviour/accesstool.py" knock \
	    "$(listening web)"
	counts web scur 1
	# The common drain_timeout is ten minutes.
	stop_lfproxy
	finish two
	equal 'the client' reset "$output"
}

# bats test_tags=covered
@test "access: who is denied takes no place of maxconn, and a full frontend refuses" {
	start_gates $'web\nmaxconn = 1\nallow = 127.0.0.1\ndeny = all'
	spawn first python3 -B -c '
import socket, sys
s = socket.create_connection((sys.argv[1], int(sys.argv[2])))
print(s.recv(64).decode(), flush=True)
s.recv(1)' 127.0.0.1 "$(port web)"
	wait_for 10 has_line first ready
	knocks reset web --source 127.0.0.2
	knocks reset web --source 127.0.0.3
	counts web dcon 2
	counts web smax 1
	# One more waits until there is a place.
	spawn second python3 -B "$ROOT/tests/behaviour/accesstool.py" knock \
	    "$(listening web)"
	wait_for 10 waits_for_place
	end first
	finish second
	equal 'the second' served "$output"
}

# The acceptor has taken it from the backlog.
waits_for_place() {
	[ "$(ss -Htn state established "sport = :$(port web)" | wc -l)" -ge 2 ]
}

# crowd NAME FRONTEND [OPTION...]: 400 clients that stay and come back, or as
# many as CROWD says.
crowd() {
	spawn "$1" python3 -B "$ROOT/tests/behaviour/accesstool.py" crowd \
	    "$(listening "$2")" "${CROWD:-400}" "${@:3}"
	wait_for 30 has_line "$1" ready
}

# held_are FRONTEND NUMBER: so many sessions, and 20 clients are served.
held_are() {
	counts "$1" scur "$2"
	equal 'allowed clients' 20 \
	    "$(tool knock "$(listening "$1")" --count 20 "${@:3}" | grep -c served)"
}

@test "access: clients in a tarpit leave most of maxconn to others" {
	local n

	MAXCONN=200 start_gates \
	    $'web\ndeny = 127.0.0.2/31 127.0.0.4/31\non_deny = tarpit 10m' \
	    $'small\nmaxconn = 8\ndeny = 127.0.0.6\non_deny = tarpit 10m'
	# A quarter of maxconn, and of that a quarter for each address.
	crowd one web --source 127.0.0.2
	held_are web 13
	for n in 3 4 5; do
		crowd "c$n" web --source "127.0.0.$n"
	done
	held_are web 50
	# Those of one frontend leave the other's clients their places.
	for n in one c3 c4 c5; do
		end "$n"
	done
	counts web scur 0
	crowd few small --source 127.0.0.6
	held_are small 1
	wait_for 10 lfproxy_said \
	    'frontend small: a client from 127\.0\.0\.6 is reset instead of held: '
	end few
	counts small scur 0
	# Room that was given back is there again.
	crowd again web --source 127.0.0.2
	held_are web 13
}

@test "access: clients in a tarpit take no part of a rate" {
	local n

	MAXCONN=400 start_gates \
	    $'web\nrate = 1\ndeny = 127.0.0.0/29\non_deny = tarpit 10m'
	# By the rate, the last of them would come after 100 seconds.
	for n in 2 3 4 5; do
		CROWD=25 crowd "c$n" web --source "127.0.0.$n"
	done
	counts web scur 100
}

@test "access: those that a PROXY header names leave most of maxconn to others" {
	MAXCONN=200 OPTIONS=accept_proxy start_gates \
	    $'web\ndeny = 10.0.0.0/8\non_deny = tarpit 10m'
	crowd one web --proxy 10.0.0.1
	held_are web 13 --proxy 11.0.0.1
	crowd two web --proxy 10.0.0.2
	held_are web 26 --proxy 11.0.0.1
}

@test "access: a PROXY header's client is judged, and nobody else" {
	OPTIONS=accept_proxy start_gates \
	    $'web\nallow = 192.0.2.0/24 2001:db8::/32\ndeny = 127.0.0.2 10.0.0.0/8'
	knocks served web --proxy 192.0.2.1
	knocks served web --proxy 2001:db8::1
	knocks reset web --proxy 10.0.0.1
	knocks served web --proxy 11.0.0.1
	# The peer stands for itself, and only then.
	knocks served web --proxy 11.0.0.1 --source 127.0.0.2
	knocks reset web --proxy local --source 127.0.0.2
	knocks served web --proxy local --source 127.0.0.3
	counts web dses 2
	counts web dcon 0
	wait_for 10 lfproxy_said '^10\.0\.0\.1:5000 .* web web/<NOSRV> .* PR '
}

# bats test_tags=covered
@test "access: a PROXY header's client can be held, closed, dropped" {
	OPTIONS=accept_proxy start_gates \
	    $'tarpit\ndeny = 10.0.0.0/8\non_deny = tarpit 300ms' \
	    $'close\ndeny = 10.0.0.0/8\non_deny = close'
	knocks reset tarpit --proxy 10.0.0.1
	knocks closed close --proxy 10.0.0.1
	knocks served tarpit --proxy 11.0.0.1
	wait_for 10 lfproxy_said '^10\.0\.0\.1:5000 .* tarpit .* PT '
	wait_for 10 lfproxy_said '^10\.0\.0\.1:5000 .* close .* PR '
	counts tarpit dses 1
}

# bats test_tags=covered
@test "access: a reload changes the rules for clients that come after it" {
	start_gates $'web\nallow = 127.0.0.1\ndeny = all'
	knocks reset web --source 127.0.0.2
	sed -i 's/^allow = .*/deny = 127.0.0.1/; s/^deny = all/allow = all/' \
	    "$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said 'frontend web: allow: allow 127\.0\.0\.1, deny all -> deny 127\.0\.0\.1, allow all'
	knocks reset web
	knocks served web --source 127.0.0.2
	# The same rules in another order are other rules.
	sed -i '/^deny = /d; s/^allow = all/&\ndeny = 127.0.0.1/' "$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said '-> allow all, deny 127\.0\.0\.1'
	knocks served web
	counts web dcon 2
}

@test "access: rules that are never reached are told with their lines" {
	gates $'web\ndeny = 10.1.0.0/16\nallow = 10.0.0.0/8\ndeny = 10.2.0.0/16\nallow = all\ndeny = 192.0.2.1' \
	    $'open\nallow = 10.0.0.0/8'
	run -0 "$LFPROXY" -T -c "$T/lfproxy.ini"
	n=$(grep -n '^deny = 10.2' "$T/lfproxy.ini")
	n=${n%%:*}
	[[ $output == *":$n: warning: [frontend web]: 'deny 10.2.0.0/16' is never reached: 'allow 10.0.0.0/8' on line $((n - 1)) decides"* ]]
	[[ $output == *":$((n + 2)): warning: [frontend web]: 'deny 192.0.2.1' is never reached: 'allow all' on line $((n + 1)) "* ]]
	[[ $output == *'warning: [frontend open]: allow refuses no client'* ]]
	[ "$(grep -c 'warning: ' <<<"$output")" = 3 ]
	# Printed, it reads the same.
	"$LFPROXY" -T -c "$T/lfproxy.ini" 2>/dev/null >"$T/printed.ini"
	"$LFPROXY" -T -c "$T/printed.ini" 2>/dev/null | diff "$T/printed.ini" -
}

# never_reached RULE FIRST LAST: -t warns that the rules on these lines, counted
# from the last `[frontend`, cover the rule.
never_reached() {
	local head line

	head=$(grep -n '^\[frontend' "$T/lfproxy.ini" | tail -n 1)
	head=${head%%:*}
	line=$(grep -nx "${1/ / = }" "$T/lfproxy.ini")
	line=${line%%:*}
	[[ $output == *":$line: warning: [frontend web]: '$1' is never reached: the rules on lines $((head + $2)) to $((head + $3)) together decide"* ]] ||
		fail "$output"
}

@test "access: a rule that several earlier ones cover together is told" {
	gates $'web\n'"$(printf '%s\n' \
	    'deny = 10.1.0.0/17' \
	    'deny = 192.0.2.0/25' \
	    'allow = 10.1.128.0/18' \
	    'deny = 10.1.192.0/18' \
	    'allow = 10.1.0.0/16' \
	    'allow = 192.0.2.0/24' \
	    'deny = 128.0.0.0/1' \
	    'allow = 0.0.0.0/1' \
	    'allow = ::/1' \
	    'deny = 0.0.0.0/0' \
	    'deny = ::/0' \
	    'allow = 8000::/1' \
	    'deny = unix' \
	    'deny = all')"
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	base=$(grep -n '^deny = 10.1.0.0/17' "$T/lfproxy.ini")
	head=$(grep -n '^\[frontend web' "$T/lfproxy.ini")
	base=$((${base%%:*} - ${head%%:*}))
	never_reached 'allow 10.1.0.0/16' "$base" $((base + 3))
	never_reached 'deny 0.0.0.0/0' $((base + 6)) $((base + 7))
	never_reached 'deny all' $((base + 6)) $((base + 12))
	[[ $output != *"'allow 192.0.2.0/24' is"* ]]
	equal warnings 4 "$(grep -c 'warning: ' <<<"$output")"
	# One address that is missing is enough.
	sed -i 's|^deny = 10.1.192.0/18|deny = 10.1.192.0/19|; /^deny = unix/d' "$T/lfproxy.ini"
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output != *"'allow 10.1.0.0/16' is"* && $output != *"'deny all' is"* ]] ||
		fail "$output"
}

stream_config() {
	local n

	cat <<-END
		load_module modules/ngx_stream_module.so;
		daemon off;
		pid $T/nginx.pid;
		user root;
		error_log $T/nginx.error crit;
		worker_processes 1;
		events { worker_connections 1024; }
		stream {
		  set_real_ip_from unix:;
	END
	for ((n = 0; n < $1; n++)); do
		echo "server { listen unix:$T/nginx.$n proxy_protocol;"
		cat "$T/rules.$n.conf"
		echo 'return "ok"; }'
	done
	echo '}'
}

# spawn_nginx: with the configuration on stdin.
spawn_nginx() {
	[ -e /usr/lib/nginx/modules/ngx_stream_module.so ] ||
	    skip 'nginx has no stream module'
	sed 's|modules/|/usr/lib/nginx/modules/|' >"$T/nginx.conf"
	spawn nginx nginx -p "$T" -e "$T/nginx.error" -c "$T/nginx.conf"
}

# decides_like_nginx COUNT CLIENTS: for COUNT random lists of rules and CLIENTS
# random clients of each.
decides_like_nginx() {
	local count=$1 clients=$2 seed=$RANDOM n ours=() theirs=()

	tool rules "$count" "$seed" "$T"
	spawn_nginx < <(stream_config "$count")
	for ((n = 0; n < count; n++)); do
		ours+=("f$n"$'\n'"$(cat "$T/rules.$n.ini")")
		theirs+=("unix:$T/nginx.$n")
	done
	grep -q "= list:" "$T"/rules.*.ini
	OPTIONS=accept_proxy GLOBAL=$(cat "$T/lists.ini") start_gates "${ours[@]}"
	ours=()
	for ((n = 0; n < count; n++)); do
		ours+=("$(listening "f$n")")
	done
	wait_for 10 unix_listens "$T/nginx.$((count - 1))"
	run -0 tool compare "$count" "$seed" "$clients" \
	    "$(IFS=,; echo "${ours[*]}")" "$(IFS=,; echo "${theirs[*]}")"
	agreed $((count * clients)) "$seed"
}

# agreed COUNT SEED: so many decisions were the same.
agreed() {
	[ "${#lines[@]}" = 1 ] || fail "seed $2: $output"
	[[ $output =~ ^asked\ $1,\ admitted\ ([0-9]+)$ ]]
	# Both answers were frequent.
	[ "${BASH_REMATCH[1]}" -gt $(($1 / 5)) ]
	[ "${BASH_REMATCH[1]}" -lt $(($1 * 4 / 5)) ]
}

@test "access: decisions are those of nginx, for random rules and clients" {
	decides_like_nginx 25 "$(scaled 80)"
}

# bats test_tags=long
@test "access: 100 000 decisions are those of nginx" {
	decides_like_nginx 100 "$(in_short 1000)"
}

@test "access: a list of 20 000 networks has the members of nginx's geo" {
	local seed=$RANDOM clients

	clients=$(scaled 2000)
	tool networks 20000 $seed "$T"
	spawn_nginx <<-END
		load_module modules/ngx_stream_module.so;
		daemon off;
		pid $T/nginx.pid;
		user root;
		error_log $T/nginx.error crit;
		worker_processes 1;
		events { worker_connections 1024; }
		stream {
		  set_real_ip_from unix:;
		  geo \$member { default ""; include $T/networks.geo; }
		  server { listen unix:$T/geo proxy_protocol; return \$member; }
		}
	END
	OPTIONS=accept_proxy GLOBAL="[list networks]
file = $T/networks.list" start_gates $'web\nallow = list:networks\ndeny = all'
	wait_for 10 unix_listens "$T/geo"
	run -0 tool members 20000 $seed "$clients" "$(listening web)" "unix:$T/geo"
	agreed "$clients" $seed
}

@test "access: explain says which rule decides, with its line" {
	local n

	start_gates $'web\nallow = 127.0.0.1\ndeny = 127.0.0.0/8\non_deny = tarpit 10s' \
	    $'other\nsplice = off'
	n=$(grep -n '^allow' "$T/lfproxy.ini")
	n=${n%%:*}
	run -0 ctl explain 127.0.0.1 web
	[[ $output == *"  access   allowed by 'allow 127.0.0.1' in $T/lfproxy.ini:$n"$'\n'* ]]
	[[ $output == *'> s '* ]]
	run -0 ctl explain 127.0.0.2 web
	[[ $output == *"  access   denied by 'deny 127.0.0.0/8' in $T/lfproxy.ini:$((n + 1)): tarpit 10s"$'\n'* ]]
	[[ $output == *'  server   none: a deny rule turns it away'* ]]
	run -0 ctl explain 10.0.0.1 web
	[[ $output == *'  access   allowed: no rule matches'* ]]
	run -0 ctl explain 10.0.0.1 other
	[[ $output != *'  access '* ]]
	ctl explain 127.0.0.2 web json | python3 -c '
import json, sys
x, = json.load(sys.stdin)
a = x["access"]
assert a["rules"] and not a["admitted"], a
assert a["rule"] == "deny 127.0.0.0/8" and a["action"] == "tarpit 10s", a
assert a["line"] == int(sys.argv[1]) and x["choice"] is None, x' $((n + 1))
}
