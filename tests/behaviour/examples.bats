#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The configurations in EXAMPLES of lfproxy.ini(5): each is valid as it stands,
# and does what its title says.  Only addresses, ports and paths are replaced.

load helpers

MANUAL=$ROOT/man/lfproxy.ini.5
ADMIN=$T/admin.sock

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# configurations: prints those of the page, a title before each, as `@TITLE`.  A
# configuration is a display that begins with a section and has a frontend.
configurations() {
	awk '/^\.Sh / { in_examples = $2 == "EXAMPLES" }
	!in_examples { next }
	/^\.Ss / { title = substr($0, 5) }
	/^\.Bd / { display = ""; inside = 1; next }
	/^\.Ed/ && display ~ /^\[/ && display ~ /(^|\n)\[frontend / {
		printf "@%s\n%s", title, display
	}
	/^\.Ed/ { inside = 0 }
	inside { gsub(/\\e/, "\\"); gsub(/\\&/, ""); display = display $0 "\n" }' \
	    "$MANUAL"
}

# example TITLE: the configuration in $T/example.ini, with the certificates of
# $T/tls, if it has any.
example() {
	configurations | awk -v title="@$1" \
	    '/^@/ { wanted = $0 == title; next } wanted' |
	    sed "s|/etc/lfproxy/tls|$T/tls|g; s|/var/log/lfproxy|$T|" \
	        >"$T/example.ini"
	[ -s "$T/example.ini" ] || fail "EXAMPLES has no '$1'"
	[ -d "$T/tls" ] || ! grep -q "$T/tls" "$T/example.ini" ||
	    "$ROOT/scripts/make-test-certs" "$T/tls"
}

# run_example TITLE [SED...]: starts it with ports that the kernel chooses, and with
# the test's programs as the servers of their names.
run_example() {
	local name script=()

	example "$1"
	for name in "${!ADDRS[@]}"; do
		script+=(-e "s/^(server *= *$name) [^ ]*/\\1 ${ADDRS[$name]}/")
	done
	sed -E -e "s|^(admin *=).*|\\1 $ADMIN|" -e '/^log *=/d' \
	    -e 's/^((listen|http) *=) *[^ ]*:[0-9]+/\1 127.0.0.1:0/' \
	    "${script[@]}" "${@:2}" "$T/example.ini" >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# answers N URL [OPTION...]: of N requests, how many each server has answered.
answers() {
	local i

	for ((i = 0; i < $1; i++)); do
		fetch "${@:2}"
	done | sort | uniq -c | awk '{ printf "%s%s %s", n++ ? ", " : "", $2, $1 }'
}

# backend_of ARGUMENT...: the backend that `explain` names.
backend_of() {
	ctl explain "$@" json | jq -r '.[0].backend'
}

# page: the URL of the status page.
page() {
	sed -n 's/^lfproxy: monitoring at //p' "$LFPROXY_LOG"
}

# https NAME PORT: a request by this name, verified.
https() {
	fetch --cacert "$T/tls/ca.pem" --resolve "$1:$2:127.0.0.1" \
	    "https://$1:$2/" "${@:3}"
}

@test "examples: ten or more, each valid as it stands" {
	local n=0 title

	while IFS= read -r title; do
		n=$((n + 1))
		example "${title#@}"
		if [[ $title == @"Certificates of certbot" ]]; then
			mkdir -p "$T/tls/sites"
			cp "$T/tls/ecdsa.pem" "$T/tls/sites"
		fi
		run -0 "$LFPROXY" -t -c "$T/example.ini"
	done < <(configurations | grep '^@')
	[ "$n" -ge 10 ] || fail "$n examples"
}

@test "examples: web servers, the second with twice the sessions" {
	start_app web1
	start_app web2
	run_example "Web servers" -e 's/check  = https.*/check = off/'
	equal answers "web1 3, web2 6" "$(answers 9 "$(url http)")"
	fetch "$(page)readyz" | grep -q ready
}

@test "examples: sites by TLS name" {
	run_example "Sites by TLS name"
	equal www www "$(backend_of 10.0.0.1 sites sni www.example.com)"
	equal shop shop "$(backend_of 10.0.0.1 sites sni a.shop.example.com)"
	equal other null "$(backend_of 10.0.0.1 sites sni example.org)"
}

@test "examples: certificates of certbot" {
	start_app certbot
	start_app web1
	start_app web2
	example "Certificates of certbot"
	mkdir -p "$T/tls/sites"
	cp "$T/tls/ecdsa.pem" "$T/tls/sites"
	run_example "Certificates of certbot"
	equal challenge certbot "$(fetch "$(url challenges)")"
	equal www web1 "$(https www.example.com "$(port www)")"
}

@test "examples: client certificates, and TLS with the servers" {
	local title="Client certificates (mTLS, mutual TLS)"

	example "$title"
	ln -s "$T/tls/ecdsa.pem" "$T/site.pem"
	ln -s "$T/tls/ecdsa.pem" "$T/site.key"
	nginx_config >"$T/nginx.in"
	start_nginx_tls site
	ADDRS["staff1"]=$(addr tls)
	ADDRS["staff2"]=$(addr tls)
	run_example "$title"
	run https www.example.com "$(port staff)"
	[ "$status" -ne 0 ] || fail "served without a certificate"
	run https www.example.com "$(port staff)" --cert "$T/tls/revoked.pem"
	[ "$status" -ne 0 ] || fail "served with a revoked certificate"
	run -0 https www.example.com "$(port staff)" --cert "$T/tls/client.pem"
	equal answer nginx "$output"
}

@test "examples: rate limits and blocked clients" {
	start_app app1
	start_app app2
	run_example "Rate limits and blocked clients"
	ctl explain 198.51.100.7 web | grep -q 'denied by .*list:blocked.*: drop'
	ctl add acl blocked 203.0.113.9
	ctl explain 203.0.113.9 web | grep -q 'denied by .*list:blocked'
	ctl explain 192.0.2.7 web | grep -q 'allowed by .*list:office'
	equal "first answer" app1 "$(fetch "$(url)")"
	equal "the client's entry" 1 "$(ctl show table web json |
	    jq '.[0].entries[] | select(.key == "127.0.0.1") | .conn_cnt')"
}

@test "examples: real IP behind another load balancer" {
	start_app nginx1
	start_app nginx2
	run_example "Real IP behind another load balancer" \
	    -e 's/^(proxy_from *=).*/\1 127.0.0.0\/8/' -e '/^send_proxy/d'
	exec {fd}<>"/dev/tcp/127.0.0.1/$(port web)"
	printf 'PROXY TCP4 203.0.113.9 192.0.2.80 4711 80\r\nGET / HTTP/1.0\r\n\r\n' \
	    >&"$fd"
	grep -q nginx1 <&"$fd"
	exec {fd}>&-
	wait_for 10 session_like '^203\.0\.113\.9:4711 .* nginx/nginx1 '
}

@test "examples: servers that see the clients' addresses" {
	need_foreign_address
	run_example "Servers that see the clients' addresses"
	equal backend mail "$(find_listening mail && echo "${LISTENING:+mail}")"
}

# patroni NAME: an HTTP server of this name whose $T/NAME.role is primary or replica.
patroni() {
	echo replica >"$T/$1.role"
	serve "$1" python3 -B -c '
import http.server, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        role = open(sys.argv[1]).read().strip()
        ok = self.path in ("/" + role, "/")
        body = sys.argv[2].encode() + b"\n"
        self.send_response(200 if ok else 503)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("listening on 127.0.0.1:%d" % server.server_address[1], flush=True)
server.serve_forever()' "$T/$1.role" "$1"
}

@test "examples: PostgreSQL with Patroni, and a failover" {
	patroni pg1
	patroni pg2
	patroni pg3
	echo primary >"$T/pg1.role"
	run_example "PostgreSQL with Patroni" -e 's/ port=8008/ interval=50ms/'
	wait_for 10 answers_by write "pg1 2"
	wait_for 10 answers_by read "pg2 1, pg3 1"
	echo replica >"$T/pg1.role"
	echo primary >"$T/pg2.role"
	wait_for 10 answers_by write "pg2 2"
	wait_for 10 answers_by read "pg1 1, pg3 1"
}

# answers_by FRONTEND TEXT: two sessions go to these servers.
answers_by() {
	[ "$(answers 2 "$(url "$1")" 2>/dev/null)" = "$2" ]
}

@test "examples: servers of docker compose" {
	start_app app
	run_example "Servers of docker compose" \
	    -e "s/dns=app:8080/dns=localhost:$(addr app | sed 's/.*://')/"
	wait_for 10 answers_by web "app 2"
	equal member app1 "$(ctl show servers json | jq -r '.[0].server')"
}

@test "examples: two hosts with keepalived choose alike" {
	start_app app1
	start_app app2
	run_example "Two hosts with keepalived"
	run -0 ctl ready
	equal first ready "${lines[0]}"
	fetch "$(url)" >"$T/first"
	equal again "$(cat "$T/first") 4" "$(answers 4 "$(url)")"
}

@test "examples: a new version for some clients" {
	start_app app1
	start_app app2
	start_app next1
	run_example "A new version for some clients"
	equal tester next "$(backend_of 192.0.2.200 web)"
	[[ $(answers 20 "$(url)") == *"next1 1" ]] || fail "not one in twenty"
}

@test "examples: Prometheus and Grafana" {
	start_app app1
	start_app app2
	run_example "Prometheus and Grafana"
	equal answer app1 "$(fetch "$(url)")"
	fetch "$(page)metrics" >"$T/metrics"
	grep -q '^haproxy_backend_active_servers{proxy="app"} 2' "$T/metrics"
}

@test "examples: interactive sessions beside bulk transfers" {
	start_app shell1
	start_app mirror1
	run_example "Interactive sessions beside bulk transfers" \
	    -e '/^server *= (shell|mirror)2/d'
	equal ssh shell1 "$(fetch "$(url ssh)")"
	equal rsync mirror1 "$(fetch "$(url rsync)")"
	equal pools "interactive bulk" \
	    "$(ctl show pool json | jq -r 'map(.name) | join(" ")')"
}
