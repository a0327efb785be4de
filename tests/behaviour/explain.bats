# SPDX-License-Identifier: MIT
# explain: where the next client would be sent, and why.  What it says is what
# happens, and that it was asked changes nothing.

load helpers

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = stderr
		drain_timeout = 10m
		admin = $ADMIN mode=0600
		[pool main]
		threads = 2
		${MORE:-}
	END
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# of_json EXPRESSION: of the array x on standard input.
of_json() {
	python3 -c 'import json, sys
x = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"
}

# choice SOURCE...: the server that is said to be chosen.
choice() {
	ctl explain "$@" json | of_json 'x[0]["choice"]'
}

# standings SOURCE...: NAME=STANDING of each server.
standings() {
	ctl explain "$@" json |
	    of_json '" ".join(s["server"] + "=" + s["standing"]
for s in x[0]["servers"])'
}

three_apps() {
	start_app a
	start_app b
	start_app c
}

# The name of the server that answers a client from there.
answer_to() {
	fetch --interface "$1" -H 'Connection: close' "$(url)"
}

# ported HOST [FRONTEND]: a client that is bound to a port, asks, and then
# connects by it; fails unless the answer is the one that was said.
ported() {
	python3 - "$CTL" "$ADMIN" "$1" "$(port "${2:-web}")" \
	    "${2:-web}" <<-'END'
		import json, socket, subprocess, sys
		ctl, admin, host, port, frontend = sys.argv[1:]
		six = ":" in host
		s = socket.socket(socket.AF_INET6 if six else socket.AF_INET)
		s.bind((host, 0))
		source = "%s:%d" % ("[%s]" % host if six else host,
		                    s.getsockname()[1])
		said = json.loads(subprocess.check_output(
		    [ctl, "-S", admin, "explain", source, frontend, "json"]))
		s.settimeout(60)
		s.connect((host, int(port)))
		s.sendall(b"GET / HTTP/1.0\r\n\r\n")
		got = b""
		while more := s.recv(4096):
		    got += more
		got = got.split(b"\r\n\r\n")[1].decode().strip()
		if got != said[0]["choice"]:
		    sys.exit("%s: said %s, got %s" % (source, said, got))
	END
}

# held N: that many sessions are at their servers.  A client's connect succeeds
# before lfproxy accepts it.
held() {
	[ "$(ctl show stat app 4 -1 | column_of scur |
	    awk '{ n += $1 } END { print n }')" = "$1" ]
}

# bats test_tags=onethread, slow
@test "explain: the prediction holds for each algorithm" {
	local kind source said i

	three_apps
	for kind in roundrobin leastconn source hash first; do
		BALANCE=$kind web 'a weight=3' b c
		for i in {2..7}; do
			source=127.0.0.$i
			said=$(choice "$source" web)
			equal "$kind, $source" "$said" "$(answer_to "$source")"
		done
		stop_lfproxy
	done
}

# bats test_tags=onethread, covered
@test "explain: leastconn with sessions that stay" {
	local i said

	three_apps
	BALANCE=leastconn DEFAULTS='log_on_connect = on' web 'a weight=3' b c
	for i in {1..8}; do
		said=$(choice "127.0.0.$i")
		spawn "hold$i" "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
		    --deadline 600
		wait_for 10 sessions_ended "$i"
		equal "session $i" "$said" \
		    "$(sessions | tail -n 1 | grep -o ' app/.' | tail -c 2)"
	done
}

# bats test_tags=onethread
@test "explain: a source port or the destination as the key" {
	local i

	three_apps
	BACKEND=$'check = off\nhash_key = source-port' BALANCE=hash web a b c
	run -0 ctl explain 127.0.0.1
	[[ $output == *"none: it depends on the client's port"* ]] ||
	    fail "$output"
	for i in {1..6}; do
		ported 127.0.0.1
	done
	stop_lfproxy
	BACKEND=$'check = off\nhash_key = destination' BALANCE=hash web a b c
	equal "destination" "$(choice 127.0.0.1)" "$(answer_to 127.0.0.1)"
	equal "the same, given" "$(choice 127.0.0.1)" \
	    "$(choice 127.0.0.1 to "127.0.0.1:$(port web)")"
	stop_lfproxy
	WEB='0.0.0.0:0' BACKEND=$'check = off\nhash_key = destination' \
	    BALANCE=hash web a b c
	run -0 ctl explain 127.0.0.1
	[[ $output == *"none: it depends on where the client connects to"* ]] ||
	    fail "$output"
	for i in 1 2 3 4 5 6; do
		equal "to 127.0.0.$i" \
		    "$(choice 127.0.0.1 to "127.0.0.$i:$(port web)")" \
		    "$(fetch -H 'Connection: close' \
		        "http://127.0.0.$i:$(port web)/")"
	done
}

# bats test_tags=onethread
@test "explain: chances are those that come true" {
	local said seen

	start_app a
	start_app b
	BALANCE=random web 'a weight=1' 'b weight=0'
	spawn hold "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --count 8 \
	    --deadline 600
	wait_for 10 held 8
	ctl set weight app/b 1
	run -0 ctl explain 127.0.0.1 json
	equal "random" True "$(of_json 'x[0]["random"]' <<<"$output")"
	equal "choice" None "$(of_json 'x[0]["choice"]' <<<"$output")"
	# Both draws have to be a.
	said=$(of_json 'round(100 * x[0]["servers"][0]["probability"])' \
	    <<<"$output")
	((said > 20 && said < 30)) || fail "a has $said %"
	seen=$(fetch -H 'Connection: close' "$(url)?[1-300]" | grep -c a)
	# Four standard deviations of 300 draws.
	((seen > 3 * said - 30 && seen < 3 * said + 30)) ||
	    fail "a was said to get $said %, and got $seen of 300"
	# With one left there is no chance.
	ctl disable server app/a
	equal "choice" b "$(choice 127.0.0.1)"
	equal "a" b "$(fetch "$(url)?[1-20]" | sort -u)"
}

# bats test_tags=onethread, covered
@test "explain: chances under ewma add up to 1, servers that are down have none" {
	three_apps
	BALANCE=ewma web a b 'c backup'
	fetch -H 'Connection: close' "$(url)?[1-20]" >"$T/names"
	ctl explain 127.0.0.1 json >"$T/json"
	equal "random" True "$(of_json 'x[0]["random"]' <"$T/json")"
	equal "sum" 1.0 "$(of_json \
	    'round(sum(s["probability"] for s in x[0]["servers"]), 6)' \
	    <"$T/json")"
	equal "c" "backup 0.0" "$(of_json \
	    '"{standing} {probability}".format(**x[0]["servers"][2])' \
	    <"$T/json")"
	refute grep -q c "$T/names"
}

# bats test_tags=covered
@test "explain: roundrobin alternates exactly whatever is asked in between" {
	local got='' i

	start_app a
	start_app b
	web a b
	for i in {1..16}; do
		got+=$(answer_to 127.0.0.1)
		ctl explain "127.0.0.$i" >/dev/null
		ctl explain "127.0.0.$i" json >/dev/null
	done
	[[ $got =~ ^(ab){8}$ || $got =~ ^(ba){8}$ ]] || fail "got $got"
}

# bats test_tags=covered
@test "explain: shares of concurrent sessions are exact while it is asked" {
	local n

	n=$(($(scaled 1600) / 16))
	start_streams a
	start_streams b
	web a b
	# shellcheck disable=SC2016
	spawn ask sh -c 'while [ ! -e "$1" ]; do
		"$2" -S "$3" explain 127.0.0.1 json && echo asked || exit 1
	done' sh "$T/enough" "$CTL" "$ADMIN"
	wait_for 10 has_line ask '^asked'
	streams "127.0.0.1:$(port web)" --connections 16 --repeat "$n" --up 99
	wait_for 10 sessions_ended $((16 * n))
	: >"$T/enough"
	finish ask
	equal "a's sessions" $((8 * n)) "$(sessions | grep -c ' app/a ')"
	equal "b's sessions" $((8 * n)) "$(sessions | grep -c ' app/b ')"
}

# bats test_tags=onethread, covered
@test "explain: nothing is counted and nothing opened" {
	local before

	start_app a
	start_app b
	web a b
	fetch "$(url)?[1-3]" >"$T/names"
	wait_for 10 sessions_ended 1
	before=$(ctl show stat | cut -d, -f1-17,31)
	for _ in 1 2 3; do
		ctl explain 127.0.0.1 >/dev/null
	done
	equal "statistics" "$before" "$(ctl show stat | cut -d, -f1-17,31)"
	equal "sessions" 1 "$(sessions | wc -l)"
}

# bats test_tags=onethread
@test "explain: each server says where it stands" {
	three_apps
	start_app d
	start_app e
	start_app f
	BALANCE=first web 'a maxconn=1' b c 'd backup' 'e weight=0' f
	spawn hold "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --deadline 600
	wait_for 10 held 1
	ctl set server app/b state drain
	ctl set server app/c state maint
	ctl set server app/f health stopping
	equal "standings" \
	    "a=full b=drain c=maint d=backup e=no-weight f=stopping" \
	    "$(standings 127.0.0.1)"
	run -0 ctl explain 127.0.0.1
	[[ $output == *"none: no server has room or is usable, so it waits"* ]] ||
	    fail "$output"
	ctl set server app/b state ready
	equal "choice" b "$(choice 127.0.0.1)"
	run -0 ctl explain 127.0.0.1
	[[ $output == *"  server   b: it is the first one that has room"* ]] ||
	    fail "$output"
	grep -q '^> b  *eligible ' <<<"$output"
}

# bats test_tags=onethread
@test "explain: down, ejected, panic" {
	three_apps
	BACKEND=$'check = connect interval=100ms fall=1 timeout=5s rise=1' web a b c
	end a
	wait_for 10 lfproxy_said 'server app/a is down'
	equal "a down" "a=down b=eligible c=eligible" "$(standings 127.0.0.1)"
	end b
	end c
	wait_for 10 lfproxy_said 'server app/b is down'
	wait_for 10 lfproxy_said 'server app/c is down'
	equal "none" None "$(choice 127.0.0.1)"
	stop_lfproxy
	BACKEND=$'check = off\neject_after = 1\neject_time = 1m\nretries = 3' \
	    web a b c
	restart_app a
	restart_app b
	fetch -H 'Connection: close' "$(url)?[1-9]" >"$T/names"
	wait_for 10 lfproxy_said 'app/c.*eject'
	equal "c ejected" "a=eligible b=eligible c=ejected" \
	    "$(standings 127.0.0.1)"
	stop_lfproxy
	BACKEND=$'check = connect interval=100ms fall=1 timeout=5s\npanic_percent = 100' \
	    web a b c
	wait_for 10 lfproxy_said 'app/c is down'
	equal "panic" "a=eligible b=eligible c=panic" "$(standings 127.0.0.1)"
}

# bats test_tags=onethread
@test "explain: IPv4, IPv6 and unix clients, and the frontend they reach" {
	[ -e /proc/net/if_inet6 ] && grep -q '^0*1 ' /proc/net/if_inet6 ||
	    skip "no IPv6 loopback here"
	three_apps
	{
		common
		cat <<-END
			[frontend four]
			listen = 127.0.0.1:0
			backend = app
			[frontend six]
			listen = [::1]:0
			listen = unix:$T/a.sock
			listen = unix:$T/b.sock
			backend = app
			[backend app]
			balance = hash
			hash_key = source-port
			check = off
			server = a $(addr a)
			server = b $(addr b)
			server = c $(addr c)
		END
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	equal "v4" four "$(ctl explain 10.0.0.1 json | of_json \
	    '"".join(f["frontend"] for f in x)')"
	equal "v4-mapped" four "$(ctl explain ::ffff:10.0.0.1 json | of_json \
	    '"".join(f["frontend"] for f in x)')"
	equal "v6" six "$(ctl explain fe80::1 json | of_json \
	    '"".join(f["frontend"] for f in x)')"
	ported ::1 six
	equal "unix, the first" "$(choice unix)" \
	    "$(fetch --unix-socket "$T/a.sock" http://x/)"
	equal "unix, the second" "$(choice "unix:$T/b.sock")" \
	    "$(fetch --unix-socket "$T/b.sock" http://x/)"
	run -1 ctl explain 10.0.0.1 six
	[[ $output == *"Frontend six listens on no address that the client '10.0.0.1' could"* ]]
	run -1 ctl explain unix:/nowhere
	[[ $output == *"No frontend listens on an address that the client 'unix:/nowhere' could"* ]]
}

# has_share SERVER: some twentieth of all keys.
has_share() {
	ctl explain 10.0.0.1 json | of_json "[3 < (s['score'] or 0) < 7
for s in x[0]['servers'] if s['server'] == '$1']" | grep -q True
}

# At each of these moments one table is made, and what comes after it waits for
# another one, except servers that are down.
@test "explain: servers added and deleted together all have their keys" {
	local i

	start_app a
	{
		common
		printf '%s\n' '[frontend web]' 'listen = 127.0.0.1:0' \
		    'backend = app' '[backend app]' 'balance = hash'
		for i in {1..20}; do
			echo "server = s$i $(addr a)"
		done
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	for i in 2 3 4; do
		echo "disable server app/s1; enable server app/s1; disable server app/s$i" |
		    socat -t 60 - "UNIX:$ADMIN"
		[[ " $(standings 10.0.0.1) " == *" s1=eligible "*"s$i=maint "* ]]
		wait_for 10 has_share s1
		refute has_share "s$i"
		ctl enable server "app/s$i"
		wait_for 10 has_share "s$i"
	done
}

# bats test_tags=onethread
@test "explain: a split's backend without a server keeps its sessions when no other may take them" {
	local why

	start_app a
	{
		common
		printf '[defaults]\ncheck = off\n[frontend web]\n'
		printf 'listen = 127.0.0.1:0\n'
		printf 'backend = app weight=1\nbackend = canary weight=0\n'
		printf '[backend app]\nserver = a %s\n' "$(addr a)"
		printf '[backend canary]\nserver = c %s\n' "$(addr a)"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	ctl disable server app/a
	why=$(ctl explain 10.0.0.7 web)
	[[ $why == *"app weight=1 (no usable server, and no other backend with a weight has one: it keeps its sessions), canary weight=0"* ]] ||
	    fail "$why"
	[[ $why == *"so it waits in the queue"* ]] || fail "$why"
	# With another that has a weight they go there.
	sed -i 's/canary weight=0/canary weight=2/' "$T/lfproxy.ini"
	ctl reload
	why=$(ctl explain 10.0.0.7 web)
	[[ $why == *"app weight=1 (no usable server: the other backends get its sessions)"* ]] ||
	    fail "$why"
}

# bats test_tags=covered
@test "explain: a split's turn is the next session's" {
	local i said

	start_app a
	start_app b
	{
		common
		cat <<-END
			[frontend web]
			listen = 127.0.0.1:0
			backend = app weight=2
			backend = other weight=1
			[backend app]
			check = off
			server = a $(addr a)
			[backend other]
			check = off
			server = b $(addr b)
		END
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	run -0 ctl explain 127.0.0.1
	[[ $output == *"turn 1 of 3 of the split app weight=2, other weight=1"* ]]
	for i in {1..9}; do
		said=$(choice 127.0.0.1)
		equal "session $i" "$said" "$(answer_to 127.0.0.1)"
	done
}

# bats test_tags=onethread
@test "explain: reasons for a client to stay in the backlog" {
	start_app a
	web a
	equal "accepted" True "$(ctl explain 127.0.0.1 json |
	    of_json 'x[0]["accepted"]')"
	ctl set maxconn frontend web 1
	spawn hold "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --deadline 600
	wait_for 10 held 1
	run -0 ctl explain 127.0.0.1
	[[ $output == *"waits in the backlog: the frontend is at its maxconn"* ]]
	ctl set maxconn frontend web 100
	ctl set maxconn global 1
	run -0 ctl explain 127.0.0.1
	[[ $output == *"waits in the backlog: all sessions"* ]] || fail "$output"
	ctl disable frontend web
	run -0 ctl explain 127.0.0.1
	[[ $output == *"the frontend is disabled"* ]]
	equal "accepted" False "$(ctl explain 127.0.0.1 json |
	    of_json 'x[0]["accepted"]')"
}

# bats test_tags=onethread
@test "explain: arguments without effect are refused" {
	local i

	start_app a
	web a
	run -1 ctl explain
	[[ $output == *"The client's address is expected"* ]]
	run -1 ctl explain somewhere
	[[ $output == *"'somewhere' is not a client's address; allowed are 10.0.0.1,"* ]]
	run -1 ctl explain 127.0.0.1 nowhere
	[[ $output == *"No such frontend."* ]]
	run -1 ctl explain 127.0.0.1 web web
	[[ $output == *"Unexpected argument 'web'"* ]]
	run -1 ctl explain 127.0.0.1 sni
	[[ $output == *"sni: '' is not a valid TLS name"* ]]
	run -1 ctl explain 127.0.0.1 web sni a..b json
	[[ $output == *"sni: 'a..b' is not a valid TLS name"* ]]
	run -0 ctl explain 127.0.0.1 web sni example.org
	[[ $output == *"  sni      example.org, which this frontend does not "* ]]
	run -1 ctl explain 127.0.0.1 to 127.0.0.1:80
	[[ $output == *"No frontend has a rule with dst or port, a backend with hash_key = destination"* ]]
	run -1 ctl explain 127.0.0.1 to there
	[[ $output == *"to: 'there' is not where a client connects to"* ]]
	for i in 127.0.0.1:99999 127.0.0.1: 127.0.0.1:0 :80 [::1 [::1]80 \
	    1.2.3.4.5 ::1:80:: face.example:80 dead.beef unixx ''; do
		run -1 ctl explain "$i"
		[[ $output == *"lient's address"* ]] || fail "$i: $output"
	done
}

# bats test_tags=onethread, covered
@test "explain: completion knows its words, and the frontends" {
	offers() {
		equal "behind '${*:2}'" "$1" "$(ctl --complete "${@:2}" | xargs)"
	}
	start_app a
	web a
	offers "unix" explain
	offers "web to sni alpn tls json" explain 127.0.0.1
	offers "to sni alpn tls json" explain 127.0.0.1 web
	offers "" explain 127.0.0.1 to
	offers "" explain 127.0.0.1 sni
	offers "json" show capacity
	offers "json" show memory
}
