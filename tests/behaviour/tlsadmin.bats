#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Certificates change in a running lfproxy: by a reload, by themselves when their
# files change, and by commands; and operators see them.

load helpers
load stat

# new_pem NAME FILE [DAYS]: another certificate for the name, of the authority
# ca, with its key, in the place of the file.
new_pem() {
	umask 077
	[ -e "$T/ca.pem" ] || make_ca ca
	openssl req "${NEW_KEY[@]}" -nodes -subj "/CN=$1" -keyout "$T/new.key" \
	    -out "$T/new.csr" 2>/dev/null
	openssl x509 -req -days "${3:-30}" -CA "$T/ca.pem" -CAkey "$T/ca.key" \
	    -CAcreateserial -extfile <(echo "subjectAltName=DNS:$1") \
	    -in "$T/new.csr" -out "$T/new.pem" 2>/dev/null
	cat "$T/new.key" >>"$T/new.pem"
	chmod 600 "$T/new.pem"
	mv "$T/new.pem" "$2"
}

# print_of FILE: the fingerprint of its first certificate.
print_of() {
	openssl x509 -in "$1" -noout -fingerprint -sha256
}

# print_for NAME: that of the certificate which a client gets.
print_for() {
	timeout $((60 * PATIENCE)) openssl s_client -connect "$(listening web)" \
	    -servername "$1" </dev/null 2>/dev/null |
	    openssl x509 -noout -fingerprint -sha256
}

# serves NAME FILE: clients that ask for the name get the file's certificate.
serves() {
	[ "$(print_for "$1")" = "$(print_of "$2")" ]
}

# site LINE...: lfproxy with these lines in [tls public].
site() {
	write_site "$@"
	launch_lfproxy -c "$T/lfproxy.ini"
}

write_site() {
	{
		common
		printf '[tls public]\n'
		printf '%s\n' "$@"
		printf '[frontend web]\nlisten = 127.0.0.1:0 tls=public\n'
		printf 'backend = app\n[backend app]\ncheck = off\n'
		printf 'retries = 0\nserver = a 127.0.0.1:9\n'
		printf '%s\n' "${SECTIONS:-}"
	} >"$T/lfproxy.ini"
}

@test "tls admin: a reload takes new certificates, and says which" {
	new_pem a.example "$T/a.pem"
	new_pem b.example "$T/b.pem"
	site "cert = $T/a.pem" "cert = $T/b.pem"
	cp "$T/b.pem" "$T/other.pem"
	write_site "cert = $T/a.pem" "cert = $T/other.pem"
	run -0 ctl reload
	[[ $output == *"tls public: cert: "* ]] || fail "$output"
	[[ $output == *"tls public: certificate '$T/b.pem' is removed"* ]] ||
	    fail "$output"
	[[ $output == *"tls public: certificate '$T/other.pem' is new"* ]] ||
	    fail "$output"
	run -0 ctl reload
	equal "the same files" "No change." "$output"
	serves b.example "$T/other.pem" || fail "not served"
}

@test "tls admin: a reload with a broken or mismatched certificate changes nothing" {
	new_pem a.example "$T/a.pem"
	site "cert = $T/a.pem"
	cp "$T/a.pem" "$T/good.pem"
	new_pem b.example "$T/b.pem"
	openssl x509 -in "$T/b.pem" -out "$T/mixed.pem"
	openssl pkey -in "$T/a.pem" >>"$T/mixed.pem"
	echo nothing >"$T/broken.pem"
	for name in mixed broken missing; do
		write_site "cert = $T/$name.pem" 'session_timeout = 1h'
		run -1 ctl reload
		[[ $output == *"Nothing was changed:"*"$T/$name.pem"* ]] ||
		    fail "$output"
		serves a.example "$T/good.pem" || fail "$name"
	done
}

# bats test_tags=covered
@test "tls admin: counters and tickets outlive a reload, and no session is cut" {
	new_pem a.example "$T/a.pem"
	start_app a
	site "cert = $T/a.pem"
	sed -i "s/^server = .*/server = a $(addr a)/" "$T/lfproxy.ini"
	ctl reload
	openssl s_client -connect "$(listening web)" -tls1_2 -sess_out "$T/s" \
	    </dev/null >"$T/first" 2>/dev/null
	grep -q '^New, ' "$T/first"
	new_pem a.example "$T/a.pem"
	ctl reload
	serves a.example "$T/a.pem" || fail "the former certificate"
	openssl s_client -connect "$(listening web)" -tls1_2 -sess_in "$T/s" \
	    </dev/null >"$T/second" 2>/dev/null
	grep -q '^Reused, ' "$T/second" || fail "$(cat "$T/second")"
}

@test "tls admin: certificates follow their files, however these are replaced" {
	mkdir -p "$T/live" "$T/archive" "$T/sites" "$T/v1"
	new_pem a.example "$T/a.pem"
	new_pem live.example "$T/archive/1.pem"
	ln -s ../archive/1.pem "$T/live/x.pem"
	new_pem set.example "$T/v1/x.pem"
	ln -s v1 "$T/data"
	new_pem one.example "$T/sites/one.pem"
	site "cert = $T/a.pem" "cert = $T/live/x.pem" "cert = $T/data/x.pem" \
	    "cert_dir = $T/sites"
	for name in a live set one; do
		print_for "$name.example"
	done >"$T/before"
	# By a rename, and in place.
	new_pem a.example "$T/a.pem"
	wait_for 10 serves a.example "$T/a.pem"
	new_pem a.example "$T/next.pem"
	cat "$T/next.pem" >"$T/a.pem"
	wait_for 10 serves a.example "$T/next.pem"
	# The link, the file that it leads to, and a folder on the way.
	new_pem live.example "$T/archive/2.pem"
	ln -sfn ../archive/2.pem "$T/live/x.pem"
	wait_for 10 serves live.example "$T/archive/2.pem"
	new_pem live.example "$T/archive/2.pem"
	wait_for 10 serves live.example "$T/archive/2.pem"
	mkdir "$T/v2"
	new_pem set.example "$T/v2/x.pem"
	ln -sfn v2 "$T/data"
	wait_for 10 serves set.example "$T/v2/x.pem"
	# A folder's files.
	new_pem two.example "$T/sites/two.pem"
	wait_for 10 serves two.example "$T/sites/two.pem"
	rm "$T/sites/two.pem"
	wait_for 10 eventful "certificate .*sites/two.pem' is removed"
	equal one "$(print_of "$T/sites/one.pem")" "$(print_for one.example)"
	refute lfproxy_said 'cannot be used'
}

@test "tls admin: files that do not fit leave all as it is, which is said once" {
	new_pem a.example "$T/a.pem"
	new_pem b.example "$T/b.pem"
	cp "$T/a.pem" "$T/good.pem"
	site "cert = $T/a.pem" "cert = $T/b.pem"
	# A good file beside a bad one does not count either.
	cp "$T/b.pem" "$T/old-b.pem"
	openssl x509 -in "$T/b.pem" -out "$T/mixed.pem"
	openssl pkey -in "$T/a.pem" >>"$T/mixed.pem"
	mv "$T/mixed.pem" "$T/a.pem"
	new_pem b.example "$T/b.pem"
	wait_for 10 eventful 'certificate_refused tls/public: .*a.pem'
	serves a.example "$T/good.pem" || fail a
	serves b.example "$T/old-b.pem" || fail b
	touch "$T/a.pem"
	rm "$T/a.pem"
	wait_for 10 eventful 'certificate_refused .*No such file'
	equal "once each" 2 "$(ctl show events | grep -c certificate_refused)"
	new_pem a.example "$T/a.pem"
	wait_for 10 serves a.example "$T/a.pem"
	serves b.example "$T/b.pem" || fail "b, afterwards"
}

# verifying_site: lfproxy that verifies clients with the authority ca and its
# CRL, before the server a.
verifying_site() {
	make_ca ca
	new_pem a.example "$T/a.pem"
	new_pem client "$T/client.pem"
	printf '[ca]\ndefault_ca = d\n[d]\ndatabase = %s\ndefault_md = sha256\n' \
	    "$T/index" >"$T/ca.cnf"
	printf 'default_crl_days = 3\n' >>"$T/ca.cnf"
	: >"$T/index"
	crl -gencrl -out "$T/crl.pem"
	start_app a
	write_site "cert = $T/a.pem" "ca = $T/ca.pem" "crl = $T/crl.pem" \
	    'verify = required'
	sed -i "s/^server = .*/server = a $(addr a)/" "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# crl OPTION...: openssl ca as that authority.
crl() {
	openssl ca -config "$T/ca.cnf" -cert "$T/ca.pem" \
	    -keyfile "$T/ca.key" "$@" 2>/dev/null
}

# gets: the client with client.pem gets the server's answer.
gets() {
	[ "$(fetch -k --cert "$T/client.pem" \
	    "https://127.0.0.1:$(port web)/")" = a ]
}

revoked() {
	! gets 2>/dev/null
}

# respond CERT OUT: an OCSP response of the authority ca, that CERT is good.
respond() {
	printf 'V\t491231235959Z\t\t%s\tunknown\t/CN=x\n' \
	    "$(openssl x509 -in "$1" -noout -serial | cut -d= -f2)" \
	    >"$T/index"
	openssl ocsp -index "$T/index" -CA "$T/ca.pem" -rsigner "$T/ca.pem" \
	    -rkey "$T/ca.key" -issuer "$T/ca.pem" -cert "$1" -ndays 2 \
	    -respout "$2.new" >/dev/null 2>&1
	mv "$2.new" "$2"
}

# stapled WORDS: openssl s_client says that of its OCSP response.
stapled() {
	openssl s_client -connect "$(listening web)" -status </dev/null \
	    2>/dev/null | grep -q "$1"
}

@test "tls admin: an OCSP response is stapled, and follows its file" {
	local none='OCSP response: no response sent'

	make_ca ca
	new_pem a.example "$T/a.pem"
	write_site "cert = $T/a.pem"
	launch_lfproxy -c "$T/lfproxy.ini"
	stapled "$none"
	respond "$T/a.pem" "$T/a.pem.ocsp"
	wait_for 10 stapled 'Cert Status: good'
	eventful "OCSP response '$T/a.pem.ocsp' is new"
	# A renewed certificate does not wait for its response.
	new_pem a.example "$T/a.pem"
	wait_for 10 eventful "OCSP response '$T/a.pem.ocsp' is about another"
	serves a.example "$T/a.pem"
	stapled "$none"
	run -0 ctl show tls
	[[ $output == *"OCSP about another certificate, not sent"* ]] ||
	    fail "$output"
	run -0 --separate-stderr "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $stderr == *"warning: "*"$T/a.pem.ocsp: the OCSP response is about another"* ]] ||
	    fail "$stderr"
	respond "$T/a.pem" "$T/a.pem.ocsp"
	wait_for 10 stapled 'Cert Status: good'
}

# bats test_tags=covered
@test "tls admin: a new CRL takes effect" {
	verifying_site
	gets
	crl -revoke "$T/client.pem"
	crl -gencrl -out "$T/next.crl"
	mv "$T/next.crl" "$T/crl.pem"
	wait_for 10 revoked
	eventful 'tls public: the CRLs are others'
}

# sent FORMAT [ARGUMENT...]: what a HAProxy client gets, which writes this to the
# socket, as socat would.
sent() {
	# shellcheck disable=SC2059
	printf "$@" | timeout $((20 * PATIENCE)) socat -t 20 - "UNIX:$ADMIN" |
	    sed '/^$/d'
}

@test "tls admin: HAProxy's words replace a certificate" {
	new_pem a.example "$T/a.pem"
	site "cert = $T/a.pem"
	new_pem b.example "$T/b.pem"
	pem=$(cat "$T/b.pem")
	equal set "Transaction created for certificate $T/a.pem!" \
	    "$(sent 'set ssl cert %s <<\n%s\n\n' "$T/a.pem" "$pem")"
	equal again "Transaction updated for certificate $T/a.pem!" \
	    "$(sent 'set ssl cert %s <<\n%s\n\n' "$T/a.pem" "$pem")"
	equal list "# transaction|*$T/a.pem|# filename|$T/a.pem" \
	    "$(sent 'show ssl cert\n' | paste -sd '|')"
	equal "not yet" 1 "$(sent 'show ssl cert %s\n' "$T/a.pem" |
	    grep -c '^Subject: /CN=a.example$')"
	equal staged 1 "$(sent 'show ssl cert *%s\n' "$T/a.pem" |
	    grep -c '^Subject: /CN=b.example$')"
	serves a.example "$T/a.pem"
	equal commit "Committing $T/a.pem.|Success!" \
	    "$(sent 'commit ssl cert %s\n' "$T/a.pem" | paste -sd '|')"
	serves a.example "$T/b.pem"
	equal gone "No ongoing transaction! !|Can't commit $T/a.pem!" \
	    "$(sent 'commit ssl cert %s\n' "$T/a.pem" | paste -sd '|')"
	sent 'set ssl cert %s <<\n%s\n\n' "$T/a.pem" "$(cat "$T/a.pem")"
	equal abort "Transaction aborted for certificate '$T/a.pem'!" \
	    "$(sent 'abort ssl cert %s\n' "$T/a.pem")"
	equal aborted 'No ongoing transaction!' \
	    "$(sent 'abort ssl cert %s\n' "$T/a.pem")"
	equal unknown "Can't replace a certificate which is not referenced by the configuration!|Can't update x!" \
	    "$(sent 'set ssl cert x <<\n%s\n\n' "$pem" | paste -sd '|')"
	# A payload that is no certificate, and one for a user without the right.
	[[ $(sent 'set ssl cert %s <<\nnothing\n\n' "$T/a.pem") == *"Can't load the payload"* ]]
	equal rights "Permission denied" \
	    "$(sent 'operator;set ssl cert %s <<\nuser\n\n' "$T/a.pem" | tail -n 1)"
	# A reload leaves it, and goes back to the file when that is another.
	run -0 ctl reload
	serves a.example "$T/b.pem"
	equal drift "tls public certificate '$T/a.pem': as in the file -> CN=b.example" \
	    "$(ctl show drift | sed -n 's/, until .*//p')"
	run -0 ctl save config
	[[ $output == *"lfproxy writes no certificates and keys; write the file"*"0 changes saved, 1 left." ]] ||
	    fail "$output"
	cp "$T/a.pem" "$T/copy" && mv "$T/copy" "$T/a.pem"
	run -0 ctl reload
	[[ $output == *"is from its file, and no longer as it was set by a command"* ]]
	serves a.example "$T/a.pem"
	[[ $(ctl show drift) != *'as in the file'* ]]
}

@test "tls admin: HAProxy's words replace authorities" {
	verifying_site
	openssl req -x509 "${NEW_KEY[@]}" -nodes -days 2 -subj /CN=other \
	    -keyout "$T/other.key" -out "$T/other.pem" 2>/dev/null
	local ca=$T/ca.pem other

	other=$(cat "$T/other.pem")
	equal list "# filename|$ca - 1 certificate(s)" \
	    "$(sent 'show ssl ca-file\n' | paste -sd '|')"
	equal set "transaction created for CA $ca!" \
	    "$(sent 'set ssl ca-file %s <<\n%s\n\n' "$ca" "$other")"
	equal again "transaction updated for CA $ca!" \
	    "$(sent 'set ssl ca-file %s <<\n%s\n%s\n\n' "$ca" "$other" \
	        "$other")"
	equal both "# transaction|*$ca - 2 certificate(s)|# filename|$ca - 1 certificate(s)" \
	    "$(sent 'show ssl ca-file\n' | paste -sd '|')"
	equal staged "Filename: *$ca|Status: Unused| |Certificate #2:" \
	    "$(sent 'show ssl ca-file *%s:2\n' "$ca" | head -n 4 | paste -sd '|')"
	sent 'show ssl ca-file *%s:2\n' "$ca" | grep -qx 'Subject: /CN=other'
	sent 'show ssl ca-file %s\n' "$ca" | grep -qx 'Issuer: /CN=ca'
	gets
	equal commit "Committing $ca.|Success!" \
	    "$(sent 'commit ssl ca-file %s\n' "$ca" | paste -sd '|')"
	revoked || fail "a client of the former authority got an answer"
	eventful 'tls public: the authorities are others, by a command'
	# Another file's change leaves it, and a change of its own does not.
	new_pem a.example "$T/a.pem"
	wait_for 10 serves a.example "$T/a.pem"
	revoked || fail "the former authority is back"
	cp "$ca" "$T/copy" && mv "$T/copy" "$ca"
	wait_for 10 gets
	# By a reload with another file, too.
	ctl set ssl ca-file "$ca" <"$T/other.pem"
	ctl commit ssl ca-file "$ca"
	revoked || fail "a client of the former authority got an answer"
	run -0 ctl reload
	revoked || fail "a reload has brought the former authority back"
	[[ $(ctl show drift) == *"tls public ca '$ca': as in the file -> 1 certificate"* ]]
	cp "$ca" "$T/copy" && mv "$T/copy" "$ca"
	run -0 ctl reload
	gets
	equal abort 'No ongoing transaction!' \
	    "$(sent 'abort ssl ca-file %s\n' "$ca")"
	sent 'set ssl ca-file %s <<\n%s\n\n' "$ca" "$other"
	equal aborted "Transaction aborted for certificate '$ca'!" \
	    "$(sent 'abort ssl ca-file %s\n' "$ca")"
	equal none "No ongoing transaction! !|Can't commit $ca!" \
	    "$(sent 'commit ssl ca-file %s\n' "$ca" | paste -sd '|')"
	equal unknown "Can't replace a CA file which is not referenced by the configuration!|Can't update x!" \
	    "$(sent 'set ssl ca-file x <<\n%s\n\n' "$other" | paste -sd '|')"
	[[ $(sent 'set ssl ca-file %s <<\nnothing\n\n' "$ca") == *"Invalid payload"* ]]
	equal "not shown" "Can't display the CA file : Not found!" \
	    "$(sent 'show ssl ca-file x\n')"
	equal "no number" "wrong CA index after colons in '$ca:x'!" \
	    "$(sent 'show ssl ca-file %s:x\n' "$ca")"
}

@test "tls admin: HAProxy's words replace a CRL" {
	local serial

	verifying_site
	gets
	crl -revoke "$T/client.pem"
	crl -gencrl -out "$T/next.crl"
	ctl set ssl crl-file "$T/crl.pem" <"$T/next.crl"
	equal list "# transaction|*$T/crl.pem|# filename|$T/crl.pem" \
	    "$(sent 'show ssl crl-file\n' | paste -sd '|')"
	sent 'show ssl crl-file %s\n' "$T/crl.pem" |
	    grep -qx 'No Revoked Certificates.'
	gets
	ctl commit ssl crl-file "$T/crl.pem"
	revoked || fail "a revoked client got an answer"
	serial=$(openssl x509 -in "$T/client.pem" -noout -serial | cut -d= -f2)
	sent 'show ssl crl-file %s\n' "$T/crl.pem" |
	    grep -qx "    Serial Number: $serial"
	run -0 ctl --json show ssl crl-file "$T/crl.pem"
	equal JSON "True True $serial" "$(python3 -c 'import json, sys
t = json.load(sys.stdin)
print(t["in_memory"], not t["staged"], t["crls"][0]["revoked"][0]["serial"])' \
	    <<<"$output")"
}

@test "tls admin: a list of many authorities and revoked certificates is whole" {
	verifying_site
	for ((i = 0; i < 120; i++)); do
		printf 'R\t400101000000Z\t260101000000Z\t%04X\tunknown\t/CN=%d\n' \
		    $((4096 + i)) "$i"
	done >"$T/index"
	crl -gencrl -out "$T/next.crl"
	ctl set ssl crl-file "$T/crl.pem" <"$T/next.crl"
	equal revoked 120 "$(ctl show ssl crl-file "*$T/crl.pem" |
	    grep -c '^    Serial Number: 10')"
	for ((i = 0; i < 30; i++)); do
		cat "$T/ca.pem"
	done >"$T/many"
	ctl set ssl ca-file "$T/ca.pem" <"$T/many"
	equal authorities 30 "$(ctl --json show ssl ca-file "*$T/ca.pem" |
	    python3 -c 'import json, sys
print(len(json.load(sys.stdin)["certificates"]))')"
}

@test "tls admin: lfproxyctl takes a certificate from its standard input" {
	new_pem a.example "$T/a.pem"
	new_pem key.example "$T/both.pem"
	openssl x509 -in "$T/both.pem" -out "$T/k.pem"
	openssl pkey -in "$T/both.pem" -out "$T/k.pem.key"
	site "cert = $T/a.pem" "cert = $T/k.pem"
	new_pem b.example "$T/b.pem"
	# Empty lines do not end it.
	run -0 ctl set tls cert public "$T/a.pem" < <(sed 'G' "$T/b.pem")
	[[ $output == *"is now CN=b.example, until "*"in memory only"* ]] ||
	    fail "$output"
	serves a.example "$T/b.pem"
	run -0 ctl show tls public
	[[ $output == *"b.example, EC"*"default, set in memory"* ]] || fail "$output"
	# A change of another file does not bring the former one back.
	new_pem key.example "$T/both.pem"
	openssl pkey -in "$T/both.pem" -out "$T/k.pem.key"
	openssl x509 -in "$T/both.pem" -out "$T/k.pem"
	wait_for 10 serves key.example "$T/k.pem"
	serves b.example "$T/b.pem"
	# One without a key, for another key; then certificate and key.
	new_pem key.example "$T/both.pem"
	run -1 ctl set ssl cert "$T/k.pem" \
	    < <(cat "$T/k.pem.key"; openssl x509 -in "$T/both.pem")
	[[ $output == "inconsistencies between private key and certificate loaded '$T/k.pem'.
Can't load the payload
Can't update $T/k.pem!"* ]] || fail "$output"
	run -1 ctl set tls cert public "$T/k.pem" < <(openssl x509 -in "$T/both.pem")
	[[ $output == *"the key does not belong to the certificate"* ]]
	refute serves key.example "$T/both.pem"
	ctl set ssl cert "$T/k.pem" < <(openssl x509 -in "$T/both.pem")
	run -1 ctl commit ssl cert "$T/k.pem"
	[[ $output == *"Can't commit"* ]]
	ctl set ssl cert "$T/k.pem.key" < <(openssl pkey -in "$T/both.pem")
	ctl commit ssl cert "$T/k.pem"
	serves key.example "$T/both.pem"
	# With its key in the same file a certificate has to bring it.
	run -1 ctl set ssl cert "$T/a.pem" < <(openssl x509 -in "$T/both.pem")
	[[ $output == "inconsistencies between private key and certificate loaded '$T/a.pem'."* ]] ||
	    fail "$output"
	run -1 ctl commit ssl cert "$T/a.pem"
	run -1 ctl set tls cert none "$T/k.pem" <"$T/both.pem"
	equal section 'No such [tls] section. There is public.' "$output"
	run -1 ctl set tls cert public "$T/none.pem" <"$T/both.pem"
	run -64 ctl set tls cert public "$T/k.pem" </bin/true
	run -1 ctl set tls cert public "$T/k.pem" </dev/null
	has_match "admin: .*tls public: certificate '$T/k.pem' is another" \
	    "$LFPROXY_LOG"
	refute grep -q 'PRIVATE KEY' "$LFPROXY_LOG"
}

# bats test_tags=covered
@test "tls admin: show tls counts handshakes, resumptions and alerts" {
	new_pem a.example "$T/a.pem"
	site "cert = $T/a.pem"
	counted() {
		[ "$(ctl --json show tls | python3 -c 'import json, sys
t = json.load(sys.stdin)[0]
print(t["handshakes"], t["resumed"], t["failed"], t["under_way"], *sorted(t["alerts_received"]))')" = "$1" ]
	}
	for option in -sess_out -sess_in; do
		openssl s_client -connect "$(listening web)" -tls1_2 \
		    "$option" "$T/s" </dev/null >/dev/null 2>&1 || true
	done
	make_ca other
	run openssl s_client -connect "$(listening web)" -verify_return_error \
	    -no-CApath -no-CAstore -CAfile "$T/other.pem" </dev/null
	wait_for 10 counted '2 1 1 0 unknown_ca'
}

@test "tls admin: 200 replacements under a load of handshakes fail none" {
	for name in a b c; do
		new_pem a.example "$T/$name.pem"
	done
	start_app a
	write_site "cert = $T/a.pem"
	sed -i "s/^server = .*/server = a $(addr a)/" "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	spawn load "$TOOLS/tlsload" handshakes --ms 0 --connections 8 \
	    --deadline 500 "$(listening web)"
	handshakes() {
		ctl --json show tls |
		    python3 -c 'import json, sys
print(json.load(sys.stdin)[0]["handshakes"])'
	}
	begun() {
		[ "$(handshakes)" -ge 100 ]
	}
	wait_for 20 begun
	run -0 python3 -B "$ROOT/tests/behaviour/tlsadmintool.py" "$ADMIN" \
	    public "$T/a.pem" "$(listening web)" "$(scaled 200)" \
	    "$T/a.pem" "$T/b.pem" "$T/c.pem"
	# By reloads as well.
	for name in b c; do
		cp "$T/$name.pem" "$T/next.pem"
		mv "$T/next.pem" "$T/a.pem"
		ctl reload
		serves a.example "$T/a.pem"
	done
	signal load TERM
	finish load
	[[ $output == *'"unclean": 0, "errors": 0,'* ]]
	run -0 ctl show tls
	[[ $output == *', 0 failed, '* ]] || fail "$output"
}

@test "tls admin: a warning from 14 days before a certificate expires" {
	new_pem soon.example "$T/soon.pem" 3
	new_pem late.example "$T/late.pem" 60
	expired old ca DNS:old.example
	cat "$T/old.key" >>"$T/old.pem"
	SECTIONS='' site "cert = $T/soon.pem" "cert = $T/late.pem" \
	    "cert = $T/old.pem"
	wait_for 10 eventful \
	    "warning certificate_expires tls/public: .*soon.pem' expires in [23] days, on "
	eventful "certificate_expires .*old.pem' has expired on "
	refute eventful 'certificate_expires .*late.pem'
	equal info 'ExpiringCertificates: 2' \
	    "$(ctl show info | grep ExpiringCertificates)"
	run -0 ctl top
	[[ $output == *'2 CERTIFICATES EXPIRING'* ]] || fail "$output"
	# Once a day, also after a reload, and not any more with a new one.
	run -0 ctl reload
	new_pem soon.example "$T/soon.pem" 30
	wait_for 10 eventful "certificate .*soon.pem' is another"
	renewed() {
		[ "$(ctl show info | grep ExpiringCertificates)" = \
		    'ExpiringCertificates: 1' ]
	}
	wait_for 10 renewed
	equal once 1 "$(ctl show events | grep -c "soon.pem' expires in")"
}

# bats test_tags=covered
@test "tls admin: metrics and show info have handshakes and ends of certificates" {
	new_pem a.example "$T/a.pem"
	write_site "cert = $T/a.pem"
	sed -i "s/^\[global\]/&\nhttp = 127.0.0.1:0/" "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	serves a.example "$T/a.pem"
	serves a.example "$T/a.pem"
	end=$(date -d "$(openssl x509 -in "$T/a.pem" -noout -enddate |
	    cut -d= -f2)" +%s)
	run -0 fetch "$(sed -n 's|.*monitoring at ||p' "$LFPROXY_LOG")metrics"
	for line in \
	    "lfproxy_tls_handshakes_total{tls=\"public\",peers=\"clients\"} 2" \
	    "lfproxy_tls_signatures_total{tls=\"public\",peers=\"clients\"} 2" \
	    "lfproxy_tls_certificate_expiry_timestamp_seconds{tls=\"public\",file=\"$T/a.pem\"} $end" \
	    "lfproxy_process_certificates_expiring 0"; do
		[[ $output == *"$line"* ]] || fail "no $line: $output"
	done
	counted() {
		[ "$(ctl show info | grep -E "^$1: ")" = "$1: $2" ]
	}
	wait_for 10 counted CumSslConns 2
	sed -i 's/^backend = app/handshakes = 7\n&/' "$T/lfproxy.ini"
	ctl reload
	for column in 'ssl_sess 2' 'ssl_failed_handshake 0' \
	    'lf_handshakes_now 0' 'lf_handshakes_limit 7'; do
		has "${column% *}" FRONTEND "${column#* }" || fail "$column"
	done
	[ "$(column lf_handshakes_max FRONTEND)" -ge 1 ]
	ctl show info | grep -E '^SslFrontendMaxKeyRate: [12]$'
	counted SslBackendMaxKeyRate 0
}
