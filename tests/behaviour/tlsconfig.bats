#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# TLS in the configuration: lfproxy -t over good files and bad ones, and what a
# reload does with them.

# bats file_tags=onethread

load helpers
load mainpool

setup_file() {
	bats_require_minimum_version 1.5.0
	export CERTS=$BATS_FILE_TMPDIR/certs
	"$ROOT/scripts/make-test-certs" "$CERTS" www.example.com
	(
		cd "$CERTS"
		# A certificate and its key in files of their own, and keys that
		# do not fit.
		openssl x509 -in rsa.pem -out www.pem
		openssl pkey -in rsa.pem -out www.pem.key
		openssl pkey -in ecdsa.pem -out other.key
		openssl pkey -in rsa.pem -aes256 -passout pass:secret -out locked.key
		T=$CERTS expired expired ca DNS:www.example.com
		cat expired.key >>expired.pem
		echo "no certificate" >text.pem
		mkdir empty sites
		cp ecdsa.pem sites/a.pem
	) 2>"$BATS_FILE_TMPDIR/openssl" || {
		cat "$BATS_FILE_TMPDIR/openssl" >&2
		return 1
	}
}

# tls LINE...: a file whose listen has a section with these lines, the first of
# which is line 2.  SERVER: options of the server.
tls() {
	printf '[tls public]\n%s\n' "$(printf '%s\n' "$@")"
	cat <<-END
		[frontend web]
		listen = 127.0.0.1:0 tls=public
		backend = app
		[backend app]
		check = off
		server = a 127.0.0.1:1 ${SERVER:-}
	END
}

# check STATUS LINE...: lfproxy -t with these lines.
check() {
	local status=$1

	shift
	tls "$@" >"$T/lfproxy.ini"
	run "-$status" --separate-stderr timeout 60 "$LFPROXY" -t \
	    -c "$T/lfproxy.ini" </dev/null
}

# refuses LINENUMBER FILE GIST LINE...: there is one error, at that line; it
# names the file and says why.
refuses() {
	local number=$1 file=$2 gist=$3

	shift 3
	check 78 "$@"
	# shellcheck disable=SC2154 # run sets these.
	[ "${#stderr_lines[@]}" -eq 1 ] || fail "not one error: $stderr"
	[[ $stderr == "$T/lfproxy.ini:$number: "*"$file"*"$gist"* ]] ||
	    fail "not line $number, $file, $gist: $stderr"
}

accepts() {
	check 0 "$@"
	equal "warnings" "" "$stderr"
}

# warns GIST LINE...
warns() {
	local gist=$1

	shift
	check 0 "$@"
	[[ $stderr == "$T/lfproxy.ini:"*": warning: "*"$gist"* ]] ||
	    fail "no warning of $gist: $stderr"
}

# bats test_tags=covered
@test "tlsconfig: certificates are taken with the key inside, beside, or named" {
	accepts "cert = $CERTS/rsa.pem"
	accepts "cert = $CERTS/www.pem"
	accepts "cert = $CERTS/www.pem key=$CERTS/rsa.pem"
	accepts "cert = $CERTS/rsa.pem" "cert = $CERTS/ecdsa.pem"
	accepts "cert_dir = $CERTS/sites"
	accepts "cert = $CERTS/rsa.pem" "verify = required" \
	    "ca = $CERTS/ca.pem" "crl = $CERTS/ca.crl" "depth = 2"
	accepts "cert = $CERTS/rsa.pem" "ciphers = HIGH:!aNULL:!MD5:!RC4" \
	    "curves = X25519:P-256" "min_version = 1.2" "max_version = 1.3"
}

# bats test_tags=covered
@test "tlsconfig: a certificate that is missing, or is none, is named with its line" {
	refuses 2 "$CERTS/none.pem" "No such file" "cert = $CERTS/none.pem"
	refuses 3 "$CERTS/none.pem" "No such file" "cert = $CERTS/rsa.pem" \
	    "cert = $CERTS/none.pem"
	refuses 2 "$CERTS/text.pem" "no certificate" "cert = $CERTS/text.pem"
	refuses 3 "$CERTS/sites" "directory" "alpn = h2" "cert = $CERTS/sites"
	refuses 2 "$CERTS/ca.pem" "no private key" "cert = $CERTS/ca.pem"
	refuses 2 "$CERTS/rsa.pem.ocsp2" "No such file" \
	    "cert = $CERTS/rsa.pem ocsp=$CERTS/rsa.pem.ocsp2"
}

# bats test_tags=covered
@test "tlsconfig: a key that is missing, encrypted, or another's is named" {
	refuses 2 "$CERTS/none.key" "No such file" \
	    "cert = $CERTS/www.pem key=$CERTS/none.key"
	refuses 2 "$CERTS/locked.key" "encrypted" \
	    "cert = $CERTS/www.pem key=$CERTS/locked.key"
	refuses 2 "$CERTS/www.pem" "$CERTS/other.key" \
	    "cert = $CERTS/www.pem key=$CERTS/other.key"
	refuses 2 "$CERTS/text.pem" "no private key" \
	    "cert = $CERTS/www.pem key=$CERTS/text.pem"
}

@test "tlsconfig: all files that cannot be used are named, each once" {
	cp -r "$CERTS/sites" "$T/sites"
	cp "$CERTS/text.pem" "$T/sites/a.pem"
	cp "$CERTS/text.pem" "$T/sites/b.pem"
	SERVER=tls=public check 78 "cert = $CERTS/none.pem" \
	    "cert = $CERTS/rsa.pem" "cert = $CERTS/www.pem key=$CERTS/none.key" \
	    "cert_dir = $T/sites" "verify = required" "ca = $CERTS/none.ca" \
	    "tickets_file = $CERTS/none.tickets"
	for part in "2:none.pem" "4:none.key" "5:a.pem" "5:b.pem" \
	    "7:none.ca" "8:none.tickets"; do
		[ "$(grep -c "^$T/lfproxy.ini:${part%:*}: .*/${part#*:}'" \
		    <<<"$stderr")" -eq 1 ] || fail "not $part once: $stderr"
	done
	[ "${#stderr_lines[@]}" -eq 6 ] || fail "not six errors: $stderr"
}

@test "tlsconfig: a folder that is missing or has no certificate is named" {
	refuses 3 "$CERTS/nowhere" "No such file" "alpn = h2" \
	    "cert_dir = $CERTS/nowhere"
	refuses 2 "$CERTS/empty" "no certificate" "cert_dir = $CERTS/empty"
	cp -r "$CERTS/sites" "$T/sites"
	cp "$CERTS/text.pem" "$T/sites/b.pem"
	refuses 3 "$T/sites/b.pem" "no certificate" "cert_dir = $CERTS/sites" \
	    "cert_dir = $T/sites"
}

@test "tlsconfig: authorities and revocations that cannot be read are named" {
	local cert="cert = $CERTS/rsa.pem" verify="verify = optional"

	refuses 4 "$CERTS/none" "No such file" "$cert" "$verify" \
	    "ca = $CERTS/none"
	refuses 4 "$CERTS/www.pem.key" "no certificate" "$cert" "$verify" \
	    "ca = $CERTS/www.pem.key"
	refuses 4 "$CERTS/empty" "no certificate" "$cert" "$verify" \
	    "ca = $CERTS/empty"
	refuses 5 "$CERTS/ca.pem" "no CRL" "$cert" "$verify" \
	    "ca = $CERTS/ca.pem" "crl = $CERTS/ca.pem"
	refuses 3 "ca = FILE" "" "$cert" "$verify"
}

# bats test_tags=covered
@test "tlsconfig: a file that may not be read is named" {
	local as=()

	install -m 600 "$CERTS/rsa.pem" "$T/private.pem"
	if [ "$(id -u)" -eq 0 ]; then
		need_nobody
		need "an lfproxy that nobody may run" nobody test -x "$LFPROXY"
		as=(nobody)
	else
		chmod 000 "$T/private.pem"
	fi
	tls "cert = $T/private.pem" >"$T/lfproxy.ini"
	run -78 --separate-stderr "${as[@]}" "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $stderr == "$T/lfproxy.ini:2: "*"$T/private.pem"*"Permission denied"* ]]
}

# bats test_tags=covered
@test "tlsconfig: an expired certificate, and a key for all to read, are warnings" {
	warns "$CERTS/expired.pem: the certificate has expired" \
	    "cert = $CERTS/expired.pem"
	install -m 644 "$CERTS/rsa.pem" "$T/open.pem"
	warns "$T/open.pem: every user of this host can read the key" \
	    "cert = $T/open.pem"
}

# bats test_tags=covered
@test "tlsconfig: an unknown word of OpenSSL is named with its line" {
	local cert="cert = $CERTS/rsa.pem"

	refuses 3 "'ECDHE-RSA-AES128-GCM-SHA265'" "did you mean" "$cert" \
	    "ciphers = HIGH:ECDHE-RSA-AES128-GCM-SHA265"
	refuses 3 "'aNUL'" "" "$cert" "ciphers = HIGH:!aNUL"
	refuses 3 "'TLS_AES_128'" "" "$cert" "ciphersuites = TLS_AES_128"
	refuses 3 "'X25518'" "did you mean 'X25519'" "$cert" \
	    "curves = X25518:P-256"
	refuses 3 "'1.1'" "not secure" "$cert" "min_version = 1.1"
}

# bats test_tags=covered
@test "tlsconfig: a listen without a certificate is at fault, with its line" {
	check 78 "alpn = h2"
	[[ $stderr == "$T/lfproxy.ini:4: [frontend web]: listen: "*"[tls public] has no certificate"* ]]
}

# bats test_tags=covered
@test "tlsconfig: a section that nothing uses is not read from" {
	{
		tls "cert = $CERTS/rsa.pem"
		printf '[tls other]\ncert = /nowhere/a.pem\n'
	} >"$T/lfproxy.ini"
	run -0 --separate-stderr "$LFPROXY" -t -c "$T/lfproxy.ini"
	equal "warnings" \
	    "$T/lfproxy.ini:$(grep -n 'tls other' "$T/lfproxy.ini" | cut -d : -f 1): warning: [tls other]: nothing uses it, and its files are not read; remove it, or write tls=other after a listen or server" \
	    "$stderr"
}

# bats test_tags=covered
@test "tlsconfig: the printed configuration is a configuration" {
	tls "cert = $CERTS/rsa.pem" "cert = $CERTS/www.pem key=$CERTS/www.pem.key" \
	    "alpn = h2  http/1.1" "session_timeout = 60m" >"$T/lfproxy.ini"
	"$LFPROXY" -T -c "$T/lfproxy.ini" >"$T/one"
	grep -qx "cert = $CERTS/www.pem key=$CERTS/www.pem.key" "$T/one"
	grep -qx "alpn = h2 http/1.1" "$T/one"
	grep -qx "session_timeout = 1h" "$T/one"
	grep -q "^listen = 127.0.0.1:0 .*tls=public" "$T/one"
	"$LFPROXY" -T -c "$T/one" >"$T/two"
	diff "$T/one" "$T/two"
}

# bats test_tags=covered
@test "tlsconfig: the command line says that TLS needs a file" {
	run -78 --separate-stderr "$LFPROXY" -t -l '127.0.0.1:0 tls=x' -s 127.0.0.1:1
	[[ $stderr == "-l 127.0.0.1:0 tls=x: "*"only a file can have"* ]]
}

# running LINE...: the file of a running lfproxy.
running() {
	common
	tls "$@"
}

# certificate: the subject that a client sees.
certificate() {
	openssl s_client -connect "$(listening web)" -servername www.example.com \
	    </dev/null 2>/dev/null | openssl x509 -noout -subject
}

# shellcheck disable=SC2034 # THREADS is for common.
@test "tlsconfig: a reload names changed keys, and reads files again without" {
	THREADS=4
	cp "$CERTS/rsa.pem" "$T/www.pem"
	running "cert = $T/www.pem" >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	is "p[\"long_limit\"] == min(3, $(nproc))" True
	[[ $(certificate) == *www.example.com ]]
	run -0 ctl reload
	equal "no change" "No change." "$output"

	# The same file with another certificate.
	cp "$CERTS/client.pem" "$T/www.pem"
	run -0 ctl reload
	# Unless the thread that watches the file was quicker.
	[[ $output != "No change." ]] || run -0 ctl show events
	[[ $output == *"certificate '$T/www.pem' is another"* ]] ||
	    fail "$output"
	[[ $(certificate) == *"test client" ]]

	# A broken one leaves everything as it was.
	cp "$CERTS/text.pem" "$T/www.pem"
	run -1 ctl reload
	[[ $output == *"$T/www.pem"*"no certificate"* ]]
	[[ $(certificate) == *"test client" ]]

	cp "$CERTS/rsa.pem" "$T/www.pem"
	running "cert = $T/www.pem" "min_version = 1.3" |
	    sed 's/^shards.*/&\nhandshake_threads = 2/' >"$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *"tls public: min_version: 1.2 -> 1.3"* ]]
	[[ $output == *"pool main: handshake_threads: auto -> 2"* ]]
	is 'p["long_limit"]' 2
	[[ $(certificate) == *www.example.com ]]
	refute openssl s_client -connect "$(listening web)" -tls1_2 </dev/null
	set_main threads 1
	is 'p["long_limit"]' 1
	stop_lfproxy
}

# threads_are FACTOR: there are so many for each CPU, one shard for two CPUs, and
# one handshake at a time for each CPU; a single thread makes handshakes too.
threads_are() {
	local cpus

	cpus=$(nproc)
	equal "threads, shards, long turns" \
	    "($(($1 * cpus)), $(((cpus + 1) / 2)), True)" \
	    "$(main "p[\"threads\"], p[\"shards\"],
	        p[\"long_limit\"] == max(1, min($cpus, $1 * $cpus - 1))")"
}

# shellcheck disable=SC2034 # THREADS and SHARDS are for common.
@test "tlsconfig: automatic threads are two for each CPU while there is TLS" {
	THREADS=auto SHARDS=auto
	common >"$T/lfproxy.ini"
	cat >>"$T/lfproxy.ini" <<-END
		[tls public]
		cert = $CERTS/rsa.pem
		[tls upstream]
		verify = none
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = off
		server = a 127.0.0.1:1
	END
	launch_lfproxy -c "$T/lfproxy.ini"
	threads_are 1
	ctl add server app/b 127.0.0.1:2 tls=upstream
	threads_are 2
	ctl add server app/c 127.0.0.1:3 tls=upstream
	ctl del server app/b
	threads_are 2
	ctl del server app/c
	threads_are 1

	sed -i 's/^listen.*/& tls=public/' "$T/lfproxy.ini"
	ctl reload
	threads_are 2
	run -0 ctl show drift
	[[ $output != *threads* ]]
	# What an operator has set stays, until it is automatic again.
	set_main threads 3
	ctl add server app/d 127.0.0.1:4 tls=upstream
	equal "threads" 3 "$(main 'p["threads"]')"
	set_main threads auto
	threads_are 2
	set_main shards auto
	threads_are 2
	stop_lfproxy
	launch_lfproxy -c "$T/lfproxy.ini"
	threads_are 2
	sed -i 's/ tls=public//' "$T/lfproxy.ini"
	ctl reload
	threads_are 1
	stop_lfproxy
}

# apart EXPRESSION: Python, of the list of the threads that compute nothing but
# handshakes, and of the others.
apart() {
	ctl show threads main json | python3 -c '
import json, sys
threads = [t for t in json.load(sys.stdin) if not t["retiring"]]
apart = [t for t in threads if t["class"] == 4]
others = [t for t in threads if t["class"] == 0]
print(eval(sys.argv[1]))' "$1"
}

apart_is() {
	[ "$(apart "$1")" = "$2" ]
}

# shellcheck disable=SC2034 # THREADS and SHARDS are for common.
@test "tlsconfig: without the right to become less nice, spare threads compute" {
	local own cpus limit="prlimit --nice=0:0"

	own=$(nice)
	((own <= 9)) || skip "these tests run with nice $own"
	((EUID != 0)) ||
	    limit+=" setpriv --bounding-set=-sys_nice --inh-caps=-sys_nice"
	THREADS=auto SHARDS=auto
	running "cert = $CERTS/rsa.pem" >"$T/lfproxy.ini"
	LIMIT=$limit launch_lfproxy -c "$T/lfproxy.ini"
	cpus=$(nproc)
	equal "threads" "$((2 * cpus)) $cpus" \
	    "$(main 'p["threads"]') $(apart 'len(apart)')"
	equal "nice" "({$((own + 10))}, {$own}, 10)" \
	    "($(apart 'set(t["nice"] for t in apart)'), $(
	        apart 'set(t["nice"] for t in others)'), $(main 'p["long_nice"]'))"
	equal "turns before" 0 "$(apart 'sum(t["turns"] for t in apart)')"
	[[ $(certificate) == *www.example.com ]]
	wait_for 10 apart_is 'sum(t["turns"] for t in apart) > 0' True
	set_main handshake_nice 5
	wait_for 10 apart_is 'set(t["nice"] for t in apart)' "{$((own + 5))}"
	[[ $(certificate) == *www.example.com ]]
	wait_for 10 apart_is 'sum(t["turns"] for t in apart) > 0' True

	# Threads that lead cannot return, so without spare ones none is nicer.
	set_main threads $((2 * cpus))
	wait_for 10 apart_is 'len(apart), len(others)' "(0, $((2 * cpus)))"
	equal "nice" 0 "$(main 'p["long_nice"]')"
	[[ $(certificate) == *www.example.com ]]
	run -1 ctl set pool main handshake_nice 6
	[[ $output == "The system does not let threads return from nice 6: "* ]]
	stop_lfproxy
}

# resume OPTION: whether the handshake is New or Reused, with TLS 1.2, where the
# ticket comes with the handshake.
resume() {
	openssl s_client -connect "$(listening web)" -tls1_2 "$1" "$T/session" \
	    </dev/null 2>/dev/null | sed -n 's/^\(New\|Reused\), TLS.*/\1/p'
}

# bats test_tags=covered
@test "tlsconfig: tickets survive a reload, but not another section" {
	running "cert = $CERTS/rsa.pem" >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	equal "first" New "$(resume -sess_out)"
	equal "again" Reused "$(resume -sess_in)"
	running "cert = $CERTS/rsa.pem" "alpn = h2" >"$T/lfproxy.ini"
	run -0 ctl reload
	equal "after a reload" Reused "$(resume -sess_in)"
	running "cert = $CERTS/rsa.pem" | sed 's/public/other/' >"$T/lfproxy.ini"
	run -0 ctl reload
	equal "with another section" New "$(resume -sess_in)"
	stop_lfproxy
}
