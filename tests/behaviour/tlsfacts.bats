#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What both ends of a session with TLS learn of each other, and what lfproxy
# says of it.

load helpers
load checks

ADMIN=$T/admin.sock

# [tls up] is towards servers, [tls down] towards clients.
common() {
	printf '%s\n' '[global]' 'log = stderr' "admin = $ADMIN" "${GLOBAL:-}" \
	    '[pool main]' 'threads = 2' \
	    '[tls up]' "${UP:-ca = $T/ca.pem}" \
	    '[tls down]' "cert = $T/good.pem key=$T/good.key" "${DOWN:-}"
}

# authority: the CA `ca`, and its certificates: `good`, for 127.0.0.1 and
# app.example, `name`, for another name.
authority() {
	make_ca ca
	make_cert good ca DNS:app.example,IP:127.0.0.1
	make_cert name ca DNS:other.example
}

# start_tls NAME CERT [OPTION...]: a server with that certificate, which says
# what it knows of each connection.
start_tls() {
	local name=$1 cert=$2

	shift 2
	serve "$name" python3 "$ROOT/tests/behaviour/tlstool.py" serve \
	    "$T/$cert.pem" "$T/$cert.key" "$@"
}

# start_echo NAME [OPTION...]: likewise, without TLS.
start_echo() {
	serve "$1" python3 "$ROOT/tests/behaviour/tlstool.py" serve --plain \
	    "${@:2}"
}

# connect ADDRESS [OPTION...]: a client; what it says is in $output.
connect() {
	run -0 python3 "$ROOT/tests/behaviour/tlstool.py" connect "$@"
}

# plain: sends a line through `web` without TLS; what comes back is in $output.
plain() {
	run -0 timeout 60 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0" &&
	    echo hello >&3 && head -1 <&3 2>/dev/null || :' "$(port web)"
}

# says NAME FILTER COUNT: jq finds that in so many lines of the server.
says() {
	[ "$(grep '^{' "$T/$1.out" | jq -c "select($2)" | wc -l)" = "$3" ]
}

until_says() {
	wait_for 10 says "$@" || fail "$1 said: $(cat "$T/$1.out")"
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

reload() {
	run -0 ctl reload
}

# up NAME...: `web` to these servers over TLS.
up() {
	BACKEND="${BACKEND:-check = off}
		retries = 0
		tls = up" web "$@"
}

# bats test_tags=covered
@test "tlsfacts: a server's certificate is verified, and a failure said with its reason" {
	local row kind text

	authority
	make_ca alone
	expired old ca IP:127.0.0.1
	for row in "good|" "name|IP address mismatch" \
	    "alone|self-signed certificate" "old|certificate has expired"; do
		kind=${row%%|*} text=${row#*|}
		start_tls "$kind" "$kind"
		up "$kind"
		plain
		if [ -z "$text" ]; then
			equal "the answer" hello "$output"
		else
			equal "the answer" "" "$output"
			lfproxy_said "connect to app/$kind failed: TLS: $text; expected name: 127.0.0.1; ca: $T/ca.pem\$" ||
			    fail "no '$text' in $(cat "$LFPROXY_LOG")"
		fi
		stop_lfproxy
	done
}

# bats test_tags=covered
@test "tlsfacts: servers see their name, the client's, and a session that is resumed" {
	authority
	start_tls good good
	UP="ca = $T/ca.pem
		name = app.example" up good
	plain
	plain
	until_says good '.sni == null and .reused == false' 1
	until_says good '.reused == true' 1
	# The same section: a reload keeps the session.
	reload
	plain
	until_says good '.reused == true' 2
	sed -i "s/name = app.example/&\nalpn = x/" "$T/lfproxy.ini"
	reload
	plain
	until_says good '.reused == true' 2
}

# bats test_tags=covered
@test "tlsfacts: the client's name goes on to the server" {
	authority
	start_tls good good
	UP="ca = $T/ca.pem
		sni = client" WEB="127.0.0.1:0 tls=down" up good
	connect "$(listening web)" --ca "$T/ca.pem" --sni app.example
	until_says good '.sni == "app.example"' 1
	# The address is checked in place of a name.
	connect "$(listening web)"
	until_says good '.sni == null' 1
	connect "$(listening web)" --sni foreign.example
	lfproxy_said 'app/good failed: .*hostname mismatch' ||
	    fail "no mismatch in $(cat "$LFPROXY_LOG")"
}

@test "tlsfacts: checks verify a server as its sessions do" {
	local kind server passed steps

	authority
	expired old ca IP:127.0.0.1
	make_ca alone
	for server in good name alone old; do
		start_tls "$server" "$server" --greeting ready
	done
	start_greeter clear
	for kind in connect tls send-expect; do
		passed=L6OK steps=
		[ $kind != send-expect ] ||
		    passed=L7OK steps="check_step = expect ready"
		BACKEND="$(checked "$kind" fall=1)
			$steps" up good name alone old clear
		until_check good $passed
		for server in name alone old clear; do
			until_failed "$server" L6RSP
		done
		[[ $(column name last_chk) == *mismatch* ]]
		[[ $(column alone last_chk) == *self-signed* ]]
		[[ $(column old last_chk) == *expired* ]]
		stop_lfproxy
	done
}

@test "tlsfacts: http checks are https to a server with TLS" {
	local server

	authority
	expired old ca IP:127.0.0.1
	# nginx wants a certificate of its clients.
	for server in good name old; do
		start_nginx_tls "$server" \
		    "; ssl_verify_client on; ssl_client_certificate $T/ca.pem"
		# shellcheck disable=SC2004 # they are names
		ADDRS[$server]=${ADDRS[tls]} PIDS[$server]=${PIDS[tls]}
		unset "PIDS[tls]"
	done
	start_nginx
	UP="ca = $T/ca.pem
		cert = $T/good.pem key=$T/good.key" \
	BACKEND="$(checked http fall=1 path=/index.html)" up good name old nginx
	until_check good L7OK 200
	for server in name old nginx; do
		until_failed "$server" L6RSP
	done
	[[ $(column name last_chk) == *mismatch* ]]
	[[ $(column old last_chk) == *expired* ]]
	stop_lfproxy
	# The name that sessions ask for, a client's excepted.
	UP="ca = $T/ca.pem
		name = other.example
		sni = client
		cert = $T/good.pem key=$T/good.key" \
	BACKEND="$(checked https fall=1 path=/index.html)" up good name
	until_check name L7OK 200
	until_failed good L6RSP
	stop_lfproxy
	# Without a certificate, nginx answers, and says so.
	BACKEND="$(checked http fall=1 path=/index.html)" up good
	until_failed good L7STS
	stop_lfproxy
	# The check's own options of TLS.
	UP="verify = none" \
	BACKEND="$(checked https fall=1 "ca=$T/ca.pem" status=400)" up good name
	until_check good L7OK 400
	until_failed name L6RSP
}

@test "tlsfacts: checks without TLS, and elsewhere" {
	authority
	start_tls good good
	start_nginx
	ADDRS[off]=$(addr nginx)
	BACKEND="$(checked http fall=1 path=/index.html)" \
	    up nginx "off check_tls=off" "good check_port=$(
	    addr nginx | sed 's/.*://')"
	until_failed nginx L6RSP
	until_check off L7OK 200
	until_check good L7OK 200
	stop_lfproxy
	BACKEND="$(checked connect fall=1 tls=off)" up nginx "good check_tls=on"
	until_check nginx L4OK
	until_check good L6OK
	stop_lfproxy
	BACKEND="$(checked connect fall=1 \
	    "port=$(addr good | sed 's/.*://')" tls=on)" up nginx
	until_check nginx L6OK
}

@test "tlsfacts: agents are asked over TLS, verified as sessions, unless told otherwise" {
	local port

	authority
	start_tls good good
	start_echo plain
	port=$(addr good)
	BACKEND="check = off
		agent = on port=${port##*:} send=7%\\n interval=100ms" \
	    up good "plain agent_tls=off agent_port=$(addr plain | sed 's/.*://')"
	until_column 10 good weight 7
	until_column 10 plain weight 7
	equal "the agent's status" L7OK "$(column good agent_status)"
	says good '.sni != null or .reused' 0
	# Its certificate has to be for the name of the section.
	sed -i "s|^ca = $T/ca.pem|&\nname = other.example|; s/=7%/=8%/" \
	    "$T/lfproxy.ini"
	reload
	until_column 10 plain weight 8
	until_column 10 good agent_status L6RSP
	[[ $(column good last_agt) == *mismatch* ]] ||
	    fail "said: $(column good last_agt)"
	equal "the weight" 7 "$(column good weight)"
}

@test "tlsfacts: a check of a server without a name says what is missing" {
	authority
	serve good python3 "$ROOT/tests/behaviour/tlstool.py" serve \
	    "$T/good.pem" "$T/good.key" --unix "$T/good.sock"
	UP="ca = $T/ca.pem
		sni = client" BACKEND="$(checked connect fall=1)" up good
	until_failed good SOCKERR
	[[ $(column good last_chk) == *"set name in its [tls] section"* ]]
	plain
	equal "the answer" "" "$output"
	stop_lfproxy
	UP="ca = $T/ca.pem
		name = app.example" BACKEND="$(checked http fall=1)" up good
	# It echoes, and that is no HTTP, but its certificate was good.
	until_failed good L7RSP
}

# logged FILTER: jq finds that in the last line of the log.
logged() {
	[ -s "$T/log.json" ] && tail -1 "$T/log.json" | jq -e "$1" >/dev/null
}

until_logged() {
	wait_for 10 logged "$1" || fail "logged: $(cat "$T/log.json")"
}

@test "tlsfacts: the log says what was agreed with the client, and whom it is" {
	authority
	make_cert client ca DNS:client.example
	make_ca alone
	start_echo a
	GLOBAL="log = file=$T/log.json format=json" \
	    DOWN="verify = optional
		ca = $T/ca.pem
		alpn = h2 x/1" WEB="127.0.0.1:0 tls=down" web a
	connect "$(listening web)" --ca "$T/ca.pem" --sni app.example --alpn x/1
	until_logged '.tls_version == "TLSv1.3" and .tls_resumed == false and
	    (.tls_cipher | startswith("TLS_AES_")) and
	    (.tls_group | startswith("X25519")) and .tls_alpn == "x/1" and
	    .sni == "app.example" and .client_verify == null and
	    .client_subject == null and .tls_failure == null'
	connect "$(listening web)" --max 1.2 --cert "$T/client.pem" \
	    --key "$T/client.key" --times 2
	until_logged '.tls_version == "TLSv1.2" and .tls_resumed == true and
	    .client_verify == "ok" and .client_subject == "CN=client" and
	    (.client_serial | test("^[0-9a-f]+$")) and .sni == null and
	    .client_issuer == "CN=ca" and .client_sans == "DNS:client.example"'
	connect "$(listening web)" --cert "$T/alone.pem" --key "$T/alone.key"
	until_logged '.code == "PR" and .client_verify == "self-signed certificate"
	    and .tls_failure == "self-signed certificate" and
	    .tls_version == null and .server == null'
	run timeout 60 openssl s_client -connect "$(listening web)" -alpn y \
	    </dev/null
	until_logged '.tls_failure | test("no application protocol")'
	# A client that refuses the certificate: its alert is the reason.
	run timeout 60 openssl s_client -connect "$(listening web)" -no_tls1_3 \
	    -verify_return_error </dev/null
	until_logged '.tls_failure == "tlsv1 alert unknown ca"'
}

@test "tlsfacts: tcplog has HAProxy's lines of handshakes that fail" {
	authority
	start_echo a
	GLOBAL="log = file=$T/log" WEB="127.0.0.1:0 tls=down" web a
	make_ca alone
	connect "$(listening web)" --ca "$T/alone.pem" --sni app.example
	wait_for 10 has_match \
	    ' web/1: SSL handshake failure \(tlsv1 alert unknown ca\)$' "$T/log"
	becomes timeout_handshake 300ms
	run -0 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$0" && printf "\26\3" >&3 &&
	    cat <&3' "$(port web)"
	becomes timeout_handshake 10m
	wait_for 10 has_match ' web/1: Timeout during SSL handshake$' "$T/log"
	connect "$(listening web)"
	wait_for 10 has_match ' web app/a [0-9/]* [0-9]* [-A-Z]{2} ' "$T/log"
}

@test "tlsfacts: the PROXY header says what the client's TLS is" {
	authority
	make_cert client ca DNS:client.example
	start_echo a --proxy
	BACKEND="check = off
		send_proxy = v2-tls" \
	    DOWN="verify = optional
		ca = $T/ca.pem
		alpn = h2" WEB="127.0.0.1:0 tls=down" web a
	connect "$(listening web)" --ca "$T/ca.pem" --sni app.example --alpn h2
	until_says a '.proxy == {command: 1, alpn: "h2", authority: "app.example",
	    client: 1, verify: 1, version: "TLSv1.3",
	    cipher: "TLS_AES_256_GCM_SHA384", sig_alg: "ecdsa-with-SHA256",
	    key_alg: "EC256"}' 1
	connect "$(listening web)" --max 1.2 --cert "$T/client.pem" \
	    --key "$T/client.key" --times 2
	until_says a '.proxy | .client == 7 and .verify == 0 and .cn == "client" and
	    .version == "TLSv1.2" and .key_alg == "EC256" and .alpn == null' 1
	# The session's certificate, and not one of this connection.
	until_says a '.proxy | .client == 5 and .verify == 0 and .cn == "client"' 1
	sed -i 's/v2-tls/v2/' "$T/lfproxy.ini"
	reload
	connect "$(listening web)" --alpn h2
	until_says a '.proxy == {command: 1, alpn: "h2"}' 1
}

@test "tlsfacts: a header with TLS is accepted by another lfproxy" {
	authority
	start_echo a --proxy
	{
		common
		printf '%s\n' '[defaults]' 'check = off' \
		    '[frontend web]' 'listen = 127.0.0.1:0 tls=down' \
		    'backend = second' "[backend second]" 'send_proxy = v2-tls' \
		    "server = s unix:$T/second.sock" \
		    '[frontend second]' \
		    "listen = unix:$T/second.sock accept_proxy=on" \
		    'backend = app' '[backend app]' 'send_proxy = v2' \
		    "server = a $(addr a)"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	connect "$(listening web)" --sni app.example
	until_says a '.proxy == {command: 1, authority: "app.example"}' 1
}

# hold [OPTION...]: a client that stays; it ends with the test, or with `end`.
hold() {
	mkfifo "$T/held"
	spawn held bash -c 'exec python3 "$@" --hold <"$0"' "$T/held" \
	    "$ROOT/tests/behaviour/tlstool.py" connect "$(listening web)" "$@"
	exec {held}>"$T/held"
	wait_for 10 has_line held echo
}

@test "tlsfacts: show sess and show closed say what the client's TLS is" {
	authority
	make_cert client ca DNS:client.example
	start_echo a
	DOWN="verify = optional
		ca = $T/ca.pem
		alpn = h2" WEB="127.0.0.1:0 tls=down" web a
	hold --sni app.example --alpn h2 --cert "$T/client.pem" \
	    --key "$T/client.key"
	run -0 ctl show sess json
	jq -e '.[0] | .tls_version == "TLSv1.3" and .sni == "app.example" and
	    (.tls_cipher | startswith("TLS_")) and
	    (.tls_group | startswith("X25519")) and .tls_resumed == false and
	    .tls_alpn == "h2" and .client_verify == "ok" and
	    .client_subject == "CN=client" and .client_issuer == "CN=ca" and
	    .client_sans == "DNS:client.example" and .state == "RELAYING" and
	    (.client_serial | test("^[0-9a-f]+$"))' <<<"$output"
	run -0 ctl show sess all
	[[ $output == *"  tls=TLSv1.3 cipher=TLS_AES_256_GCM_SHA384 group=X25519"*" resumed=no alpn=h2
  client_verify=ok client_subject=CN=client
"* ]]
	[[ $output =~ "  client_serial="[0-9a-f]+" client_issuer=CN=ca client_sans=DNS:client.example"$'\n' ]]
	exec {held}>&-
	finish held
	wait_for 10 closed_is '.tls_version == "TLSv1.3" and .tls_alpn == "h2" and
	    .client_verify == "ok" and .client_subject == "CN=client" and
	    (.client_serial | test("^[0-9a-f]+$")) and .tls_failure == null and
	    .client_issuer == "CN=ca" and .client_sans == "DNS:client.example"'
	# One that says nothing is in its handshake.
	exec {held}<>"/dev/tcp/127.0.0.1/$(port web)"
	printf '\26' >&"$held"
	wait_for 10 sess_is '.state == "HANDSHAKE" and .tls_version == null'
	run -0 ctl show sess all
	[[ $output == *"task=HANDSHAKE"* ]]
	[[ $output == *"scb= state=INI"* ]]
	printf 'nonsense' >&"$held"
	wait_for 10 closed_is '.code == "PR" and
	    .tls_failure == "wrong version number" and .tls_version == null'
	run -0 ctl show closed
	[[ $output == *" tls=TLSv1.3 cipher=TLS_AES_256_GCM_SHA384 group=X25519"*" resumed=no alpn=h2 "* ]]
}

sess_is() {
	ctl show sess json | jq -e ".[0] | $1" >/dev/null
}

closed_is() {
	ctl show closed 1 json | jq -e ".[0] | $1" >/dev/null
}

@test "tlsfacts: handshakes are counted" {
	authority
	start_tls good good
	WEB="127.0.0.1:0 tls=down" GLOBAL="http = 127.0.0.1:0" up good
	connect "$(listening web)" --times 3
	run timeout 60 openssl s_client -connect "$(listening web)" -no_tls1_3 \
	    -verify_return_error </dev/null
	wait_for 10 counted web 2 FRONTEND 3 2 1
	counted app 4 BACKEND 3 2 0
	counted app 4 good 3 2 0
	run -0 ctl show stat typed
	[[ $output == *".ssl_sess.1:MCP:u64:3"* ]]
	# Full handshakes: one of three, and the refused one.
	run -0 ctl show pool main json
	jq -e '.[0] | .key_operations == 2 and .key_rate <= 2' <<<"$output"
	http=$(sed -n 's|.*monitoring at \(http://.*\)/$|\1|p' "$LFPROXY_LOG")
	[[ $(fetch "$http/metrics") == *'lfproxy_pool_key_operations_total{pool="main"} 2'* ]]
}

# shows NAME NUMBER: a line of show info.
shows() {
	ctl show info | grep -qx "$1: $2"
}

@test "tlsfacts: show info counts connections, and sessions looked up by id" {
	authority
	start_echo a
	DOWN="tickets = off" WEB="127.0.0.1:0 tls=down" web a
	for option in -sess_out -sess_in; do
		run -0 timeout 60 openssl s_client -connect "$(listening web)" \
		    -tls1_2 "$option" "$T/session" </dev/null
	done
	wait_for 10 shows SslCacheLookups 1
	shows SslCacheMisses 0
	# The session of a connection that is just dropped is not kept.
	mkfifo "$T/silent"
	rm "$T/session"
	spawn dropped bash -c 'exec "${@:2}" <>"$1"' - "$T/silent" openssl \
	    s_client -connect "$(listening web)" -tls1_2 \
	    -sess_out "$T/session"
	wait_for 10 grep -q "END SSL SESSION" "$T/session"
	kill -KILL "${PIDS[dropped]}"
	wait_for 10 shows CurrSslConns 0
	run -0 timeout 60 openssl s_client -connect "$(listening web)" \
	    -tls1_2 -sess_in "$T/session" </dev/null
	wait_for 10 shows SslCacheMisses 1
	shows SslCacheLookups 2
	wait_for 10 shows CurrSslConns 0
	hold
	wait_for 10 shows CurrSslConns 1
	exec {held}>&-
	finish held
	wait_for 10 shows CurrSslConns 0
}

# counted PROXY TYPES ROW DONE RESUMED FAILED
counted() {
	local csv

	csv=$("$CTL" -S "$ADMIN" show stat "$1" 7 -1)
	[ "$(column_of ssl_sess "$3" <<<"$csv")" = "$4" ] &&
	    [ "$(column_of ssl_reused_sess "$3" <<<"$csv")" = "$5" ] &&
	    [ "$(column_of ssl_failed_handshake "$3" <<<"$csv")" = "$6" ]
}

@test "tlsfacts: explain says which certificate a client gets" {
	authority
	start_tls good good
	DOWN="cert = $T/name.pem key=$T/name.key" WEB="127.0.0.1:0 tls=down" \
	    up good
	run -0 ctl explain 127.0.0.1 web sni x.example
	[[ $output == *"  tls      $T/good.pem (EC)"* ]]
	[[ $output == *" x.example, which has a say in the certificate alone"* ]]
	[[ $output == *"$(addr good) TLS"* ]]
	run -0 ctl explain 127.0.0.1 web sni other.example json
	jq -e --arg file "$T/name.pem (EC)" '.[0].certificates == $file and
	    .[0].servers[0].tls' <<<"$output"
}

# hold_plain: a client without TLS, which stays until the descriptor held closes.
hold_plain() {
	exec {held}<>"/dev/tcp/127.0.0.1/$(port web)"
	echo hello >&"$held"
	timeout 60 head -1 <&"$held" >"$T/answer"
}

@test "tlsfacts: log, show sess and show closed say what the server's TLS is" {
	authority
	start_tls a good --alpn x/1,h2
	GLOBAL="log = file=$T/log.json format=json" UP="ca = $T/ca.pem
		sni = app.example
		alpn = h2 x/1" up a
	hold_plain
	wait_for 10 sess_is '.server_tls_version == "TLSv1.3" and
	    (.server_tls_cipher | startswith("TLS_AES_")) and
	    (.server_tls_group | startswith("X25519")) and
	    .server_tls_resumed == false and .server_tls_alpn == "x/1" and
	    .server_verify == "ok" and .tls_version == null'
	run -0 ctl show sess all
	[[ $output == *"  server_tls=TLSv1.3 server_cipher=TLS_AES_"*" server_resumed=no server_alpn=x/1 server_verify=ok
"* ]] || fail "$output"
	exec {held}>&-
	wait_for 10 closed_is '.server_tls_version == "TLSv1.3" and
	    .server_tls_alpn == "x/1" and .server_verify == "ok"'
	until_logged '.server_tls_version == "TLSv1.3" and
	    .server_tls_resumed == false and .server_tls_alpn == "x/1" and
	    .server_verify == "ok" and .tls_version == null'
	hold_plain
	exec {held}>&-
	until_logged '.server_tls_resumed == true'
	run -0 ctl show closed
	[[ $output == *" server_tls=TLSv1.3 server_cipher=TLS_AES_"*" server_resumed=yes server_alpn=x/1 server_verify=ok "* ]] ||
	    fail "$output"
	# Without verification, in TLS 1.2, and not at all.
	sed -i 's|^\s*sni = app.example|&\nverify = none\nmax_version = 1.2|' \
	    "$T/lfproxy.ini"
	reload
	hold_plain
	exec {held}>&-
	until_logged '.server_tls_version == "TLSv1.2" and
	    .server_verify == null and (has("server_verify"))'
	sed -i 's|^\s*tls = up||' "$T/lfproxy.ini"
	reload
	exec {held}<>"/dev/tcp/127.0.0.1/$(port web)"
	wait_for 10 sess_is '.state == "RELAYING"'
	exec {held}>&-
	until_logged '(has("server_tls_version") | not)'
}
