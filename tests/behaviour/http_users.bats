#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Who may change something over the HTTP port: passwords, cookies, proxies in
# front, TLS, and what pages of other origins may not.

# bats file_tags=onethread

load helpers
load tls

JSON='Content-Type: application/json'

# users: alice is an admin, bob an operator, carol comes by a proxy alone.
write_users() {
	local alice bob

	alice=$(openssl passwd -6 -salt abcdefgh secret)
	bob=$(openssl passwd -6 -salt abcdefgh 'b:ob')
	(umask 077 && printf '%s\n' "alice:$alice:admin" "bob:$bob" \
	    'carol:*:admin' >"$T/users")
}

# served OPTIONS: lfproxy with these options of http; its URL is $HTTP.
served() {
	[ -e "$T/users" ] || write_users
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\nserver = a %s\nserver = b %s\n' \
		    127.0.0.1:1 127.0.0.1:2
		cat "$T/tls.ini" 2>/dev/null || :
	} >"$T/lfproxy.ini"
	sed -i "s|^\[global\]|&\nhttp = ${ADDRESS:-127.0.0.1:0} $1|" \
	    "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	HTTP=$(sed -n 's|.*monitoring at \(http.*\)/$|\1|p' "$LFPROXY_LOG")
	[ -n "$HTTP" ]
}

# call STATUS PATH [CURL OPTION...]: the answer's body, in $output.
call() {
	local want=$1 path=$2

	shift 2
	# shellcheck disable=SC2086
	run -0 ${CURL:-} curl -sS -m 60 -o "$T/body" -D "$T/head" -w '%{http_code}' "$@" \
	    "$HTTP/api/v1/$path"
	[ "$output" = "$want" ] || fail "$path: $output, not $want: $(cat "$T/body")"
	output=$(cat "$T/body")
}

# command STATUS COMMAND [CURL OPTION...]
command_is() {
	local want=$1 command=$2

	shift 2
	call "$want" command -H "$JSON" -d "{\"command\":\"$command\"}" "$@"
}

member() {
	python3 -c 'import json, sys
print(json.loads(sys.argv[1])[sys.argv[2]])' "$output" "$1"
}

# signed_in NAME PASSWORD: the cookie is in the jar, the token in $TOKEN.
signed_in() {
	call 200 session -c "$T/jar" -H "$JSON" \
	    -d "{\"user\":\"$1\",\"password\":\"$2\"}"
	TOKEN=$(member csrf)
	[ -n "$TOKEN" ]
}

@test "users: commands run with the level of who gives them, and are audited" {
	served "users=$T/users"
	command_is 403 'set weight app/a 7'
	command_is 403 'set weight app/a 7' -u 'bob:b:ob'
	command_is 200 'show closed' -u 'bob:b:ob'
	command_is 403 'show closed'
	command_is 200 'set weight app/a 7' -u alice:secret
	equal answer '{"answer":""}' "$output"
	command_is 200 'get weight app/a' -u alice:secret
	equal answer '{"answer":"7 (initial 100)"}' "$output"
	lfproxy_said 'admin: alice at 127.0.0.1:[0-9]* .HTTP.: server app/a weight: 100 -> 7'
	command_is 400 'set weight app/nothing 7' -u alice:secret
	[[ $output == '{"error":"'* ]] || fail "$output"
	# A word too many is an error, as with lfproxyctl.
	command_is 400 'show version now' -u alice:secret
	call 200 closed -u 'bob:b:ob'
	equal "closed sessions" '[]' "$(tr -d '\n' <<<"$output")"
	call 403 closed
}

@test "users: what is no command is told" {
	served "users=$T/users level=admin"
	call 415 command -d '{"command":"show version"}'
	call 400 command -H "$JSON" -d '{"command":7}'
	call 400 command -H "$JSON" -d '{"command":""}'
	call 400 command -H "$JSON" -d '{"command":"show version'
	call 400 command -H "$JSON" -d '{"command":"show version;show info"}'
	call 400 command -H "$JSON" -d '{"command":"show version\nshow info"}'
	call 400 command -H "$JSON" \
	    -d '{"command":"show version","payload":"x"}'
	call 405 command
	grep -q '^Allow: POST' "$T/head"
	call 405 session -X PUT
	call 405 servers -X DELETE
	head -c 70000 /dev/zero | tr '\0' ' ' >"$T/long"
	call 413 command -H "$JSON" --data-binary "@$T/long"
	command_is 200 'show version'
}

# explained TEXT: the answer to the last request contains it.
explained() {
	[[ $output == *"$1"* ]] || fail "not '$1' in $output"
}

@test "users: a path or a query of the API names what has a slash" {
	served "users=$T/users level=admin"
	call 400 pool/no%2Fsuch
	explained "Unknown pool 'no/such'"
	call 400 pool/no%252fsuch
	explained "Unknown pool 'no%2fsuch'"
	call 200 closed/client/127.0.0.0%2F8
	equal "the answer" "[]" "$(tr -d '\n' <<<"$output")"
	call 200 'closed?client=127.0.0.0/8&last=5m'
	call 200 'closed/last/5m?client=127.0.0.0%2F8'
	call 400 'closed?client=127.0.0.0/33'
}

@test "users: the API refuses words that a command does not know" {
	served "users=$T/users level=admin"
	call 400 'failures?cause=XX'
	explained "No session ends with 'XX'"
	explained " SC "
	call 400 'failures?cause='
	call 400 'info?nothing=1'
	call 400 'failures?cause=SC%3bshutdown'
	call 400 'failures?cause=SC%00'
	call 400 "failures?cause=$(printf '%01100d' 0)"
}

@test "users: a command that takes a while is answered at its end" {
	served "users=$T/users"
	command_is 200 'wait 300ms' -u alice:secret
	equal answer '{"answer":"Done."}' "$output"
	# A warning follows the answer.
	command_is 200 'add server app/c 127.0.0.1:3' -u alice:secret
	[[ $output == '{"answer":"New server registered.\nServer app/c has no'* ]] ||
	    fail "$output"
	command_is 200 'del server app/c' -u alice:secret
	sed -i 's/^server = a.*/& weight=50/' "$T/lfproxy.ini"
	command_is 200 reload -u alice:secret
	[[ $output == *'weight: 100 -> 50'* ]] || fail "$output"
	# Of a port that it closes the answer still comes, also of one that goes.
	sed -i 's/^http = 127.0.0.1:0/http = 127.0.0.2:0/' "$T/lfproxy.ini"
	command_is 200 reload -u alice:secret
	[[ $output == *'http: 127.0.0.1:0'*'-> 127.0.0.2:0'* ]] || fail "$output"
	[ "$(grep -c 'reloaded: 1 change' "$LFPROXY_LOG")" -eq 2 ]
	HTTP=$(sed -n 's|.*monitoring at \(http.*\)/$|\1|p' "$LFPROXY_LOG" |
	    tail -n 1)
	[[ $HTTP == http://127.0.0.2:* ]]
	# lfproxy stops while one waits.
	spawn waiting curl -sS -m 60 -u alice:secret -H "$JSON" \
	    -d '{"command":"wait 1h"}' "$HTTP/api/v1/command"
	wait_for 10 eval '[ -n "$(ss -Htn state established \
	    "sport = :${HTTP##*:}")" ]'
	stop_lfproxy
}

@test "users: a cookie needs the token, which DELETE takes back" {
	served "users=$T/users"
	signed_in alice secret
	grep -qi '^Set-Cookie: lfproxy_[0-9]*=.*; HttpOnly; SameSite=Strict' "$T/head"
	refute grep -qi '; Secure' "$T/head"
	command_is 403 'set weight app/a 7' -b "$T/jar"
	command_is 403 'set weight app/a 7' -b "$T/jar" -H 'X-CSRF-Token: x'
	# A token of the same length and form, and a part of the right one.
	command_is 403 'set weight app/a 7' -b "$T/jar" \
	    -H "X-CSRF-Token: $(rev <<<"${TOKEN%=}")="
	command_is 403 'set weight app/a 7' -b "$T/jar" \
	    -H "X-CSRF-Token: ${TOKEN:0:20}"
	command_is 200 'set weight app/a 7' -b "$T/jar" -H "X-CSRF-Token: $TOKEN"
	call 200 session -b "$T/jar"
	equal user alice "$(member user)"
	equal level admin "$(member level)"
	call 403 session -b "$T/jar" -X DELETE
	call 200 session -b "$T/jar" -X DELETE -H "X-CSRF-Token: $TOKEN"
	call 200 session -b "$T/jar"
	equal user '' "$(member user)"
	command_is 403 'set weight app/a 7' -b "$T/jar" -H "X-CSRF-Token: $TOKEN"
}

@test "users: a page of another origin changes nothing" {
	served "level=admin"
	command_is 200 'show version'
	command_is 403 'show version' -H 'Origin: http://evil.example'
	command_is 403 'show version' -H 'Origin: null'
	command_is 403 'show version' -H 'Sec-Fetch-Site: cross-site'
	# Its own page has the token.
	command_is 403 'show version' -H "Origin: $HTTP"
	call 200 session
	TOKEN=$(member csrf)
	command_is 200 'show version' -H "Origin: $HTTP" -H "X-CSRF-Token: $TOKEN"
	# Another page may not, even with the token.
	command_is 403 'show version' -H 'Origin: http://evil.example' \
	    -H "X-CSRF-Token: $TOKEN"
	[[ $output == *'another origin'* ]] || fail "$output"
	command_is 403 'show version' -H 'Sec-Fetch-Site: same-site' \
	    -H "X-CSRF-Token: $TOKEN"
	command_is 200 'show version' -H 'Sec-Fetch-Site: same-origin' \
	    -H "X-CSRF-Token: $TOKEN"
	# Nor may it sign its visitors in as another user.
	call 403 session -H "$JSON" -H 'Origin: http://evil.example' \
	    -d '{"user":"alice","password":"secret"}'
	[[ $output == *'another origin'* ]] || fail "$output"
	# A name that resolves to 127.0.0.1 is of another host's page.
	command_is 421 'show version' -H 'Host: evil.example' \
	    -H 'Origin: http://evil.example'
}

@test "users: wrong passwords make their address wait, and are logged" {
	local i

	served "users=$T/users"
	for i in 1 2 3 4 5; do
		call 401 session -u "alice:$i"
	done
	call 429 session -u alice:secret
	grep -q '^Retry-After: [0-9]' "$T/head"
	call 429 session -H "$JSON" -d '{"user":"alice","password":"secret"}'
	lfproxy_said 'http: a wrong name or password from 127.0.0.1'
	# Others do not wait.
	call 200 session -u alice:secret --interface 127.0.0.2
	# Who knows nobody's name waits as well.
	call 401 session -u nobody:x --interface 127.0.0.3
	call 401 session -u carol:x --interface 127.0.0.3
	call 401 session -u 'carol:*' --interface 127.0.0.3
	call 400 session -H 'Authorization: Basic ???'
}

# bats test_tags=covered
@test "users: unknown names count as wrong passwords, and a right one forgives" {
	local i

	served "users=$T/users"
	for i in 1 2 3 4 5; do
		call 401 session -u "stranger$i:x" --interface 127.0.0.2
	done
	call 429 session -u alice:secret --interface 127.0.0.2
	for i in 1 2 3 4; do
		call 401 session -u "alice:$i"
	done
	call 200 session -u alice:secret
	for i in 1 2 3 4; do
		call 401 session -u "alice:$i"
	done
	call 200 session -u 'bob:b:ob'
}

# guesses PASSWORD COUNT [NETWORK]: see guesstool.py.
guesses() {
	spawn guesses python3 -B "$ROOT/tests/behaviour/guesstool.py" \
	    "${HTTP#http://}" "$@"
}

# Symptom: an attempt counted when it had failed, so that others began meanwhile.
@test "users: five of many wrong passwords at the same time are tried" {
	served "users=$T/users"
	guesses x 40
	finish guesses 60
	equal "those tried" 5 "$(grep -c '^401' "$T/guesses.out")"
	equal "those refused" 35 "$(grep -c '^429' "$T/guesses.out")"
	call 429 session -u alice:secret
	# Right ones at the same time are no failures.
	guesses secret! 12 127.0.0.3
	finish guesses 60
	equal "those let in" 12 "$(grep -c '^200' "$T/guesses.out")"
}

# Symptom: users were told that too many passwords were being checked.
@test "users: guesses from many addresses do not delay who signed in before" {
	(umask 077 && printf 'alice:%s:admin\n' "$(openssl passwd -6 \
	    -salt 'rounds=60000$abcdefgh' secret)" >"$T/users")
	served "users=$T/users"
	call 200 session -H "$JSON" -d '{"user":"alice","password":"secret"}'
	guesses x 60 127.0.1.
	wait_for 60 has_line guesses 401
	call 200 session -H "$JSON" -d '{"user":"alice","password":"secret"}'
	[ "$(grep -c 401 "$T/guesses.out")" -lt 40 ] || fail "alice came last"
	# Nor are others refused.
	call 200 session -u alice:secret --interface 127.0.0.2
	finish guesses 60
	equal "those tried" 60 "$(grep -c '^401' "$T/guesses.out")"
}

@test "users: a change of the file signs everybody out" {
	served "users=$T/users"
	signed_in alice secret
	call 200 session -u 'bob:b:ob'
	equal user bob "$(member user)"
	sed -i '/^bob/d' "$T/users"
	chmod 600 "$T/users"
	call 401 session -u 'bob:b:ob'
	call 200 session -b "$T/jar"
	equal user '' "$(member user)"
	echo wrong >>"$T/users"
	call 500 session -u alice:secret
	lfproxy_said 'no user can sign in: .*users:3: a line is NAME:HASH'
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *'users:3: a line is NAME:HASH'*'no user can sign in'* ]] ||
	    fail "$output"
}

@test "users: a proxy in front names the user, and nobody else does" {
	served "users=$T/users user_header=X-User header_from=127.0.0.9,10.0.0.0/8"
	call 200 session -H 'X-User: carol'
	equal user '' "$(member user)"
	call 200 session -H 'X-User: carol' --interface 127.0.0.9
	equal user carol "$(member user)"
	TOKEN=$(member csrf)
	command_is 403 'set weight app/a 7' -H 'X-User: carol' \
	    --interface 127.0.0.9
	command_is 200 'set weight app/a 7' -H 'X-User: carol' \
	    --interface 127.0.0.9 -H "X-CSRF-Token: $TOKEN"
	call 200 session -H 'X-User: mallory' --interface 127.0.0.9
	equal user '' "$(member user)"
}

@test "users: TLS is that of its section, also when it is renewed" {
	make_site localhost
	printf '[tls page]\ncert = %s\n' "$T/localhost.pem" >"$T/tls.ini"
	served "tls=page users=$T/users"
	[[ $HTTP == https://* ]] || fail "$HTTP"
	call 200 session --cacert "$T/ca.pem" -u alice:secret
	signed_in_securely
	equal protocol http/1.1 "$(curl -sS --cacert "$T/ca.pem" -o /dev/null \
	    -w 'http/%{http_version}' "$HTTP/")"
	# A long page, and its stream.
	run -0 curl -sS --cacert "$T/ca.pem" "$HTTP/metrics"
	[[ $output == *lfproxy_process_* ]] || fail "no metrics"
	run -28 curl -sS --cacert "$T/ca.pem" -N -m 3 -o "$T/live" \
	    "$HTTP/api/v1/live"
	grep -q '^event: snapshot' "$T/live"
	# What is no TLS is cut off, and others go on meanwhile.
	run curl -sS -m 60 "http://${HTTP#https://}/"
	[ "$status" -ne 0 ]
	run -0 curl -sS --cacert "$T/ca.pem" "$HTTP/healthz"
	equal answer ok "$output"
	stop_lfproxy
}

signed_in_securely() {
	call 200 session --cacert "$T/ca.pem" -c "$T/jar" -H "$JSON" \
	    -d '{"user":"alice","password":"secret"}'
	grep -qi '^Set-Cookie: .*; Secure' "$T/head"
}

# securely_served: the port has TLS; its address is $PORT.
securely_served() {
	make_site localhost
	printf '[tls page]\ncert = %s\n' "$T/localhost.pem" >"$T/tls.ini"
	served "tls=page users=$T/users"
	PORT=${HTTP#https://}
}

unread() {
	spawn "$1" python3 -B "$ROOT/tests/behaviour/httpfoestool.py" unread \
	    "$PORT" "$2" tls
}

# full: there are more of them than the table has places, who are closed within
# 10 seconds.  On a busy machine that takes several goes.
full() {
	local i

	for i in 1 2 3; do
		unread "many$i" 120
	done
	for i in 1 2 3; do
		wait_for 120 has_line "many$i" '^ready'
	done
	lfproxy_said 'http: 288 TLS connections are open: closed the one without'
}

# Symptom: such clients stayed for good, even after a reload had moved the port.
@test "users: TLS clients that never read are closed, and keep no others out" {
	local i

	securely_served
	unread few 3
	finish few 60
	[[ $output == *ended ]] || fail "$output"
	wait_for 120 full
	call 200 session --cacert "$T/ca.pem" -u alice:secret
	sed -i 's/^http = 127.0.0.1:0/http = 127.0.0.2:0/' "$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said 'reloaded: 1 change'
	for i in 1 2 3; do
		finish "many$i" 60
	done
	wait_for 10 eval '[ -z "$(ss -Htn "sport = :${PORT##*:}")" ]'
}

@test "users: warnings and errors of http" {
	served "level=admin"
	[ "$(grep -c 'can give commands at 127.0.0.1:0 with level=admin' \
	    "$LFPROXY_LOG")" -eq 1 ]
	sed 's/^http = .*/http = 127.0.0.1:0 tls=page/' "$T/lfproxy.ini" \
	    >"$T/x.ini"
	printf '[tls page]\n' >>"$T/x.ini"
	run "$LFPROXY" -t -c "$T/x.ini"
	[[ $output == *"[tls page] has no certificate"* ]] || fail "$output"
}

# Of which host a client is the address says: not 127.0.0.1, though it is here.
@test "users: from another host nobody signs in without TLS, unless told so" {
	netns n
	${NS[n]} ip addr add 192.0.2.1/32 dev lo
	LIMIT=${NS[n]} ADDRESS=192.0.2.1:0 served "users=$T/users level=operator"
	CURL=${NS[n]}
	call 200 session
	equal level user "$(member level)"
	equal "whether one can sign in" False "$(member sign_in)"
	[[ $(member why) == *'signing in needs TLS'* ]] || fail "$output"
	call 403 session -u alice:secret
	call 403 session -H "$JSON" -d '{"user":"alice","password":"secret"}'
	call 403 closed
	command_is 403 'show closed'
	call 200 servers
	sed -i 's/^http = .*/& plain_sign_in=on/' "$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said 'reloaded: 1 change'
	wait_for 10 lfproxy_said 'warning: http: with plain_sign_in passwords cross the network'
	command_is 200 'set weight app/a 7' -u alice:secret
	call 200 closed
}
