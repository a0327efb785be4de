#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Members of a server set that are keys in etcd, followed by tools/discover in
# lfproxy's place, in front of the real etcd.

load helpers

# etcd_ready PORT
etcd_ready() {
	curl -s -m 2 "${ETCD_CURL[@]}" "$ETCD_SCHEME://127.0.0.1:$1/health" |
	    grep -q '"health":"true"'
}

ETCD_SCHEME=http
ETCD_CURL=()

# start_etcd [OPTION...]: with elections quick enough for a test.
start_etcd() {
	on_free_port etcd etcd_ready env -C "$T" etcd --data-dir "$T/data" \
	    --listen-client-urls "$ETCD_SCHEME://127.0.0.1:PORT" \
	    --advertise-client-urls "$ETCD_SCHEME://127.0.0.1:PORT" \
	    --listen-peer-urls unix://peer:0 \
	    --initial-advertise-peer-urls unix://peer:0 \
	    --initial-cluster default=unix://peer:0 \
	    --heartbeat-interval 20 --election-timeout 200 --bcrypt-cost 4 \
	    --log-level error "$@"
	ETCD=$(addr etcd)
}

etcdctl() {
	ETCDCTL_API=3 command etcdctl \
	    --endpoints "$ETCD_SCHEME://$ETCD" "$@" >"$T/etcdctl.out" 2>&1 ||
	    fail "etcdctl $*: $(cat "$T/etcdctl.out")"
}

put() {
	etcdctl put -- "$@"
}

# follow URL [OPTION...]: reports go to $T/discover.out.
follow() {
	spawn discover "$TOOLS/discover" etcd "$@"
}

last_report() {
	tail -n 1 "$T/discover.out"
}

last_is() {
	[ "$(last_report)" = "$1" ]
}

# reports TEXT: the last report becomes that.
reports() {
	wait_for 10 last_is "$1" ||
	    fail "expected '$1', got '$(last_report)'"
}

has_error() {
	grep -qE -- "^error: .*$1" "$T/discover.out"
}

# bats test_tags=unsanitized
@test "discovery: keys in etcd come, change and go, and so does one whose lease expires" {
	local lease ttl

	start_etcd
	put /app/a '10.0.0.1:80 weight=5'
	put /apple no
	follow "http://$ETCD/app/"
	reports 'members 1: a 10.0.0.1:80 weight=5'
	put /app/b '{"address": "10.0.0.2", "port": 80, "note": "rack 7"}'
	reports 'members 2: a 10.0.0.1:80 weight=5, b 10.0.0.2:80 (rack 7)'
	put /app/a 10.0.0.1:81
	reports 'members 2: a 10.0.0.1:81, b 10.0.0.2:80 (rack 7)'
	etcdctl del /app/b
	reports 'members 1: a 10.0.0.1:81'
	# On a busy machine a lease may be over before it is used.
	for ttl in 1 5 30; do
		etcdctl lease grant $ttl
		lease=$(cut -d' ' -f2 "$T/etcdctl.out")
		if etcdctl put "--lease=$lease" /app/leased c:1; then
			break
		fi
	done
	wait_for 10 has_line discover '^members 2: a 10\.0\.0\.1:81, leased c:1$'
	reports 'members 1: a 10.0.0.1:81'
	etcdctl del --prefix /app/
	reports 'members 0'
	refute grep error "$T/discover.out"
	signal discover TERM
	finish discover
}

# bats test_tags=unsanitized, slow
@test "discovery: etcd that was killed is followed again, with what has changed meanwhile" {
	start_etcd
	put /app/a a:1
	follow "http://$ETCD/?prefix=/app/"
	reports 'members 1: a a:1'
	end etcd KILL
	wait_for 10 has_error 'http://127.0.0.1:.*Connection refused'
	spawn etcd env -C "$T" etcd --data-dir "$T/data" \
	    --listen-client-urls "http://$ETCD" \
	    --advertise-client-urls "http://$ETCD" \
	    --listen-peer-urls unix://peer:0 \
	    --initial-advertise-peer-urls unix://peer:0 \
	    --initial-cluster default=unix://peer:0 \
	    --heartbeat-interval 20 --election-timeout 200 --log-level error
	wait_for 10 etcd_ready "${ETCD##*:}"
	put /app/b b:1
	reports 'members 2: a a:1, b b:1'
	put /app/b b:2
	reports 'members 2: a a:1, b b:2'
}

# bats test_tags=unsanitized
@test "discovery: after a compaction the keys of etcd are read again" {
	local revision

	start_etcd
	put /app/a a:1
	serve hold python3 -B "$ROOT/tests/behaviour/etcdtool.py" hold "$ETCD" \
	    "$T/go"
	follow "http://$(addr hold)/app/" --timeout 60000
	wait_for 10 has_line hold holding
	put /app/a a:2
	put /app/a a:3
	etcdctl get /app/a -w json
	revision=$(sed 's/.*"revision":\([0-9]*\).*/\1/' "$T/etcdctl.out")
	etcdctl compact "$revision"
	touch "$T/go"
	reports 'members 1: a a:3'
	put /app/a a:4
	reports 'members 1: a a:4'
	refute grep error "$T/discover.out"
}

# bats test_tags=unsanitized, slow
@test "discovery: 1 000 keys of etcd change, and turns of the loop stay short" {
	local longest

	start_etcd
	follow "http://$ETCD/app/" --count
	reports 'members 0'
	run -0 python3 -B "$ROOT/tests/behaviour/etcdtool.py" change "$ETCD" \
	    /app/ 1000 5
	reports 'members 500'
	# From the beginning, in pages.
	signal discover USR1
	run -0 python3 -B "$ROOT/tests/behaviour/etcdtool.py" change "$ETCD" \
	    /app/more- 1000 1
	reports 'members 1000'
	signal discover TERM
	finish discover
	refute grep error <<<"$output"
	longest=$(sed -n 's/^longest turn: \([0-9]*\) us$/\1/p' <<<"$output")
	echo "the longest turn took $longest us"
	[ "$longest" -gt 0 ]
	in_time "$longest" 5000
}

# bats test_tags=unsanitized, slow
@test "discovery: etcd that hangs is noticed, and another member is asked" {
	start_etcd
	put /app/a a:1
	follow "http://$ETCD,127.0.0.1:$(free_port)/app/" --timeout 500
	reports 'members 1: a a:1'
	stop_process "${PIDS[etcd]}"
	wait_for 10 has_error 'no complete answer within 500ms'
	wait_for 10 has_error 'Connection refused'
	signal etcd CONT
	put /app/a a:2
	reports 'members 1: a a:2'
}

# bats test_tags=unsanitized
@test "discovery: etcd wants TLS with a client certificate" {
	make_ca ca
	make_ca other
	make_cert etcd ca IP:127.0.0.1
	make_cert client ca DNS:client
	ETCD_SCHEME=https
	ETCD_CURL=(--cacert "$T/ca.pem" --cert "$T/client.pem"
	    --key "$T/client.key")
	start_etcd --cert-file "$T/etcd.pem" --key-file "$T/etcd.key" \
	    --trusted-ca-file "$T/ca.pem" --client-cert-auth
	export ETCDCTL_CACERT=$T/ca.pem ETCDCTL_CERT=$T/client.pem \
	    ETCDCTL_KEY=$T/client.key
	put /app/a a:1
	follow "https://$ETCD/app/" --ca "$T/ca.pem" --cert "$T/client.pem" \
	    --key "$T/client.key"
	reports 'members 1: a a:1'
	put /app/a a:2
	reports 'members 1: a a:2'
	end discover
	follow "https://$ETCD/app/" --ca "$T/other.pem" \
	    --cert "$T/client.pem" --key "$T/client.key"
	wait_for 10 has_error 'self-signed certificate|unable to get local issuer'
	end discover
	follow "https://$ETCD/app/" --ca "$T/ca.pem"
	wait_for 10 has_error '(alert|certificate|ended)'
	refute grep members "$T/discover.out"
}

# bats test_tags=unsanitized, slow
@test "discovery: etcd wants a name and a password" {
	start_etcd
	put /app/a a:1
	etcdctl user add root:secret
	etcdctl user grant-role root root
	etcdctl auth enable
	echo root:secret >"$T/token"
	echo root:wrong >"$T/wrong"
	follow "http://$ETCD/app/" --token "$T/token"
	reports 'members 1: a a:1'
	etcdctl --user root:secret put /app/a a:2
	reports 'members 1: a a:2'
	end discover
	follow "http://$ETCD/app/" --token "$T/wrong"
	wait_for 10 has_error 'HTTP 400: .*invalid user ID or password'
	end discover
	follow "http://$ETCD/app/"
	wait_for 10 has_error 'HTTP 4.*user name is empty'
}

@test "discovery: the token of etcd expires, which is no error" {
	start_etcd --auth-token-ttl 1
	put /app/a a:1
	etcdctl user add root:secret
	etcdctl user grant-role root root
	etcdctl auth enable
	echo root:secret >"$T/token"
	follow "http://$ETCD/app/" --token "$T/token" --timeout 2000
	reports 'members 1: a a:1'
	# A login is followed by a report, so two more are two tokens.
	wait_for 60 eval '[ "$(grep -c "^members 1: a a:1" \
	    "$T/discover.out")" -ge 3 ]'
	refute has_error .
	etcdctl --user root:secret put /app/a a:2
	reports 'members 1: a a:2'
	# What a login does not help is an error.
	etcdctl --user root:secret user passwd root --interactive=false <<<other
	wait_for 60 has_error 'invalid user ID or password'
}
