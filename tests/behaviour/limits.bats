# SPDX-License-Identifier: MIT
# The budget of descriptors, and what happens when something runs out.

load helpers
load rights
load ctl

# The number of sessions that lfproxy says it can have.
budget() {
	sed -n 's/^lfproxy: up to \([0-9]*\) sessions.*/\1/p' "$LFPROXY_LOG"
}

info() {
	"$CTL" -S "$T/admin.sock" show info |
	    sed -n "s/^$1: //p"
}

# Every configuration with an admin socket.
common() {
	cat <<-END
		[global]
		log = stderr
		admin = $T/admin.sock
		drain_timeout = ${DRAIN_TIMEOUT:-10m}
		${GLOBAL:-}
		[pool main]
		threads = 2
	END
}

# injected CALL ERROR NAME...: web, where that call always fails.
injected() {
	"$TOOLS/inject" "$1" "$2" true 2>"$T/seccomp" ||
	    skip "no system call can be made to fail: $(cat "$T/seccomp")"
	LIMIT="$TOOLS/inject $1 $2" web "${@:3}"
}

info_above() {
	[ "$(info "$1")" -gt "$2" ]
}

# bats test_tags=onethread, covered
@test "limits: the budget adds up and each part is shown" {
	local n own reserve

	start_app a
	LIMIT='prlimit --nofile=1000' web a
	[[ $(cat "$LFPROXY_LOG") =~ up\ to\ ([0-9]+)\ sessions:\ 2\ of\ 1000\ descriptors\ each,\ ([0-9]+)\ for\ listeners,\ checks\ and\ threads,\ ([0-9]+)\ in\ reserve ]]
	n=${BASH_REMATCH[1]} own=${BASH_REMATCH[2]} reserve=${BASH_REMATCH[3]}
	[ $((1000 - 2 * n - own - reserve)) -le 1 ]
	equal "the reserve" 128 "$reserve"
	# lfproxy uses as many descriptors as announced.
	[ "$(fd_count)" -le $((own + 1)) ]
	equal "Maxconn" "$n" "$(info Maxconn)"
	equal "Ulimit-n" 1000 "$(info Ulimit-n)"
}

# bats test_tags=onethread, covered
@test "limits: maxconn is taken, as far as the descriptors go" {
	start_app a
	GLOBAL='maxconn = 3' LIMIT='prlimit --nofile=1000' web a
	wait_for 10 lfproxy_said 'up to 3 sessions \(maxconn\): 2 of 1000 descriptors each'
	equal "Maxconn" 3 "$(info Maxconn)"
	spawn idle "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --count 5 \
	    --deadline 200
	wait_for 10 info_above MaxconnReached 0
	equal "sessions" 3 "$(info CurrConns)"
	wait_for 10 lfproxy_said 'accepts nothing for now: all 3 sessions are in use; '
	end idle
	wait_for 10 sessions_ended 5
}

# bats test_tags=onethread, covered
@test "limits: a maxconn that the descriptors do not allow is refused" {
	local WITHOUT

	# Root may raise the limit.
	without sys_resource
	printf '%s\n' '[global]' 'maxconn = 1000' '[frontend web]' \
	    'listen = 127.0.0.1:0' 'backend = app' '[backend app]' \
	    'server = a 127.0.0.1:9' >"$T/in.ini"
	run -71 "${WITHOUT[@]}" prlimit --nofile=1000:1000 timeout 60 "$LFPROXY" \
	    -c "$T/in.ini"
	[[ $output =~ maxconn\ =\ 1000\ takes\ 2[0-9]{3}\ descriptors,\ and\ this\ process\ may\ have\ 1000,\ enough\ for\ 4[0-9]{2}\ sessions ]]
}

# sessions_are N
sessions_are() {
	[ "$(info CurrConns)" = "$1" ]
}

# bats test_tags=onethread
@test "limits: without strict_limits more sessions may wait than could have servers" {
	local WITHOUT

	need_descriptors 2000
	without sys_resource
	start_app a
	LIMIT="${WITHOUT[*]} prlimit --nofile=2000:2000" start_lfproxy <<-END
		[global]
		admin = $ADMIN
		maxconn = 1300
		strict_limits = off
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = off
		timeout_queue = 10m
		server = a $(addr a) maxconn=1
	END
	wait_for 10 lfproxy_said 'maxconn = 1300 leaves too few descriptors for sessions that have a server, 8[0-9]{2} of'
	spawn idle "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --count 1200 \
	    --deadline 200
	wait_for 20 sessions_are 1200
	end idle
	wait_for 10 sessions_are 0
	equal "answer" a "$(fetch "http://127.0.0.1:$(port web)/")"
}

# Symptom: that was a warning alone.
# bats test_tags=onethread
@test "limits: without strict_limits more than all descriptors are refused" {
	local WITHOUT

	without sys_resource
	cat >"$T/lfproxy.ini" <<-END
		[global]
		maxconn = 5000
		strict_limits = off
		[frontend web]
		$(for i in {1..130}; do echo "listen = unix:$T/$i"; done)
		backend = app
		[backend app]
		check = off
		server = a 127.0.0.1:9
	END
	run -71 "${WITHOUT[@]}" timeout 20 prlimit --nofile=120:120 "$LFPROXY" \
	    -c "$T/lfproxy.ini"
	[[ $output == *'maxconn = 5000 takes '*' descriptors, and this process may have 120, '* ]] ||
	    fail "$output"
}

# Symptom: refused, since lfproxy alone would like more descriptors than that.
# bats test_tags=onethread
@test "limits: without strict_limits few descriptors suffice for a start" {
	local WITHOUT

	without sys_resource
	start_app a
	LIMIT="${WITHOUT[*]} prlimit --nofile=100:100" \
	    GLOBAL=$'maxconn = 50\nstrict_limits = off' web a
	wait_for 10 lfproxy_said 'maxconn = 50 leaves too few descriptors for sessions that have a server, 25 of'
	equal "answer" a "$(fetch "http://127.0.0.1:$(port web)/")"
	stop_lfproxy
	sed -i 's/maxconn = 50/maxconn = 51/' "$T/lfproxy.ini"
	run -71 "${WITHOUT[@]}" prlimit --nofile=100:100 timeout 20 "$LFPROXY" \
	    -c "$T/lfproxy.ini"
	[[ $output == *'maxconn = 51 takes '*' descriptors, and this process may have 100, '* ]] ||
	    fail "$output"
}

# bats test_tags=onethread, covered
@test "limits: a maxconn raises the soft limit" {
	need_descriptors 2000
	start_app a
	GLOBAL='maxconn = 500' LIMIT='prlimit --nofile=100:2000' web a
	wait_for 10 lfproxy_said 'up to 500 sessions \(maxconn\): 2 of 2000 descr'
}

# bats test_tags=onethread, covered
@test "limits: a maxconn raises root's hard limit" {
	need "CAP_SYS_RESOURCE (to raise the hard limit of descriptors)" \
	    prlimit --nofile=100:200 prlimit --nofile=2000:2000 true
	start_app a
	GLOBAL='maxconn = 500' LIMIT='prlimit --nofile=100:200' web a
	wait_for 10 lfproxy_said 'up to 500 sessions \(maxconn\): 2 of 11[0-9][0-9] descr'
}

# three_times LIMIT: LIMIT descriptors, and three times as many clients as
# there can be sessions.
three_times() {
	local n

	start_streams s
	LIMIT="${IN:-} prlimit --nofile=$1" web s
	n=$(budget)
	began=0
	tries 3 crowd_is_served "$n"
	equal "descriptors that ran out" 0 "$(info Exhausted_descriptors)"
}

# crowd_is_served N: three times the N sessions that there may be.
crowd_is_served() {
	local n=$1 before took reached

	reached=$(info MaxconnReached)
	spawn idle ${IN:-} "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count "$n" --deadline 300
	wait_for 60 has_line idle "^established $n\$" || return 2
	wait_for 60 info_above CurrConns $((n - 1)) || return 2
	spawn rest ${IN:-} "$TOOLS/streamer" client "127.0.0.1:$(port web)" \
	    --connections $((2 * n)) --up 2000 --down 2000 --deadline 300
	wait_for 60 info_above MaxconnReached "$reached" || return 2
	wait_for 60 waiting_at_least $((n < 2000 ? n : 2000)) || return 2
	# Paused, and below 20 % of a CPU.
	if [ -n "${JUDGE_TIME:-}" ]; then
		before=$(cpu_ticks)
		sleep 1
		before=$(($(cpu_ticks) - before))
		echo "took $before % of a CPU while it was paused"
		[ "$before" -lt 20 ] || return 2
	fi
	equal "sessions" "$n" "$(info CurrConns)" || return 2
	refute lfproxy_said 'Too many open files' || return 2
	end idle
	finish rest 200 || return 2
	[[ $output == *"ok=$((2 * n)) "*"failed=0 "* ]] || return 2
	wait_for 20 sessions_ended $((began += 3 * n)) || return 2
	equal "sessions that did not end well" "" \
	    "$(sessions | grep -v ' -- ' | head -n 3)" || return 2
	took=$(recovery_ms "$n")
	echo "accepted again after $took ms"
	in_time "$took" $((1000 * PATIENCE))
}

# recovery_ms N: the time from the end of the first of N sessions, which are all
# that may be, to the accepting of the next, after lfproxy's own clock.
recovery_ms() {
	sessions | tail -n $((3 * $1)) | sed -E 's|^[^[]*\[[^:]*:(..):(..):(..)\.(...)\].* [-0-9]+/[-0-9]+/([0-9]+) .*|\1 \2 \3 \4 \5|' |
	    awk '{ at = (($1 * 60 + $2) * 60 + $3) * 1000 + $4
		print at, at + $5 }' | sort -n | awk -v n="$1" '
		NR <= n && (!end || $2 < end) { end = $2 }
		NR == n + 1 { print $1 - end; exit }'
}

# Connections that are established and not accepted.
waiting_at_least() {
	[ "$(${IN:-} ss -Hltn "sport = :$(port web)" |
		awk '{ print $2 }')" -ge "$1" ]
}

@test "limits: three times as many clients as descriptors allow" {
	three_times 256
}

# bats test_tags=timing
@test "limits: with three times as many clients accepting pauses, then resumes" {
	JUDGE_TIME=1 three_times 256
}

# bats test_tags=slow, timing
@test "limits: three times as many clients as 20000 descriptors allow" {
	[ "$SCALE" -eq 1 ] || skip "too slow under a sanitizer"
	netns n
	IN=${NS[n]}
	$IN sysctl -qw net.ipv4.ip_local_port_range='1024 65535' \
	    net.core.somaxconn=65535 || skip "the namespace may not be set up"
	need_descriptors 20000
	start_streams() {
		serve "$1" $IN "$TOOLS/streamer" server 127.0.0.1:0 --name s \
		    --deadline 300
	}
	JUDGE_TIME=1 three_times 20000
}

without_descriptors() {
	start_app a
	web a
	fetch -o /dev/null "$(url)"
	said=0
	tries 4 goes_on
	wait_for 10 info_above Exhausted_descriptors 0
}

@test "limits: EMFILE after all: accepting stops, is counted, goes on" {
	without_descriptors
}

# bats test_tags=timing
@test "limits: EMFILE after all: accepting goes on within a second" {
	JUDGE_TIME=1 without_descriptors
}

goes_on() {
	local began

	# Descriptors that the budget counted on are taken away.
	prlimit --pid "$LFPROXY_PID" --nofile=8:1024
	spawn client curl -sS -m $((60 * PATIENCE)) "$(url)"
	wait_for 10 said_times $((said += 1)) 'accepts nothing for now: Too many open files; raise the limit of descriptors' ||
	    return 2
	quiet 20 || return 2
	began=$(now_ms)
	prlimit --pid "$LFPROXY_PID" --nofile=1024:1024
	finish client 30 || return 2
	in_time $(($(now_ms) - began)) $((1000 * PATIENCE))
}

# bats test_tags=covered
@test "limits: ENFILE, ENOBUFS, ENOMEM of accept are logged, without a busy loop" {
	local error began said

	start_app a
	for error in ENFILE ENOBUFS ENOMEM; do
		began=$(now_ms)
		injected accept4 "$error" a
		spawn idle "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
		    --count 20 --deadline 200
		wait_for 10 lfproxy_said 'frontend web accepts nothing for now'
		quiet 20
		# Accepting is tried again from time to time, and logged once a
		# second.
		said=$(grep -c 'accepts nothing' "$LFPROXY_LOG")
		[ "$said" -le $((1 + ($(now_ms) - began) / 1000)) ]
		end idle
		stop_lfproxy
	done
}

@test "limits: exhaustion while connecting is counted, the session ends with RC" {
	local error

	start_app a
	start_app b
	for error in ENOBUFS:buffers ENOMEM:memory; do
		injected connect "${error%:*}" a b
		run fetch "$(url)"
		[[ $status -eq 52 || $status -eq 56 ]]
		last_session
		equal "the code" RC "${S[code]}"
		wait_for 10 lfproxy_said 'warning: connect to app/[ab] failed: '
		equal "retries" 0 "${S[retries]}"
		equal "exhausted" 1 "$(info "Exhausted_${error#*:}")"
		internal_errors web,FRONTEND 1
		internal_errors app,BACKEND 1
		stop_lfproxy
	done
}

# internal_errors PROXY,NAME N: the field eint of that row of `show stat`.
internal_errors() {
	equal "eint of $1" "$2" \
	    "$("$CTL" -S "$T/admin.sock" show stat | awk -F, \
	        -v row="$1" 'NR == 1 { for (i = 1; i <= NF; i++)
			if ($i == "eint") at = i }
		index($0, row ",") == 1 { print $at }')"
}

@test "limits: without ports the other server is tried, one after the other" {
	start_app a
	start_app b
	DEFAULTS='retries = 1' injected connect EADDRNOTAVAIL a b
	run fetch "$(url)"
	[[ $status -eq 52 || $status -eq 56 ]]
	last_session
	equal "the code" RC "${S[code]}"
	equal "retries" +1 "${S[retries]}"
	equal "exhausted" 2 "$(info Exhausted_ports)"
	internal_errors web,FRONTEND 1
}

# status_field NAME: of lfproxy's threads, each value once.
status_field() {
	awk -v name="$1:" '$1 == name { $1 = ""; print }' \
	    "/proc/$LFPROXY_PID/task/"*/status | sort -u | xargs
}

# Symptom: with `user` and without systemd the bounding set was root's, and
# programs could give rights back.
# bats test_tags=onethread, covered
@test "limits: a change of user gives up all rights for good" {
	need_nobody
	need CAP_CHOWN setpriv --inh-caps=+chown true
	need CAP_SETPCAP setpriv --bounding-set=-chown true
	start_app a
	{
		printf '[global]\nlog = stderr\nuser = nobody\n'
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\ncheck = off\nserver = a %s\n' "$(addr a)"
	} >"$T/lfproxy.ini"
	LIMIT="setpriv --inh-caps=+chown" launch_lfproxy -c "$T/lfproxy.ini"
	equal "NoNewPrivs" 1 "$(status_field NoNewPrivs)"
	for field in CapInh CapPrm CapEff CapBnd CapAmb; do
		equal "$field" 0000000000000000 "$(status_field "$field")"
	done
	equal "groups" "$(id -G nobody)" "$(status_field Groups)"
}

# bits NAME...: the capabilities of these numbers, as the kernel prints them.
bits() {
	local n=0 bit

	for bit; do
		n=$((n | 1 << bit))
	done
	printf '%016x' $n
}

# kept: what `show info` says.
kept() {
	ctl show info | sed -n 's/^Lfproxy_capabilities: //p'
}

# 10: CAP_NET_BIND_SERVICE, 12: CAP_NET_ADMIN, 13: CAP_NET_RAW, 21: CAP_SYS_ADMIN.
# bats test_tags=onethread, covered
@test "limits: a low port and a mark are what is kept, also by an upgrade" {
	local port=1023 first

	need_nobody
	need CAP_NET_BIND_SERVICE python3 -c "
import socket
with socket.socket() as s:
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(('127.7.7.7', $port))"
	need_foreign_address
	[ "$(sysctl -n net.ipv4.ip_unprivileged_port_start)" -gt $port ] ||
	    skip "every user may bind port $port"
	start_app a
	{
		printf '[global]\nlog = stderr\nuser = nobody\n'
		printf 'admin = %s user=nobody\n' "$ADMIN"
		printf '[frontend web]\nlisten = 127.7.7.7:%s\nbackend = app\n' $port
		printf '[backend app]\ncheck = off\nserver = a %s mark=5\n' "$(addr a)"
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	first=$LFPROXY_PID
	equal "info" cap_net_bind_service,cap_net_raw "$(kept)"
	for field in CapPrm CapEff CapBnd CapAmb; do
		equal "$field" "$(bits 10 13)" "$(status_field "$field")"
	done
	# A reload binds another one with what was kept.
	sed -i "s|^listen.*|&\nlisten = 127.7.7.8:$port|" "$T/lfproxy.ini"
	run -0 ctl reload
	equal "new port" a "$(fetch "http://127.7.7.8:$port/")"
	run -0 ctl upgrade
	[[ $output =~ ^process\ ([0-9]+)\  ]] || fail "$output"
	LFPROXY_PID=${BASH_REMATCH[1]}
	equal "upgraded" "$(bits 10 13)" "$(status_field CapEff)"
	equal "upgraded info" cap_net_bind_service,cap_net_raw "$(kept)"
	equal "session" a "$(fetch "http://127.7.7.7:$port/")"
	wait_for 10 ended "$first"
	kill -TERM "$LFPROXY_PID"
	wait_for 15 ended "$LFPROXY_PID"
	LFPROXY_PID=
}

# bats test_tags=onethread, covered
@test "limits: root without another user keeps what reloads need, and no more" {
	need_root "it stays root"
	need CAP_SETPCAP setpriv --bounding-set=-sys_admin true
	start_app a
	web a
	(($((16#$(status_field CapEff))) & 1 << 21)) && fail "CAP_SYS_ADMIN"
	(($((16#$(status_field CapBnd))) & 1 << 12)) && fail "CAP_NET_ADMIN"
	[[ ,$(kept), == *,cap_dac_override,* ]] || fail "$(kept)"
	equal "effective" "$(status_field CapPrm)" "$(status_field CapEff)"
}

# bats test_tags=onethread, covered
@test "limits: no_new_privs also without another user" {
	start_app a
	web a
	equal "NoNewPrivs" 1 "$(status_field NoNewPrivs)"
}

# bats test_tags=onethread, covered
@test "limits: a group alone leaves the groups of root" {
	need_root "a group is taken on"
	need CAP_SETGID setpriv --groups=daemon,adm --regid=nogroup true
	start_app a
	{
		printf '[global]\nlog = stderr\ngroup = nogroup\n'
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\ncheck = off\nserver = a %s\n' "$(addr a)"
	} >"$T/lfproxy.ini"
	LIMIT="setpriv --groups=daemon,adm" launch_lfproxy -c "$T/lfproxy.ini"
	equal "groups" "" "$(status_field Groups)"
}
