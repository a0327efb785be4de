#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The deploy hook for certbot and lego, and both beside an authority, Pebble, whose
# challenges go through lfproxy.

load helpers
load stat
load tls

DEPLOY=$ROOT/packaging/certbot/lfproxy-deploy

export PATH=$BUILD:$PATH LFPROXY_CERT_DIR=$T/sites
LFPROXY_GROUP=$(id -gn)
export LFPROXY_GROUP
unset RENEWED_LINEAGE LEGO_CERT_PATH LEGO_CERT_KEY_PATH

# lineage NAME [ALTNAME]: what certbot has in live/NAME after a renewal.
lineage() {
	local live=$T/live/$1

	[ -e "$T/ca.pem" ] || make_ca ca
	mkdir -p "$live"
	make_cert renewed ca "DNS:${2:-$1}"
	cat "$T/renewed.pem" "$T/ca.pem" >"$live/fullchain.pem"
	mv "$T/renewed.key" "$live/privkey.pem"
	chmod 600 "$live/privkey.pem"
}

# deploy NAME: as certbot calls its hooks.
deploy() {
	RENEWED_LINEAGE=$T/live/$1 "$DEPLOY"
}

# installed FILE LINEAGE: it has the chain and the key, for the group alone.
installed() {
	cat "$T/live/$2/fullchain.pem" "$T/live/$2/privkey.pem" |
	    cmp - "$T/sites/$1"
	equal "rights of $1" "640 $LFPROXY_GROUP" \
	    "$(stat -c '%a %G' "$T/sites/$1")"
	equal "files" "$1" "$(ls -A "$T/sites")"
}

@test "deploy: certbot's lineage becomes one file for the group" {
	lineage www.example.test
	run -0 deploy www.example.test
	[[ $output == *"www.example.test: the certificate and its key are in $T/sites/www.example.test.pem"* ]]
	installed www.example.test.pem www.example.test
	equal "the folder" 750 "$(stat -c %a "$T/sites")"
	# Another folder as an argument.
	mkdir "$T/other"
	RENEWED_LINEAGE=$T/live/www.example.test "$DEPLOY" "$T/other"
	cmp "$T/other/www.example.test.pem" "$T/sites/www.example.test.pem"
}

@test "deploy: lego's files, and names with an asterisk" {
	lineage '*.example.test'
	run -0 deploy '*.example.test'
	installed _.example.test.pem '*.example.test'
	rm "$T/sites/_.example.test.pem"
	cp "$T/live/*.example.test/fullchain.pem" "$T/_.example.test.crt"
	cp "$T/live/*.example.test/privkey.pem" "$T/_.example.test.key"
	LEGO_CERT_DOMAIN='*.example.test' LEGO_CERT_PATH=$T/_.example.test.crt \
	    LEGO_CERT_KEY_PATH=$T/_.example.test.key run -0 "$DEPLOY"
	installed _.example.test.pem '*.example.test'
}

# refused PATTERN COMMAND...: with the reason, and the file is as it was.
refused() {
	local pattern=$1

	shift
	run ! "$@"
	# shellcheck disable=SC2154 # set by run
	[[ $output == "lfproxy-deploy: error: "*$pattern* ]] ||
	    fail "$*: no '$pattern': $output"
	cmp "$T/sites/www.pem" "$T/before.pem"
	equal "files" www.pem "$(ls -A "$T/sites")"
}

@test "deploy: an unusable pair replaces nothing, and the error names it" {
	lineage www
	deploy www
	cp "$T/sites/www.pem" "$T/before.pem"
	openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 \
	    -out "$T/live/www/privkey.pem" 2>/dev/null
	refused "the key does not belong to the certificate" deploy www
	echo nonsense >"$T/live/www/privkey.pem"
	refused "$T/live/www/privkey.pem" deploy www
	rm "$T/live/www/privkey.pem"
	refused "$T/live/www/privkey.pem cannot be read" deploy www
	refused "neither RENEWED_LINEAGE nor LEGO_CERT_PATH" "$DEPLOY"
	lineage 'a b'
	refused "'a b' is no name" deploy 'a b'
	lineage .hidden
	refused "'.hidden' is no name" deploy .hidden
	lineage www
	LFPROXY_GROUP=no-such-group \
	    refused "there is no group 'no-such-group'" deploy www
	mkdir "$T/sites.new" && mv "$T/sites" "$T/real"
	: >"$T/file" && ln -s "$T/file" "$T/sites"
	run ! deploy www
	[[ $output == *"the folder $T/sites cannot be made"* ]]
}

@test "deploy: a running lfproxy takes the certificate without a reload" {
	lineage www.example.test
	deploy www.example.test
	start_app a
	SERVERS=(a)
	terminate "cert_dir = $T/sites"
	equal first a "$(https www.example.test)"
	lineage www.example.test
	deploy www.example.test
	wait_for 10 eventful "certificate .*sites/www.example.test.pem"
	wait_for 10 serves_file www.example.test
	lineage more.example.test
	deploy more.example.test
	wait_for 10 serves_file more.example.test
	refute lfproxy_said reloaded
}

# fingerprint NAME: of the certificate that lfproxy has for the name.
fingerprint() {
	openssl s_client -connect "$(listening web)" -servername "$1" \
	    </dev/null 2>/dev/null | openssl x509 -noout -fingerprint
}

serves_file() {
	[ "$(fingerprint "$1")" = \
	    "$(openssl x509 -noout -fingerprint -in "$T/sites/$1.pem")" ]
}

eventful() {
	lfproxy_said "$1"
}

# -- with an authority --

pebble_ready() {
	curl -s -m 2 -o /dev/null --cacert "$T/ca.pem" "https://127.0.0.1:$1/dir"
}

names_ready() {
	curl -s -m 2 -o /dev/null "http://127.0.0.1:$1/"
}

# start_pebble PORT: challenges go to that port of 127.0.0.1, whatever the name.
start_pebble() {
	local dns management

	make_ca ca
	make_cert pebble ca IP:127.0.0.1
	dns=$(free_port) management=$(free_port)
	on_free_port names names_ready pebble-challtestsrv -defaultIPv6 "" \
	    -dns01 "127.0.0.1:$dns" -http01 "" -https01 "" -tlsalpn01 "" \
	    -management 127.0.0.1:PORT
	cat >"$T/pebble.json" <<-END
		{"pebble": {"listenAddress": "127.0.0.1:@LISTEN@",
		"managementListenAddress": "127.0.0.1:$management",
		"certificate": "$T/pebble.pem", "privateKey": "$T/pebble.key",
		"httpPort": $1, "tlsPort": $1}}
	END
	on_free_port pebble pebble_ready env PEBBLE_VA_NOSLEEP=1 \
	    PEBBLE_WFE_NONCEREJECT=0 sh -c "
		sed s/@LISTEN@/PORT/ '$T/pebble.json' >'$T/pebble.conf'
		exec pebble -config '$T/pebble.conf' -dnsserver 127.0.0.1:$dns"
	DIRECTORY=https://$(addr pebble)/dir
	curl -sS --cacert "$T/ca.pem" "https://127.0.0.1:$management/roots/0" \
	    >"$T/root.pem"
}

# acme COMMAND [OPTION...]: certbot, with folders of its own.
acme() {
	REQUESTS_CA_BUNDLE=$T/ca.pem certbot "$@" --non-interactive \
	    --config-dir "$T/certbot" --work-dir "$T/certbot.work" \
	    --logs-dir "$T/certbot.log" --server "$DIRECTORY"
}

# with_lego COMMAND [OPTION...]
with_lego() {
	LEGO_CA_CERTIFICATES=$T/ca.pem lego --server "$DIRECTORY" \
	    --path "$T/lego" --accept-tos --email a@example.test \
	    --domains lego.example.test --http \
	    --http.port "127.0.0.1:$challenges" "$@"
}

# Clients that ask over kept connections until a file exists; prints how many
# answers there were, or how one failed.
keep_asking='
import http.client, os, socket, ssl, sys, time
port, name, root, stop = int(sys.argv[1]), *sys.argv[2:]
context = ssl.create_default_context(cafile=root)
clients = []
for _ in range(8):
    c = http.client.HTTPSConnection("127.0.0.1", port, timeout=180)
    c.sock = context.wrap_socket(socket.create_connection(
        ("127.0.0.1", port)), server_hostname=name)
    c.auto_open = 0
    clients.append(c)
answers = 0
while not os.path.exists(stop):
    for c in clients:
        c.request("GET", "/")
        if c.getresponse().read() != b"a\n":
            sys.exit("another answer")
        answers += 1
    if answers == len(clients):
        print("all connected", flush=True)
    time.sleep(0.01)
print(answers, "answers")
'

# bats test_tags=slow
@test "deploy: certbot and lego beside an authority, through lfproxy" {
	local challenges before

	challenges=$(free_port)
	lineage placeholder.example.test
	deploy placeholder.example.test
	start_app a
	SERVERS=(a)
	SECTIONS="[frontend challenges]
listen = 127.0.0.1:0
backend = acme
[backend acme]
check = off
server = acme 127.0.0.1:$challenges" terminate "cert_dir = $T/sites"
	start_pebble "$(port challenges)"
	# The first certificate is used by the lfproxy that runs.
	run -0 acme certonly --standalone --http-01-address 127.0.0.1 \
	    --http-01-port "$challenges" -d www.example.test --agree-tos \
	    --register-unsafely-without-email --deploy-hook "$DEPLOY"
	wait_for 10 serves_file www.example.test
	before=$(fingerprint www.example.test)
	# The renewal replaces it beside sessions, which go on.
	spawn clients python3 -c "$keep_asking" "$(port web)" www.example.test \
	    "$T/root.pem" "$T/stop"
	wait_for 10 has_line clients '^all connected$'
	run -0 acme renew --force-renewal --no-random-sleep-on-renew
	[[ $output == *"lfproxy-deploy: www.example.test: the certificate"* ]]
	wait_for 10 serves_file www.example.test
	[ "$before" != "$(fingerprint www.example.test)" ]
	equal "a new client" a "$(curl -sS --cacert "$T/root.pem" --resolve \
	    "www.example.test:$(port web):127.0.0.1" \
	    "https://www.example.test:$(port web)/")"
	: >"$T/stop"
	finish clients
	[[ $output == *" answers" ]]
	# The same with lego.
	run -0 with_lego run --run-hook "$DEPLOY"
	wait_for 10 serves_file lego.example.test
	before=$(fingerprint lego.example.test)
	run -0 with_lego renew --days 10000 --no-random-sleep \
	    --renew-hook "$DEPLOY"
	wait_for 10 serves_file lego.example.test
	[ "$before" != "$(fingerprint lego.example.test)" ]
	refute lfproxy_said reloaded
}
