#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Certificates of clients: none, good ones, and ones that are bad in each way.

# bats file_tags=basic

load helpers
load stat
load tls

# make_client NAME CA: a client's certificate with its key.
make_client() {
	make_cert "$1" "$2" "DNS:$1"
	with_key "$1"
}

setup_clients() {
	make_site www.example
	make_ca other
	make_client good ca
	expired expired ca DNS:expired
	with_key expired
	make_client foreign other
	make_client revoked ca
	printf '[ca]\ndatabase = %s\ndefault_md = sha256\n' "$T/index" \
	    >"$T/ca.cnf"
	: >"$T/index"
	: >"$T/index.attr"
	make_crl revoked
	start_app a
	SERVERS=(a)
}

# make_crl [NAME...]: the list of what the authority ca has revoked, and these.
make_crl() {
	local name

	for name in "$@"; do
		openssl ca -config "$T/ca.cnf" -name ca -keyfile "$T/ca.key" \
		    -cert "$T/ca.pem" -revoke "$T/$name.pem" 2>/dev/null
	done
	openssl ca -config "$T/ca.cnf" -name ca -keyfile "$T/ca.key" \
	    -cert "$T/ca.pem" -gencrl -crldays 2 -out "$T/ca.crl" 2>/dev/null
}

# served NAME [OPTION...]: a client with that certificate, or none, is answered.
served() {
	local name=$1

	shift
	[ "$name" = none ] || set -- --cert "$T/$name.pem" "$@"
	equal "the answer for $name" a "$(https www.example "$@")"
}

# rejected NAME ALERT REASON: such a client is refused with that alert, in both
# versions, and the log has the reason.  lfproxy starts again, as it logs no more
# than one such failure a second.
rejected() {
	local name=$1 alert=$2 reason=$3 version options=()

	[ "$name" = none ] || options=(-cert "$T/$name.pem")
	for version in 1_2 1_3; do
		stop_lfproxy
		launch_lfproxy -c "$T/lfproxy.ini"
		s_client "-tls$version" "${options[@]}"
		[[ $output =~ alert\ ($alert) ]] ||
		    fail "$name, $version: no alert $alert: $output"
		[[ $output != *$'\r\na'* ]] || fail "$name got an answer"
		wait_for 10 session_like \
		    " web/1: SSL handshake failure \(.*$reason"
		refute lfproxy_said 'TLS handshake with .* failed: '
	done
}

# bats test_tags=covered
@test "tls clients: a certificate is required, and has to be good" {
	setup_clients
	terminate "cert = $T/www.example.pem" 'verify = required' \
	    "ca = $T/ca.pem" "crl = $T/ca.crl"
	served good
	served good --tls-max 1.2
	rejected none 'handshake failure|certificate required' \
	    'did not return a certificate'
	rejected foreign 'unknown ca' 'unable to get local issuer certificate'
	rejected expired 'certificate expired' 'certificate has expired'
	rejected revoked 'certificate revoked' 'certificate revoked'
	served good
}

# bats test_tags=covered
@test "tls clients: an optional certificate may be missing, but not be bad" {
	setup_clients
	terminate "cert = $T/www.example.pem" 'verify = optional' \
	    "ca = $T/ca.pem" "crl = $T/ca.crl"
	served none
	served none --tls-max 1.2
	served good
	rejected foreign 'unknown ca' 'unable to get local issuer certificate'
	rejected revoked 'certificate revoked' 'certificate revoked'
}

# closed_with MEMBER VALUES: that of the sessions that have ended, the last one
# first.  The client may be gone before its session has ended.
closed_with() {
	ctl show closed json | jq -ce "[.[] | $1] == $2"
}

@test "tls clients: a requested certificate may be bad, as the log says" {
	setup_clients
	terminate "cert = $T/www.example.pem" 'verify = request' \
	    "ca = $T/ca.pem" "crl = $T/ca.crl"
	served none
	served good
	served foreign
	served foreign --tls-max 1.2
	served revoked
	served expired
	wait_for 10 closed_with .client_verify '["certificate has expired",
	    "certificate revoked", "unable to get local issuer certificate",
	    "unable to get local issuer certificate", "ok", null]'
}

@test "tls clients: strict names refuse clients that ask for others" {
	setup_clients
	terminate "cert = $T/www.example.pem" 'strict_sni = on'
	served none
	s_client -servername other.example
	[[ $output == *'unrecognized name'* ]] || fail "$output"
	wait_for 10 session_like ' web/1: SSL handshake failure \(no certificate has the name that the client asks for \(strict_sni\)\)'
	s_client -noservername
	[[ $output == *'unrecognized name'* ]] || fail "$output"
	wait_for 10 closed_with .sni '[null, "other.example", "www.example"]'
	run -0 ctl show tls
	[[ $output == *unrecognized_name* ]] || fail "$output"
}

# bats test_tags=covered
@test "tls clients: without verification no certificate is asked for" {
	setup_clients
	terminate "cert = $T/www.example.pem"
	served none
	served foreign
	s_client_says 'No client certificate CA names sent' -tls1_2
}

@test "tls clients: a reload brings a new list of revoked certificates" {
	setup_clients
	terminate "cert = $T/www.example.pem" 'verify = required' \
	    "ca = $T/ca.pem" "crl = $T/ca.crl"
	served good
	s_client -tls1_3 -cert "$T/good.pem" -sess_out "$T/session"
	make_crl good
	ctl reload
	rejected good 'certificate revoked' 'certificate revoked'
	# A session from before the list does not get round it.
	s_client -tls1_3 -cert "$T/good.pem" -sess_in "$T/session"
	[[ $output != *$'\r\na'* ]] || fail "$output"
}

@test "tls clients: a chain is no longer than depth allows" {
	setup_clients
	openssl req "${NEW_KEY[@]}" -nodes -subj /CN=middle \
	    -keyout "$T/middle.key" -out "$T/middle.csr" 2>/dev/null
	openssl x509 -req -days 2 -CA "$T/ca.pem" -CAkey "$T/ca.key" \
	    -CAcreateserial -extfile <(echo basicConstraints=CA:TRUE) \
	    -in "$T/middle.csr" -out "$T/middle.pem" 2>/dev/null
	make_cert deep middle DNS:deep
	cat "$T/middle.pem" "$T/deep.key" >>"$T/deep.pem"
	terminate "cert = $T/www.example.pem" 'verify = required' \
	    "ca = $T/ca.pem"
	served deep
	sed -i "s/^verify = required/&\ndepth = 1/" "$T/lfproxy.ini"
	ctl reload
	served deep
	served good
	openssl x509 -req -days 2 -CA "$T/middle.pem" -CAkey "$T/middle.key" \
	    -CAcreateserial -extfile <(echo basicConstraints=CA:TRUE) \
	    -in "$T/middle.csr" -out "$T/lower.pem" 2>/dev/null
	cp "$T/middle.key" "$T/lower.key"
	make_cert deeper lower DNS:deeper
	cat "$T/lower.pem" "$T/middle.pem" "$T/deeper.key" >>"$T/deeper.pem"
	refute https www.example --cert "$T/deeper.pem"
	served good
}
