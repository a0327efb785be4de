#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Rules of frontends: which backend a client gets for its address, the address
# and port that it has connected to, and what its hello says.

load helpers
load stat

SNI="python3 -B $ROOT/tests/behaviour/snitool.py"

# routes NAME...: lfproxy with a backend for each server that runs; the lines on
# stdin are those of the frontend web.
routes() {
	local name

	{
		common
		# A busy machine may take its time for a hello.
		printf '[defaults]\ntimeout_hello = 1m\n'
		echo '[frontend web]'
		echo "${WEB:-listen = 127.0.0.1:0}"
		cat
		for name in "$@"; do
			printf '[backend %s]\ncheck = off\nserver = %s1 %s\n' \
			    "$name" "$name" "$(addr "$name")"
		done
		printf '%s\n' "${BACKENDS:-}"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

takers() {
	local name

	for name in "$@"; do
		# shellcheck disable=SC2086
		serve "$name" $SNI serve "$name"
	done
}

# answers EXPECTED NAME [OPTION...]: who takes such a client.
answers() {
	# shellcheck disable=SC2086
	equal "who answers ${*:2}" "$1" \
	    "$($SNI hello "$(listening web "${NTH:-1}")" "${@:2}")"
}

# rule LINE: the number of the line of the configuration.
line_of() {
	grep -nF "$1" "$T/lfproxy.ini" | cut -d: -f1
}

@test "routes: names, protocols and TLS at all decide, the first match first" {
	takers named h2 http tls plain
	routes named h2 http tls plain <<-END
		route = sni=*.a.example,b.example alpn=h2 backend=h2
		route = sni=b.example backend=named
		route = alpn=http/1.1,http/1.0 backend=http
		route = tls=yes backend=tls
		backend = plain
	END
	answers h2 x.a.example --alpn http/1.1,h2
	answers h2 b.example --alpn h2
	answers named b.example --alpn http/1.1
	answers http x.a.example --alpn http/1.1
	answers http none --alpn spdy/3,http/1.0
	answers tls x.a.example --alpn http/1
	answers tls none
	answers plain none --raw "GET / HTTP/1.1"
	# In pieces, and in records of one byte.
	answers h2 x.a.example --alpn h2 --piece 7
	answers http c.example --alpn http/1.1 --record 1
}

# bats test_tags=covered
@test "routes: the highest version of TLS decides, in explain as well" {
	takers new old plain
	GLOBAL="admin = $T/admin.sock" routes new old plain <<-END
		route = version=1.3 backend=new
		route = version=1.0,1.1,1.2 backend=old
		backend = plain
	END
	answers new a.example
	answers old a.example --newest TLSv1_2
	answers plain none --raw "GET / HTTP/1.1"
	"$CTL" -S "$T/admin.sock" explain 127.0.0.1 sni a.example |
	    grep -q 'backend  new'
	"$CTL" -S "$T/admin.sock" explain 127.0.0.1 version 1.2 |
	    grep -q 'backend  old'
	refute "$CTL" -S "$T/admin.sock" explain 127.0.0.1 version 1.4
}

@test "routes: a list decides, as it is at the moment" {
	takers partners inside other
	printf '127.0.0.1\n' >"$T/partners.list"
	BACKENDS="[list partners]
file = $T/partners.list
[list here]
entry = 127.0.0.1" routes partners inside other <<-END
		route = src=192.0.2.7,list:partners backend=partners
		route = dst=list:here tls=no backend=inside
		backend = other
	END
	answers partners none --raw hello
	equal rule "route = src=192.0.2.7,list:partners backend=partners" \
	    "$("$LFPROXY" -T -c "$T/lfproxy.ini" | grep '^route = src')"
	ctl del acl partners 127.0.0.1
	answers inside none --raw hello
	run -0 ctl explain 198.51.100.1 web to 127.0.0.1:80
	[[ $output == *"  entry    127.0.0.1 in $T/lfproxy.ini:$(line_of 'entry = 127.0.0.1') (dst)"* ]]
	run -0 ctl --json explain 198.51.100.1 web to 127.0.0.1:80
	[[ $output == *'"entry":null,'*'"dst_entry":"127.0.0.1","dst_entry_file":"'"$T/lfproxy.ini"'","dst_entry_line":'* ]]
	ctl clear acl here
	answers other none --raw hello
	# A deletion holds as long as the file has the entry.
	ctl reload
	answers other none --raw hello
	printf '127.0.0.1\n192.0.2.99\n' >"$T/partners.list"
	ctl reload
	answers other none --raw hello
	ctl add acl partners 127.0.0.1
	answers partners none --raw hello
	run -0 ctl explain 127.0.0.1 web
	[[ $output == *"$T/lfproxy.ini:$(line_of 'list:partners')"* ]]
	[[ $output == *"  entry    127.0.0.1 in $T/partners.list:1"* ]]
	run -0 ctl --json explain 127.0.0.1 web
	[[ $output == *'"entry":"127.0.0.1","entry_file":"'"$T/partners.list"'","entry_line":1'* ]]
	ctl add acl partners 192.0.2.0/28
	run -0 ctl explain 192.0.2.9 web
	[[ $output == *"  entry    192.0.2.0/28 in add acl"* ]]
	# The rule itself names this one.
	run -0 ctl explain 192.0.2.7 web
	[[ $output == *"$T/lfproxy.ini:"* && $output != *"  entry "* ]]
	printf '192.0.2.8\n' >"$T/partners.list"
	wait_for 10 lfproxy_said 'list partners: its files have changed'
	answers other none --raw hello
}

@test "routes: a rule that several earlier ones cover together is told" {
	takers a
	BACKENDS=$'[list l]\nentry = 10.0.0.0/8' routes a <<-END
		route = src=192.0.2.0/25 backend=a
		route = src=list:l,192.0.2.128/25 backend=a
		route = src=192.0.2.0/24 backend=a
		route = src=192.0.2.0/24,list:l tls=yes backend=a
		route = src=192.0.2.0/23 backend=a
		route = dst=0.0.0.0/1 tls=yes backend=a
		route = dst=128.0.0.0/1,unix tls=yes backend=a
		route = dst=::/0 backend=a
		route = tls=yes alpn=h2 backend=a
		route = tls=no backend=a
		backend = a
	END
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	first=$(line_of 'src=192.0.2.0/25')
	together="the rules on lines $first to $((first + 1)) together match before it"
	[[ $output == *":$((first + 2)): warning: route: the rule never matches in [frontend web]: $together"* ]] ||
		fail "$output"
	[[ $output == *":$((first + 3)): warning: route: the rule never matches in [frontend web]: "* ]] ||
		fail "$output"
	together="the rules on lines $((first + 5)) to $((first + 7)) together match before it"
	[[ $output == *":$((first + 8)): warning: route: the rule never matches in [frontend web]: $together"* ]] ||
		fail "$output"
	equal warnings 3 "$(grep -c 'never matches in' <<<"$output")"
	sed -i 's/^listen = .*/&\nlisten = 127.0.0.1:7001/; /^route = src=192.0.2.0.2[45] /d
		s/^route = dst=0.0.0.0.1 tls=yes/route = port=7000-7004/
		s/^route = dst=128.0.0.0.1,unix tls=yes/route = port=7005-7010/
		s/^route = dst=::.0/route = port=7003-7007/' "$T/lfproxy.ini"
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	first=$(line_of 'port=7000-7004')
	[[ $output == *":$((first + 2)): warning: route: the rule never matches in [frontend web]: the rules on lines $first to $((first + 1)) together match before it"* ]] ||
		fail "$output"
}

@test "routes: mistakes about lists are told with their lines" {
	takers a
	BACKENDS=$'[list l]\nentry = 10.0.0.0/8' routes a <<-END
		route = src=list:l,192.0.2.0/24 backend=a
		route = src=list:l tls=yes backend=a
		route = src=192.0.2.0/25 backend=a
		route = src=10.0.0.1 backend=a
		backend = a
	END
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	for rule in 'src=list:l tls=yes' 'src=192.0.2.0/25'; do
		[[ $output == *":$(line_of "$rule"): warning: route: the rule never matches"* ]] ||
			fail "$output"
	done
	# Neither a range of the list's nor the list itself counts as unused.
	equal warnings 2 "$(grep -c 'warning: ' <<<"$output")"
	sed -i 's/src=10.0.0.1 /src=list:none /' "$T/lfproxy.ini"
	run -78 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *":$(line_of list:none): route: src: 'none' is unknown; allowed is l"* ]] ||
		fail "$output"
}

@test "routes: addresses and ports decide, behind a PROXY header those it names" {
	takers here there port other
	WEB="listen = 127.0.0.1:0 accept_proxy" routes here there port other <<-END
		proxy_from = 127.0.0.2
		route = src=127.0.0.1/32,2001:db8::/32 backend=here
		route = dst=192.0.2.0/24 backend=there
		route = port=8000-8002,9000 backend=port
		backend = other
	END
	answers here none --raw hello
	from() {
		local header=$1

		# The header is not the server's.
		equal "$header" "$2" "$(python3 - "$(listening web)" "$header" <<-'END'
			import socket, sys
			host, port = sys.argv[1].split(":")
			s = socket.create_connection((host, int(port)),
			    source_address=("127.0.0.2", 0))
			s.sendall(b"PROXY " + sys.argv[2].encode() + b"\r\nhello")
			s.shutdown(socket.SHUT_WR)
			print(s.makefile().read().split()[0])
		END
		)"
	}
	from "TCP4 10.0.0.1 192.0.2.7 1 8000" there
	from "TCP4 10.0.0.1 192.0.3.7 1 8000" port
	from "TCP4 10.0.0.1 192.0.3.7 1 8002" port
	from "TCP4 10.0.0.1 192.0.3.7 1 9000" port
	from "TCP4 10.0.0.1 192.0.3.7 1 8003" other
	from "TCP6 2001:db8::7 2001:db8::8 1 8003" here
	from "TCP6 2001:db9::7 2001:db8::8 1 8003" other
	from UNKNOWN other
}

@test "routes: the port that a client has connected to decides" {
	local port

	takers a b
	WEB="listen = 127.0.0.1:0
listen = 127.0.0.1:0" routes a b <<-END
		backend = a
	END
	port=$(port web)
	answers a none --raw hello
	sed -i "s/^backend = a/&\nroute = port=$port backend=b/" "$T/lfproxy.ini"
	ctl reload
	answers b none --raw hello
	NTH=2 answers a none --raw hello
	run -0 ctl explain 127.0.0.1 web to "127.0.0.1:$port"
	[[ $output == *"  rule     port=$port backend=b in "* ]] || fail "$output"
	run -0 ctl explain 127.0.0.1 web
	[[ $output == *"it depends on where the client connects to"* ]] ||
	    fail "$output"
}

# bats test_tags=covered
@test "routes: a rule that needs no hello is decided before the client speaks" {
	start_app early
	takers late
	routes early late <<-END
		route = src=192.0.2.0/24 sni=a.example backend=late
		route = src=127.0.0.2 backend=early
		route = sni=a.example backend=late
		backend = late
	END
	# The other client's hello is waited for.
	exec 5<>"/dev/tcp/127.0.0.1/$(port web)"
	spawn silent python3 -c 'import socket, sys, time
host, port = sys.argv[1].split(":")
s = socket.create_connection((host, int(port)),
    source_address=("127.0.0.2", 0))
time.sleep(600)' "$(listening web)"
	is_relayed() {
		ctl show sess all | grep -q 'backend=early'
	}
	wait_for 10 is_relayed
	run -0 ctl show sess all
	[[ $output == *"backend=<NONE>"* ]] || fail "$output"
	exec 5<&-
}

@test "routes: terminated TLS is routed by name and by the protocol agreed on" {
	takers web2 web1 other
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 \
	    -nodes -days 2 -subj /CN=a.example -keyout "$T/c.key" \
	    -out "$T/c.crt" 2>/dev/null
	cat "$T/c.crt" "$T/c.key" >"$T/c.pem"
	BACKENDS="[tls public]
cert = $T/c.pem
alpn = h2 http/1.1" WEB="listen = 127.0.0.1:0 tls=public" \
	    routes web2 web1 other <<-END
		route = sni=a.example alpn=h2 backend=web2
		route = tls=yes alpn=http/1.1 backend=web1
		backend = other
	END
	# agreed NTH BACKEND [OPTION...]: the backend of the NTH session.
	agreed() {
		timeout 60 openssl s_client -connect "$(listening web)" \
		    "${@:3}" </dev/null >/dev/null 2>&1
		wait_for 10 sessions_ended "$1"
		equal "$*" 1 "$(sessions | tail -n 1 | grep -c " $2/${2}1 ")"
	}
	agreed 1 web2 -servername a.example -alpn http/1.1,h2
	agreed 2 web1 -servername b.example -alpn http/1.1
	agreed 3 other -servername b.example -alpn h2
	agreed 4 other -servername a.example
	run -0 ctl explain 127.0.0.1 web sni a.example alpn h2
	[[ $output == *"backend  web2, that of the rule"* ]] || fail "$output"
}

@test "routes: explain has the rule that decides, with its line" {
	local line

	takers a b c
	routes a b c <<-END
		route = src=10.0.0.0/8 tls=yes backend=b
		sni = *.example backend=c
		route = alpn=h2 backend=b
		backend = a
	END
	line=$(line_of 'route = src')
	run -0 ctl explain 10.1.1.1 web tls
	[[ $output == *"  rule     tls=yes src=10.0.0.0/8 backend=b in $T/lfproxy.ini:$line"* &&
	    $output == *"  backend  b, that of the rule"* ]] || fail "$output"
	run -0 ctl explain 11.1.1.1 web alpn http/1.1,h2
	[[ $output == *"  rule     alpn=h2 backend=b in "* ]] || fail "$output"
	run -0 ctl explain 11.1.1.1 web sni x.example alpn h2
	[[ $output == *": the rule *.example in $T/lfproxy.ini:$((line + 1))"* ]] ||
	    fail "$output"
	run -0 ctl explain 11.1.1.1 web
	[[ $output == *"  backend  a, that of all others"* ]] || fail "$output"
	equal "JSON" "alpn=h2 backend=b $((line + 2))" "$(ctl explain 11.1.1.1 web \
	    alpn h2 json | python3 -c 'import json, sys
r = json.load(sys.stdin)[0]["rule"]
print(r["text"], r["line"])')"
	run -1 ctl explain 11.1.1.1 web alpn h2,
	[[ $output == *"is not a list of protocols"* ]] || fail "$output"
}

# bats test_tags=covered
@test "routes: without a rule and a backend a client is closed at once" {
	start_app a
	routes a <<-END
		route = src=192.0.2.1 backend=a
	END
	answers closed none --raw hello
	wait_for 10 session_like ' PR '
	wait_for 10 has dreq FRONTEND 1
}

# bats test_tags=covered
@test "routes: a reload changes rules under load without a failed session" {
	takers a b
	routes a b <<-END
		route = src=127.0.0.0/8 sni=a.example backend=a
		backend = a
	END
	# shellcheck disable=SC2086
	spawn load $SNI load "$(listening web)" a.example
	wait_for 10 has_line load '^begun$'
	wait_for 10 sessions_ended 5
	sed -i 's/^route = .*/route = src=127.0.0.1 alpn=h2 backend=a\nroute = src=127.0.0.1 tls=yes backend=b/' \
	    "$T/lfproxy.ini"
	equal "the change" "frontend web: route: sni=a.example src=127.0.0.0/8 backend=a -> alpn=h2 src=127.0.0.1 backend=a, tls=yes src=127.0.0.1 backend=b" \
	    "$(ctl reload)"
	wait_for 10 session_like ' web b/b1 '
	signal load TERM
	finish load
	[[ $output == *a=*b=* ]] || fail "$output"
}

# bats test_tags=onethread
@test "routes: what cannot be, and what never matches, is told with its line" {
	cat >"$T/bad.ini" <<-END
		[frontend web]
		listen = 127.0.0.1:8000
		route = backend=a
		route = src=10.0.0.1
		route = src=10.0.0.1/8 backend=a
		route = port=0 backend=a
		route = tls=no alpn=h2 backend=a
		route = tls=perhaps backend=a
		route = sni=a..b backend=a
		route = sni=a,,b backend=a
		route = src=10.0.0.1 backend=b
		route = dts=10.0.0.1 backend=a
		[backend a]
		server = s 127.0.0.1:1
	END
	run -78 "$LFPROXY" -t -c "$T/bad.ini"
	for i in "3: .*has no condition" "4: .*has no backend" "5: .*10.0.0.1/8" \
	    "6: .*is not a port" "7: .*never matches" "8: .*allowed are yes, no" \
	    "9: .*not a valid name" "10: .*comma" "11: .*'b'" "12: .*'dst'"; do
		grep -q "bad.ini:$i" <<<"$output" || fail "$i: $output"
	done
	cat >"$T/odd.ini" <<-END
		[frontend web]
		listen = 127.0.0.1:8000
		route = src=10.0.0.0/8 backend=a
		route = src=10.1.0.0/16 tls=yes backend=b
		route = port=8001 backend=b
		route = tls=yes backend=a
		sni = a.example backend=b
		backend = a
		[backend a]
		server = s 127.0.0.1:1
		[backend b]
		server = s 127.0.0.1:1
	END
	run -0 "$LFPROXY" -t -c "$T/odd.ini"
	for i in "4: warning: .*never matches.*line 3" \
	    "5: warning: .*never matches.*8001" \
	    "7: warning: .*never matches.*line 6"; do
		grep -q "odd.ini:$i" <<<"$output" || fail "$i: $output"
	done
}

# -- fallback --

# with_fallback SERVERS LINE...: the frontend web with these lines; the backend
# app has the servers, sorry and last have those of their names.
with_fallback() {
	local name

	{
		common
		printf '[defaults]\ntimeout_connect = 1m\ntimeout_queue = 10m\n'
		printf '[frontend web]\nlisten = 127.0.0.1:0\n'
		printf '%s\n' "${@:2}"
		printf '[backend app]\n%s\n' "${APP:-check = off}"
		for name in $1; do
			printf 'server = %s %s\n' "$name" "$(addr "$name")"
		done
		for name in sorry last; do
			printf '[backend %s]\ncheck = off\nserver = %s %s\n' \
			    "$name" "$name" "$(addr "$name")"
		done
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

@test "routes: a fallback serves while a backend has no usable server" {
	takers a sorry last
	with_fallback a "backend = app fallback=sorry" \
	    "backend = sorry weight=0 fallback=last"
	answers a none --raw hello
	ctl disable server app/a
	answers sorry none --raw hello
	run -0 ctl explain 127.0.0.1 web
	[[ $output == *"backend  sorry"*": the fallback of app, which has no usable server"* ]] ||
	    fail "$output"
	wait_for 10 eventful 'fallback .*backend sorry serves in place of app'
	ctl disable server sorry/sorry
	answers last none --raw hello
	wait_for 10 eventful 'fallback .*backend last serves in place of app'
	ctl enable server app/a
	answers a none --raw hello
	wait_for 10 eventful 'fallback .*backend app serves again'
}

@test "routes: sessions that wait go over to the fallback" {
	takers a sorry last
	with_fallback a "backend = app fallback=sorry"
	ctl disable server app/a
	ctl disable server sorry/sorry
	# shellcheck disable=SC2086
	spawn client $SNI hello "$(listening web)" none --raw hello
	one_waits() {
		ctl explain 127.0.0.1 web | grep -q '^  queue *1 wait'
	}
	wait_for 10 one_waits
	ctl enable server sorry/sorry
	finish client
	equal "who answers" sorry "$output"
}

# bats test_tags=covered
@test "routes: no session is lost when all servers are killed" {
	takers a b sorry last
	APP="check = connect interval=100ms fall=2 rise=2
retry_budget = 0%
retry_budget_min = 0" with_fallback "a b" "backend = app fallback=sorry"
	answers a none --raw hello
	answers b none --raw hello
	# Until they have ended they may accept a session and reset it.
	end a KILL
	end b KILL
	# The first sessions come before the checks have noticed.
	# shellcheck disable=SC2086
	spawn load $SNI load "$(listening web)" a.example
	wait_for 10 eventful 'backend sorry serves in place of app'
	answers sorry none --raw hello
	signal load TERM
	finish load
}

# bats test_tags=onethread
@test "routes: fallbacks that lead back to themselves are errors" {
	cat >"$T/circle.ini" <<-END
		[frontend web]
		listen = 127.0.0.1:8000
		backend = a fallback=b
		backend = b fallback=a
		[backend a]
		server = s 127.0.0.1:1
		[backend b]
		server = s 127.0.0.1:1
	END
	run -78 "$LFPROXY" -t -c "$T/circle.ini"
	[[ $output == *"circle.ini:3: backend: the fallbacks of 'a' in [frontend web] lead back to itself"* &&
	    $output == *"circle.ini:4: "* ]] || fail "$output"
}
