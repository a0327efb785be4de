#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Backends chosen by the name in a client's TLS hello, which is left as it is.

# bats file_tags=basic

load helpers
load stat

SNI="python3 -B $ROOT/tests/behaviour/snitool.py"

# names: lfproxy with a backend for each server that runs; the lines on stdin
# are those of the frontend web.  BACKENDS: further sections.
names() {
	local name

	{
		common
		# A busy machine may take its time for a hello in pieces.
		printf '[defaults]\ntimeout_hello = 1m\n'
		echo '[frontend web]'
		echo "listen = ${WEB:-127.0.0.1:0}"
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

# says NAME [OPTION...]: the server that answers such a client.
says() {
	$SNI hello "$(listening web)" "$@"
}

answers() {
	equal "who answers ${*:2}" "$1" "$(says "${@:2}")"
}

# All servers use one key; each certificate has the server's name.
make_sites() {
	local site

	openssl ecparam -name prime256v1 -genkey -noout -out "$T/key.pem"
	mkdir -p "$T/www"
	sed '/listen/d; /^}/d' "$T/nginx.in" >"$T/nginx.conf"
	for site in "$@"; do
		openssl req -x509 -key "$T/key.pem" -days 2 -subj "/CN=$site" \
		    -addext 'subjectAltName=DNS:*.example.com,DNS:*.a.example.com' \
		    -out "$T/$site.pem" 2>/dev/null
		cat >>"$T/nginx.conf" <<-END
			server {
			  listen unix:$T/$site.sock ssl;
			  ssl_certificate $T/$site.pem;
			  ssl_certificate_key $T/key.pem;
			  ${SITE_LINE:-}
			  root $T/www;
			  location = /who { return 200 "$site"; }
			}
		END
		ADDRS[$site]=unix:$T/$site.sock
	done
	echo '}' >>"$T/nginx.conf"
	spawn nginx nginx -p "$T" -e stderr -c "$T/nginx.conf"
	wait_for 10 unix_listens "$T/${site}.sock"
}

# through_cut BYTES [OPTION...]: clients of `cut` reach web with the first so many
# bytes of their hello in a segment of its own.
through_cut() {
	# shellcheck disable=SC2086
	serve cut $SNI cut "$(listening web)" "$@"
}

# who NAME: the certificate's name that a real client verifies, and the answer.
who() {
	fetch --cacert "$T/$2.pem" --resolve "$1:$(port web):127.0.0.1" \
	    "https://$1:$(port web)/who"
}

@test "sni: real clients and servers speak TLS through it, each name with its own" {
	local name

	make_sites a b rest
	start_app plain
	names a b rest plain <<-END
		sni = www.example.com OLD.example.com. backend=a
		sni = *.example.com backend=b
		sni = *.a.example.com backend=a
		sni = deep.a.example.com backend=b
		backend = rest
	END
	equal exact a "$(who www.example.com a)"
	equal "another of the line" a "$(who old.example.com a)"
	equal "large letters" a "$(who WWW.Example.COM a)"
	equal wildcard b "$(who x.example.com b)"
	equal "the longer wildcard" a "$(who x.a.example.com a)"
	equal "exact before it" b "$(who deep.a.example.com b)"
	run openssl s_client -connect "$(listening web)" \
	    -servername other.example </dev/null
	[[ $output =~ CN\ ?=\ ?rest ]] || fail "another name: $output"
	run openssl s_client -connect "$(listening web)" -noservername \
	    </dev/null
	[[ $output =~ CN\ ?=\ ?rest ]] || fail "no name: $output"
	run openssl s_client -tls1_2 -connect "$(listening web)" \
	    -servername x.example.com </dev/null
	[[ $output =~ CN\ ?=\ ?b ]] || fail "TLS 1.2: $output"
	equal "hellos" 9 "$(column lf_hellos FRONTEND)"
	# Plain HTTP is for the default as well, another one after a reload.
	sed -i 's/^backend = rest/backend = plain/' "$T/lfproxy.ini"
	ctl reload
	equal "plain HTTP" plain "$(fetch "$(url)")"
	equal "not TLS" 1 "$(column lf_not_tls FRONTEND)"
	equal "still TLS" a "$(who www.example.com a)"
}

@test "sni: a name without a rule is closed where there is no default backend" {
	takers a
	names a <<-END
		sni = a.example *.a.example backend=a
		log = file=$T/log format=logfmt
		log = file=$T/log.json format=json
		log = file=$T/log.tcp
		log_empty = off
	END
	answers "a a closed closed" a.example,x.y.a.example,b.example,none
	answers closed a.example --raw 'GET / HTTP/1.0'
	wait_for 10 has dreq FRONTEND 3
	equal "hellos" 4 "$(column lf_hellos FRONTEND)"
	equal "not TLS" 1 "$(column lf_not_tls FRONTEND)"
	equal "sessions" 5 "$(column stot FRONTEND)"
	equal "a's sessions" 2 "$(column stot a1)"
	wait_for 10 has scur FRONTEND 0
	written() { [ "$(wc -l <"$T/log")$(wc -l <"$T/log.tcp")" = 55 ]; }
	wait_for 10 written
	grep -q ' backend=a server=a1 .* sni=x.y.a.example$' "$T/log"
	grep -q ' backend= server= .* code=PR .* sni=b.example$' "$T/log"
	equal "denied" 3 "$(grep -c ' web web/<NOSRV> .* PR ' "$T/log.tcp")"
	equal "of these with a name" 1 "$(grep PR "$T/log.json" |
	    grep -c '"sni":"b.example"')"
	grep PR "$T/log.json" | grep -q '"backend":null.*"sni":null}'
	ctl show closed json | grep -q '"PR"'
}

# events: that the threads were woken for, so far.
events() {
	ctl show pool | sed -n 's/.*fetched \([0-9]*\).*/\1/p' |
	    awk '{ n += $1 } END { print n }'
}

# bats test_tags=covered
@test "sni: a hello in single bytes wakes no thread until it is complete" {
	local before

	takers a b
	names a b <<-END
		sni = a.example backend=a
		backend = b
	END
	before=$(events)
	# With several hundred very small segments each makes an event after
	# all, as their heads fill the kernel's buffer.
	answers a a.example --piece 9 --pause 0.002
	[ $(($(events) - before)) -le 30 ] ||
	    fail "$(($(events) - before)) events for one session"
	answers "a b" a.example,b.example --piece 1
	answers b xxx --raw zzz --piece 1
}

# bats test_tags=covered,machine
@test "sni: a hello of many records, or of many segments, is read and arrives whole" {
	takers a b
	names a b <<-END
		sni = a.example backend=a
		backend = b
	END
	answers a a.example --large
	answers a a.example --large --piece 1400 --pause 0.001
	answers a a.example --large --record 100
	answers a a.example --record 7
	answers a a.example --record 1
	answers a a.example --record 90 --piece 31
	equal "hellos" 6 "$(column lf_hellos FRONTEND)"
}

@test "sni: a hybrid hello of 1700 bytes is routed by its name, wherever it is cut" {
	local header='PROXY TCP4 192.0.2.7 192.0.2.8 1000 443'

	takers a b
	names a b <<-END
		sni = a.example backend=a
		backend = b
		[frontend named]
		listen = 127.0.0.1:0 accept_proxy
		proxy_from = 127.0.0.1
		sni = a.example backend=a
		backend = b
	END
	answers "a b" a.example,b.example --hybrid
	answers "a b" a.example,b.example --hybrid --piece 1400 --pause 0.02
	answers a a.example --hybrid --each 37 --pause 0.002
	answers a a.example --hybrid --record 1400 --piece 1448 --pause 0.02
	equal "hellos" 51 "$(column lf_hellos FRONTEND | head -n 1)"
	equal "behind a header" a "$($SNI hello "$(listening named)" a.example \
	    --hybrid --each 37 --pause 0.002 --header "$header")"
	wait_for 10 session_like '^192\.0\.2\.7:1000 .* named a/a1 '
}

@test "sni: real clients' hellos of 1700 bytes are routed when they are cut" {
	local protocols bytes

	# So many protocols make a hello without ML-KEM as long as one with it.
	protocols=$(printf 'x%05d,' {1..200})http/1.1
	# Each server asks for a second hello, of another group.
	SITE_LINE='ssl_ecdh_curve secp384r1;' make_sites a rest
	names a rest <<-END
		sni = www.example.com backend=a
		backend = rest
	END
	for bytes in 1 600 1400; do
		through_cut "$bytes"
		run -0 timeout $((60 * PATIENCE)) openssl s_client -verify_quiet \
		    -connect "$(addr cut)" -servername www.example.com \
		    -alpn "$protocols" -CAfile "$T/a.pem" -verify_return_error \
		    </dev/null
		[[ $output =~ CN\ ?=\ ?a && $output == *secp384r1* ]] ||
		    fail "cut at $bytes: $output"
		equal "cut at $bytes" a "$(fetch --cacert "$T/a.pem" --connect-to \
		    "www.example.com:443:$(addr cut)" https://www.example.com/who)"
		end cut
	done
	equal "hellos" 6 "$(column lf_hellos FRONTEND)"
	equal "a's sessions" 6 "$(column stot a1)"
}

# bats test_tags=covered
@test "sni: a stalled client gets the default or is closed after timeout_hello" {
	local began

	takers a b
	names a b <<-END
		sni = a.example backend=a
		backend = b
		timeout_hello = 500ms
		timeout_client = 300ms
		[frontend strict]
		listen = 127.0.0.1:0
		sni = a.example backend=a
		timeout_hello = 500ms
	END
	began=$(now_ms)
	# shellcheck disable=SC2086
	{
		spawn hold1 $SNI hold "$(listening strict)" 0
		spawn hold2 $SNI hold "$(listening web)" 100
		spawn hold3 $SNI hold "$(listening web)" 0
	}
	$SNI hold "$(listening strict)" 100
	[ $(($(now_ms) - began)) -ge 495 ] || fail "too early"
	# The default backend waits for the client in its own way.
	wait_for 10 sessions_ended 4
	equal "closed" 2 "$(sessions |
	    grep -cE ' strict strict/<NOSRV> -1/-1/[0-9]+ 0 cR ')"
	equal "gone on" 2 "$(sessions |
	    grep -cE ' web b/b1 [0-9]{3,}/[0-9]+/[0-9]+ 0 cD ')"
	equal "timeouts" "$(printf '2\n2')" \
	    "$(column lf_hello_timeouts FRONTEND)"
}

# bats test_tags=covered
@test "sni: with on_no_hello = close no server gets a client without a hello" {
	takers a b
	names a b <<-END
		sni = a.example backend=a
		backend = b
		timeout_hello = 500ms
		on_no_hello = close
		[frontend ruleless]
		listen = 127.0.0.1:0
		backend = b
		timeout_hello = 500ms
		on_no_hello = close
	END
	# shellcheck disable=SC2086
	spawn hold $SNI hold "$(listening ruleless)" 0
	$SNI hold "$(listening web)" 100
	wait_for 10 sessions_ended 2
	equal "closed" 2 "$(sessions |
	    grep -cE ' (web|ruleless) (web|ruleless)/<NOSRV> -1/-1/[0-9]+ 0 cR ')"
	equal "timeouts" "$(printf '1\n1')" \
	    "$(column lf_hello_timeouts FRONTEND)"
	becomes timeout_hello 1m
	answers closed a.example --stop 100
	wait_for 10 session_like ' web web/<NOSRV> -1/-1/[0-9]+ 0 CR '
	answers a a.example
	answers b "" --raw 'no hello'
}

@test "sni: a client that leaves within the hello is closed" {
	takers a b
	names a b <<-END
		sni = a.example backend=a
		backend = b
		[frontend strict]
		listen = 127.0.0.1:0
		sni = a.example backend=a
	END
	answers closed a.example --stop 0
	wait_for 10 session_like ' web web/<NOSRV> -1/-1/[0-9]+ 0 CR '
	# The bytes received go to the default backend, as with HAProxy.
	answers b a.example --stop 100
	$SNI hello "$(listening web)" a.example --reset 100
	wait_for 10 sessions_ended 3
	$SNI hello "$(listening web)" a.example --reset 0
	wait_for 10 sessions_ended 4
	equal closed closed "$($SNI hello "$(listening strict)" a.example \
	    --stop 100)"
	wait_for 10 session_like ' strict strict/<NOSRV> -1/-1/[0-9]+ 0 CR '
	equal "codes" "1 -- 4 CR" "$(sessions | awk '{ print $7 }' | sort |
	    uniq -c | xargs)"
}

@test "sni: a reload moves a name under load without a failed session" {
	takers a b
	names a b <<-END
		sni = a.example *.b.example backend=a
		backend = a
	END
	# shellcheck disable=SC2086
	spawn load $SNI load "$(listening web)" a.example
	wait_for 10 has_line load '^begun$'
	wait_for 10 sessions_ended 5
	sed -i 's/^sni = .*/sni = *.b.example backend=a\nsni = A.example backend=b/' \
	    "$T/lfproxy.ini"
	equal "the change" "frontend web: sni: a.example: a -> b" \
	    "$(ctl reload)"
	wait_for 10 session_like ' web b/b1 '
	sed -i '/^sni = /d' "$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *"sni: *.b.example -> a is removed"* &&
	    $output == *"sni: a.example -> b is removed"* ]]
	at_a_again() { sessions | tail -n 1 | grep -q ' web a/a1 '; }
	wait_for 10 at_a_again
	printf 'sni = c.example c.example backend=b\n' >"$T/rule"
	sed -i "/^\[backend a\]/{
		r $T/rule
		N
	}" "$T/lfproxy.ini"
	run ctl reload
	[ "$status" -ne 0 ] || fail "$output"
	end_load() {
		signal load TERM
		finish load
	}
	end_load
	[[ $output == *a=*b=* ]] || fail "$output"
}

# bats test_tags=covered
@test "sni: a second server gets the hello whole when the first refuses" {
	takers a
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\n'
		printf 'sni = a.example backend=both\n[backend both]\n'
		printf 'balance = first\ncheck = off\n'
		printf 'server = dead 127.0.0.1:%s\n' "$(free_port)"
		printf 'server = a1 %s\n' "$(addr a)"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	answers "a a a" a.example,a.example,a.example --large --piece 4000
	equal "redispatches" 3 "$(column wredis BACKEND)"
}

# bulk_by_pipes: fetches www/bulk; 1 when no pipe was used.  Pipes are for 64 KiB at
# once, which a slow server's kernel may never hold.
bulk_by_pipes() {
	equal "the bytes" "$(sha256sum <"$T/www/bulk")" \
	    "$(fetch --cacert "$T/a.pem" \
	    --resolve "www.example.com:$(port web):127.0.0.1" \
	    "https://www.example.com:$(port web)/bulk" | sha256sum)" || return 2
	[ "$SCALE" -ne 1 ] ||
	    [ "$(ctl show info | sed -n 's/^PipesCreated: //p')" -ge 1 ]
}

# bats test_tags=covered
@test "sni: bulk behind a hello goes through pipes, and nothing is lost" {
	make_sites a
	head -c "$(scaled 16777216)" /dev/urandom >"$T/www/bulk"
	names a <<-END
		sni = www.example.com backend=a
	END
	tries 10 bulk_by_pipes
}

@test "sni: unix sockets have hellos as well" {
	takers a b
	WEB=unix:$T/web.sock names a b <<-END
		sni = a.example backend=a
		backend = b
	END
	answers "a b" a.example,b.example
	# More writes than the kernel takes for a peer that does not read.
	answers a a.example --piece 1
	answers b b.example --piece 20 --stop 400
	answers a a.example --large --piece 1000
	answers b xx --raw xx
	answers closed a.example --stop 0
	answers b a.example --stop 50
	answers b a.example --stop 50 --piece 7 --pause 0.01
	$SNI hello "$(listening web)" a.example --reset 50
	wait_for 10 sessions_ended 10
	equal "bytes" "$(column bin FRONTEND)" "$(column bin BACKEND |
	    awk '{ n += $1 } END { print n }')"
}

# chosen NAME: what explain says, `BACKEND/SERVER`.
chosen() {
	ctl explain 127.0.0.1 web ${1:+sni "$1"} | sed -n '
		/^  backend  /{ s///; s/,.*//; h; }
		/^  server   \([^ :]*\):.*/{ s//\1/; H; g; s|\n|/|; p; }'
}

@test "sni: explain says where a name goes, and there it goes" {
	local name expected n=0

	takers a b c d
	BACKENDS="[backend many]
		balance = hash
		hash_key = sni
		check = off
		server = a $(addr a)
		server = b $(addr b)
		server = c $(addr c)
		server = d $(addr d)" names a b <<-END
		sni = a.example backend=a
		sni = *.many.example backend=many
		backend = a weight=1
		backend = b weight=2
	END
	run -0 ctl explain 127.0.0.1 sni X.many.example
	[[ $output == *"sni      x.many.example: the rule *.many.example in "*"lfproxy.ini:"* ]]
	[[ $output == *"backend  many, that of the rule"* ]] || fail "$output"
	run -0 ctl explain 127.0.0.1
	[[ $output == *"sni      none: no rule"* ]] || fail "$output"
	for name in a.example 1.many.example 2.many.example 3.many.example \
	    4.many.example other.example another.example ''; do
		expected=$(chosen "$name")
		says "${name:-none}" >/dev/null
		n=$((n + 1))
		wait_for 10 sessions_ended $n
		equal "where '$name' goes" "$expected" \
		    "$(sessions | tail -n 1 | awk '{ print $4 }')"
	done
	# More than one server has got some.
	[ "$(sessions | grep -o 'many/.' | sort -u | wc -l)" -ge 2 ]
}

@test "sni: hash_key = sni keeps a name together, from wherever it comes" {
	local name first

	takers a b c
	BACKENDS="[backend many]
		balance = hash
		hash_key = sni
		check = off
		server = a $(addr a)
		server = b $(addr b)
		server = c $(addr c)" names <<-END
		backend = many
	END
	for name in x.example y.example z.example none; do
		first=$(says $name)
		answers "$first $first $first" "$name,$name,$name"
	done
	# Without a name it is the source's, whatever the port.
	answers "$first" x --raw xyz
}

inspecting() {
	[ "$(ctl show sess json | grep -o '"state": *"[A-Z]*"' |
	    grep -c INSPECTING)" = "$1" ]
}

@test "sni: sessions whose hello is awaited are seen, moved, and ended" {
	local i

	takers a
	names a <<-END
		sni = a.example backend=a
		timeout_hello = 60s
		[frontend other]
		listen = 127.0.0.1:0
		sni = a.example backend=a
		timeout_hello = 60s
	END
	for i in 1 2 3; do
		# shellcheck disable=SC2086
		spawn hold$i $SNI hold "$(listening web)" 50
	done
	# shellcheck disable=SC2086
	spawn hold4 $SNI hold "$(listening other)" 50
	wait_for 10 inspecting 4
	run -0 ctl show sess
	[[ $output == *" be=<NONE> srv=<none> "* ]] || fail "$output"
	run -0 ctl show sess all
	[[ $output == *"backend=<NONE> (id=-1"*"sni=<none>"* ]] || fail "$output"
	ctl show sess frontend web | grep -q 'fe=web'
	ctl set pool main threads 4
	ctl set pool main shards 3
	answers a a.example --piece 100 --pause 0.01
	ctl set pool main shards 1
	ctl set pool main threads 1
	answers a a.example
	inspecting 4
	ctl reload
	ctl show memory | grep -qE '^inspections +4 '
	ctl shutdown session "$(ctl show sess frontend other |
	    sed -n 's/^\(0x[0-9a-f]*\):.*/\1/p')"
	wait_for 10 session_like ' other other/<NOSRV> -1/-1/[0-9]+ 0 KR '
	finish hold4
	# Draining lets them go on; a second signal does not.
	kill -TERM "$LFPROXY_PID"
	draining() { lfproxy_said 'draining: 3 sessions'; }
	wait_for 10 draining
	kill -TERM "$LFPROXY_PID"
	await_lfproxy 15
	equal "ended with it" 4 "$(sessions | grep -c ' KR ')"
}

# bats test_tags=covered
@test "sni: name and protocols of a session are in show sess and in JSON" {
	start_bad silent silent
	names silent <<-END
		sni = *.example backend=silent
	END
	# shellcheck disable=SC2086
	spawn client $SNI hold "$(listening web)"
	relaying() { ctl show sess | grep -q 'srv=silent1'; }
	wait_for 10 relaying
	ctl show sess all | grep -q '^  sni=held.example$'
	ctl show sess json | grep -q '"sni": *"held.example"'
	ctl shutdown sessions server silent/silent1
	wait_for 10 session_like ' web silent/silent1 .* KD '
	ctl show closed cause KD | grep -q ' peer=<none> .* sni=held.example '
	ctl show closed cause KD json | grep -q '"sni": *"held.example"'
}

# bats test_tags=covered
@test "sni: the counters are metrics as well" {
	takers a
	names a <<-END
		sni = a.example backend=a
	END
	sed -i "s/^log = stderr/&\nhttp = 127.0.0.1:$(free_port)/" \
	    "$T/lfproxy.ini"
	stop_lfproxy
	launch_lfproxy -c "$T/lfproxy.ini"
	answers "a closed" a.example,b.example
	answers closed x --raw x
	run -0 fetch "http://$(sed -n 's/^http = //p' "$T/lfproxy.ini")/metrics"
	for line in 'lfproxy_frontend_tls_hellos_total{proxy="web"} 2' \
	    'lfproxy_frontend_not_tls_total{proxy="web"} 1' \
	    'lfproxy_frontend_tls_hello_timeouts_total{proxy="web"} 0' \
	    'haproxy_frontend_requests_denied_total{proxy="web"} 2'; do
		[[ $output == *"$line"* ]] || fail "no $line"
	done
}
