#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The PROXY protocol: sent to servers (send_proxy), taken from clients
# (accept_proxy, proxy_from), beside nginx, haproxy, curl, and another lfproxy.

load helpers
load stat

TOOL=$ROOT/tests/behaviour/proxytool.py

# Long enough for any test but those that wait for it.
TIMEOUT_HELLO=60s

tool() {
	python3 -B "$TOOL" "$@"
}

# server NAME [ADDRESS]: see proxytool.py; headers received go to $T/NAME.out.
server() {
	serve "$1" python3 -B "$TOOL" serve "${2:-127.0.0.1:0}"
}

# say HEADER [OPTION...]: to the frontend `in`; what it prints is in $output.
say() {
	run -0 timeout 90 python3 -B "$TOOL" send "${TO:-$(listening in)}" "$@"
}

# told NAME LINE [N]: the last header that the server received, without those of
# checks unless LINE is one.
told() {
	wait_for 10 tells "$@" || fail "$1 was told $(tail -n +2 "$T/$1.out")"
}

tells() {
	local checks=' LOCAL$'

	[[ $2 != *LOCAL ]] || checks='^$'
	[ "$(grep -av "$checks" "$T/$1.out" | tail -n 1)" = "$2" ]
}

# front LINES LINE...: lfproxy with a frontend `in`, which takes headers, and
# these servers; LINES are further ones of the frontend, OPTIONS its listen's.
front() {
	local lines=$1

	shift
	{
		common
		echo "log = file=$T/access format=json"
		echo '[frontend in]'
		echo "listen = ${IN:-127.0.0.1:0} ${OPTIONS-accept_proxy}"
		echo "timeout_hello = $TIMEOUT_HELLO"
		echo 'backend = app'
		echo "$lines"
		echo '[backend app]'
		[[ $* == *check\ =* ]] || echo 'check = off'
		printf '%s\n' "$@"
	} >"$T/lfproxy.ini"
	sed -i '/^log = stderr/d' "$T/lfproxy.ini"
	# `log =` belongs into [global], which is the first section.
	sed -i "/^log = file/d; s|^\[global\]|&\nlog = file=$T/access format=json\nlog = stderr|" \
	    "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# field NAME: of the last session in the access log.
field() {
	tail -n 1 "$T/access" | python3 -c '
import json, sys
print(json.load(sys.stdin)[sys.argv[1]])' "$1"
}

logged() {
	[ "$(wc -l <"$T/access")" -ge "$1" ]
}

# of NAME COLUMN: a number of `show stat` for the frontend `in`.
of() {
	ctl show stat json | python3 -c '
import json, sys
for row in json.load(sys.stdin):
    values = {f["field"]["name"]: f["value"]["value"] for f in row}
    if values["pxname"] == "in" and values["svname"] == "FRONTEND":
        print(values[sys.argv[1]])' "$1"
}

# -- out --

# bats test_tags=onethread, covered
@test "proxy: the header is the first that servers get, in either version" {
	server a
	server b
	OPTIONS='' front '' "server = a $(addr a) send_proxy=v1"
	say none --data 5000
	[[ $output == *"echoed 5000" ]]
	from=${output#from }
	from=${from%%$'\n'*}
	told a "v1 TCP4 127.0.0.1 ${from##*:} 127.0.0.1 $(port in)"
	# Then for all servers, but for one that says something else.
	sed -i "s/ send_proxy=v1//; \$a send_proxy = v2\nserver = b $(addr b) send_proxy=v1 weight=0" \
	    "$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *'backend app: send_proxy: off -> v2'* ]]
	[[ $output == *"server a: send_proxy: v1 -> (the backend's)"* ]]
	say none --data 5000 --end fin
	from=${output#from }
	from=${from%%$'\n'*}
	told a "v2 TCP4 127.0.0.1 ${from##*:} 127.0.0.1 $(port in)"
	# The client's bytes alone are counted.
	wait_for 10 logged 2
	equal "bytes in" 5000 "$(field bytes_in)"
	equal "peer" None "$(field peer)"
}

# bats test_tags=onethread, covered
@test "proxy: a server that speaks first is heard, and gets the header" {
	start_redis
	server a
	OPTIONS='' front '' "server = a $(addr a) send_proxy=v2"
	exec 4<>"/dev/tcp/127.0.0.1/$(port in)"
	# Before the client has said anything.
	wait_for 10 has_line a '^v2 TCP4 127\.0\.0\.1 '
	exec 4>&-
}

# nginx that shows the addresses of the header.
nginx_config() {
	cat <<-END
		daemon off;
		pid $T/nginx.pid;
		user root;
		worker_processes 1;
		events { worker_connections 1024; }
		http {
		  log_format told '\$proxy_protocol_addr \$proxy_protocol_port '
		    '\$proxy_protocol_server_addr \$proxy_protocol_server_port';
		  access_log $T/nginx.told told;
		  client_body_temp_path $T/body;
		  proxy_temp_path $T/proxy;
		  fastcgi_temp_path $T/fastcgi;
		  uwsgi_temp_path $T/uwsgi;
		  scgi_temp_path $T/scgi;
		  server {
		    listen 127.0.0.1:@LISTEN@ proxy_protocol;
		    root $T/www;
		  }
		}
	END
}

nginx_ready() {
	curl -s -o /dev/null -m 2 --haproxy-protocol "http://127.0.0.1:$1/"
}

# bats test_tags=onethread, covered
@test "proxy: nginx learns the client's address, in both versions" {
	local version client

	start_nginx
	for version in v1 v2; do
		OPTIONS='' front '' "server = nginx $(addr nginx) send_proxy=$version" \
		    'check = http interval=100ms timeout=20s'
		client=$(fetch -o /dev/null -w '%{local_port}' "$(url in)")
		wait_for 10 grep -qx "127.0.0.1 $client 127.0.0.1 $(port in)" \
		    "$T/nginx.told"
		# Its checks come with a header as well, else they would fail.
		wait_for 10 ctl_says 'show servers state app' ' 15 '
		stop_lfproxy
	done
}

ctl_says() {
	ctl show stat | grep -q '^app,nginx,.*,L7OK,'
}

# bats test_tags=onethread, covered
@test "proxy: checks begin with a header where sessions do" {
	server a
	server b
	server c
	server d
	OPTIONS='' front '' 'check = connect interval=50ms' 'send_proxy = v2' \
	    "server = a $(addr a)" "server = b $(addr b) send_proxy=v1" \
	    "server = c $(addr c) check_port=$(addr d | sed 's/.*://')" \
	    "server = d $(addr d) check=off"
	told a 'v2 LOCAL'
	wait_for 10 grep -qxE \
	    "v1 TCP4 127.0.0.1 [0-9]+ 127.0.0.1 $(addr b | sed 's/.*://')" \
	    "$T/b.out"
	# Another port may be another program's.
	wait_for 10 ctl_checked c
	refute has_line d LOCAL
}

ctl_checked() {
	ctl show stat | grep -q "^app,$1,.*,L4OK,"
}

# bats test_tags=onethread, covered
@test "proxy: add server takes HAProxy's send-proxy and send-proxy-v2" {
	server a
	OPTIONS='' front '' "server = first 127.0.0.1:1 weight=0"
	ctl add server app/a "$(addr a)" send-proxy enabled
	say none --data 100
	told a "v1 TCP4 127.0.0.1 $(sed -n 's/^from .*://p' <<<"$output") 127.0.0.1 $(port in)"
	ctl disable server app/a
	ctl add server app/b "$(addr a)" send-proxy-v2 enabled
	say none --data 100
	told a "v2 TCP4 127.0.0.1 $(sed -n 's/^from .*://p' <<<"$output") 127.0.0.1 $(port in)"
}

# bats test_tags=onethread, covered
@test "proxy: a retry sends the header again, to the next server" {
	local mode

	server good
	start_bad reset reset
	start_bad refuse refuse
	start_bad close close
	for mode in reset refuse close; do
		OPTIONS='' front '' 'balance = first' 'retry_on = close' \
		    "server = bad $(addr $mode) send_proxy=v1" \
		    "server = good $(addr good) send_proxy=v2"
		: >"$T/access"
		: >"$T/good.out"
		# The client says nothing before the server has the header.
		exec 4<>"/dev/tcp/127.0.0.1/$(port in)"
		wait_for 10 has_line good "^v2 TCP4 127.0.0.1 [0-9]+ 127.0.0.1 $(port in)\$"
		echo hello >&4
		read -r -t $((60 * PATIENCE)) back <&4
		equal "what comes back" hello "$back"
		exec 4>&-
		wait_for 10 logged 1
		equal "server after $mode" good "$(field server)"
		equal "retries after $mode" 1 "$(field retries)"
		equal "headers" 1 "$(grep -c '^v2' "$T/good.out")"
		stop_lfproxy
	done
}

@test "proxy: the header travels in the SYN with Fast Open" {
	server a
	OPTIONS='' front '' "server = a $(addr a) send_proxy=v2 tfo=on"
	say none none none --data 3000
	equal "echoes" 3 "$(grep -c '^echoed 3000$' <<<"$output")"
	equal "headers" 3 "$(grep -c '^v2 TCP4' "$T/a.out")"
}

# bats test_tags=onethread, covered
@test "proxy: a client of a unix socket is sent as LOCAL or UNKNOWN" {
	server a
	IN="unix:$T/in.sock" OPTIONS='' front '' "server = a $(addr a) send_proxy=v1"
	TO="unix:$T/in.sock" say none --data 100
	told a 'v1 UNKNOWN'
	sed -i 's/send_proxy=v1/send_proxy=v2/' "$T/lfproxy.ini"
	ctl reload
	TO="unix:$T/in.sock" say none --data 100
	told a 'v2 LOCAL'
	# And what HAProxy says of one.
	on_free_port haproxy haproxy_ready sh -c "
		printf '%s\n' 'defaults' 'mode tcp' 'timeout connect 5s' \
		    'timeout client 20s' 'timeout server 20s' 'listen l' \
		    'bind unix@$T/ha.sock' 'bind 127.0.0.1:PORT' \
		    'server s $(addr a) send-proxy-v2' >'$T/ha.cfg'
		exec haproxy -db -q -f '$T/ha.cfg'"
	: >"$T/a.out"
	TO="unix:$T/ha.sock" say none --data 100
	told a 'v2 LOCAL'
}

# -- in --

# bats test_tags=onethread, covered
@test "proxy: a header in pieces, together with data, in either version" {
	local headers

	server a
	front '' "server = a $(addr a) send_proxy=v2"
	headers=(v1 v2 v2-crc v1-ipv6 v2-ipv6)
	say "${headers[@]}" --data 300000
	equal "echoes" 5 "$(grep -c '^echoed 300000$' <<<"$output")"
	say "${headers[@]}" --piece 1 --pause 1 --data 5000 --end fin
	equal "echoes" 5 "$(grep -c '^echoed 5000$' <<<"$output")"
	equal "IPv4" 6 "$(grep -cx 'v2 TCP4 192.0.2.7 50000 192.0.2.1 443' "$T/a.out")"
	equal "IPv6" 4 "$(grep -cx 'v2 TCP6 2001:db8::7 50000 2001:db8::1 443' "$T/a.out")"
	say v2-long=12000 --piece 5000 --pause 5 --data 5000 --end fin
	[[ $output == *"echoed 5000" ]]
	wait_for 10 logged 11
	equal "bytes in" 5000 "$(field bytes_in)"
	equal "bytes out" 5000 "$(field bytes_out)"
	equal "headers" 11 "$(of lf_proxy_headers)"
	equal "errors" 0 "$(of lf_proxy_errors)"
}

# bats test_tags=onethread, covered
@test "proxy: the header's client is the session's, the peer is shown" {
	server a
	front '' "server = a $(addr a)" 'source = 127.0.0.1'
	sed -i 's/^server = a .*/& send_proxy=v1/' "$T/lfproxy.ini"
	ctl reload
	exec 4<>"/dev/tcp/127.0.0.1/$(port in)"
	printf 'PROXY TCP4 192.0.2.9 192.0.2.1 1234 443\r\nx' >&4
	told a "v1 TCP4 192.0.2.9 1234 192.0.2.1 443"
	run -0 ctl show sess
	[[ $output == *' src=192.0.2.9:1234 fe=in be=app '* ]]
	run -0 ctl show sess all
	[[ $output == *' source=192.0.2.9:1234'* ]]
	[[ $output =~ ' peer=127.0.0.1:'[0-9]+ ]]
	peer=${BASH_REMATCH[0]# peer=}
	run -0 ctl show sess json
	[[ $output == *'"client": "192.0.2.9"'* || $output == *'"client":"192.0.2.9"'* ]]
	[[ $output == *"$peer"* ]]
	exec 4>&-
	wait_for 10 logged 1
	equal "client" 192.0.2.9 "$(field client)"
	equal "port" 1234 "$(field client_port)"
	equal "peer" "$peer" "$(field peer)"
	run -0 ctl show closed 1
	[[ $output == *" src=192.0.2.9:1234 peer=$peer fe=in "* ]]
	[[ $output == *' sni=<none> '* ]]
	run -0 ctl show closed json
	[[ $output == *"\"peer\": \"$peer\""* || $output == *"\"peer\":\"$peer\""* ]]
}

# bats test_tags=onethread, covered
@test "proxy: LOCAL, UNKNOWN and no family keep the connection's addresses" {
	server a
	front '' "server = a $(addr a) send_proxy=v1"
	say v1-unknown v2-local v2-unspec --data 100
	for from in $(sed -n 's/^from .*://p' <<<"$output"); do
		has_line a "^v1 TCP4 127.0.0.1 $from 127.0.0.1 $(port in)\$"
	done
	equal "headers" 3 "$(grep -c '^v1 ' "$T/a.out")"
}

# bats test_tags=onethread
@test "proxy: sessions are balanced by the header's client" {
	local n

	server a
	server b
	front '' 'balance = source' "server = a $(addr a)" "server = b $(addr b)"
	say v1=192.0.2.{1..8} v1=192.0.2.{1..8} --end fin
	wait_for 10 logged 16
	run -0 python3 - "$T/access" <<-'END'
		import json, sys
		servers = {}
		for line in open(sys.argv[1]):
		    r = json.loads(line)
		    servers.setdefault(r["client"], set()).add(r["server"])
		assert len(servers) == 8, servers
		assert all(len(s) == 1 for s in servers.values()), servers
		assert len(set.union(*servers.values())) == 2, servers
	END
	# explain answers for such a client's address.
	for n in 1 2 3 4; do
		run -0 ctl explain 192.0.2.$n in json
		equal "server of 192.0.2.$n" \
		    "$(grep -m 1 "\"client\":\"192.0.2.$n\"" "$T/access" |
		        grep -o '"server":"[ab]"' | cut -d '"' -f 4)" \
		    "$(python3 -c 'import json, sys
print(json.load(sys.stdin)[0]["choice"])' <<<"$output")"
	done
}

# closed_with CODE HEADER... [OPTION...]: such connections are closed for that.
closed_with() {
	local code=$1 before n

	before=$(wc -l <"$T/access")
	shift
	say "$@"
	[[ $output != *echoed* ]] || fail "$*: $output"
	n=$(grep -c '^closed\|^reset' <<<"$output")
	wait_for 10 logged $((before + n))
	equal "those with $code" "$n" "$(tail -n +$((before + 1)) "$T/access" |
	    grep -c "\"code\":\"$code\"")"
}

# bats test_tags=onethread, covered
@test "proxy: without a good header a session is closed, logged and counted" {
	local warnings

	server a
	front '' "server = a $(addr a)"
	closed_with PR none 'text=GET / HTTP/1.1\r\n\r\n' v2-crc-wrong \
	    'text=PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\nx' v2-long=16400 \
	    --data 10
	closed_with CR v1 v2 none --half --end fin
	say v2-ipv6 v1 --half --end rst
	wait_for 10 logged 10
	equal "the code" CR "$(field code)"
	equal "errors" 10 "$(of lf_proxy_errors)"
	equal "request errors" 10 "$(of ereq)"
	equal "sessions" 0 "$(of scur)"
	# HAProxy's checks are a header and a reset, both there before they are
	# looked at.
	stop_process "$LFPROXY_PID"
	say v1 v2 v1 v2 --end rst
	kill -CONT "$LFPROXY_PID"
	wait_for 10 logged 14
	equal "headers" 4 "$(of lf_proxy_headers)"
	equal "errors" 10 "$(of lf_proxy_errors)"
	# The first with its reason, and no more than a few.
	wait_for 10 lfproxy_said 'frontend in: .*127\.0\.0\.1:[0-9]+ has no good PROXY header: the first bytes are not those of a header'
	closed_with PR none none none none none none none none --data 10
	warnings=$(grep -c 'has no good PROXY header' "$LFPROXY_LOG")
	[ "$warnings" -lt 8 ] || fail "$warnings warnings"
	equal "what the server was told" "" "$(tail -n +2 "$T/a.out")"
}

stalls() {
	local began ticks

	server a
	TIMEOUT_HELLO=1s front '' "server = a $(addr a)"
	began=$(now_ms)
	ticks=$(cpu_ticks)
	closed_with cR none
	[ $(($(now_ms) - began)) -ge 950 ] || fail "too early"
	wait_for 10 lfproxy_said 'has no good PROXY header: it did not come within timeout_hello'
	# All the time together, not from the last byte on.
	closed_with cR v2 --piece 1 --pause 100
	# A busy loop would take some 200 ticks.
	ticks=$(($(cpu_ticks) - ticks))
	in_time $ticks 60
}

# bats test_tags=onethread
@test "proxy: a client that stalls is closed after timeout_hello" {
	stalls
}

# bats test_tags=onethread, timing
@test "proxy: a client that stalls takes no CPU time" {
	JUDGE_TIME=1 stalls
}

@test "proxy: sessions that wait for their header are listed, moved and ended" {
	server a
	front 'pool = main' "server = a $(addr a)"
	exec 4<>"/dev/tcp/127.0.0.1/$(port in)" 5<>"/dev/tcp/127.0.0.1/$(port in)"
	printf 'PROXY TCP4 192.0.2.9 ' >&4
	printf 'PROXY TCP4 192.0.2.8 ' >&5
	wait_for 10 inspecting 2
	ctl set pool main threads 4
	ctl set pool main shards 4
	ctl set pool main shards 1
	ctl reload
	printf '192.0.2.1 1 2\r\n' >&4
	wait_for 10 inspecting 1
	ctl show sess | grep -q 'src=192\.0\.2\.9:1 '
	id=$(ctl show sess json | python3 -c '
import json, sys
print(*[s["id"] for s in json.load(sys.stdin) if s["state"] == "INSPECTING"])')
	ctl shutdown session "$id"
	wait_for 10 logged 1
	equal "code" KR "$(field code)"
	exec 4>&- 5>&-
}

inspecting() {
	[ "$(ctl show sess json | grep -c '"INSPECTING"')" -eq "$1" ]
}

# bats test_tags=onethread, covered
@test "proxy: headers are read from proxy_from only, elsewhere they are data" {
	server a
	front 'proxy_from = 127.0.0.2 2001:db8::/32' "server = a $(addr a) send_proxy=v2"
	# The client is not in proxy_from: its header is data, after lfproxy's
	# own.
	say v1 --data 1000 --all
	told a "v2 TCP4 127.0.0.1 $(sed -n 's/^from .*://p' <<<"$output") 127.0.0.1 $(port in)"
	equal "headers" 0 "$(of lf_proxy_headers)"
	sed -i 's/^proxy_from.*/proxy_from = 127.0.0.0\/8/' "$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *'frontend in: proxy_from: 127.0.0.2, 2001:db8::/32 -> 127.0.0.0/8'* ]]
	say v1 --data 1000
	told a "v2 TCP4 192.0.2.7 50000 192.0.2.1 443"
	closed_with PR none --data 10
	# And without, on the socket that is there.
	sed -i '/^proxy_from/d; s/ accept_proxy//' "$T/lfproxy.ini"
	run -0 ctl reload
	say none --data 1000
	[[ $output == *"echoed 1000" ]]
}

# bats test_tags=onethread, covered
@test "proxy: headers at a unix socket" {
	server a
	IN="unix:$T/in.sock" front 'proxy_from = unix' \
	    "server = a $(addr a) send_proxy=v1"
	TO="unix:$T/in.sock" say v2 --piece 1 --data 3000
	[[ $output == *"echoed 3000" ]]
	told a "v1 TCP4 192.0.2.7 50000 192.0.2.1 443"
	wait_for 10 logged 1
	equal "peer" unix:1 "$(field peer)"
	# No IPv4 client can connect there, and yet this one may come.
	run -0 ctl explain 192.0.2.7
	[[ $output == *'frontend in'* ]]
	TO="unix:$T/in.sock" closed_with PR none --data 10
	TO="unix:$T/in.sock" closed_with CR v1 --half --end fin
}

# bats test_tags=onethread, covered
@test "proxy: IPv6, before and behind" {
	ip -6 addr show dev lo 2>/dev/null | grep -q '::1' ||
	    skip "this host has no IPv6 loopback"
	server a '[::1]:0'
	IN='[::1]:0' front '' "server = a $(addr a) send_proxy=v2"
	say v1-ipv6 --data 1000
	told a "v2 TCP6 2001:db8::7 50000 2001:db8::1 443"
	say v2-local --data 1000
	told a "v2 TCP6 ::1 $(sed -n 's/^from .*://p' <<<"$output") ::1 $(port in)"
}

# bats test_tags=onethread, covered
@test "proxy: the header of curl is read" {
	local client

	start_app a
	front '' "server = a $(addr a)"
	client=$(fetch --haproxy-protocol -o "$T/got" -w '%{local_port}' "$(url in)")
	equal "the answer" a "$(cat "$T/got")"
	wait_for 10 logged 1
	equal "client" "127.0.0.1 $client" "$(field client) $(field client_port)"
	equal "peer" "127.0.0.1:$client" "$(field peer)"
}

# start_haproxy NAME BIND SERVER...: in TCP mode, or, without a SERVER, one that
# answers with the client's address of the header.
start_haproxy() {
	local name=$1 bind=$2

	shift 2
	{
		printf '%s\n' defaults 'timeout connect 5s' 'timeout client 20s' \
		    'timeout server 20s' 'listen l' "bind 127.0.0.1:@AT@ $bind"
		if [ $# -eq 0 ]; then
			echo 'mode http'
			echo 'http-request return content-type text/plain lf-string "%[src]:%[src_port] %[dst]:%[dst_port]"'
		else
			echo "server s $*"
		fi
	} >"$T/$name.in"
	on_free_port "$name" haproxy_ready sh -c "
		sed 's/@AT@/PORT/' '$T/$name.in' >'$T/$name.cfg'
		exec haproxy -db -q -f '$T/$name.cfg'"
}

haproxy_ready() {
	(exec 9<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# bats test_tags=onethread
@test "proxy: haproxy before and behind, in either version" {
	local version client ha

	start_haproxy behind accept-proxy
	for version in v1 v2; do
		front '' "server = behind $(addr behind) send_proxy=$version" \
		    'check = http interval=200ms timeout=20s'
		ha=send-proxy
		[ $version = v1 ] || ha=send-proxy-v2
		start_haproxy before-$version '' "$(listening in) $ha check"
		client=$(fetch -w ' %{local_port}' -o "$T/got" \
		    "http://$(addr before-$version)/")
		equal "who haproxy says it was" \
		    "127.0.0.1:${client# } $(addr before-$version)" "$(cat "$T/got")"
		stop_lfproxy
	done
}

# bats test_tags=onethread, covered
@test "proxy: two lfproxies in a row hand the client on" {
	local client

	start_haproxy behind accept-proxy
	front '' "server = behind $(addr behind) send_proxy=v1"
	cat >"$T/first.ini" <<-END
		[frontend in]
		listen = 127.0.0.1:0
		backend = next
		[backend next]
		server = next $(listening in) send_proxy=v2
	END
	spawn first "$LFPROXY" -c "$T/first.ini"
	wait_for 10 grep -q ready "$T/first.err"
	first=$(sed -n 's/.*listening on \(.*\) (frontend in)/\1/p' "$T/first.err")
	client=$(fetch -w '%{local_port}' -o "$T/got" "http://$first/")
	equal "who haproxy says it was" "127.0.0.1:$client $first" "$(cat "$T/got")"
	end first
}

# bats test_tags=onethread
@test "proxy: a header, then a TLS hello, and rules by name" {
	server a
	server b
	front "sni = www.example.com backend=web" \
	    "server = a $(addr a) send_proxy=v2" \
	    '[backend web]' 'check = off' "server = b $(addr b) send_proxy=v2"
	for piece in 1000000 1; do
		say v1 --hello www.example.com --piece $piece --end fin
		[[ $output == *echoed* ]]
		told b "v2 TCP4 192.0.2.7 50000 192.0.2.1 443 authority=www.example.com"
	done
	say v1 --hello other.example.com --end fin
	told a "v2 TCP4 192.0.2.7 50000 192.0.2.1 443 authority=other.example.com"
	# Without TLS the name is that of the header; a TLS hello takes
	# precedence.
	say v2-authority=WWW.example.com --data 100 --end fin
	told b "v2 TCP4 192.0.2.7 50000 192.0.2.1 443 authority=www.example.com"
	wait_for 10 logged 4
	equal "sni" www.example.com "$(field sni)"
	say v2-authority=www.example.com --hello x.example.com --end fin
	told a "v2 TCP4 192.0.2.7 50000 192.0.2.1 443 authority=x.example.com"
}

# bats test_tags=onethread
@test "proxy: the header's authority is the session's name" {
	server a
	front '' "server = a $(addr a) send_proxy=v2"
	say v2-authority=www.example.com --data 100 --end fin
	told a "v2 TCP4 192.0.2.7 50000 192.0.2.1 443 authority=www.example.com"
	say 'v2-authority=no name' --data 100 --end fin
	told a "v2 TCP4 192.0.2.7 50000 192.0.2.1 443"
	wait_for 10 logged 2
	equal "sni" None "$(field sni)"
}

# bats test_tags=onethread, covered
@test "proxy: headers from everyone at a public address are warned of" {
	local listen

	for listen in ':0' '*:0' '203.0.113.7:0' '[2001:db8::1]:0'; do
		printf '[frontend w]\nlisten = %s accept_proxy=on\nbackend = b\n[backend b]\nserver = a 127.0.0.1:1\n' \
		    "$listen" >"$T/w.ini"
		run -0 "$LFPROXY" -t -c "$T/w.ini"
		[[ $output == *"$T/w.ini:2: warning: [frontend w]: listen: every host that can reach "*"write proxy_from ="* ]] ||
		    fail "$listen: $output"
		sed -i '/^listen/a proxy_from = 203.0.113.0/24' "$T/w.ini"
		run -0 "$LFPROXY" -t -c "$T/w.ini"
		[[ $output != *warning* ]] || fail "$listen: $output"
	done
	for listen in 127.0.0.1:0 10.0.0.1:0 '[fd00::1]:0' "unix:$T/x"; do
		printf '[frontend w]\nlisten = %s accept_proxy=on\nbackend = b\n[backend b]\nserver = a 127.0.0.1:1\n' \
		    "$listen" >"$T/w.ini"
		run -0 "$LFPROXY" -t -c "$T/w.ini"
		[[ $output != *warning* ]] || fail "$listen: $output"
	done
}
