#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# lfproxyctl import: single lines of HAProxy and nginx, and defaults, that were
# once converted to something else without a word.

# bats file_tags=onethread

load helpers

CTL=$BUILD/lfproxyctl

setup_file() {
	"$ROOT/scripts/make-test-certs" "$BATS_FILE_TMPDIR/tls"
}

# convert KIND STATUS: standard input, whose result is valid and has the exit
# status; it is $output then.
convert() {
	mkdir -p "$T/$1"
	sed "s|@DIR@|$BATS_FILE_TMPDIR/tls|g" >"$T/$1/in.cfg"
	run --separate-stderr "$CTL" import "$1" "$T/$1/in.cfg"
	printf '%s\n' "$output" >"$T/$1/out.ini"
	equal "the status of $(cat "$T/$1/in.cfg") as $output $stderr" "$2" \
	    "$status"
	"$LFPROXY" -t -c "$T/$1/out.ini" || fail "$output"
}

# haproxy STATUS BACKEND [FRONTEND [GLOBAL]]: a proxy with these lines.
haproxy() {
	convert haproxy "$1" <<-END
		global
		$(printf ' %b' "${4:-log stdout local0}")
		defaults
		 mode tcp
		 timeout client 1m
		 timeout server 1m
		 timeout connect 5s
		frontend f
		 bind 127.0.0.1:7000
		$(printf ' %b' "${3:-option tcplog}")
		 default_backend b
		backend b
		$(printf ' %b' "$2")
	END
}

# has LINE...: the result has each of the lines.
has() {
	local line

	for line; do
		grep -qxF -- "$line" <<<"$output" ||
			fail "no line '$line' in $output"
	done
}

# says TEXT...: the result has each of the texts.
says() {
	local text

	for text; do
		[[ $output == *"$text"* ]] || fail "no '$text' in $output"
	done
}

@test "importrows: check-ssl checks over TLS servers whose sessions have none" {
	haproxy 1 'option httpchk GET /healthz\n server a 10.0.0.1:6443 check check-ssl verify none\n server b 10.0.0.2:6443 check check-ssl verify none'
	has "check = https method=GET path=/healthz verify=off"
	haproxy 0 'default-server check check-ssl verify none\n server a 10.0.0.1:6443'
	has "check = tls verify=off"
	haproxy 0 'option redis-check\n server a 10.0.0.1:6379 check check-ssl ca-file @DIR@/ca.pem check-sni redis.test'
	has "check = redis tls=on ca=$BATS_FILE_TMPDIR/tls/ca.pem sni=redis.test"
	haproxy 1 'server a 10.0.0.1:443 check check-ssl verify none\n server b 10.0.0.2:443 check'
	says "server a ... check-ssl" "CLIENTS: not checked"
	has "server = a 10.0.0.1:443 weight=1 check=off"
	haproxy 0 'option httpchk\n http-check connect port 8443 ssl\n http-check send meth GET uri / hdr Host app.test\n server a 10.0.0.1:443 check'
	has "check = https port=8443 method=GET path=/ host=app.test verify=off"
}

@test "importrows: checks begin with the PROXY header that HAProxy sends" {
	haproxy 0 'server a 10.0.0.1:80 send-proxy-v2 check check-send-proxy'
	says "check_send_proxy=v2"
	haproxy 0 'server a 10.0.0.1:80 check check-send-proxy'
	says "check_send_proxy=v1"
}

@test "importrows: a check may take its interval, unless timeout check is there" {
	haproxy 0 'server a 10.0.0.1:80 check inter 10s'
	says "check_interval=10s weight=1 check_timeout=10s"
	haproxy 0 'timeout check 3s\n server a 10.0.0.1:80 check inter 10s'
	has "check = connect timeout=3s"
}

@test "importrows: what a check leaves out is said" {
	haproxy 1 'option mysql-check user haproxy\n server a 10.0.0.1:80 check'
	says "SERVERS: the check reads the server's greeting"
	haproxy 0 'option mysql-check\n server a 10.0.0.1:80 check'
	haproxy 1 'option external-check\n external-check command /none/there\n server a 10.0.0.1:80 check' '' 'external-check'
	says "CLIENTS: this host has no such program"
	haproxy 1 'option httpchk\n http-check disable-on-404\n server a 10.0.0.1:80 check'
	says "CLIENTS: a 404 counts as a failed check"
	haproxy 1 'option httpchk\n server a 10.0.0.1:80 check'
	says "SERVERS: asks in HTTP/1.0"
	haproxy 0 'option httpchk GET /\n server a 10.0.0.1:80'
	has "check = off"
}

@test "importrows: a body that a check expects goes with any status" {
	haproxy 1 'option httpchk GET /\n http-check expect string OK\n server a 10.0.0.1:80 check'
	says "status=100-599" 'check_body = "OK"'
}

@test "importrows: a table's clients stay in HAProxy, and that is said" {
	haproxy 1 'stick-table type ip size 1m expire 30m\n stick on src\n server a 10.0.0.1:80'
	says "CLIENTS: by a hash, without a table"
}

@test "importrows: a rate that counts refused connections is said to differ" {
	haproxy 1 'server a 10.0.0.1:80' 'stick-table type ip size 1m expire 30m store conn_rate(10s)\n tcp-request connection track-sc0 src\n tcp-request connection reject if { sc0_conn_rate gt 5 }'
	says "CLIENTS: HAProxy counts refused connections as well"
}

@test "importrows: peers that share counters are said to be lost" {
	haproxy 1 'server a 10.0.0.1:80' 'stick-table type ip size 1m store conn_cur peers p\n tcp-request connection track-sc0 src\n tcp-request connection reject if { sc0_conn_cur gt 5 }'
	says "stick-table ... peers p" "CLIENTS: every lfproxy counts alone"
}

@test "importrows: an unknown word of global may concern clients" {
	haproxy 1 'server a 10.0.0.1:80' '' 'ssl-default-bind-sigalgs RSA+SHA256'
	says "ssl-default-bind-sigalgs RSA+SHA256"
	haproxy 1 'server a 10.0.0.1:80' '' 'invented-limit 5'
	says "CLIENTS: lfproxy has nothing of that name"
}

@test "importrows: an authority without a name is verified as HAProxy does, or said" {
	haproxy 1 'server a 10.0.0.1:443 ssl verify required ca-file @DIR@/ca.pem'
	says "CLIENTS: HAProxy verifies the authority"
	haproxy 0 'server a 10.0.0.1:443 ssl verify required ca-file @DIR@/ca.pem verifyhost app.test'
	has "name = app.test"
	haproxy 1 'server a 10.0.0.1:443 ssl verify none ca-verify-file @DIR@/ca.pem'
}

@test "importrows: without words about them, ciphers and groups are OpenSSL's" {
	haproxy 0 'server a 10.0.0.1:80' 'bind 127.0.0.1:7001 ssl crt @DIR@/rsa.pem'
	has "ciphers = DEFAULT" "curves = X25519:P-256:X448:P-521:P-384"
}

@test "importrows: a backlog beyond what lfproxy takes is its largest one" {
	haproxy 0 'server a 10.0.0.1:80' 'bind 127.0.0.1:7001 backlog 100000\n backlog 70000'
	has "listen = 127.0.0.1:7001 backlog=65535" \
	    "listen = 127.0.0.1:7000 backlog=65535"
}

@test "importrows: retry-on none ends the retries" {
	haproxy 0 'retries 5\n retry-on none\n server a 10.0.0.1:80'
	has "retries = 0"
	[ "$(grep -c '^retries' <<<"$output")" -eq 1 ]
}

@test "importrows: lines that all proxies inherit are reported once" {
	convert haproxy 1 <<-END
		defaults
		 mode tcp
		 timeout client 1m
		 timeout server 1m
		 option mysql-check user haproxy
		listen one
		 bind 127.0.0.1:7000
		 server a 10.0.0.1:80 check
		listen two
		 bind 127.0.0.1:7001
		 server a 10.0.0.1:80 check
	END
	equal "reports" 1 "$(grep -c 'SERVERS: the check reads' <<<"$output")"
}
