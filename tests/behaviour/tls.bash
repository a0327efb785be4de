# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Helpers for the tests of TLS; `load tls` after `load helpers` and `load stat`.

TLS_TOOL="python3 -B $ROOT/tests/behaviour/tlsendstool.py"

# with_key NAME: the certificate's file gets its key as well.
with_key() {
	local name

	for name in "$@"; do
		cat "$T/$name.key" >>"$T/$name.pem"
	done
}

# make_site NAME [ALTNAMES]: a certificate of the authority ca, with its key in
# one file.
make_site() {
	[ -e "$T/ca.pem" ] || make_ca ca
	make_cert "$1" ca "${2:-DNS:$1,IP:127.0.0.1}"
	with_key "$1"
}

# setup_site: a site for terminate, with a server.
setup_site() {
	make_site www.example
	start_app a
	SERVERS=(a)
}

# make_rsa_site NAME [ALTNAMES]: with an RSA key.
make_rsa_site() {
	# shellcheck disable=SC2034 # for make_cert
	local NEW_KEY=(-newkey rsa:2048)

	make_site "$@"
}

# terminate LINE...: lfproxy with a frontend web, whose listen has a [tls public]
# of these lines, in front of the servers in SERVERS.  LISTEN_TLS, FRONTEND and
# BACKEND: further words or lines there; SECTIONS: further sections.
terminate() {
	local name

	{
		common
		printf '[tls public]\n'
		printf '%s\n' "$@"
		printf '[frontend web]\n'
		echo "listen = ${WEB:-127.0.0.1:0} tls=public ${LISTEN_TLS:-}"
		unhurried timeout_handshake "${FRONTEND:-}"
		printf '%s\n[backend app]\n%s\n' "${FRONTEND:-backend = app}" \
		    "${BACKEND:-check = off}"
		for name in "${SERVERS[@]}"; do
			echo "server = $name $(addr "$name")"
		done
		printf '%s\n' "${SECTIONS:-}"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# originate LINE...: lfproxy with a plain frontend web, whose backend has a [tls
# upstream] of these lines, in front of the servers in SERVERS.
originate() {
	local name

	{
		common
		printf '[tls upstream]\n'
		printf '%s\n' "$@"
		printf '[frontend web]\nlisten = 127.0.0.1:0\n%s\n' \
		    "${FRONTEND:-backend = app}"
		printf '[backend app]\ntls = upstream\n%s\n' \
		    "${BACKEND:-check = off}"
		unhurried timeout_connect "${BACKEND:-}"
		for name in "${SERVERS[@]}"; do
			echo "server = $name $(addr "$name")"
		done
		printf '%s\n' "${SECTIONS:-}"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# https NAME [OPTION...]: what curl gets from the site of that name.
https() {
	local name=$1

	shift
	fetch --cacert "$T/ca.pem" --resolve "$name:$(port web):127.0.0.1" \
	    "https://$name:$(port web)/" "$@"
}

# s_client OPTION...: openssl s_client with a request, until the server ends; what
# it says is in $output.
s_client() {
	run timeout $((60 * PATIENCE)) openssl s_client -ign_eof \
	    -connect "$(listening web)" -CAfile "$T/ca.pem" "$@" \
	    < <(printf 'GET / HTTP/1.0\r\n\r\n')
}

# s_client_says PATTERN OPTION...
s_client_says() {
	local pattern=$1

	shift
	s_client "$@"
	# shellcheck disable=SC2154 # set by run
	[[ $output =~ $pattern ]] || fail "s_client $*: no $pattern: $output"
}

# subject OPTION...: that of the certificate which such a client gets.  OpenSSL
# before 3.2 writes blanks around the =.
subject() {
	s_client "$@"
	sed -n 's/^subject=CN *= *//p' <<<"$output"
}

# has_hybrid: whether this OpenSSL has X25519MLKEM768; before 3.5 it cannot list
# groups, either.
has_hybrid() {
	[[ $(openssl list -tls-groups 2>/dev/null) == *X25519MLKEM768* ]]
}

# tls_tool MODE OPTION...: see tlsendstool.py; what it prints is in $output.
tls_tool() {
	# shellcheck disable=SC2086
	run -0 timeout $((100 * PATIENCE)) $TLS_TOOL "$@"
}

# start_taker NAME [OPTION...]: a server of tlsendstool.py.
start_taker() {
	# shellcheck disable=SC2086
	serve "$1" $TLS_TOOL serve "$@"
}
