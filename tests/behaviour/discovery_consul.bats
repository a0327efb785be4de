#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Members of a server set that are instances of a service in Consul, followed by
# tools/discover in lfproxy's place, in front of consultool.py, which speaks
# Consul's protocol and makes its mistakes.

load helpers

# start_consul [OPTION...]
start_consul() {
	serve consul python3 -B "$ROOT/tests/behaviour/consultool.py" "$@"
}

# instance ID PORT [PARTS]: with further parts of Service.
instance() {
	echo "{\"Node\": {\"Node\": \"n1\", \"Address\": \"10.0.0.9\"},
	    \"Service\": {\"ID\": \"$1\", \"Port\": $2 ${3:+, $3}},
	    \"Checks\": [{\"Status\": \"passing\"}]}"
}

# consul PART...: parts of the responder's state, as in '"index": 5'.
consul() {
	local IFS=,

	run -0 curl -sf -m 10 "${CONSUL_CURL[@]}" -X PUT \
	    -d "{$*}" "${CONSUL_SCHEME:-http}://$(addr consul)/state"
}

CONSUL_CURL=()

# follow PATH [OPTION...]: reports go to $T/discover.out.
follow() {
	local path=$1

	shift
	spawn discover "$TOOLS/discover" consul \
	    "${CONSUL_SCHEME:-http}://${CONSUL_HOST:-$(addr consul)}/$path" "$@"
}

last_is() {
	[ "$(tail -n 1 "$T/discover.out")" = "$1" ]
}

# reports TEXT: the last report becomes that.
reports() {
	wait_for 10 last_is "$1" ||
	    fail "expected '$1', got '$(tail -n 1 "$T/discover.out")'"
}

has_error() {
	grep -qE -- "^error: .*$1" "$T/discover.out"
}

# asked N: at least so many queries so far.
asked() {
	[ "$(grep -c ^asked "$T/consul.out")" -ge "$1" ]
}

last_asked() {
	tail -n 1 "$T/consul.out"
}

last_asked_is() {
	[ "$(last_asked)" = "asked /v1/health/service/$1" ]
}

# asks QUERY: the last query becomes that.
asks() {
	wait_for 10 last_asked_is "$1" ||
	    fail "expected '$1', got '$(last_asked)'"
}

# bats test_tags=unsanitized
@test "discovery: instances in Consul come, change and go" {
	start_consul
	consul '"index": 7' "\"instances\": [$(instance web1 80 \
	    '"Address": "10.0.0.1", "Weights": {"Passing": 5}, "Tags": ["blue"]')]"
	follow 'web?passing&tag=blue&dc=east'
	reports 'members 1: n1/web1 10.0.0.1:80 weight=5 (blue)'
	asks 'web?passing&tag=blue&dc=east&index=7&wait=60s'
	consul '"index": 9' \
	    "\"instances\": [$(instance web1 80),$(instance web2 81)]"
	reports 'members 2: n1/web1 10.0.0.9:80 weight=1, n1/web2 10.0.0.9:81 weight=1'
	asks 'web?passing&tag=blue&dc=east&index=9&wait=60s'
	consul '"index": 10' '"instances": []'
	reports 'members 0'
	asks 'web?passing&tag=blue&dc=east&index=10&wait=60s'
	equal 'queries of four answers' 4 "$(grep -c ^asked "$T/consul.out")"
	signal discover TERM
	finish discover
	refute grep error <<<"$output"
}

# bats test_tags=unsanitized
@test "discovery: an index of Consul that goes backwards is dropped" {
	start_consul
	consul '"index": 70' "\"instances\": [$(instance a 1)]"
	follow web
	asks 'web?index=70&wait=60s'
	consul '"index": 3' "\"instances\": [$(instance a 2)]"
	reports 'members 1: n1/a 10.0.0.9:2 weight=1'
	asks 'web?index=3&wait=60s'
	equal 'the query without an index' 'asked /v1/health/service/web?' \
	    "$(tail -n 2 "$T/consul.out" | head -n 1)"
}

# bats test_tags=unsanitized
@test "discovery: Consul without an index is not asked without a pause" {
	local n

	start_consul
	consul '"index": null' "\"instances\": [$(instance a 1)]"
	follow web
	wait_for 10 asked 3
	asks 'web?index=1&wait=60s'
	# 0.4 s, 0.8 s, 1.6 s: whatever the machine does, few are possible.
	pause 1.5
	n=$(grep -c ^asked "$T/consul.out")
	[ "$n" -le 7 ] || fail "$n queries"
}

# bats test_tags=unsanitized, slow
@test "discovery: answers of Consul that are wrong keep the members, and pass" {
	local mode error

	start_consul
	consul "\"instances\": [$(instance a 1)]"
	follow web --timeout 1000
	reports 'members 1: n1/a 10.0.0.9:1 weight=1'
	for mode in 'status HTTP 500: No cluster leader' \
	    'garbage not a list of JSON objects, at .<html>' \
	    'cut the connection ended before' \
	    'filtered the token has no right' \
	    'silent no complete answer within 1s$'; do
		error=${mode#* } mode=${mode%% *}
		: >"$T/discover.out"
		consul "\"mode\": \"$mode\""
		# A query that waits for a change has a minute more.
		[ "$mode" != silent ] || signal discover USR1
		wait_for 10 has_error "$error"
		refute grep members "$T/discover.out"
		consul '"mode": "ok"'
		reports 'members 1: n1/a 10.0.0.9:1 weight=1'
	done
	# Byte by byte.
	consul '"mode": "trickle"' '"index": 5' \
	    "\"instances\": [$(instance b 2)]"
	reports 'members 1: n1/b 10.0.0.9:2 weight=1'
	end consul
	wait_for 10 has_error 'Connection refused'
}

# bats test_tags=unsanitized
@test "discovery: Consul wants TLS and a token" {
	make_ca ca
	make_ca other
	make_cert consul ca IP:127.0.0.1
	cat "$T/consul.key" >>"$T/consul.pem"
	echo s3cr3t-token >"$T/token"
	CONSUL_SCHEME=https CONSUL_CURL=(--cacert "$T/ca.pem")
	start_consul --cert "$T/consul.pem" --token s3cr3t-token
	consul "\"instances\": [$(instance a 1)]"
	follow web --ca "$T/ca.pem" --token "$T/token"
	reports 'members 1: n1/a 10.0.0.9:1 weight=1'
	end discover
	follow web --ca "$T/ca.pem"
	wait_for 10 has_error 'HTTP 403: Permission denied'
	end discover
	follow web --ca "$T/other.pem" --token "$T/token"
	wait_for 10 has_error 'self-signed certificate|unable to get local issuer'
	refute grep members "$T/discover.out"
}

# bats test_tags=unsanitized
@test "discovery: Consul's name has to be in subjectAltName" {
	make_ca ca
	make_nameless localhost ca
	cat "$T/localhost.key" >>"$T/localhost.pem"
	CONSUL_SCHEME=https CONSUL_CURL=(-k)
	start_consul --cert "$T/localhost.pem"
	consul "\"instances\": [$(instance a 1)]"
	CONSUL_HOST=localhost:$(addr consul | sed 's/.*://')
	follow web --ca "$T/ca.pem"
	wait_for 10 has_error 'has no host name in subjectAltName; renew it, or'
	refute grep members "$T/discover.out"
	end discover
	follow web --ca "$T/ca.pem" --common-name
	reports 'members 1: n1/a 10.0.0.9:1 weight=1'
}

# bats test_tags=unsanitized
@test "discovery: turns of the loop stay short with 1 000 instances in Consul" {
	local longest

	start_consul --instances 1000
	follow web --count
	reports 'members 1000'
	signal discover TERM
	finish discover
	longest=$(sed -n 's/^longest turn: \([0-9]*\) us$/\1/p' <<<"$output")
	echo "the longest turn took $longest us"
	[ "$longest" -gt 0 ]
	in_time "$longest" 5000
}
