#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# TLS with servers: verified, refused, resumed, with names and certificates.

# bats file_tags=basic

load helpers
load stat
load tls
load postgres

# nginx that answers with what it knows of the connection.
nginx_config() {
	cat <<-END
		daemon off;
		pid $T/nginx.pid;
		user root;
		worker_processes 1;
		events { worker_connections 1024; }
		http {
		  access_log off;
		  client_body_temp_path $T/body;
		  proxy_temp_path $T/proxy;
		  fastcgi_temp_path $T/fastcgi;
		  uwsgi_temp_path $T/uwsgi;
		  scgi_temp_path $T/scgi;
		  ssl_protocols TLSv1.2 TLSv1.3;
		  ssl_session_cache shared:tls:1m;
		  ${NGINX_TLS:-}
		  server { listen 127.0.0.1:@LISTEN@; root $T/www;
		    location = /tls { return 200 "\$ssl_protocol name=\$ssl_server_name reused=\$ssl_session_reused verified=\$ssl_client_verify alpn=\$ssl_alpn_protocol\n"; }
		  }
		}
	END
}

setup_server() {
	make_site site.example
	start_nginx_tls site.example
	SERVERS=(tls)
}

about() {
	fetch "$(url)tls"
}

# unserved REASON: the session is closed, as the log says.
unserved() {
	refute fetch "$(url)"
	wait_for 10 lfproxy_said "$1"
}

# bats test_tags=covered
@test "tls servers: nginx's certificate is verified, by address or by name" {
	setup_server
	originate "ca = $T/ca.pem"
	equal "by address" nginx "$(fetch "$(url)")"
	[[ $(about) == "TLSv1.3 name= "* ]] || fail "$(about)"
	sed -i "s|^ca = .*|&\nname = site.example|" "$T/lfproxy.ini"
	ctl reload
	equal "by name" nginx "$(fetch "$(url)")"
	sed -i "s|^name = .*|sni = site.example|" "$T/lfproxy.ini"
	ctl reload
	[[ $(about) == "TLSv1.3 name=site.example "* ]] || fail "$(about)"
	sed -i "s|^sni = .*|&\nmax_version = 1.2|" "$T/lfproxy.ini"
	ctl reload
	[[ $(about) == "TLSv1.2 name=site.example "* ]] || fail "$(about)"
}

# A client that keeps the connection alive leaves first, and nginx then closes
# without close_notify.
# bats test_tags=covered
@test "tls servers: a server that just closes behind the client's end is not to blame" {
	setup_server
	originate "ca = $T/ca.pem" 'name = site.example'
	for version in 1.2 1.3; do
		sed -i "/_version = /d; s|^name = .*|&\nmax_version = $version|" \
		    "$T/lfproxy.ini"
		ctl reload
		equal "with keep-alive" nginx "$(fetch "$(url)")"
	done
	wait_for 10 sessions_ended 2
	refute session_like ' [SC]D '
	equal "errors" 0 "$(column eresp BACKEND)"
	equal "aborts" 0 "$(column srv_abrt BACKEND)"
}

@test "tls servers: keys are exchanged in a group that the server has" {
	local best=X25519 group

	! has_hybrid || best=X25519MLKEM768
	setup_server
	FRONTEND="backend = app
		log = file=$T/log.json format=json" \
	    originate "ca = $T/ca.pem" 'name = site.example'
	# Each but the first two takes a second hello.
	for group in default X25519 P-384 P-256; do
		end tls
		[ $group = default ] || NGINX_TLS="ssl_ecdh_curve $group;"
		nginx_config >"$T/nginx.in"
		start_nginx_tls site.example
		ctl set server app/tls addr 127.0.0.1 port "$(addr tls |
		    sed 's/.*://')"
		: >"$T/log.json"
		equal "$group" nginx "$(fetch "$(url)")"
		wait_for 10 test -s "$T/log.json"
		[ $group != default ] || group=$best
		equal "the log" "$group" \
		    "$(jq -r .server_tls_group "$T/log.json")"
	done
	run -0 ctl show tls
	[[ $output == *'  groups       '"$best "*', P-256 1'* ]] ||
	    fail "$output"
}

@test "tls servers: another name, another authority, and an old date are refused" {
	setup_server
	originate "ca = $T/ca.pem" 'name = other.example'
	unserved "connect to app/tls failed: TLS: hostname mismatch; expected name: other.example; ca: $T/ca.pem\$"
	stop_lfproxy
	make_ca other
	originate "ca = $T/other.pem"
	unserved 'unable to get local issuer certificate'
	stop_lfproxy
	# No authority of this host has signed it.
	originate 'name = site.example'
	unserved 'TLS: unable to get local issuer certificate; expected name: site.example; ca: system$'
	stop_lfproxy
	originate 'verify = none'
	equal "not verified" nginx "$(fetch "$(url)")"
	stop_lfproxy
	end tls
	expired site.example ca IP:127.0.0.1
	start_nginx_tls site.example
	originate "ca = $T/ca.pem"
	unserved 'certificate has expired'
	stop_lfproxy
	end tls
	openssl req -x509 -key "$T/site.example.key" -days 2 -subj /CN=self \
	    -addext subjectAltName=IP:127.0.0.1 -out "$T/site.example.pem"
	start_nginx_tls site.example
	originate "ca = $T/ca.pem"
	unserved 'self-signed certificate'
	stop_lfproxy
	originate "ca = $T/site.example.pem"
	equal "its own authority" nginx "$(fetch "$(url)")"
}

NO_NAME='the certificate has no host name in subjectAltName; renew it, or set common_name=on'

@test "tls servers: a name that only the CN has is refused, unless the key allows it" {
	make_ca ca
	make_nameless site.example ca
	with_key site.example
	start_nginx_tls site.example
	SERVERS=(tls)
	originate "ca = $T/ca.pem" 'name = site.example'
	unserved "connect to app/tls failed: TLS: $NO_NAME; expected name: site.example; ca: $T/ca.pem\$"
	sed -i 's|^name = .*|&\ncommon_name = on|' "$T/lfproxy.ini"
	ctl reload
	equal "by its CN" nginx "$(fetch "$(url)")"
	# nginx resumes a session if that is offered.
	equal "by its CN, resumed" nginx "$(fetch "$(url)")"
	[[ $(about) == *reused=r* ]] || fail "$(about)"
	sed -i 's|^common_name = .*|common_name = off|' "$T/lfproxy.ini"
	ctl reload
	refute fetch "$(url)"
	stop_lfproxy
	end tls
	# An address is no host name.
	make_cert site.example ca IP:127.0.0.1
	with_key site.example
	start_nginx_tls site.example
	originate "ca = $T/ca.pem" 'name = site.example'
	unserved "TLS: $NO_NAME; expected name: site.example"
	sed -i '/^name = /d' "$T/lfproxy.ini"
	ctl reload
	equal "by its address" nginx "$(fetch "$(url)")"
}

# checked_by CHECK STATUS: a check by sessions' settings, or by its own.
checked_by() {
	BACKEND="check = $1 interval=50ms fall=1 timeout=5s rise=1" \
	    originate "ca = $T/ca.pem" 'name = site.example'
	wait_for 10 has check_status tls "$2"
	if [ "$2" = L6RSP ]; then
		ctl show stat | grep -F "$NO_NAME" >/dev/null
		ctl show servers json | grep -F "$NO_NAME" >/dev/null
	fi
	stop_lfproxy
}

@test "tls servers: checks refuse a name that only the CN has, too" {
	local own

	make_ca ca
	make_nameless site.example ca
	with_key site.example
	start_nginx_tls site.example
	SERVERS=(tls)
	own="ca=$T/ca.pem sni=site.example"
	checked_by 'https path=/' L6RSP
	checked_by tls L6RSP
	checked_by "https $own path=/" L6RSP
	checked_by "tls $own" L6RSP
	checked_by "https $own path=/ common_name=on" L7OK
	checked_by "tls $own common_name=on" L6OK
	checked_by "https verify=off path=/" L7OK
	end tls
	# The CN beside an address in subjectAltName.
	make_cert site.example ca IP:127.0.0.1
	with_key site.example
	start_nginx_tls site.example
	checked_by "https $own path=/" L6RSP
	checked_by "https $own path=/ common_name=on" L7OK
	checked_by "tls $own common_name=on" L6OK
}

# bats test_tags=covered
@test "tls servers: a server that was revoked is refused" {
	setup_server
	printf '[ca]\ndatabase = %s\ndefault_md = sha256\n' "$T/index" \
	    >"$T/ca.cnf"
	: >"$T/index"
	: >"$T/index.attr"
	crl() {
		openssl ca -config "$T/ca.cnf" -name ca -keyfile "$T/ca.key" \
		    -cert "$T/ca.pem" "$@" 2>/dev/null
	}
	crl -gencrl -crldays 2 -out "$T/ca.crl"
	originate "ca = $T/ca.pem" "crl = $T/ca.crl"
	equal "before" nginx "$(fetch "$(url)")"
	crl -revoke "$T/site.example.pem"
	crl -gencrl -crldays 2 -out "$T/ca.crl"
	ctl reload
	unserved 'certificate revoked'
}

# bats test_tags=covered
@test "tls servers: a server without TLS, and one that closes, are retried" {
	setup_server
	start_app plain
	start_bad closing half-close
	SERVERS=(plain closing tls)
	BACKEND=$'check = off\nbalance = first\nretries = 5
		timeout_connect = 500ms' originate "ca = $T/ca.pem"
	equal "the one that is left" nginx "$(fetch "$(url)")"
	[ "$(column wredis BACKEND)" -ge 1 ]
}

# bats test_tags=covered
@test "tls servers: sessions are resumed, per server" {
	setup_server
	originate "ca = $T/ca.pem"
	[[ $(about) == *" reused=. "* ]] || fail "the first: $(about)"
	[[ $(about) == *" reused=r "* ]] || fail "the second: $(about)"
	sed -i "s|^ca = .*|&\nmax_version = 1.2|" "$T/lfproxy.ini"
	ctl reload
	about
	[[ $(about) == "TLSv1.2 "*" reused=r "* ]] || fail "1.2: $(about)"
}

@test "tls servers: our certificate and our protocols are shown to them" {
	make_site ours
	make_site site.example
	NGINX_TLS="ssl_verify_client optional;
		ssl_client_certificate $T/ca.pem;" nginx_config >"$T/nginx.in"
	start_nginx_tls site.example
	SERVERS=(tls)
	originate "ca = $T/ca.pem"
	[[ $(about) == *" verified=NONE alpn="* ]] || fail "$(about)"
	sed -i "s|^ca = .*|&\ncert = $T/ours.pem\nalpn = http/1.1|" \
	    "$T/lfproxy.ini"
	ctl reload
	[[ $(about) == *" verified=SUCCESS alpn=http/1.1" ]] ||
	    fail "$(about)"
}

# bats test_tags=covered
@test "tls servers: sni = client passes a name on, terminated or not" {
	setup_server
	make_site www.example 'DNS:*.test.example'
	{
		common
		cat <<-END
			[tls public]
			cert = $T/www.example.pem
			[tls upstream]
			ca = $T/ca.pem
			sni = client
			name = site.example
			[frontend web]
			listen = 127.0.0.1:0 tls=public
			backend = app
			[frontend plain]
			listen = 127.0.0.1:0
			backend = app
			[backend app]
			check = off
			server = tls $(addr tls) tls=upstream
		END
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	run -0 fetch --cacert "$T/ca.pem" \
	    --resolve "x.test.example:$(port web):127.0.0.1" \
	    "https://x.test.example:$(port web)/tls"
	[[ $output == *" name=x.test.example "* ]] || fail "$output"
	run -0 fetch "$(url plain)tls"
	[[ $output == *" name= "* ]] || fail "$output"
}

@test "tls servers: servers with and without TLS share a backend" {
	setup_server
	start_app plain
	{
		common
		printf '[tls upstream]\nca = %s\n[frontend web]\n' "$T/ca.pem"
		printf 'listen = 127.0.0.1:0\nbackend = app\n[backend app]\n'
		printf 'check = off\ntls = upstream\n'
		printf 'server = tls %s\nserver = plain %s tls=off\n' \
		    "$(addr tls)" "$(addr plain)"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	equal "both" "nginx plain " "$(for _ in 1 2; do
		fetch "$(url)"
	done | sort | tr '\n' ' ')"
}

# bats test_tags=covered
@test "tls servers: a PROXY header goes before the handshake" {
	make_site site.example
	nginx_config | sed 's/@LISTEN@/@LISTEN@ proxy_protocol/;
		s/name=/addr=$proxy_protocol_addr &/' >"$T/nginx.in"
	mkdir -p "$T/www"
	nginx_proxy_ready() {
		curl -sk -o /dev/null -m 2 --haproxy-protocol \
		    "https://127.0.0.1:$1/"
	}
	sed "s|proxy_protocol;|proxy_protocol ssl; ssl_certificate $T/site.example.pem; ssl_certificate_key $T/site.example.key;|" \
	    "$T/nginx.in" >"$T/tls.in"
	on_free_port tls nginx_proxy_ready sh -c "
		sed 's/@LISTEN@/PORT/' '$T/tls.in' >'$T/tls.conf'
		exec nginx -p '$T' -e stderr -c '$T/tls.conf'"
	SERVERS=(tls)
	BACKEND=$'check = off\nsend_proxy = v2' originate "ca = $T/ca.pem"
	[[ $(about) == *" addr=127.0.0.1 "* ]] || fail "$(about)"
}

# bats test_tags=covered
@test "tls servers: one that is silent in its handshake is given up in time" {
	make_ca ca
	start_bad silent silent
	SERVERS=(silent)
	BACKEND=$'check = off\nretries = 0\ntimeout_connect = 300ms' \
	    originate "ca = $T/ca.pem"
	refute fetch "$(url)"
	wait_for 10 session_like ' app/silent .* sC '
}

s_server_ready() {
	curl -sk -o /dev/null -m 2 "https://127.0.0.1:$1/"
}

# start_s_server OPTION...: openssl s_server, under the name s.
start_s_server() {
	on_free_port s s_server_ready openssl s_server -accept 127.0.0.1:PORT \
	    -cert "$T/site.example.pem" -www "$@"
	SERVERS=(s)
}

# bats test_tags=covered
@test "tls servers: openssl s_server, 1.2 and 1.3" {
	local version

	make_site site.example
	for version in 1_2 1_3; do
		start_s_server "-tls$version"
		originate "ca = $T/ca.pem"
		run -0 fetch "$(url)"
		[[ $output =~ New,\ TLSv1\.[23],\ Cipher ]] || fail "$output"
		run -0 fetch "$(url)"
		[[ $output == *"Reused, TLSv${version/_/.}"* ]] ||
		    fail "$output"
		stop_lfproxy
		end s
	done
}

# bats test_tags=covered
@test "tls servers: checks follow the server's TLS" {
	setup_server
	BACKEND=$'check = http path=/ interval=50ms fall=1 timeout=5s rise=1' \
	    originate "ca = $T/ca.pem"
	wait_for 10 has check_status tls L7OK
	equal "traffic" nginx "$(fetch "$(url)")"
	end tls
	openssl req -x509 -key "$T/site.example.key" -days 2 -subj /CN=self \
	    -addext subjectAltName=IP:127.0.0.1 -out "$T/site.example.pem"
	port=${ADDRS[tls]##*:}
	sed "s/@LISTEN@/$port/" "$T/tls.in" >"$T/tls.conf"
	spawn tls nginx -p "$T" -e stderr -c "$T/tls.conf"
	wait_for 10 has check_status tls L6RSP
}

# -- PostgreSQL --

# PostgreSQL begins its TLS itself, after some plain bytes; here it goes, with
# that of its own, through TLS between two frontends.
# bats test_tags=covered
@test "tls servers: psql reaches PostgreSQL through TLS, with TLS of its own" {
	make_site site.example
	start_postgres site.example
	{
		common
		cat <<-END
			[tls public]
			cert = $T/site.example.pem
			[tls upstream]
			ca = $T/ca.pem
			name = site.example
			[frontend in]
			listen = 127.0.0.1:0
			backend = far
			[frontend far]
			listen = unix:$T/far.sock tls=public
			backend = db
			[backend far]
			check = off
			server = far unix:$T/far.sock tls=upstream
			[backend db]
			check = off
			server = db $(addr postgres)
		END
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	for mode in disable verify-ca; do
		run -0 ask_postgres "$(port in)" \
		    "sslmode=$mode sslrootcert=$T/ca.pem" \
		    'select ssl from pg_stat_ssl
			where pid = pg_backend_pid()' \
		    "select md5(string_agg(md5(n::text), ''))
			from generate_series(1, 100000) as n"
		[[ $mode = disable || $output == t$'\n'* ]] || fail "$output"
		[[ $output =~ $'\n'[0-9a-f]{32}$ ]] || fail "$output"
	done
}
