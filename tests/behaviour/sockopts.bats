# SPDX-License-Identifier: MIT
# Options of sockets, read back from the kernel.

# bats file_tags=onethread

load helpers
load sockopts

hold() {
	spawn "hold$1" ${2:-} "$TOOLS/badclient" idle \
	    "127.0.0.1:$(port web)" --count "$1" --deadline 200
	wait_for 10 has_line "hold$1" '^established'
}

# The connection that a client has to a port of lfproxy or lfproxy to a server.
from_client() {
	kernel connection "local=127.0.0.1:$(port web) "
}

to_server() {
	local a

	a=$(addr "$1")
	kernel connection "peer=${a%:*}:${a##*:} "
}

connections_to() {
	"$TOOLS/sockopts" "$LFPROXY_PID" | grep -c "peer=$(addr "$1") "
}

all_connected() {
	[ "$(connections_to "$1")" -eq "$2" ]
}

# bats test_tags=covered
@test "sockopts: without options a socket has the kernel's" {
	start_app a
	web a
	readable
	hold 1
	kernel listen "local=127.0.0.1:$(port web) "
	has keepalive=0 user_timeout=0 tos=0 mark=0 interface=- reuseport=0 \
	    defer=0 tfo=0 transparent=0 nodelay=1
	has "backlog=$(cat /proc/sys/net/core/somaxconn)"
	wait_for 10 to_server a
	has keepalive=0 user_timeout=0 tos=0 mark=0 interface=- nodelay=1 \
	    tfo=0 transparent=0
}

# bats test_tags=covered
@test "sockopts: backlog, keepalive and user_timeout of a listener" {
	start_app a
	WEB='127.0.0.1:0 backlog=77 keepalive=61s:11s:4 user_timeout=31s' web a
	readable
	hold 1
	kernel listen "local=127.0.0.1:$(port web) "
	has backlog=77 keepalive=1 idle=61 interval=11 count=4 \
	    user_timeout=31000
	wait_for 10 from_client
	has keepalive=1 idle=61 interval=11 count=4 user_timeout=31000
	wait_for 10 to_server a
	has keepalive=0 user_timeout=0
}

# bats test_tags=covered
@test "sockopts: buffers, mss, dscp, congestion and interface of a listener" {
	start_app a
	WEB="127.0.0.1:0 sndbuf=48k rcvbuf=24k mss=1000 dscp=af41"
	WEB+=" congestion=reno interface=lo" web a
	readable
	hold 1
	kernel listen "local=127.0.0.1:$(port web) "
	has sndbuf=98304 rcvbuf=49152 mss=1000 tos=136 congestion=reno \
	    interface=lo
	wait_for 10 from_client
	has sndbuf=98304 rcvbuf=49152 tos=136 congestion=reno interface=lo
	[[ $line =~ \ mss=([0-9]+) ]]
	[ "${BASH_REMATCH[1]}" -le 1000 ]
}

# bats test_tags=covered
@test "sockopts: all of them towards a server" {
	local options

	start_app a
	options="keepalive=:12s:5 user_timeout=32s sndbuf=48k rcvbuf=24k"
	options+=" mss=900 dscp=ef congestion=reno interface=lo"
	web "a $options"
	readable
	hold 1
	wait_for 10 to_server a
	has keepalive=1 idle=7200 interval=12 count=5 user_timeout=32000 \
	    sndbuf=98304 rcvbuf=49152 tos=184 congestion=reno interface=lo \
	    nodelay=1
	[[ $line =~ \ mss=([0-9]+) ]]
	[ "${BASH_REMATCH[1]}" -le 900 ]
	kernel listen "local=127.0.0.1:$(port web) "
	has keepalive=0 user_timeout=0 tos=0 interface=-
	# Nor do the options hinder a check, which goes the same way.
	equal "the answer" a "$(fetch "$(url)")"
}

# bats test_tags=covered
@test "sockopts: defer_accept leaves a silent client to the kernel" {
	start_app a
	WEB='127.0.0.1:0 defer_accept=7s' web a
	readable
	kernel listen "local=127.0.0.1:$(port web) "
	# The kernel counts in retransmissions: 1, 3, 7, 15 seconds.
	has defer=7
	hold 1
	equal "the answer" a "$(fetch "$(url)")"
	wait_for 10 sessions_ended 1
	# The first client has been established for longer than that one.
	refute from_client
}

# owned PATH EXPECTED: its owner, group and mode.
owned() {
	equal "the file" "$2" "$(stat -c '%U %G %a' "$1")"
}

# unix_web OPTIONS: the configuration, in $T/lfproxy.ini
unix_web() {
	cat >"$T/lfproxy.ini" <<-END
		[global]
		log = stderr
		${GLOBAL:-}
		[frontend web]
		listen = unix:$T/s/web.sock $1
		backend = app
		[backend app]
		check = off
		server = a $(addr a)
	END
}

@test "sockopts: the owner, the group and the mode of a unix socket" {
	local GLOBAL='user = nobody'

	# The configuration is not read again.
	need_nobody
	need_to_give daemon:mail
	start_app a
	mkdir -m 755 "$T/s"
	unix_web 'mode=0640 user=daemon group=mail'
	launch_lfproxy -c "$T/lfproxy.ini"
	owned "$T/s/web.sock" 'daemon mail 640'
	equal "the answer" a "$(fetch --unix-socket "$T/s/web.sock" http://x/)"
	# Unchanged options need no right; another owner needs one that was
	# dropped.
	kill -HUP "$LFPROXY_PID"
	wait_for 10 said_times 1 'reloaded: '
	refute lfproxy_said 'cannot give'
	unix_web 'mode=0600 user=root group=mail'
	kill -HUP "$LFPROXY_PID"
	wait_for 10 said_times 2 'reloaded: '
	wait_for 10 lfproxy_said "cannot give unix:$T/s/web.sock to user root group mail: Operation not permitted"
	wait_for 10 lfproxy_said "cannot give unix:$T/s/web.sock the mode 0600: Operation"
	owned "$T/s/web.sock" 'daemon mail 640'
}

# bats test_tags=covered
@test "sockopts: a reload by root changes a unix socket's owner" {
	need_to_give root:mail
	start_app a
	mkdir "$T/s"
	unix_web ''
	launch_lfproxy -c "$T/lfproxy.ini"
	owned "$T/s/web.sock" 'root root 666'
	unix_web 'mode=0600 group=mail'
	kill -HUP "$LFPROXY_PID"
	wait_for 10 said_times 1 'reloaded: '
	owned "$T/s/web.sock" 'root mail 600'
}

# bats test_tags=covered
@test "sockopts: an unknown owner, and the owner of a port, are errors" {
	start_app a
	mkdir "$T/s"
	unix_web 'user=no-such-user group=no-such-group'
	run -78 "$LFPROXY" -c "$T/lfproxy.ini" -t
	[[ $output == *"this host has no user 'no-such-user'"* ]]
	[[ $output == *"this host has no group 'no-such-group'"* ]]
	sed -i 's|^listen = .*|listen = 127.0.0.1:0 user=root|' "$T/lfproxy.ini"
	run -78 "$LFPROXY" -c "$T/lfproxy.ini" -t
	[[ $output == *"unix sockets only"* ]]
}

@test "sockopts: v6only and reuseport" {
	[ -e /proc/net/if_inet6 ] || skip "no IPv6 here"
	start_app a
	cat >"$T/in.ini" <<-END
		$(common)
		[frontend both]
		listen = [::]:0 v6only=off dscp=ef
		backend = app
		[frontend six]
		listen = :0 v6only=on reuseport=on
		backend = app
		[backend app]
		server = a $(addr a)
	END
	start_lfproxy <"$T/in.ini"
	readable
	kernel listen "local=:::$(port both) "
	has v6only=0 reuseport=0 tclass=184
	kernel listen "local=:::$(port six) "
	has v6only=1 reuseport=1
	equal "over IPv4" a "$(fetch "http://127.0.0.1:$(port both)/")"
	equal "over IPv6" a "$(fetch "http://[::1]:$(port both)/")"
	equal "over IPv6" a "$(fetch "http://[::1]:$(port six)/")"
	refused "http://127.0.0.1:$(port six)/"
	# The DSCP is that of either family.
	spawn four "$TOOLS/badclient" idle "127.0.0.1:$(port both)" \
	    --deadline 200
	spawn six "$TOOLS/badclient" idle "[::1]:$(port both)" --deadline 200
	wait_for 10 kernel connection "local=::ffff:127.0.0.1:$(port both) "
	has tos=184
	wait_for 10 kernel connection "local=::1:$(port both) "
	has tclass=184
}

# bats test_tags=covered
@test "sockopts: reuseport lets a second lfproxy listen there" {
	start_app a
	WEB='127.0.0.1:0 reuseport=on' web a
	sed "s/^listen = .*/listen = 127.0.0.1:$(port web) reuseport=on/" \
	    "$T/lfproxy.ini" >"$T/second.ini"
	spawn second "$LFPROXY" -c "$T/second.ini"
	wait_for 10 grep -q ready "$T/second.err"
	stop_lfproxy
	equal "the answer of the second" a \
	    "$(fetch "$(sed -n 's/^listen = \([^ ]*\).*/\1/p' "$T/second.ini")")"
	# And without it none could.
	sed -i 's/ reuseport=on//' "$T/second.ini"
	run -71 timeout 60 "$LFPROXY" -c "$T/second.ini"
	[[ $output == *"in use"* ]]
}

@test "sockopts: mark and transparent, of a listener and towards a server" {
	netns n
	serve a ${NS[n]} "$TOOLS/appserver" --name a --listen 127.0.0.1:0 \
	    --deadline 200
	LIMIT=${NS[n]} WEB='192.0.2.7:0 mark=0x17 transparent=on' \
	    web 'a mark=24'
	readable
	kernel listen "local=192.0.2.7:$(port web) "
	has mark=23 transparent=1
	${NS[n]} ip route add local 192.0.2.0/24 dev lo
	spawn idle ${NS[n]} "$TOOLS/badclient" idle "192.0.2.7:$(port web)" \
	    --deadline 200
	wait_for 10 has_line idle '^established'
	wait_for 10 to_server a
	has mark=24 transparent=0
	kernel connection "local=192.0.2.7:$(port web) "
	has mark=23
}

# A counter of the namespace's kernel.
kernel_counter() {
	${NS[n]} cat /proc/net/netstat | awk -v name="$1" '
		/^TcpExt:/ && !n { n = split($0, names); next }
		/^TcpExt:/ { for (i = 1; i <= n; i++)
			if (names[i] == name) print $i }'
}

counter_above() {
	[ "$(kernel_counter "$1")" -gt "$2" ]
}

@test "sockopts: tfo, of a listener and towards a server" {
	local before i

	netns n
	${NS[n]} sysctl -qw net.ipv4.tcp_fastopen=3 ||
	    skip "net.ipv4.tcp_fastopen may not be set here"
	# lfproxy is the server of lfproxy, so that both ends are tried.  With
	# defer_accept the client's bytes are there when its session begins.
	serve a ${NS[n]} "$TOOLS/appserver" --name a --listen 127.0.0.1:0 \
	    --deadline 200
	cat >"$T/in.ini" <<-END
		$(common)
		[frontend web]
		listen = 127.0.0.1:0 defer_accept=2s
		backend = next
		[frontend next]
		listen = 127.0.0.1:7999 tfo=16
		backend = app
		[backend next]
		check = off
		server = next 127.0.0.1:7999 tfo=on
		[backend app]
		check = off
		server = a $(addr a)
	END
	LIMIT=${NS[n]} start_lfproxy <"$T/in.ini"
	refute lfproxy_said 'tfo has no effect'
	readable
	kernel listen "local=127.0.0.1:7999 "
	has tfo=16
	# The first connection brings the cookie, which later ones show.
	for i in 1 2 3 4 5; do
		equal "the answer" a "$(${NS[n]} curl -sS -m 60 "$(url)")"
	done
	counter_above TCPFastOpenActive 0 ||
	    fail "no SYN with data was acknowledged"
	counter_above TCPFastOpenPassive 0
	# A client that waits for the server gets its connection all the same.
	before=$(kernel_counter TCPFastOpenActive)
	spawn idle ${NS[n]} "$TOOLS/badclient" idle "$(listening web)" \
	    --deadline 200 --verify
	wait_for 10 has_line idle '^established'
	ADDRS[next]=127.0.0.1:7999
	wait_for 10 to_server next
	has tfo=0 syn_data=0
	equal "fast ones" "$before" "$(kernel_counter TCPFastOpenActive)"
	end idle
	grep -q '^verified 1$' "$T/idle.out"
}

@test "sockopts: tfo that the kernel does not allow is reported at the start" {
	netns n
	${NS[n]} sysctl -qw net.ipv4.tcp_fastopen=0 ||
	    skip "net.ipv4.tcp_fastopen may not be set here"
	LIMIT=${NS[n]} WEB='127.0.0.1:0 tfo=16' BACKEND="check = off
server = s 127.0.0.1:9 tfo=on" web
	wait_for 10 lfproxy_said 'warning: listen = 127.0.0.1:0 .*tcp_fastopen is 0;'
	wait_for 10 lfproxy_said 'warning: server = s .*tcp_fastopen is 0; set'
}

@test "sockopts: sizes that the kernel reduces are reported at the start" {
	local most

	most=$(cat /proc/sys/net/core/wmem_max)
	[ "$most" -lt $((512 << 20)) ] || skip "net.core.wmem_max is huge"
	WEB='127.0.0.1:0 backlog=65535' BACKEND="check = off
server = s 127.0.0.1:9 sndbuf=512m" web
	wait_for 10 lfproxy_said "warning: server = s .*cuts sndbuf to $most bytes"
	[ "$(cat /proc/sys/net/core/somaxconn)" -ge 65535 ] ||
	    wait_for 10 lfproxy_said 'warning: listen = .*cuts backlog to '
}

# -- the source --

@test "sockopts: source, of a server, of a backend, and with ports" {
	start_app a
	start_app b
	start_app c
	BACKEND=$'check = off\nsource = 127.0.0.3' \
	    web a 'b source=127.0.0.4' 'c source=*:23456-23459'
	readable
	hold 3
	wait_for 10 to_server a
	[[ $line =~ \ local=127.0.0.3:[0-9]+\  ]]
	wait_for 10 to_server b
	[[ $line =~ \ local=127.0.0.4:[0-9]+\  ]]
	wait_for 10 to_server c
	[[ $line =~ \ local=127.0.0.1:2345[6-9]\  ]]
}

@test "sockopts: checks come from the source, too" {
	start_app a
	ADDRS[a2]=$(addr a)
	BACKEND='check = connect interval=100ms fall=1 timeout=5s' \
	    web 'a source=127.0.0.3' 'a2 source=192.0.2.77'
	# No host has that address: neither sessions nor checks get through.
	wait_for 10 lfproxy_said 'warning: server = a2 .*source is not an address of this'
	wait_for 10 says_down app/a2
	refute says_down app/a
	stop_lfproxy
	BACKEND='check = http interval=100ms fall=1 timeout=5s' \
	    web 'a source=127.0.0.3' 'a2 source=192.0.2.77'
	wait_for 10 says_down app/a2
	refute says_down app/a
	equal "the answer" a "$(fetch "$(url)")"
}

# bats test_tags=covered
@test "sockopts: ports of the source run out: another server, and none twice" {
	start_app a
	start_app b
	web 'a source=127.0.0.1:23460-23462' b
	readable
	# Six go to each in turn; b gets those for which a has no port.
	hold 12
	wait_for 10 all_connected a 3
	wait_for 10 all_connected b 9
	"$TOOLS/sockopts" "$LFPROXY_PID" | grep "peer=$(addr a) " |
	    grep -oE ' local=[^ ]+' | sort >"$T/locals"
	equal "the ports" " local=127.0.0.1:23460 local=127.0.0.1:23461 local=127.0.0.1:23462" \
	    "$(tr -d '\n' <"$T/locals")"
	end hold12
	# They have come back.
	wait_for 10 sessions_ended 12
	hold 6
	wait_for 10 all_connected a 3
}

# bats test_tags=covered
@test "sockopts: ports of the source run out, no other server: RC, and no spin" {
	start_app a
	DEFAULTS='retries = 2' web 'a source=127.0.0.1:23463-23464'
	hold 6
	wait_for 10 sessions_ended 4
	equal "the codes" 4 "$(sessions | grep -c ' RC ')"
	equal "the servers" 4 "$(sessions | grep -c ' app/a ')"
	# Each retry waited for a second.
	parse_session "$(sessions | tail -n 1)"
	[ "${S[tt]}" -ge 1900 ]
	wait_for 10 lfproxy_said 'connect to app/a failed: Cannot assign requested address'
	quiet 10
	end hold6
	equal "the answer" a "$(fetch "$(url)")"
}

# bats test_tags=covered
@test "sockopts: the kernel's ports run out: RC, no spin, and they come back" {
	netns n
	${NS[n]} sysctl -qw net.ipv4.ip_local_port_range='40000 40007' ||
	    skip "net.ipv4.ip_local_port_range may not be set here"
	serve a ${NS[n]} "$TOOLS/appserver" --name a --listen 127.0.0.1:7001 \
	    --deadline 200
	# Clients of a unix socket take no ports.
	DEFAULTS='retries = 1' LIMIT=${NS[n]} WEB=unix:$T/web.sock web a
	readable
	spawn idle "$TOOLS/badclient" idle "unix:$T/web.sock" --count 12 \
	    --deadline 200
	wait_for 10 has_line idle '^established'
	wait_for 10 all_connected a 8
	wait_for 10 sessions_ended 4
	equal "the codes" 4 "$(sessions | grep -c ' RC ')"
	quiet 10
	end idle
	wait_for 10 fetch_from_a
}

fetch_from_a() {
	[ "$(fetch --unix-socket "$T/web.sock" http://x/)" = a ]
}

# bats test_tags=covered
@test "sockopts: the source is the client: transparent" {
	local i

	netns proxy
	netns client
	netns server
	for i in client server; do
		${NS[proxy]} ip link add "to-$i" type veth peer name eth0 \
		    netns "${PIDS[ns-$i]}" 2>"$T/veth" ||
		    skip "needs CAP_NET_ADMIN and veth: $(cat "$T/veth")"
		${NS[$i]} ip link set eth0 up
		${NS[proxy]} ip link set "to-$i" up
	done
	${NS[proxy]} ip addr add 10.77.1.1/24 dev to-client
	${NS[proxy]} ip addr add 10.77.2.1/24 dev to-server
	${NS[client]} ip addr add 10.77.1.2/24 dev eth0
	${NS[server]} ip addr add 10.77.2.2/24 dev eth0
	${NS[server]} ip route add default via 10.77.2.1
	# Packets from the server go to the proxy, whatever their destination
	# address.
	${NS[proxy]} ip rule add iif to-server lookup 77
	${NS[proxy]} ip route add local default dev lo table 77
	for i in all to-server to-client; do
		${NS[proxy]} sysctl -qw "net.ipv4.conf.$i.rp_filter=0"
	done
	serve a ${NS[server]} "$TOOLS/appserver" --name a \
	    --listen 10.77.2.2:0 --deadline 200
	LIMIT=${NS[proxy]} WEB=10.77.1.1:7000 \
	    BACKEND=$'check = connect interval=200ms\nsource = client' web a
	equal "the answer" a "$(${NS[client]} curl -sS -m 60 \
	    http://10.77.1.1:7000/)"
	spawn idle ${NS[client]} "$TOOLS/badclient" idle 10.77.1.1:7000 \
	    --deadline 200
	wait_for 10 has_line idle '^established'
	readable
	wait_for 10 to_server a
	[[ $line == *" local=10.77.1.2:"* ]]
	has transparent=1
	# The server sees it, too.
	${NS[server]} ss -Htn state established | grep -q ' 10.77.1.2:'
	refute lfproxy_said 'down'
}

# bats test_tags=covered
@test "sockopts: a change of user keeps the one right that the options take" {
	need_nobody
	need_foreign_address
	start_app a
	cat >"$T/in.ini" <<-END
		$(common | sed '/^\[global\]/a user = nobody')
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		server = a $(addr a) mark=5
	END
	start_lfproxy <"$T/in.ini"
	equal "the user" "$(id -u nobody)" \
	    "$(awk '/^Uid/ { print $2 }' "/proc/$LFPROXY_PID/status")"
	# 1 << CAP_NET_RAW, in all threads.
	equal "the rights" 0000000000002000 "$(awk '/^Cap(Eff|Prm)/ { print $2 }' \
	    /proc/"$LFPROXY_PID"/task/*/status | sort -u)"
	readable
	hold 1
	wait_for 10 to_server a
	has mark=5
	end hold1
	stop_lfproxy
	sed -i 's/ mark=5//' "$T/in.ini"
	start_lfproxy <"$T/in.ini"
	equal "the rights" 0000000000000000 "$(awk '/^Cap(Eff|Prm)/ { print $2 }' \
	    /proc/"$LFPROXY_PID"/task/*/status | sort -u)"
}

@test "sockopts: an option that takes a right which is not there is an error" {
	local WITHOUT

	without all
	printf '%s\n' '[frontend web]' 'listen = 127.0.0.1:0' 'backend = app' \
	    '[backend app]' 'server = a 127.0.0.1:9 source=client' >"$T/in.ini"
	run -71 timeout 60 "${WITHOUT[@]}" "$LFPROXY" -c "$T/in.ini"
	[[ $output == *"server app/a: the option source is refused: "*"it takes CAP_NET_RAW or CAP_NET_ADMIN"* ]]
	sed -i 's/^listen.*/& mark=3/; s/ source=client//' "$T/in.ini"
	run -71 timeout 60 "${WITHOUT[@]}" "$LFPROXY" -c "$T/in.ini"
	[[ $output == *"cannot listen on 127.0.0.1:0 with the option mark: "*CAP_NET_RAW* ]]
}

# -- a reload --

# reload_web LISTEN [N]: another address and its options; N: reloads so far.
reload_web() {
	sed -i "s|^listen = .*|listen = $1|" "$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 said_times "${2:-1}" 'lfproxy: reloaded: '
}

listener() {
	kernel listen "local=127.0.0.1:$(port web) "
}

# changed_and_taken_back [INTERFACE]: a listener's options, with that one.
changed_and_taken_back() {
	local without options interface=${1:-interface=-}

	start_app a
	web a
	readable
	listener
	without=$line
	options="backlog=77 keepalive=61s:11s:4 user_timeout=31s sndbuf=48k"
	options+=" rcvbuf=24k mss=1000 dscp=af41 congestion=reno ${1:-}"
	options+=" defer_accept=7s tfo=16"
	reload_web "127.0.0.1:0 $options"
	refute lfproxy_said 'takes a restart'
	refute lfproxy_said 'no longer listening'
	listener
	has backlog=77 keepalive=1 idle=61 interval=11 count=4 \
	    user_timeout=31000 sndbuf=98304 rcvbuf=49152 mss=1000 tos=136 \
	    congestion=reno "$interface" defer=7 tfo=16
	reload_web "127.0.0.1:0 ${options%% defer_accept*}" 2
	hold 1
	wait_for 10 from_client
	has keepalive=1 idle=61 interval=11 count=4 user_timeout=31000 \
	    sndbuf=98304 rcvbuf=49152 tos=136 congestion=reno "$interface"
	equal "the answer" a "$(fetch "$(url)")"
	reload_web "127.0.0.1:0 backlog=78 keepalive=off mss=1200" 3
	listener
	has backlog=78 keepalive=0 user_timeout=0 mss=1200 tos=0 interface=-
	reload_web 127.0.0.1:0 4
	listener
	equal "the kernel's again" "$without" "$line"
	hold 2
	equal "the answer" a "$(fetch "$(url)")"
	# Options that only bind(2) can change are still reported.
	reload_web "127.0.0.1:0 reuseport=on" 5
	wait_for 10 lfproxy_said 'listen: 127.0.0.1:0: reuseport: .* takes a restart'
	equal "the answer" a "$(fetch "$(url)")"
}

# bats test_tags=covered
@test "sockopts: a reload changes those of a listener, and takes them back" {
	changed_and_taken_back
}

@test "sockopts: a reload binds a listener to an interface, and takes it back" {
	need_other_interface
	changed_and_taken_back interface=lo
}

# bats test_tags=covered
@test "sockopts: a reload loses no connection in the backlog" {
	start_app a
	WEB='127.0.0.1:0 backlog=9' web a
	printf 'admin = %s\n' "$T/admin" >"$T/line"
	sed -i "/^\[global\]/r $T/line" "$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 said_times 1 'lfproxy: reloaded: '
	"$CTL" -S "$T/admin" set maxconn global 1
	hold 1
	wait_for 10 in_use 1
	spawn waits curl -sS -m $((60 * PATIENCE)) "$(url)"
	wait_for 10 backlog_is 1
	reload_web "127.0.0.1:0 backlog=3 mss=1000 defer_accept=2s" 2
	backlog_is 1
	end hold1
	finish waits
	equal "the answer" a "$output"
}

# in_use N: lfproxy has that many sessions.
in_use() {
	"$CTL" -S "$T/admin" show info | grep -qx "CurrConns: $1"
}

backlog_is() {
	[ "$(ss -Htln "sport = $(port web)" | awk '{ print $2 }')" = "$1" ]
}

# bats test_tags=covered
@test "sockopts: a reload that may not change an option changes nothing" {
	need_nobody
	start_app a
	WEB='127.0.0.1:0 interface=lo mss=900' web a
	stop_lfproxy
	sed -i '/^\[global\]/a user = nobody' "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	readable
	sed -i "s|^listen = .*|listen = 127.0.0.1:0 mss=1000 user_timeout=9s|" \
	    "$T/lfproxy.ini"
	sed -i "/^listen/a listen = unix:$T/new" "$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said "error: $T/lfproxy.ini:[0-9]+: listen: the option interface of 127.0.0.1:0 cannot be changed: Operation not permitted; it takes CAP_NET_RAW"
	listener
	has mss=900 user_timeout=0 interface=lo
	[ ! -e "$T/new" ]
	# Options already changed are restored when another one is refused.
	sed -i "s|^listen = 127.*|& interface=lo|" "$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said "error: $T/lfproxy.ini:[0-9]+: listen: cannot listen on unix:$T/new: Permission denied"
	listener
	has mss=900 user_timeout=0 interface=lo
	[ ! -e "$T/new" ]
	equal "the answer" a "$(fetch "$(url)")"
}

# bats test_tags=covered
@test "sockopts: a reload refuses options that a server may not have" {
	need_nobody
	start_app a
	web a
	stop_lfproxy
	sed -i "/^\[global\]/a user = nobody\nadmin = $T/admin" "$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	sed -i 's|^server = a .*|& mark=5|' "$T/lfproxy.ini"
	run -1 "$CTL" -S "$T/admin" reload
	[[ $output =~ $T/lfproxy.ini:[0-9]+:\ server\ app/a:\ the\ option\ mark\ is\ refused:.*CAP_NET_RAW ]]
	equal "the answer" a "$(fetch "$(url)")"
	run -1 "$CTL" -S "$T/admin" \
	    add server app/b 127.0.0.1:9 source=client
	[[ $output == *"server app/b: the option source is refused: "* ]]
	refute lfproxy_said 'server app/b is added'
	sed -i 's| mark=5| keepalive=on|' "$T/lfproxy.ini"
	"$CTL" -S "$T/admin" reload
	equal "the answer" a "$(fetch "$(url)")"
}
