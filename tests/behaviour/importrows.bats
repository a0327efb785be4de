#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# lfproxyctl import: single lines of HAProxy and nginx, and defaults, that were
# once converted to something else without a word.

# bats file_tags=onethread

load helpers
load importrows

setup_file() {
	"$ROOT/scripts/make-test-certs" "$BATS_FILE_TMPDIR/tls"
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

@test "importrows: clients of a stick table stay where they are" {
	haproxy 0 'balance leastconn\n stick-table type ip size 1m expire 30m\n stick on src\n server a 10.0.0.1:80'
	has "balance = leastconn" "sticky = stay" "sticky_size = 1048576" "sticky_expire = 30m"
	haproxy 0 'stick-table type ip size 2\n stick on dst\n server a 10.0.0.1:80 backup\n server b 10.0.0.2:80 backup'
	has "sticky = stay" "hash_key = destination" "sticky_size = 2"
	haproxy 0 'balance source\n stick-table type string size 9k\n stick match req.ssl_sni,lower\n stick store-request req.ssl_sni,lower\n server a 10.0.0.1:80'
	has "balance = hash" "hash_key = sni" "sticky = stay"
	says "the first choice is by what the stick line names"
}

@test "importrows: what a stick table has and sticky has not is said" {
	haproxy 1 'stick-table type ip size 9k nopurge\n stick on src\n server a 10.0.0.1:80'
	says "CLIENTS: a full table forgets the oldest client"
	haproxy 1 'stick-table type ip size 9k\n stick on src,ipmask(24)\n server a 10.0.0.1:80'
	says "CLIENTS: the value is not converted: each address counts by itself"
	haproxy 1 'balance hash src,ipmask(24)\n server a 10.0.0.1:80'
	says "CLIENTS: the value is not converted before it is hashed"
	haproxy 1 'stick-table type ip size 9k\n stick on dst\n server a 10.0.0.1:80' 'bind 127.0.0.1:7001'
	says "CLIENTS: by address and port: clients of another port"
	haproxy 1 'stick-table type ip size 9k\n stick on src\n server a 10.0.0.1:80 maxconn 9\n server b 10.0.0.2:80 maxconn 9'
	says "CLIENTS: clients of a server at its maxconn go to another one"
	haproxy 1 'stick-table type ip size 9k\n stick on src if { src 10.0.0.0/8 }\n server a 10.0.0.1:80'
	haproxy 1 'stick-table type ip size 9k\n stick on src\n stick on dst\n server a 10.0.0.1:80'
	says "CLIENTS: clients are told apart by one value"
}

@test "importrows: filters of bandwidth and odd words get their reason" {
	haproxy 1 'filter bwlim-out slow limit 1m period 1s\n server a 10.0.0.1:80'
	says "CLIENTS: write bandwidth = out=RATE per=session"
	haproxy 1 'tcp-response content set-bandwidth-limit slow\n server a 10.0.0.1:80'
	says "CLIENTS: write bandwidth = out=RATE per=session"
	haproxy 1 'server a 10.0.0.1:80 send-proxy-v2 set-proxy-v2-tlv-fmt(0xE1) x'
	says "own TLVs have no counterpart"
	lacks "servers have no such option"
}

@test "importrows: clients stick to what is stored and looked up" {
	haproxy 0 'stick-table type ip size 9k\n stick match src\n server a 10.0.0.1:80'
	says "no line stores this, so no client sticks"
	lacks '^sticky'
	haproxy 0 'stick-table type ip size 9k\n stick match src\n stick store-request dst\n server a 10.0.0.1:80'
	says "no line stores this" "no line looks this up"
	lacks '^sticky'
	haproxy 1 'stick-table type ip size 9k\n stick match src\n stick match dst\n stick store-request src\n server a 10.0.0.1:80'
	has "sticky = stay"
	lacks '^hash_key'
	haproxy 1 'stick-table type ip size 17m\n stick on src\n server a 10.0.0.1:80'
	has "sticky_size = 16777216"
	says "CLIENTS: 16777216 choices are kept"
	run -78 "$LFPROXY" -t -c <(sed '/^sticky = /d' "$T/haproxy/out.ini")
	[[ $output == *"sticky_size needs sticky = stay"* ]] || fail "$output"
}

@test "importrows: IPv4 in IPv6 is IPv4 for HAProxy, and nothing for nginx" {
	printf '::ffff:10.0.0.1\n' >"$T/mapped.lst"
	haproxy 0 'server a 10.0.0.1:80' "tcp-request connection reject if { src ::ffff:10.0.0.0/104 }\n tcp-request connection reject if { src -f $T/mapped.lst }\n tcp-request connection reject if { src ::/0 }"
	has "deny = 10.0.0.0/8" "deny = 10.0.0.1" "deny = ::/0 0.0.0.0/0"
	nginx 1 "$FULL server { listen 7000; allow ::ffff:10.0.0.1; deny all; proxy_pass 10.0.0.1:80; }"
	lacks '^allow'
	nginx 1 "$FULL geo \$b { ::ffff:10.0.0.1 10.0.0.1:80; default 10.0.0.2:80; } server { listen 7000; proxy_pass \$b; }"
	lacks 'src='
}

@test "importrows: rules about a hello are those that HAProxy waits for" {
	local wait='tcp-request inspect-delay 5s\n tcp-request content accept if { req.ssl_hello_type 1 }'
	local c='server a 10.0.0.1:80\nbackend c\n server c 10.0.0.3:80'

	haproxy 0 "$c" "$wait\n use_backend c if { req.ssl_sni -i a.test }"
	haproxy 1 "$c" "use_backend c if { req.ssl_sni -i a.test }"
	says "CLIENTS: the hello is waited for; HAProxy decides at once"
	haproxy 1 "$c" "tcp-request inspect-delay 5s\n tcp-request content reject if { src 192.0.2.1 }\n use_backend c if { req.ssl_sni -i a.test }"
	haproxy 0 "$c" "acl tls req.ssl_hello_type 1\n tcp-request inspect-delay 5s\n tcp-request content accept if tls\n use_backend c if { req.ssl_alpn h2 }"
	haproxy 1 "$c" "$wait"
	says "SERVERS: no route depends on it"
	haproxy 1 "$c" "bind 127.0.0.1:7001 ssl crt @DIR@/rsa.pem\n $wait\n use_backend c if { req.ssl_sni -i a.test }"
	says "CLIENTS: the hello of a client is asked"
	haproxy 0 "$c" "bind 127.0.0.1:7001 ssl crt @DIR@/rsa.pem\n use_backend c if { ssl_fc_sni -i a.test }"
}

@test "importrows: the default of a map is for names that it has not" {
	local wait='tcp-request inspect-delay 5s\n tcp-request content accept if { req.ssl_hello_type 1 }'
	local c='server a 10.0.0.1:80\nbackend c\n server c 10.0.0.3:80'

	printf 'a.test c\n' >"$T/sni.map"
	haproxy 1 "$c" "$wait\n use_backend %[req.ssl_sni,lower,map($T/sni.map,c)]"
	has "sni = a.test backend=c" "route = tls=yes backend=c" "backend = b"
	says "CLIENTS: TLS clients that name nothing"
	haproxy 0 "$c" "$wait\n use_backend %[req.ssl_sni,lower,map($T/sni.map,b)]"
	has "sni = a.test backend=c" "backend = b"
	lacks '^route'
	haproxy 1 "$c" "$wait\n use_backend %[req.ssl_sni,lower,map($T/sni.map)]\n use_backend c if { src 192.0.2.1 }"
	says "CLIENTS: rules behind it apply to names that it has not"
}

@test "importrows: the ends of names that are no domains are said" {
	local wait='tcp-request inspect-delay 5s\n tcp-request content accept if { req.ssl_hello_type 1 }'
	local c='server a 10.0.0.1:80\nbackend c\n server c 10.0.0.3:80'

	haproxy 1 "$c" "$wait\n use_backend c if { req.ssl_sni -m end a.test }"
	says "CLIENTS: a.test at the end of a longer label does not match"
	haproxy 0 "$c" "$wait\n use_backend c if { req.ssl_sni -m end .a.test }"
	has "sni = *.a.test backend=c"
	haproxy 1 "$c" "$wait\n use_backend c if { req.ssl_sni -m dom .a.test }"
	has "sni = a.test *.a.test backend=c"
	printf '.a.test c\n' >"$T/end.map"
	haproxy 0 "$c" "$wait\n use_backend %[req.ssl_sni,lower,map_end($T/end.map)]"
	has "sni = *.a.test backend=c"
	lacks '^sni = a.test'
}

@test "importrows: HAProxy's rules about connections judge the peer" {
	haproxy 1 'server a 10.0.0.1:80' 'bind 127.0.0.1:7001 accept-proxy\n tcp-request connection reject if { src 192.0.2.1 }'
	says "CLIENTS: left out: it would judge the address in the PROXY header"
	lacks '^deny'
	haproxy 0 'server a 10.0.0.1:80' 'bind 127.0.0.1:7001 accept-proxy\n tcp-request content reject if { src 192.0.2.1 }'
	has "deny = 192.0.2.1"
}

@test "importrows: a fallback before other rules is said" {
	local c='server a 10.0.0.1:80\nbackend c\n server c 10.0.0.3:80'

	haproxy 1 "$c" "use_backend c if { nbsrv(b) lt 1 }\n use_backend c if { src 192.0.2.1 }"
	says "CLIENTS: it is the fallback of the default backend"
	haproxy 0 "$c" "use_backend c if { src 192.0.2.1 }\n use_backend c if { nbsrv(b) lt 1 }"
	has "backend = b fallback=c"
}

@test "importrows: the last map of a variable is nginx's" {
	nginx 1 "$FULL geo \$b { default 10.0.0.1:1; } geo \$b { default 10.0.0.2:1; } server { listen 7000; proxy_pass \$b; }"
	has "backend = 10.0.0.2:1"
}

@test "importrows: a rate counts refused connections" {
	haproxy 0 'server a 10.0.0.1:80' 'stick-table type ip size 1m expire 30m store conn_rate(10s)\n tcp-request connection track-sc0 src\n tcp-request connection reject if { sc0_conn_rate gt 5 }'
	has "limit = rate=30/m burst=5 count=all prefix6=128"
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

@test "importrows: one side of nginx that finishes ends both" {
	nginx 0 'server { listen 7000; proxy_pass 10.0.0.1:80; } server { listen 7001; proxy_half_close on; proxy_pass 10.0.0.1:80; }'
	equal "the keys" $'half_close = off\nhalf_close = on' \
	    "$(grep half_close <<<"$output" | grep -v ';')"
	nginx 0 "$FULL server { listen 7000; proxy_pass 10.0.0.1:80; }"
	has "half_close = on"
	lacks "half_close = off"
}

@test "importrows: clients without a hello are closed as by nginx" {
	nginx 0 'map $ssl_preread_server_name $b { a.test 10.0.0.1:1; default 10.0.0.2:1; } server { listen 7000; ssl_preread on; proxy_pass $b; }'
	has "on_no_hello = close" "timeout_hello = 30s"
	nginx 1 'server { listen 7000; ssl_preread on; proxy_pass 10.0.0.2:1; }'
	says "CLIENTS: the hello is read for logs alone"
}

@test "importrows: an SMTP check says the name of the original" {
	haproxy 0 'option smtpchk EHLO lb.test\n server a 10.0.0.1:25 check'
	has "check = smtp hello=lb.test"
	haproxy 0 'option smtpchk HELO lb.test\n server a 10.0.0.1:25 check'
	has "check = smtp hello=lb.test helo"
	haproxy 0 'option smtpchk\n server a 10.0.0.1:25 check'
	has "check = smtp hello=localhost helo"
}

@test "importrows: only failed connects count for max_fails" {
	nginx 0 "$FULL upstream u { server 10.0.0.1:80; } server { listen 7000; proxy_pass u; }"
	has "eject_after = 1" "eject_on = connect"
}

@test "importrows: a name of nginx becomes as many servers as it has addresses" {
	nginx 0 "$FULL upstream u { server app.test:80 weight=2; } server { listen 7000; proxy_pass u; } server { listen 7001; proxy_pass db.test:81; }"
	has "servers = server1- 16 dns=app.test:80 weight=2" \
	    "servers = server1- 16 dns=db.test:81"
}

@test "importrows: names in a map without a default, and none, stay restricted" {
	nginx 1 "$FULL map \$ssl_preread_server_name \$b { a.test 10.0.0.1:1; \"\" 10.0.0.2:1; } server { listen 7000; ssl_preread on; proxy_pass \$b; }"
	has "sni = a.test backend=10.0.0.1:1" "route = tls=no backend=10.0.0.2:1"
	lacks '^backend = '
	says "CLIENTS: TLS clients that name nothing"
}

@test "importrows: a key with a star is a plain name unless hostnames is set" {
	nginx 0 "$FULL map \$ssl_preread_server_name \$b { *.a.test 10.0.0.1:1; .b.test 10.0.0.1:1; c.test 10.0.0.1:1; default 10.0.0.2:1; } server { listen 7000; ssl_preread on; proxy_pass \$b; }"
	has "sni = c.test backend=10.0.0.1:1" "backend = 10.0.0.2:1"
	lacks '^sni = \*'
	nginx 0 "$FULL map \$ssl_preread_server_name \$b { hostnames; *.a.test 10.0.0.1:1; ~^(x|y)\\\\\\\\.a\\\\\\\\.test\$ 10.0.0.3:1; default 10.0.0.2:1; } server { listen 7000; ssl_preread on; proxy_pass \$b; }"
	has "sni = *.a.test backend=10.0.0.1:1"
	lacks '^sni = x'
}

@test "importrows: without ssl_preread nothing is known of a hello" {
	nginx 0 "$FULL map \$ssl_preread_server_name \$b { a.test 10.0.0.1:1; default 10.0.0.2:1; } server { listen 7000; proxy_pass \$b; }"
	has "backend = 10.0.0.2:1"
	lacks '^sni'
}

@test "importrows: versions of TLS go where the map says" {
	nginx 0 "$FULL map \$ssl_preread_protocol \$b { \"\" 10.0.0.1:1; TLSv1.2 10.0.0.2:1; default 10.0.0.3:1; } server { listen 7000; ssl_preread on; proxy_pass \$b; }"
	has "route = tls=no backend=10.0.0.1:1" \
	    "route = version=1.2 backend=10.0.0.2:1" \
	    "route = tls=yes backend=10.0.0.3:1"
	nginx 0 "$FULL map \$ssl_preread_protocol \$b { \"\" 10.0.0.1:1; ~TLS 10.0.0.2:1; } server { listen 7000; ssl_preread on; proxy_pass \$b; }"
	has "route = tls=no backend=10.0.0.1:1" \
	    "route = version=ssl3 backend=reject" \
	    "route = tls=yes backend=10.0.0.2:1"
	nginx 1 "$FULL map \$ssl_preread_protocol \$b { ~(?i)tls 10.0.0.1:1; default 10.0.0.2:1; } server { listen 7000; ssl_preread on; proxy_pass \$b; }"
	says "CLIENTS: write route = version=VERSION backend=NAME"
}

@test "importrows: versions of TLS and names are asked together" {
	nginx 0 "$FULL map \$ssl_preread_protocol \$v { TLSv1.2 10.0.0.2:1; default 10.0.0.3:1; } map \$ssl_preread_server_name \$b { a.test \$v; default 10.0.0.4:1; } server { listen 7000; ssl_preread on; proxy_pass \$b; }"
	has "route = sni=a.test version=1.2 backend=10.0.0.2:1" \
	    "sni = a.test backend=10.0.0.3:1" "backend = 10.0.0.4:1"
}

@test "importrows: a server's port comes from a map, or is the client's" {
	nginx 0 "$FULL map \$ssl_preread_server_name \$p { hostnames; a.test 8443; *.b.test 9443; default 443; } server { listen 7000; ssl_preread on; proxy_pass 10.0.0.1:\$p; }"
	has "sni = a.test backend=10.0.0.1:8443" \
	    "sni = *.b.test backend=10.0.0.1:9443" "backend = 10.0.0.1:443"
	nginx 0 "$FULL map \$server_port \$p { 7001 81; default 80; } server { listen 7000; listen 7001; proxy_pass 10.0.0.1:\$p; }"
	has "route = port=7001 backend=10.0.0.1:81" "backend = 10.0.0.1:80"
	nginx 0 "$FULL server { listen 7000-7009; proxy_pass 10.0.0.1:\$server_port; }"
	has "server = server1 10.0.0.1"
}

@test "importrows: a map over a map, a port from a map, and the client's port" {
	nginx 0 "$FULL geo \$who { 10.0.0.0/8 staff; default guest; } map \$who \$p { staff 8001; guest 8002; } server { listen 7000; proxy_pass 10.0.0.1:\$p; } server { listen 7001-7003; proxy_pass 10.0.0.2:\$server_port; }"
	has "route = src=10.0.0.0/8 backend=10.0.0.1:8001" \
	    "backend = 10.0.0.1:8002" "server = server1 10.0.0.2"
}

@test "importrows: clients that a nested map has nothing for are closed" {
	nginx 0 "$FULL map \$ssl_preread_server_name \$b { a.test \$c; default 10.0.0.2:1; } map \$server_port \$c { 7000 10.0.0.1:1; } server { listen 7000-7001; ssl_preread on; proxy_pass \$b; }"
	has "route = sni=a.test port=7000 backend=10.0.0.1:1" \
	    "sni = a.test backend=reject" "backend = 10.0.0.2:1"
}

@test "importrows: a PROXY header without set_real_ip_from names no client" {
	convert_left_out "server { listen 7000 proxy_protocol; $FULL allow 10.0.0.0/8; deny all; proxy_pass 10.0.0.1:80; }"
	says "CLIENTS: left out: the rules would judge the address in the header"
	lacks '^\[frontend 10.0.0.1'
	nginx 1 "server { listen 7000 proxy_protocol; $FULL proxy_pass 10.0.0.1:80; }"
	says "SERVERS: addresses are those of the header"
}

# convert_left_out SERVER: beside another server, which is converted.
convert_left_out() {
	nginx 1 "$1 server { listen 7009; $FULL proxy_pass 10.0.0.9:80; }"
}

@test "importrows: servers that count in one zone count together" {
	nginx 0 "$FULL limit_conn_zone \$binary_remote_addr zone=z:1m; server { listen 7000; limit_conn z 5; proxy_pass 10.0.0.1:80; } server { listen 7001; limit_conn z 5; proxy_pass 10.0.0.1:80; }"
	equal "limits" 2 "$(grep -cx 'limit = sessions=5 prefix6=128 action=close table=zone-z' <<<"$output")"
	nginx 0 "$FULL limit_conn_zone \$binary_remote_addr zone=z:1m; server { listen 7000; limit_conn z 5; proxy_pass 10.0.0.1:80; }"
	nginx 0 "$FULL limit_conn_zone \$binary_remote_addr zone=z:1m; limit_conn_dry_run on; server { listen 7000; limit_conn z 5; proxy_pass 10.0.0.1:80; }"
	lacks '^limit'
}

@test "importrows: settings of nginx's TLS become those of lfproxy" {
	nginx 0 "$FULL server { listen 7000 ssl; ssl_certificate @DIR@/rsa.pem; ssl_certificate_key @DIR@/rsa.pem; ssl_ecdh_curve P-384; ssl_conf_command Ciphersuites TLS_AES_256_GCM_SHA384; proxy_pass 10.0.0.1:80; }"
	has "curves = P-384" "ciphersuites = TLS_AES_256_GCM_SHA384" \
	    "ciphers = HIGH:!aNULL:!MD5" "timeout_handshake = 1m"
	nginx 1 "$FULL server { listen 7000 ssl; ssl_certificate @DIR@/rsa.pem; ssl_certificate_key @DIR@/rsa.pem; ssl_conf_command Options KTLS; proxy_pass 10.0.0.1:80; }"
	says "ssl_conf_command Options KTLS"
	nginx 0 "$FULL ssl_ecdh_curve P-384; server { listen 7000; proxy_pass 10.0.0.1:80; }"
	nginx 0 "$FULL upstream app { server 10.0.0.1:443; } server { listen 7000; proxy_ssl on; proxy_ssl_verify on; proxy_ssl_trusted_certificate @DIR@/ca.pem; proxy_pass app; }"
	has "name = app" "depth = 1"
}

@test "importrows: a backlog beyond what lfproxy takes, and the addresses of localhost" {
	nginx 0 "$FULL server { listen localhost:7000 backlog=65536; proxy_pass 10.0.0.1:80; }"
	has "listen = 127.0.0.1:7000 backlog=65535" "listen = [::1]:7000 backlog=65535"
}

@test "importrows: more servers than retries reach are said to be out of reach" {
	nginx 1 "$FULL upstream u { $(for i in $(seq 15); do printf 'server 10.0.0.%s:80; ' "$i"; done) } server { listen 7000; proxy_pass u; }"
	says "CLIENTS: 15 servers are tried"
}

@test "importrows: small shares of split_clients are kept" {
	nginx 1 "$FULL split_clients \$remote_addr \$b { 0.1% 10.0.0.1:80; * 10.0.0.2:80; } server { listen 7000; proxy_pass \$b; }"
	has "backend = 10.0.0.1:80 weight=1" "backend = 10.0.0.2:80 weight=256"
	says "rounded to 1 of 256"
}

@test "importrows: what keeps all servers from being converted is named" {
	printf 'events {}\nstream {\n server {\n listen 7000;\n proxy_pass $x:80;\n }\n}\n' \
	    >"$T/in.conf"
	run --separate-stderr "$CTL" import nginx "$T/in.conf"
	equal "the status" 2 "$status"
	[ -z "$output" ]
	[[ $stderr == *"in.conf:5: proxy_pass \$x:80: "* ]] || fail "$stderr"
}

@test "importrows: where retries go is said" {
	haproxy 0 'server a 10.0.0.1:80\n server b 10.0.0.2:80'
	says "default: retries" "without redispatch no other one"
	haproxy 0 'option redispatch\n balance source\n server a 10.0.0.1:80\n server b 10.0.0.2:80'
	says "and another one last"
	haproxy 0 'option redispatch\n balance leastconn\n server a 10.0.0.1:80\n server b 10.0.0.2:80'
	lacks 'default: retries'
	haproxy 0 'retries 0\n server a 10.0.0.1:80\n server b 10.0.0.2:80'
	lacks 'default: retries'
	haproxy 0 'server a 10.0.0.1:80'
	lacks 'default: retries'
}

@test "importrows: without timeout connect HAProxy waits" {
	convert haproxy 0 <<-END
		defaults
		 mode tcp
		 timeout client 1m
		 timeout server 1m
		listen l
		 bind 127.0.0.1:7000
		 server a 10.0.0.1:80
	END
	has "timeout_connect = 30d"
}

@test "importrows: a server that is asked for by its name is said" {
	haproxy 1 'server a app.test:443 ssl verify none'
	says "SERVERS: the server is asked for by its name (SNI)"
	haproxy 0 'server a app.test:443 ssl verify none sni str(app.test)\n server b 10.0.0.1:443 ssl verify none'
	nginx 1 "$FULL server { listen 7000; proxy_ssl on; proxy_ssl_protocols TLSv1.2; proxy_pass app.test:443; }"
	says "SERVERS: the server is asked for by its name (SNI)"
	nginx 1 "$FULL upstream u { server app.test:443; } server { listen 7000; proxy_ssl on; proxy_pass u; }"
	says "SERVERS: the server is asked for by its name (SNI)"
	nginx 0 "$FULL upstream u { server app.test:443; } server { listen 7000; proxy_ssl on; proxy_ssl_server_name on; proxy_ssl_name app.test; proxy_pass u; }"
	nginx 0 "$FULL server { listen 7000; proxy_ssl on; proxy_pass 10.0.0.1:443; }"
}

@test "importrows: the versions of TLS that nginx has without a word are said" {
	nginx 0 "$FULL server { listen 7000 ssl; ssl_certificate @DIR@/rsa.pem; ssl_certificate_key @DIR@/rsa.pem; proxy_pass 10.0.0.1:443; }"
	says "default: ssl_protocols"
	nginx 0 "$FULL server { listen 7000 ssl; ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate @DIR@/rsa.pem; ssl_certificate_key @DIR@/rsa.pem; proxy_pass 10.0.0.1:443; }"
	lacks 'default: ssl_protocols'
}

@test "importrows: max_conns counts for all workers together" {
	FULL="worker_processes 4; stream { $FULL upstream u { server 10.0.0.1:80 max_conns=5; } server { listen 7000; proxy_pass u; } }"
	convert nginx 1 <<<"events {} $FULL"
	says "SERVERS: for all sessions together"
	convert nginx 0 <<<"events {} ${FULL/server 10/zone z 64k; server 10}"
	convert nginx 0 <<<"events {} ${FULL/worker_processes 4;/}"
}

@test "importrows: a ring with a server is syslog by TCP" {
	haproxy 0 'server a 10.0.0.1:80\nring logs\n format rfc5424\n size 32768\n timeout connect 5s\n server s 10.0.0.9:6514 log-proto octet-count' '' 'log ring@logs local7'
	has "log = syslog=tcp:10.0.0.9:6514 rfc=5424 facility=local7" \
	    "log_messages = syslog=tcp:10.0.0.9:6514 rfc=5424 facility=local7"
	lacks 'differ'
	haproxy 0 'server a 10.0.0.1:80\nring logs\n server s 10.0.0.9:6514\n server t 10.0.0.8:6514' '' 'log ring@logs local7'
	says "lines go to one server by plain TCP"
	haproxy 0 'server a 10.0.0.1:80\nring logs\n server s logs.test:6514' '' 'log ring@logs local7'
	has "log = syslog=tcp:logs.test:6514 facility=local7"
	says "octet counting"
	haproxy 0 'server a 10.0.0.1:80\nring logs\n server s 10.0.0.9:6514 ssl verify none' '' 'log ring@logs local7'
	says "log ring@logs local7"
	lacks '^log = syslog'
}

@test "importrows: messages for operators go where HAProxy sends them" {
	haproxy 0 'server a 10.0.0.1:80' 'option tcplog' 'log /dev/log local0\n log /dev/log local1 notice'
	has "log = syslog facility=local0" \
	    "log_messages = syslog facility=local0" \
	    "log_messages = syslog facility=local1"
	lacks '^log = syslog facility=local1'
	haproxy 0 'server a 10.0.0.1:80' 'option tcplog' 'log /dev/log local1 err'
	says "the target gets messages of every level"
}

@test "import: HAProxy: each line of a statistics page is accounted for" {
	convert haproxy 0 <<-END
		listen a
		 mode tcp
		 timeout client 1m
		 timeout server 1m
		 bind 127.0.0.1:7000
		 server x 127.0.0.1:7001
		frontend guarded
		 mode http
		 bind 127.0.0.1:8405
		 stats enable
		 stats uri /
		 http-request deny unless { src 10.0.0.0/8 }
		frontend stats
		 mode http
		 bind 127.0.0.1:8406 ssl crt @DIR@/rsa.pem
		 stats uri /more
		 http-request use-service prometheus-exporter if { path /metrics }
		frontend more
		 mode http
		 bind 127.0.0.1:8407
		 stats enable
	END
	has '; in.cfg:9: bind 127.0.0.1:8405' 'http = 127.0.0.1:8406' \
	    '; in.cfg:12: http-request deny unless { src 10.0.0.0/8 }' \
	    '; in.cfg:15: bind 127.0.0.1:8406 ssl crt '"$BATS_FILE_TMPDIR"'/tls/rsa.pem' \
	    '; in.cfg:16: stats uri /more' '; in.cfg:20: bind 127.0.0.1:8407' \
	    '; 16 lines exact, 5 differ for operators.'
	lacks 'no part of the conversion'
}
