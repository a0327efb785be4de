#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The http and https checks against nginx: what is asked, and each way in which
# an answer can be wrong.

# bats file_tags=onethread

load helpers
load checks

tls() {
	make_ca ca
	make_cert good ca "DNS:app.example,IP:127.0.0.1"
	start_nginx_tls good http2
}

# bats test_tags=covered
@test "check: https, verified by address" {
	tls
	BACKEND="$(checked "https ca=$T/ca.pem path=/index.html")" web tls
	until_check tls L7OK 200
}

@test "check: https, verified by a name that is not its address" {
	tls
	BACKEND="$(checked "https ca=$T/ca.pem sni=app.example")" web tls
	until_check tls L7OK 200
}

# bats test_tags=covered
@test "check: https, another name than the certificate's" {
	tls
	BACKEND="$(checked "https ca=$T/ca.pem sni=other.example fall=1")" \
	    web tls
	until_failed tls L6RSP
	[[ $(column tls last_chk) == *"hostname mismatch"* ]]
}

# bats test_tags=covered
@test "check: https, a certificate of an unknown authority" {
	tls
	BACKEND="$(checked "https fall=1")" web tls
	until_failed tls L6RSP
	[[ $(column tls last_chk) == *certificate* ]]
}

# bats test_tags=covered
@test "check: https, verify=off takes any certificate" {
	tls
	BACKEND="$(checked "https verify=off")" web tls
	until_check tls L7OK 200
}

# bats test_tags=covered
@test "check: https, on a plain port" {
	start_nginx
	BACKEND="$(checked "https verify=off fall=1")" web nginx
	until_failed nginx L6RSP
}

@test "check: https, silence is a timeout of the handshake" {
	start_bad a silent
	BACKEND="$(impatient "https verify=off fall=1")" web a
	until_failed a L6TOUT
}

# bats test_tags=covered
@test "check: https, refused" {
	start_bad a refuse
	BACKEND="$(checked "https verify=off fall=1")" web a
	until_failed a L4CON
}

@test "check: https, HTTP/2" {
	tls
	BACKEND="$(checked "https ca=$T/ca.pem version=2 path=/index.html")
		check_body = nginx" web tls
	until_check tls L7OK 200
}

@test "check: https, asked for HTTP/2 of one that has not got it" {
	make_ca ca
	make_cert good ca IP:127.0.0.1
	start_nginx_tls good
	BACKEND="$(checked "https ca=$T/ca.pem version=2 fall=1")" web tls
	until_failed tls L7RSP
	[[ $(column tls last_chk) == *HTTP/2* ]]
}

# bats test_tags=covered
@test "check: http, a body that has all it must have" {
	start_nginx
	echo 'status: ready; queue=17' >"$T/www/health"
	BACKEND="$(checked "http path=/health")
		check_body = \"status: ready\"
		check_body = regex \"queue=\\d+$\"" web nginx
	until_check nginx L7OK 200
}

# bats test_tags=covered
@test "check: http, a wrong body takes a server down, a good one back up" {
	start_nginx
	echo failing >"$T/www/health"
	BACKEND="$(checked "http path=/health fall=1 rise=1")
		check_body = regex \"^ready\"" web nginx
	until_failed nginx L7RSP
	[[ $(column nginx last_chk) == *"the body does not contain regex"* ]]
	echo ready >"$T/www/health"
	until_column 10 nginx status UP
}

@test "check: http, the headers that were asked for" {
	# shellcheck disable=SC2016 # nginx's variable
	sed -i 's|; root|; if ($http_x_probe != "a b") { return 403; } root|' \
	    "$T/nginx.in"
	start_nginx
	BACKEND="$(checked "http path=/index.html fall=1 rise=1")
		check_header = X-Probe: a b" web nginx
	until_check nginx L7OK 200
	sed -i 's/X-Probe: a b/X-Probe: c/' "$T/lfproxy.ini"
	"$CTL" -S "$ADMIN" reload
	until_failed nginx L7STS
	equal "the code" 403 "$(column nginx check_code)"
}

# bats test_tags=covered
@test "check: http, a list of statuses" {
	start_app a
	BACKEND="$(checked "http path=/status/503 status=200-299,503")" web a
	until_check a L7OK 503
}

# bats test_tags=covered
@test "check: http, log and events have the status code of a failed check" {
	local why='L7STS \(Layer7 wrong status\), code: 503, '

	why+='info: "Service Unavailable", check duration: [0-9]+ms; '
	start_app a
	BACKEND="$(checked "http path=/status/503 fall=1")" web a
	until_failed a L7STS
	equal "the code" 503 "$(column a check_code)"
	equal "the reason" "Service Unavailable" "$(column a last_chk)"
	wait_for 10 lfproxy_said "server app/a is down: $why"
	"$CTL" -S "$ADMIN" show events app/a >"$T/events"
	grep -qE "server app/a is down: $why" "$T/events" ||
	    fail "$(cat "$T/events")"
}

# bats test_tags=covered
@test "check: http, an answer that ends in the middle" {
	cat >"$T/half" <<-'END'
		#!/bin/sh
		printf 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhal'
	END
	chmod +x "$T/half"
	start_script a "$T/half"
	BACKEND="$(checked "http fall=1")" web a
	until_failed a L7RSP
}

# bats test_tags=covered
@test "check: http, to a port that speaks TLS" {
	tls
	BACKEND="$(checked "http fall=1")" web tls
	until_failed tls L7STS
	equal "the code" 400 "$(column tls check_code)"
}
