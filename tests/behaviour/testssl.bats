#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What testssl.sh, a scanner of TLS servers, says of a [tls] section that has
# certificates and nothing else.  Nothing leaves the machine.

load helpers
load stat
load tls

# make_long_site NAME KEY_OPTION...: a certificate as a public authority makes
# them, valid for 90 days, which testssl.sh has no remark on.
make_long_site() {
	local name=$1

	shift
	openssl req "$@" -nodes -subj /CN=localhost -keyout "$T/$name.key" \
	    -out "$T/$name.csr" 2>/dev/null
	openssl x509 -req -days 90 -CA "$T/ca.pem" -CAkey "$T/ca.key" \
	    -CAcreateserial -in "$T/$name.csr" -out "$T/$name.pem" -extfile <(
		echo subjectAltName=DNS:localhost,IP:127.0.0.1
		echo extendedKeyUsage=serverAuth
		echo keyUsage=digitalSignature
	) 2>/dev/null
	with_key "$name"
}

# findings: lines of `ID SEVERITY TEXT`.  Certificates have the form of 3.0, which
# 3.2 calls <hostCert#1>.
findings() {
	python3 - "$T/findings.csv" <<'EOF'
import csv, sys
for row in csv.DictReader(open(sys.argv[1])):
    name = row["id"].replace(" ", "_").replace("<hostCert#", "<cert#")
    print(name, row["severity"], row["finding"])
EOF
}

# finding ID: its severity and text.
finding() {
	sed -n "s/^$1 //p" <<<"$found"
}

# scan SECTION...: has these sections of a scan tried, all without any, and judges
# what was found.
scan() {
	local id scanner

	scanner=$(command -v testssl || command -v testssl.sh) ||
	    skip "no testssl.sh here"
	make_ca ca
	make_long_site ec "${NEW_KEY[@]}"
	make_long_site rsa -newkey rsa:2048
	start_app a
	# shellcheck disable=SC2034 # for terminate
	SERVERS=(a)
	terminate "cert = $T/ec.pem" "cert = $T/rsa.pem"
	# It counts as a failure whatever it could not find out.
	run timeout $((1200 * PATIENCE)) "$scanner" "$@" --warnings off \
	    --color 0 --nodns none --ip 127.0.0.1 --add-ca "$T/ca.pem" \
	    --csvfile "$T/findings.csv" "localhost:$(port web)" </dev/null
	found=$(findings)
	# The scan was whole: it knows what it has connected to.
	for id in TLS1_2 TLS1_3 'cert_chain_of_trust_<cert#1>' \
	    'cert_chain_of_trust_<cert#2>' heartbleed CCS ticketbleed \
	    secure_renego secure_client_renego CRIME_TLS POODLE_SSL SWEET32 \
	    FREAK DROWN LOGJAM BEAST LUCKY13 RC4 ROBOT fallback_SCSV; do
		[[ $(finding "$id") == OK* ]] || fail "$id: $(finding "$id"): $output"
	done
	# All but what a private authority cannot have (a list of revoked
	# certificates on the web), what the server behind decides, and the
	# order of ciphers, which is the client's: each of them is strong.  Key
	# exchanges of ML-KEM need OpenSSL 3.5.
	equal "remarks" "" "$(grep -Ev \
	    '^(cert_revocation|HSTS|security_headers|cipher_order|FS_KEMs)' \
	    <<<"$found" | grep -E '^[^ ]* (LOW|MEDIUM|HIGH|CRITICAL) ')"
}

# The simulated clients, which take three quarters of a scan, find no weakness.
# bats test_tags=slow
@test "testssl: a section with the defaults has no weakness" {
	scan --protocols --std --fs --server-defaults --server-preference \
	    --headers --vulnerable
}

# bats test_tags=long
@test "testssl: a section with the defaults gets grade A from a whole scan" {
	local grade

	[ "${SHORT:-0}" != 1 ] ||
	    skip "a whole scan takes minutes; the slow tests have most of it"
	scan
	# Releases before 3.2 give no grade.
	grade=$(finding overall_grade)
	[[ -z $grade || $grade == *" A" || $grade == *" A+" ]] ||
	    fail "$grade: $found"
}
