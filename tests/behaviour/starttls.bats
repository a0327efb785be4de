#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# TLS that begins with PostgreSQL's SSLRequest: with clients and with servers.

load helpers
load stat
load tls
load postgres

TOOL="python3 -B $ROOT/tests/behaviour/starttlstool.py"
SSL_OF='select ssl from pg_stat_ssl where pid = pg_backend_pid()'

# server NAME ANSWER
server() {
	# shellcheck disable=SC2086
	serve "$1" $TOOL serve "$1" "$2"
}

# says WHAT FRONTEND STEP...: what such a client reads.
says() {
	# shellcheck disable=SC2086
	equal "${*:3}" "$1" "$(timeout 60 $TOOL talk "$(listening "$2")" "${@:3}")"
}

# closed_for REASON: a session has ended for that.
closed_for() {
	ctl show closed json | grep -qF "$1"
}

# backend NAME SERVER...
backend() {
	local name

	printf '[backend %s]\ncheck = off\nretries = 3\n' "$1"
	for name in "${@:2}"; do
		printf 'server = %s %s\n' "$name" "$(addr "$name")"
	done
}

@test "starttls: psql is routed by its name, with TLS to the server and its check" {
	local count="select md5(string_agg(md5(n::text), ''))
		from generate_series(1, 100000) as n"

	make_site db.example
	start_postgres db.example
	server other 53
	{
		common
		cat <<-END
			[defaults]
			timeout_hello = 1m
			timeout_handshake = 1m
			[tls public]
			cert = $T/db.example.pem
			[tls upstream]
			ca = $T/ca.pem
			name = db.example
			[frontend pass]
			listen = 127.0.0.1:0 starttls=postgresql
			route = sni=db.example backend=db
			route = tls=yes backend=other
			route = tls=no src=127.0.0.1 backend=db
			[frontend ends]
			listen = 127.0.0.1:0 tls=public starttls=postgresql
			backend = db
			[frontend both]
			listen = 127.0.0.1:0 tls=public starttls=postgresql
			backend = over_tls
			[frontend plain]
			listen = 127.0.0.1:0
			backend = over_tls
			[backend db]
			check = off
			server = db $(addr postgres)
			[backend over_tls]
			check = postgresql user=postgres interval=100ms rise=1
			server = far $(addr postgres) tls=upstream starttls=postgresql
		END
		backend other other
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	for way in "pass disable f" "pass prefer t" "pass verify-full t" \
	    "ends require f" "ends verify-full f" "both verify-full t" \
	    "plain disable t"; do
		read -r frontend mode wanted <<<"$way"
		run -0 ask_postgres "$(port "$frontend")" \
		    "host=db.example hostaddr=127.0.0.1 sslmode=$mode
			gssencmode=prefer sslrootcert=$T/ca.pem" \
		    "$SSL_OF" "$count"
		[[ $output == "$wanted"$'\n'* ]] || fail "$way: $output"
		[[ $output =~ $'\n'[0-9a-f]{32}$ ]] || fail "$way: $output"
	done
	# A client without TLS is told what to do.
	run -2 ask_postgres "$(port ends)" sslmode=disable "$SSL_OF"
	[[ $output == *"this address requires TLS"* ]] || fail "$output"
	wait_for 10 has check_status far L7OK
	# Without the request PostgreSQL refuses the check and the sessions; from
	# version 17 on it ends the connection behind the handshake.
	sed -i 's/ tls=upstream starttls=postgresql/ tls=upstream/' \
	    "$T/lfproxy.ini"
	ctl reload
	refused() { [[ $(column check_status far) == L[67]RSP ]]; }
	wait_for 20 refused
}

@test "starttls: clients in pieces, with GSSAPI, TLS at once, and without TLS" {
	server db 53
	server other 53
	make_site db.example
	{
		common
		cat <<-END
			[defaults]
			timeout_hello = 1m
			[tls public]
			cert = $T/db.example.pem
			[frontend web]
			listen = 127.0.0.1:0 starttls=postgresql
			listen = unix:$T/web.sock starttls=postgresql
			route = sni=db.example backend=db
			route = tls=no backend=other
			[frontend hasty]
			listen = 127.0.0.1:0 starttls=postgresql accept_proxy
			timeout_hello = 300ms
			route = sni=db.example backend=db
			backend = other
			[frontend ends]
			listen = 127.0.0.1:0 tls=public starttls=postgresql
			backend = other
		END
		backend db db
		backend other other
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	says "S db" web ssl read hello=db.example fin end
	says "S db" web byte-ssl read hello=db.example fin end
	says "N S db" web gss read ssl read hello=db.example fin end
	says "N S db" web byte-gss read byte-ssl read hello=db.example fin end
	says "N other" web gss read plain fin end
	says db web hello=db.example fin end
	says other web plain fin end
	says other web cancel fin end
	# Another name has no backend.
	says "S reset" web ssl read hello=x.example end
	# shellcheck disable=SC2086
	equal "by a unix socket" "N S db" "$(timeout 60 $TOOL talk \
	    "unix:$T/web.sock" byte-gss read byte-ssl read hello=db.example \
	    fin end)"

	# Bytes in the clear behind a request, or no hello after it.
	for steps in ssl+hello=db.example ssl+hex=00 gss+ssl gss+hex=00; do
		says reset web "$steps" end
	done
	says "N reset" web gss read gss end
	says "S reset" web ssl read plain end
	says "S reset" web ssl read ssl end
	wait_for 10 lfproxy_said "sent more than its request for encryption"
	wait_for 10 closed_for "or what followed it, is not valid"

	# A client that has asked for TLS is not sent on without it.
	header=$(printf 'PROXY TCP4 192.0.2.7 192.0.2.8 1 2\r\n' |
	    od -An -v -tx1 | tr -d ' \n')
	says "S db" hasty "hex=$header" ssl read hello=db.example fin end
	says "S closed" hasty "hex=$header" ssl read end
	says other hasty "hex=$header" hex=000000 fin end
	says "S closed" hasty "hex=$header" ssl read fin end

	# Where TLS ends a client has to ask for it.
	run -0 timeout 60 $TOOL talk "$(listening ends)" plain end
	[[ $output == *28000*requires*TLS* ]] || fail "$output"
	says reset ends ssl+hex=16 end
}

@test "starttls: servers that refuse, break off or say nothing are passed by" {
	server yes 53
	server no 4e
	server error 45736f7272790a00
	server more 5358
	server mute none
	server gone close
	make_site db.example
	{
		common
		cat <<-END
			[defaults]
			timeout_hello = 1m
			timeout_connect = $((300 * PATIENCE))ms
			[tls upstream]
			verify = none
			[frontend web]
			listen = 127.0.0.1:0 starttls=postgresql
		END
		for name in yes no error more mute gone good nested; do
			echo "route = sni=$name.example backend=$name"
		done
		for name in no error more mute gone; do
			printf '[backend %s]\ncheck = off\nbalance = first\n' \
			    "$name"
			printf 'retries = 0\nserver = %s %s\n' "$name" \
			    "$(addr "$name")"
		done
		backend yes yes
		echo '[backend good]'
		printf 'check = off\nbalance = first\nretries = 5\n'
		for name in no error more gone yes; do
			printf 'server = %s %s\n' "$name" "$(addr "$name")"
		done
		echo '[backend nested]'
		echo 'check = off'
		echo "server = yes $(addr yes) tls=upstream"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	says "S yes" web ssl read hello=yes.example fin end
	# TLS that begins at once is passed on as it is.
	says yes web hello=yes.example fin end
	for name in no error more; do
		says "S reset" web ssl read hello=$name.example end
	done
	wait_for 10 closed_for "did not answer the request for TLS with S"
	lfproxy_said "N is its answer to the SSLRequest"
	lfproxy_said "wrong answer to the SSLRequest: 'Esorry"
	says "S reset" web ssl read hello=gone.example end
	wait_for 10 closed_for "no server accepted the connection"
	says "S reset" web ssl read hello=mute.example end
	wait_for 10 closed_for "the last server did not answer for"
	# The client's hello is still there for another server.
	says "S yes" web ssl read hello=good.example fin end
	says "S reset" web ssl read hello=nested.example end
	wait_for 10 lfproxy_said "the client's TLS is passed on"
}

@test "starttls: settings without effect are told with their line" {
	make_site db.example
	cat >"$T/lfproxy.ini" <<-END
		[tls public]
		cert = $T/db.example.pem
		[tls upstream]
		verify = none
		[frontend web]
		listen = 127.0.0.1:0 starttls=postgresql
		backend = app
		[frontend pass]
		listen = 127.0.0.1:0 starttls=postgresql
		route = sni=db.example backend=far
		backend = app
		[backend app]
		server = a 127.0.0.1:1 starttls=postgresql
		[backend far]
		server = a 127.0.0.1:1 tls=upstream
	END
	run -0 "$BUILD/lfproxy" -t -c "$T/lfproxy.ini"
	[[ $output == *"lfproxy.ini:6: warning: [frontend web]: listen: starttls has no effect"* ]]
	[[ $output == *"lfproxy.ini:13: warning: [backend app]: server: starttls has no effect"* ]]
	[[ $output == *"lfproxy.ini:15: warning: [backend far]: server 'a' has TLS"* ]]
	sed -i 's/starttls=postgresql/starttls=mysql/' "$T/lfproxy.ini"
	run -78 "$BUILD/lfproxy" -t -c "$T/lfproxy.ini"
	[[ $output == *"lfproxy.ini:6: listen: starttls: "*"off, postgresql"* ]] ||
	    fail "$output"
}
