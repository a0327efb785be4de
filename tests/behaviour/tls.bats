#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# TLS with clients, terminated in front of plain servers, with real programs.

# bats file_tags=basic

load helpers
load stat
load tls

# bats test_tags=covered,machine
@test "tls: curl gets a plain server's answer over TLS 1.2 and 1.3" {
	setup_site
	terminate "cert = $T/www.example.pem"
	equal "TLS 1.3" a "$(https www.example --tlsv1.3)"
	equal "TLS 1.2" a "$(https www.example --tls-max 1.2)"
	equal "several requests" "a a a" "$(https www.example --next \
	    --cacert "$T/ca.pem" -k "https://127.0.0.1:$(port web)/" --next \
	    -k "https://127.0.0.1:$(port web)/" | xargs)"
	make_ca other
	run -60 fetch --cacert "$T/other.pem" "https://127.0.0.1:$(port web)/"
	# Plain HTTP gets no answer, and the next client gets one.
	refute fetch "$(url)"
	equal "afterwards" a "$(https www.example)"
	wait_for 10 session_like ' web/1: SSL handshake failure \('
}

@test "tls: a key in a file of its own, an RSA key, and a chain" {
	setup_site
	make_rsa_site rsa.example
	# An authority that ca vouches for, and a certificate of it.
	openssl req "${NEW_KEY[@]}" -nodes -subj /CN=middle \
	    -keyout "$T/middle.key" -out "$T/middle.csr" 2>/dev/null
	openssl x509 -req -days 2 -CA "$T/ca.pem" -CAkey "$T/ca.key" \
	    -CAcreateserial -extfile <(echo basicConstraints=CA:TRUE) \
	    -in "$T/middle.csr" -out "$T/middle.pem" 2>/dev/null
	make_cert deep.example middle DNS:deep.example
	cp "$T/deep.example.pem" "$T/deep.crt"
	cat "$T/middle.pem" >>"$T/deep.crt"
	terminate "cert = $T/rsa.example.pem" \
	    "cert = $T/deep.crt key=$T/deep.example.key"
	equal RSA a "$(https rsa.example)"
	equal chain a "$(https deep.example)"
}

# bats test_tags=covered
@test "tls: versions outside of min_version and max_version are refused" {
	setup_site
	terminate "cert = $T/www.example.pem" 'min_version = 1.3'
	s_client_says 'protocol version' -tls1_2
	equal "TLS 1.3" a "$(https www.example)"
	stop_lfproxy
	terminate "cert = $T/www.example.pem" 'max_version = 1.2'
	s_client_says 'protocol version' -tls1_3
	s_client_says 'Protocol  : TLSv1\.2' -tls1_2
	# 1.1 never: it needs a client that is willing.
	s_client_says 'protocol version' -tls1_1 -cipher 'ALL@SECLEVEL=0'
}

# bats test_tags=covered
@test "tls: gnutls-cli agrees, and resumes" {
	setup_site
	terminate "cert = $T/www.example.pem"
	for version in 1.2 1.3; do
		run -0 timeout $((60 * PATIENCE)) gnutls-cli --resume \
		    --x509cafile "$T/ca.pem" --sni-hostname www.example \
		    --verify-hostname www.example \
		    --priority "NORMAL:-VERS-ALL:+VERS-TLS$version" \
		    -p "$(port web)" 127.0.0.1 \
		    < <(printf 'GET / HTTP/1.0\r\n\r\n')
		[[ $output == *"The certificate is trusted"*"(TLS$version-X.509)"* ]] ||
		    fail "$output"
		[[ $output == *"This is a resumed session"*$'\r\na'* ]] ||
		    fail "$output"
	done
}

@test "tls: the certificate is that of the name, a wildcard's, or the first" {
	start_app a
	SERVERS=(a)
	make_site first.example
	make_site exact DNS:www.example.com
	make_site wild 'DNS:*.example.com'
	make_site longer 'DNS:*.sub.example.com,DNS:other.example'
	terminate "cert = $T/first.example.pem" "cert = $T/exact.pem" \
	    "cert = $T/wild.pem" "cert = $T/longer.pem"
	equal exact exact "$(subject -servername www.example.com)"
	equal "capital letters" exact "$(subject -servername WWW.Example.COM)"
	equal wildcard wild "$(subject -servername x.example.com)"
	equal "the longer one" longer "$(subject -servername x.sub.example.com)"
	equal "a second name" longer "$(subject -servername other.example)"
	equal "an unknown name" first.example "$(subject -servername no.example)"
	equal "no name" first.example "$(subject -noservername)"
	equal "TLS 1.2" wild "$(subject -servername x.example.com -tls1_2)"
}

@test "tls: every file of cert_dir is a certificate" {
	start_app a
	SERVERS=(a)
	make_site one.example
	make_site two.example
	mkdir "$T/sites"
	mv "$T/one.example.pem" "$T/two.example.pem" "$T/sites"
	echo "no certificate" >"$T/sites/README"
	terminate "cert_dir = $T/sites"
	equal one a "$(https one.example)"
	equal two a "$(https two.example)"
	equal "the first by name" one.example "$(subject -noservername)"
}

# bats test_tags=machine
@test "tls: an RSA and an ECDSA certificate serve one name" {
	start_app a
	SERVERS=(a)
	make_site ec DNS:www.example
	make_rsa_site rsa DNS:www.example
	terminate "cert = $T/ec.pem" "cert = $T/rsa.pem"
	equal "both" ec "$(subject -servername www.example)"
	equal "RSA, 1.2" rsa "$(subject -servername www.example -tls1_2 \
	    -cipher ECDHE-RSA-AES128-GCM-SHA256)"
	equal "ECDSA, 1.2" ec "$(subject -servername www.example -tls1_2 \
	    -cipher ECDHE-ECDSA-AES128-GCM-SHA256)"
	equal "RSA, 1.3" rsa "$(subject -servername www.example -tls1_3 \
	    -sigalgs rsa_pss_rsae_sha256)"
	equal "ECDSA, 1.3" ec "$(subject -servername www.example -tls1_3 \
	    -sigalgs ecdsa_secp256r1_sha256)"
}

# bats test_tags=covered
@test "tls: sni rules choose the backend by a terminated name" {
	make_site www.example 'DNS:*.test.example,IP:127.0.0.1'
	start_app a
	start_app b
	SERVERS=(a)
	FRONTEND="sni = b.test.example *.b.test.example backend=other
		backend = app" \
	SECTIONS="[backend other]
		check = off
		server = b1 $(addr b)" terminate "cert = $T/www.example.pem"
	equal exact b "$(https b.test.example)"
	equal wildcard b "$(https x.b.test.example -k)"
	equal default a "$(https c.test.example)"
	equal "no name" a "$(fetch -k "https://127.0.0.1:$(port web)/")"
	wait_for 10 sessions_ended 4
	ctl show closed | grep -q ' sni=x.b.test.example '
	# A reload changes the rules and keeps the certificate.
	sed -i 's/^.*sni = b.test.*/sni = c.test.example backend=other/' \
	    "$T/lfproxy.ini"
	ctl reload
	equal "after the reload" b "$(https c.test.example)"
	equal "after the reload" a "$(https b.test.example)"
}

# bats test_tags=covered
@test "tls: hash_key = sni keeps a terminated name at its server" {
	local name server servers=()

	make_site www.example 'DNS:*.test.example'
	for name in a b c; do
		start_app $name
	done
	SERVERS=(a b c)
	BACKEND=$'check = off\nbalance = hash\nhash_key = sni' \
	    terminate "cert = $T/www.example.pem"
	for name in 1.test.example 2.test.example 3.test.example; do
		server=$(https $name)
		equal "$name again" "$server" "$(https $name)"
		ctl explain 127.0.0.1 web sni $name |
		    grep -q "^  server   $server: " || fail "$name: $server"
		servers+=("$server")
	done
	[ "$(printf '%s\n' "${servers[@]}" | sort -u | wc -l)" -gt 1 ] ||
	    fail "one server has all names"
}

# bats test_tags=covered
@test "tls: a name without a rule is closed after its handshake" {
	make_site www.example 'DNS:*.test.example'
	start_app a
	SERVERS=(a)
	FRONTEND="sni = a.test.example backend=app" \
	    terminate "cert = $T/www.example.pem"
	equal "with a rule" a "$(https a.test.example)"
	refute https b.test.example
	wait_for 10 session_like ' web web/<NOSRV> .* PR '
}

# bats test_tags=covered
@test "tls: ALPN takes the first of its protocols that the client offers" {
	setup_site
	terminate "cert = $T/www.example.pem" 'alpn = h2 http/1.1'
	s_client_says 'ALPN protocol: h2' -alpn http/1.1,h2
	s_client_says 'ALPN protocol: http/1\.1' -alpn http/1.1
	s_client_says 'ALPN protocol: http/1\.1' -alpn http/1.1 -tls1_2
	s_client_says 'No ALPN negotiated' -tls1_3
	s_client_says 'no application protocol' -alpn x
	equal "curl without h2" a "$(https www.example --http1.1)"
}

# resumes NAME OPTION...: a session is resumed by a second connection.
resumes() {
	s_client "${@:2}" -sess_out "$T/session"
	[[ $output == *"New, TLSv1"* ]] || fail "$1, at first: $output"
	s_client "${@:2}" -sess_in "$T/session"
	[[ $output == *"Reused, TLSv1"*$'\r\na'* ]] || fail "$1: $output"
}

# bats test_tags=covered
@test "tls: sessions are resumed by tickets, by ids, and after a reload" {
	local reused

	setup_site
	terminate "cert = $T/www.example.pem"
	resumes "a ticket, 1.3" -tls1_3
	resumes "a ticket, 1.2" -tls1_2
	resumes "an id, 1.2" -tls1_2 -no_ticket
	s_client -tls1_3 -sess_out "$T/session"
	ctl reload
	s_client -tls1_3 -sess_in "$T/session"
	[[ $output == *"Reused, TLSv1.3"* ]] || fail "$output"
	run openssl s_client -tls1_2 -reconnect -connect "$(listening web)" \
	    </dev/null
	reused=$(grep -c '^Reused, TLSv1.2' <<<"$output")
	equal "reconnections that resumed" 5 "$reused"
	run -0 "$TOOLS/tlsload" handshakes --connections 8 --count 200 --resume \
	    --deadline 100 "$(listening web)"
	[[ $output == *'"handshakes": 200, "resumed": 192, '* ]] ||
	    fail "$output"
}

# bats test_tags=covered
@test "tls: a full handshake of TLS 1.3 brings one ticket" {
	setup_site
	terminate "cert = $T/www.example.pem"
	s_client -tls1_3
	equal "tickets" 1 "$(grep -c 'New Session Ticket arrived' <<<"$output")"
}

# bats test_tags=covered
@test "tls: without tickets sessions are resumed by ids" {
	setup_site
	terminate "cert = $T/www.example.pem" 'tickets = off'
	resumes "1.2" -tls1_2
	resumes "1.3" -tls1_3
	s_client -tls1_2
	[[ $output != *"TLS session ticket"* ]] || fail "$output"
}

# bats test_tags=covered
@test "tls: a key update of the client changes nothing" {
	local to

	setup_site
	terminate "cert = $T/www.example.pem"
	mkfifo "$T/typed"
	spawn client sh -c "exec timeout 100 openssl s_client -tls1_3 \
	    -connect $(listening web) <'$T/typed'"
	exec {to}>"$T/typed"
	wait_for 10 has_line client 'Verify return code'
	# K: and the peer is to update its keys as well.
	printf 'K\n' >&$to
	wait_for 10 has_match '^KEYUPDATE$' "$T/client.err"
	printf 'GET / HTTP/1.1\r\nHost: a\r\n\r\n' >&$to
	wait_for 10 has_line client '^a$'
	: >"$T/client.out"
	: >"$T/client.err"
	printf 'k\n' >&$to
	wait_for 10 has_match '^KEYUPDATE$' "$T/client.err"
	printf 'GET / HTTP/1.0\r\n\r\n' >&$to
	wait_for 10 has_line client '^a$'
	exec {to}>&-
	finish client
}

@test "tls: renegotiation is refused" {
	local to

	setup_site
	terminate "cert = $T/www.example.pem"
	mkfifo "$T/typed"
	spawn client sh -c "exec timeout 100 openssl s_client -tls1_2 \
	    -connect $(listening web) <'$T/typed'"
	exec {to}>"$T/typed"
	wait_for 10 has_line client 'Verify return code'
	printf 'R\n' >&$to
	wait_for 10 ended "${PIDS[client]}"
	exec {to}>&-
	grep -q 'no renegotiation' "$T/client.err"
	equal "afterwards" a "$(https www.example)"
}

@test "tls: a PROXY header comes before the handshake" {
	make_site www.example
	start_app a
	SERVERS=(a)
	LISTEN_TLS=accept_proxy terminate "cert = $T/www.example.pem"
	equal "the answer" a "$(https www.example --haproxy-protocol)"
	refute https www.example
	wait_for 10 session_like ' PR '
}

# bats test_tags=covered
@test "tls: a unix socket has TLS as well" {
	setup_site
	WEB=unix:$T/web.sock terminate "cert = $T/www.example.pem"
	equal "the answer" a "$(fetch --cacert "$T/ca.pem" \
	    --unix-socket "$T/web.sock" https://www.example/)"
}

# bats test_tags=covered
@test "tls: listens with and without it share a frontend" {
	setup_site
	FRONTEND=$'listen = 127.0.0.1:0\nbackend = app' \
	    terminate "cert = $T/www.example.pem"
	equal "with TLS" a "$(https www.example)"
	equal "without" a "$(fetch "http://$(listening web 2)/")"
}

# bats test_tags=covered
@test "tls: wrk finds no fault" {
	setup_site
	terminate "cert = $T/www.example.pem"
	run -0 timeout 100 wrk -t1 -c16 -d1s "https://$(listening web)/"
	[[ $output == *" requests in "* ]] || fail "$output"
	[[ $output != *"Socket errors"* && $output != *Non-2xx* ]] ||
	    fail "$output"
	run -0 timeout 100 wrk -t1 -c8 -d1s -H 'Connection: close' \
	    "https://$(listening web)/"
	[[ $output == *" requests in "* && $output != *Non-2xx* ]] ||
	    fail "$output"
}

# bats test_tags=covered
@test "tls: a client that stalls in its handshake is closed" {
	setup_site
	FRONTEND=$'backend = app\ntimeout_handshake = '"${PATIENCE}s" \
	    terminate "cert = $T/www.example.pem"
	tls_tool hello "$(listening web)" --size 50
	tls_tool hello "$(listening web)" --size 0
	wait_for 10 sessions_ended 2
	equal "timeouts" 2 "$(sessions | grep -c ' web/1: Timeout during SSL handshake')"
	becomes timeout_handshake 10m
	equal "afterwards" a "$(https www.example)"
}

@test "tls: hundreds of handshakes beside reloads and resizes all succeed" {
	setup_site
	THREADS=3 terminate "cert = $T/www.example.pem"
	spawn load "$TOOLS/tlsload" handshakes --connections 8 \
	    --count "$(scaled 1500)" --deadline $((100 * PATIENCE)) \
	    --ca "$T/ca.pem" --sni www.example "$(listening web)"
	while ! ended "${PIDS[load]}"; do
		ctl reload
		ctl set pool main threads 4
		ctl set pool main shards 2
		ctl set pool main shards 1
		ctl set pool main threads 1
	done
	finish load
	[[ $output == *'"errors": 0'* ]] || fail "$output"
}

# bats test_tags=covered
@test "tls: a client that goes on sending reads the alert, and no reset" {
	setup_site
	terminate "cert = $T/www.example.pem"
	run timeout $((60 * PATIENCE)) python3 - "$(port web)" <<'EOF'
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
# A handshake message of a type that no client begins with.
s.sendall(b"\x16\x03\x01\0\x04\x55\0\0\0" + bytes(100000))
alert = s.recv(7)
assert alert[:1] == b"\x15", alert
s.sendall(bytes(50000))
s.shutdown(socket.SHUT_WR)
assert s.recv(1) == b""
EOF
	equal "what the client says" "" "$output"
	wait_for 10 session_like ' web/1: SSL handshake failure \(unexpected message\)'
}

@test "tls: a client that sends without end after an alert is closed" {
	setup_site
	terminate "cert = $T/www.example.pem"
	run -0 timeout $((60 * PATIENCE)) python3 - "$(port web)" <<'EOF'
import socket, sys
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(b"GET / HTTP/1.0\r\n")
try:
    while True:
        s.sendall(bytes(65536))
except (ConnectionResetError, BrokenPipeError):
    print("closed")
EOF
	equal "what the client finds" closed "$output"
	# And one that stays, and is silent.
	exec {held}<>"/dev/tcp/127.0.0.1/$(port web)"
	printf 'nonsense' >&"$held"
	wait_for 10 sessions_ended 2
	exec {held}>&-
}

# bats test_tags=covered
@test "tls: openssl and gnutls-cli always say which alert they got" {
	local i

	setup_site
	terminate "cert = $T/www.example.pem" "ca = $T/ca.pem" \
	    'verify = required'
	for ((i = 0; i < $(scaled 32); i++)); do
		s_client_says 'alert certificate required' -tls1_3
		s_client_says 'alert handshake failure' -tls1_2
		run timeout $((60 * PATIENCE)) gnutls-cli --insecure \
		    -p "$(port web)" 127.0.0.1 \
		    < <(printf 'GET / HTTP/1.0\r\n\r\n')
		[[ $output == *'Received alert [116]: Certificate is required'* ]] ||
		    fail "gnutls-cli $i: $output"
	done
}

# group OPTION...: the one that such a client of openssl and lfproxy agree on, as
# the log has it; null: the handshake failed.
group() {
	: >"$T/log.json"
	s_client "$@"
	wait_for 10 test -s "$T/log.json"
	jq -r .tls_group "$T/log.json"
}

@test "tls: keys are exchanged with the post-quantum hybrid if OpenSSL has it" {
	local best=X25519

	! has_hybrid || best=X25519MLKEM768
	setup_site
	FRONTEND="backend = app
		log = file=$T/log.json format=json" \
	    terminate "cert = $T/www.example.pem"
	equal "openssl's default" "$best" "$(group)"
	equal "TLS 1.2" X25519 "$(group -tls1_2)"
	equal "X25519 alone" X25519 "$(group -groups X25519)"
	# Keys in the group that comes first are what the client sends at once;
	# for others it is asked for a second hello.
	equal "another hello" P-384 "$(group -groups P-521:P-384)"
	equal "none in common" null "$(group -groups P-521)"
	if has_hybrid; then
		equal "the hybrid alone" "$best" "$(group -groups "$best")"
		equal "another hello, for the hybrid" "$best" \
		    "$(group -groups "X25519:$best")"
	fi
	run -0 ctl show tls
	[[ $output =~ $'\n  groups       '"$best "[1-9].*,\ P-384\ 1 ]] ||
	    fail "$output"
	run -0 ctl show tls json
	jq -e --arg best "$best" '.[0].groups | .[$best] >= 1 and .["P-384"] == 1 and
	    .["P-521"] == null' <<<"$output"
	sed -i 's/^cert = .*/&\ncurves = P-521:P-256/' "$T/lfproxy.ini"
	ctl reload
	equal "the file rules" P-521 "$(group -groups X25519:P-521)"
	equal "another" P-256 "$(group -groups P-256)"
}

@test "tls: a hello of 1700 bytes, in segments cut anywhere, ends in a handshake" {
	local protocols at

	setup_site
	terminate "cert = $T/www.example.pem" 'alpn = http/1.1'
	protocols=$(printf 'x%05d,' {1..200})http/1.1
	for at in 1 5 300 1000 1400 1650; do
		serve cut python3 -B "$ROOT/tests/behaviour/snitool.py" cut \
		    "$(listening web)" "$at"
		run timeout $((60 * PATIENCE)) openssl s_client -ign_eof \
		    -connect "$(addr cut)" -CAfile "$T/ca.pem" \
		    -alpn "$protocols" -groups P-521:P-384 \
		    -servername www.example -verify_return_error \
		    < <(printf 'GET / HTTP/1.0\r\n\r\n')
		[[ $output == *'ALPN protocol: http/1.1'*$'\r\na'* ]] ||
		    fail "cut at $at: $output"
		end cut
	done
}
