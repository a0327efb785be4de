# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Helpers for the behaviour tests; `load helpers` in a .bats file.
#
# Every process a test starts has a name and is ended by teardown, which also
# fails the test when lfproxy did not stop cleanly.  Environment:
#   LFPROXY_BUILD  what is tested (build/release)
#   LFPROXY_TOOLS  the test tools ($LFPROXY_BUILD/tools; those of the release
#                  beside a sanitizer build)

bats_require_minimum_version 1.5.0

ROOT=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
BUILD=${LFPROXY_BUILD:-build/release}
[[ $BUILD == /* ]] || BUILD=$ROOT/$BUILD
LFPROXY=$BUILD/lfproxy
# The distribution's programs first: a python3 of some other place may be a
# script that looks for one, which takes ten times as long to start.
PATH=/usr/bin:/bin:$PATH:/usr/sbin:/sbin

# A sanitizer or an emulator makes lfproxy slower: sizes are divided by SCALE, see
# scaled, and deadlines multiplied by PATIENCE.
case ${BUILD##*/} in
asan) SCALE=8 PATIENCE=3 TOOLS_OF=release ;;
cover) SCALE=1 PATIENCE=1 TOOLS_OF=release ;;
tsan) SCALE=16 PATIENCE=5 TOOLS_OF=release ;;
arm64) SCALE=8 PATIENCE=3 TOOLS_OF=arm64 ;;
*) SCALE=1 PATIENCE=1 TOOLS_OF=${BUILD##*/} ;;
esac
# lfproxyctl may wait as long as other clients do.
export LFPROXY_TIMEOUT=$((60 * PATIENCE))s
TOOLS=${LFPROXY_TOOLS:-${BUILD%/*}/$TOOLS_OF/tools}
[[ $TOOLS == /* ]] || TOOLS=$ROOT/$TOOLS
# lfproxyctl is one of the clients, and that of the release beside a sanitizer's
# lfproxy, but in the files that set CTL because they test lfproxyctl itself.
CTL=$BUILD/lfproxyctl
# shellcheck disable=SC2034 # for the tests
[ "$SCALE" -eq 1 ] || CTL=${BUILD%/*}/$TOOLS_OF/lfproxyctl

T=$BATS_TEST_TMPDIR
LFPROXY_LOG=$T/lfproxy.log
LFPROXY_PID=
declare -gA PIDS=() ADDRS=()

load environment
load rights

# The start of every configuration; a test that wants others sets them first.
common() {
	printf '%s\n' '[global]' 'log = stderr' \
	    "drain_timeout = ${DRAIN_TIMEOUT:-10m}" \
	    "drain_idle_timeout = ${DRAIN_IDLE:-10m}" "${GLOBAL:-}" \
	    '[pool main]' "threads = ${THREADS:-2}" \
	    "promotion = ${PROMOTION:-adaptive}"
}

# unhurried KEY LINES: KEY with a time that is never up, for a section that has
# these lines, unless they set it: beside other tests a handshake may take long.
unhurried() {
	[[ $2 == *"$1"* ]] || echo "$1 = 10m"
}

# becomes KEY VALUE: in each section that has KEY, by a reload.  What a client is to
# lose by a short time, the next one may need on a busy machine.
becomes() {
	sed -i "s/^$1 = .*/$1 = $2/" "$T/lfproxy.ini"
	# shellcheck disable=SC2153 # set by checks.bash and its like
	"$CTL" -S "$ADMIN" reload
}

# -- asserting --

fail() {
	echo "failed: $*"
	return 1
}

# equal WHAT EXPECTED GOT
equal() {
	[ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

# Unlike `!`, it ends the test.
refute() {
	if "$@"; then
		fail "not expected to succeed: $*"
	fi
}

# unless_emulated WHAT: skips a test whose subject needs that, which the emulator of
# `make check-arm64` has not.
unless_emulated() {
	[ -z "${LFPROXY_EMULATED:-}" ] || skip "the emulator has no $1"
}

# scaled N: N for a release build, less under a sanitizer.
scaled() {
	echo $(($1 / SCALE > 0 ? $1 / SCALE : 1))
}

# in_short N: as many seconds, or things, as a long test takes; a twelfth with
# SHORT=1.
in_short() {
	echo $((${SHORT:-0} == 1 ? ($1 + 11) / 12 : $1))
}

# pause SECONDS: sleeps without starting a process.  Nothing ever writes to the
# FIFO, which is open only while the shell waits, so that no child inherits it.
pause() {
	[ -p "$T/pause" ] || mkfifo "$T/pause"
	read -rt "$1" <>"$T/pause" || :
}

# wait_for SECONDS COMMAND...: until it succeeds, for three minutes at least:
# others may use this machine.  Looks less often the longer it takes, and the
# longer a look takes, for most looks start processes.
wait_for() {
	local seconds=$(($1 > 180 ? $1 : 180)) began=${EPOCHREALTIME/[.,]/}
	local us look_us looks=$began

	shift
	until "$@"; do
		look_us=$((${EPOCHREALTIME/[.,]/} - looks))
		us=$((looks + look_us - began))
		if ((us > seconds * PATIENCE * 1000000)); then
			fail "not within $((seconds * PATIENCE)) s: $*"
			return 1
		fi
		us=$((us / 8 < 20000 ? 20000 : us / 8 > 100000 ? 100000 : us / 8))
		us=$((us < look_us ? look_us : us))
		printf -v us %06d "$((us < 500000 ? us : 500000))"
		pause "0.$us"
		looks=${EPOCHREALTIME/[.,]/}
	done
}

# tries N COMMAND...: what is promised in time, or at a pace, holds in one of N
# tries: a machine that stalls, or that others use, may spoil some.  COMMAND
# returns 1 when it was too slow, 2 when something is wrong at any pace.  The
# counter is not i, which traces of bats change.
tries() {
	local n=$1 tried rc

	shift
	for ((tried = 1; tried <= n; tried++)); do
		rc=0
		"$@" || rc=$?
		[ $rc -eq 1 ] || return $rc
		echo "try $tried was too slow: $*"
	done
	return 1
}

# in_time GOT LIMIT: whether something took no longer than that.  Only a test
# tagged timing sets JUDGE_TIME; in others a busy machine causes no failure.
in_time() {
	[ -z "${JUDGE_TIME:-}" ] || [ "$1" -le "$2" ] ||
	    fail "$1, and at most $2 in time"
}

now_ms() {
	echo $((${EPOCHREALTIME/[.,]/} / 1000))
}

# -- processes --

ended() {
	local stat

	# The state follows the name, which may have parentheses in it.
	read -r stat 2>/dev/null <"/proc/$1/stat" || return 0
	[[ ${stat##*) } == Z* ]]
}

# spawn NAME COMMAND...: in the background, output in $T/NAME.out and .err.  A
# process group of its own, so that the parts of a pipeline end with it.
spawn() {
	local name=$1

	shift
	# At once: what one of that name said before it is not read for its own.
	: >"$T/$name.out"
	: >"$T/$name.err"
	# Appended, so that a test may empty the file.
	setsid "$@" </dev/null >>"$T/$name.out" 2>>"$T/$name.err" 3>&- &
	PIDS[$name]=$!
}

# finish NAME [SECONDS]: waits for it; it must exit with 0.  What it printed is
# in $output.  Not for subshells: only its parent can wait for it.
finish() {
	local pid=${PIDS[$1]} rc=0

	wait_for "${2:-30}" ended "$pid" || return
	wait "$pid" || rc=$?
	unset "PIDS[$1]"
	output=$(cat "$T/$1.out" "$T/$1.err")
	equal "the exit code of $1 ($output)" 0 $rc
}

# signal NAME SIGNAL
signal() {
	kill "-$2" "${PIDS[$1]}"
}

stands_still() {
	! grep -h '^State:' "/proc/$1/task/"*/status | grep -qv 'T (stopped)'
}

# stop_process PID: when this returns no thread of it runs any more; the signal
# alone does not say when.
stop_process() {
	kill -STOP "$1"
	wait_for 10 stands_still "$1"
}

# end NAME [SIGNAL]: ends it and waits.
end() {
	signal "$1" "${2:-TERM}"
	wait_for 10 ended "${PIDS[$1]}"
	wait "${PIDS[$1]}" || true
	unset "PIDS[$1]"
	case ${ADDRS[$1]:-unix:} in
	unix:*) ;;
	*) hold_port "${ADDRS[$1]}" ;;
	esac
}

# hold_port ADDRESS: until the test ends the kernel gives the port to no program
# that asks for any port, and connects are refused; a program may still listen on
# this very port.  Prints nothing; `listening on ADDRESS` is in $held.
hold_port() {
	held=$T/held.$EPOCHREALTIME
	# The holder inherits no descriptor, above all no connection of the
	# test.
	(
		for fd in /proc/"$BASHPID"/fd/*; do
			fd=${fd##*/}
			[ "$fd" -le 2 ] || eval "exec $fd>&-"
		done
		exec setsid "$TOOLS/badserver" refuse "$1" --deadline 600
	) </dev/null >"$held" 2>"$held.err" &
	echo $! >>"$T/holders"
}

# has_match PATTERN FILE: a line of FILE matches.  Starts no process for a file of
# few lines: what a test waits for is looked at again and again.
has_match() {
	local line lines

	[ -s "$2" ] || return 1
	mapfile -t -n 50 lines <"$2"
	if [ ${#lines[@]} -eq 50 ]; then
		grep -qE -- "$1" "$2"
		return
	fi
	for line in "${lines[@]}"; do
		[[ ! $line =~ $1 ]] || return 0
	done
	return 1
}

has_line() {
	has_match "$2" "$T/$1.out"
}

# listens NAME: it has printed the whole line, and its address is known.  A path
# may have bytes that are no text.
listens() {
	local line

	while IFS= read -r line; do
		if [[ $line == 'listening on '* ]]; then
			ADDRS[$1]=${line#listening on }
			return 0
		fi
	done <"$T/$1.out"
	return 1
}

listens_or_ended() {
	listens "$1" || ended "${PIDS[$1]}"
}

# serve NAME COMMAND...: one that prints `listening on ADDRESS`; see addr.
serve() {
	spawn "$@"
	wait_for 10 listens_or_ended "$1"
	listens "$1" || fail "$1 does not listen: $(cat "$T/$1.err")"
}

# unix_listens PATH: whether a process listens there.  A socket that is only bound
# refuses connections.
unix_listens() {
	grep -qE "^([^ ]+ ){3}00010000 .* $1\$" /proc/net/unix
}

addr() {
	echo "${ADDRS[$1]}"
}

# start_app NAME [OPTION...]: an application server, see tests/tools.
start_app() {
	local name=$1

	shift
	serve "$name" "$TOOLS/appserver" --name "$name" \
	    --listen "${LISTEN:-127.0.0.1:0}" --deadline 600 "$@"
}

# restart_app NAME [OPTION...]: one that was ended, on the address it had.
restart_app() {
	LISTEN=$(addr "$1") start_app "$@"
}

# start_streams NAME [OPTION...]: the server for verified streams.
start_streams() {
	local name=$1

	shift
	serve "$name" "$TOOLS/streamer" server "${LISTEN:-127.0.0.1:0}" \
	    --name "$name" --deadline 600 "$@"
}

# streams ADDRESS [OPTION...]: the client; what it prints is in $output.
streams() {
	local address=$1

	shift
	run -0 "$TOOLS/streamer" client "$address" \
	    --deadline $((200 * PATIENCE)) "$@"
}

# start_bad NAME MODE [OPTION...]: a server that misbehaves.
start_bad() {
	local name=$1 mode=$2

	shift 2
	serve "$name" "$TOOLS/badserver" "$mode" 127.0.0.1:0 --deadline 600 "$@"
}

# start_greeter NAME [SECONDS]: a server that speaks first, as SMTP servers do,
# and echoes each line; with SECONDS it also sends a line every SECONDS.
start_greeter() {
	serve "$1" python3 -B -c '
import asyncio, sys

async def chatter(writer, pause):
    while True:
        writer.write(b".\n")
        await asyncio.sleep(pause)

async def client(reader, writer):
    writer.write(b"ready\n")
    task = None
    if len(sys.argv) > 1:
        task = asyncio.create_task(chatter(writer, float(sys.argv[1])))
    try:
        while line := await reader.readline():
            writer.write(line)
    except ConnectionError:
        pass
    if task:
        task.cancel()
    writer.close()

async def main():
    server = await asyncio.start_server(client, "127.0.0.1", 0)
    print("listening on %s:%d" % server.sockets[0].getsockname(), flush=True)
    await server.serve_forever()

asyncio.run(main())' "${@:2}"
}

# free_port: of 127.0.0.1; see hold_port.  A frontend that is disabled and enabled
# again needs one: meanwhile the kernel may give its port to another program.
free_port() {
	local held

	hold_port 127.0.0.1:0
	wait_for 10 has_match '^listening on .*:([0-9]+)$' "$held"
	echo "${BASH_REMATCH[1]}"
}

# on_free_port NAME READY COMMAND...: for programs that cannot let the kernel
# choose: `PORT` in COMMAND is replaced; tries again when another one was
# quicker.  READY is a command that succeeds when it serves.
on_free_port() {
	local name=$1 ready=$2 port try

	shift 2
	for try in 1 2 3 4 5; do
		port=$(free_port)
		spawn "$name" "${@//PORT/$port}"
		ADDRS[$name]=127.0.0.1:$port
		wait_for 10 ready_or_ended "$name" "$ready" "$port"
		ended "${PIDS[$name]}" || return 0
		unset "PIDS[$name]"
	done
	fail "$name did not start ($try times): $(cat "$T/$name".*)"
}

ready_or_ended() {
	"$2" "$3" || ended "${PIDS[$1]}"
}

redis_ready() {
	[ "$(redis-cli -p "$1" ping 2>/dev/null)" = PONG ]
}

start_redis() {
	on_free_port redis redis_ready redis-server --port PORT \
	    --bind 127.0.0.1 --save '' --appendonly no --dir "$T"
}

nginx_ready() {
	curl -s -o /dev/null -m 2 "http://127.0.0.1:$1/"
}

# start_nginx: serves $T/www; its log is $T/nginx.err.
start_nginx() {
	mkdir -p "$T/www"
	echo nginx >"$T/www/index.html"
	on_free_port nginx nginx_ready sh -c "
		sed 's/@LISTEN@/PORT/' '$T/nginx.in' >'$T/nginx.conf'
		exec nginx -p '$T' -e stderr -c '$T/nginx.conf'"
}

# Options of openssl req: a key that is made at once, unlike one for RSA.
NEW_KEY=(-newkey ec -pkeyopt ec_paramgen_curve:P-256)

# make_ca NAME: an authority, $T/NAME.pem.
make_ca() {
	openssl req -x509 "${NEW_KEY[@]}" -nodes -days 2 -subj "/CN=$1" \
	    -addext keyUsage=digitalSignature,keyCertSign,cRLSign \
	    -keyout "$T/$1.key" -out "$T/$1.pem" 2>/dev/null
}

# make_cert NAME CA ALTNAMES: from it, as in `DNS:a.example,IP:127.0.0.1`.  Python
# from 3.13 on asks for all that RFC 5280 does, as for the identifiers.
make_cert() {
	openssl req "${NEW_KEY[@]}" -nodes -subj "/CN=$1" \
	    -keyout "$T/$1.key" -out "$T/$1.csr" 2>/dev/null
	openssl x509 -req -days 2 -CA "$T/$2.pem" -CAkey "$T/$2.key" \
	    -CAcreateserial -extfile <(printf '%s\n' "subjectAltName=$3" \
	    subjectKeyIdentifier=hash authorityKeyIdentifier=keyid) \
	    -in "$T/$1.csr" -out "$T/$1.pem" 2>/dev/null
}

# make_nameless NAME CA: as make_cert, but the name is its CN only.
make_nameless() {
	make_cert "$1" "$2" DNS:unused
	openssl x509 -req -days 2 -CA "$T/$2.pem" -CAkey "$T/$2.key" \
	    -CAcreateserial -in "$T/$1.csr" -out "$T/$1.pem" 2>/dev/null
}

# expired NAME CA ALTNAMES: as make_cert, but it was good until yesterday.
expired() {
	openssl req "${NEW_KEY[@]}" -nodes -subj "/CN=$1" \
	    -keyout "$T/$1.key" -out "$T/$1.csr" 2>/dev/null
	mkdir -p "$T/db"
	: >"$T/db/index"
	printf '%s\n' '[ca]' 'default_ca=c' '[c]' "database=$T/db/index" \
	    "new_certs_dir=$T/db" 'rand_serial=yes' 'default_md=sha256' \
	    'policy=p' '[p]' 'commonName=supplied' '[e]' \
	    "subjectAltName=$3" >"$T/db/conf"
	openssl ca -batch -notext -config "$T/db/conf" -extensions e \
	    -cert "$T/$2.pem" -keyfile "$T/$2.key" -in "$T/$1.csr" \
	    -startdate 20200101000000Z -enddate 20200102000000Z \
	    -out "$T/$1.pem" 2>/dev/null
}

nginx_tls_ready() {
	curl -sk -o /dev/null -m 2 "https://127.0.0.1:$1/"
}

# start_nginx_tls CERT [http2]: as start_nginx, with TLS, under the name tls.
start_nginx_tls() {
	local ssl="ssl ${2:-}; ssl_certificate $T/$1.pem;"

	ssl+=" ssl_certificate_key $T/$1.key;"
	mkdir -p "$T/www"
	echo nginx >"$T/www/index.html"
	sed "s|@LISTEN@;|@LISTEN@ $ssl|" "$T/nginx.in" >"$T/tls.in"
	on_free_port tls nginx_tls_ready sh -c "
		sed 's/@LISTEN@/PORT/' '$T/tls.in' >'$T/tls.conf'
		exec nginx -p '$T' -e stderr -c '$T/tls.conf'"
}

# The workers of nginx stay root, so that they can read $T; an ordinary user's are
# that user's in any case.
nginx_config() {
	local text="
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
		  server { listen 127.0.0.1:@LISTEN@; root $T/www; }
		}"

	echo "${text//$'\t'/}"
}

# -- network namespaces --

# netns NAME: one of its own, with lo; `${NS[NAME]} COMMAND` runs in it.  Skips
# the test where any step of that is not allowed.  For an ordinary user all of a
# test's namespaces are in one user namespace.
declare -gA NS=()
USERNS=()
netns() {
	local name=ns-$1 pid

	[ "$EUID" -eq 0 ] || [ ${#USERNS[@]} -gt 0 ] ||
	    USERNS=(unshare --user --map-root-user)
	spawn "$name" "${USERNS[@]}" unshare --net sh -c \
	    'ip link set lo up && echo up && exec tail -f /dev/null'
	wait_for 30 up_or_ended "$name"
	has_line "$name" '^up$' ||
	    skip "needs a network namespace with lo up: $(cat "$T/$name.err")"
	pid=${PIDS[$name]}
	[ "$EUID" -eq 0 ] ||
	    USERNS=(nsenter --target "$pid" --user --preserve-credentials)
	# shellcheck disable=SC2034 # NS is for the tests.
	NS[$1]="${USERNS[*]:-nsenter --target $pid} --net=/proc/$pid/ns/net"
	# shellcheck disable=SC2086
	need "the right to enter a network namespace" ${NS[$1]} true
}

up_or_ended() {
	has_line "$1" '^up$' || ended "${PIDS[$1]}"
}

# -- lfproxy --

lfproxy_said() {
	has_match "$1" "$LFPROXY_LOG"
}

lfproxy_ready_or_ended() {
	lfproxy_said '^(<6>)?lfproxy: .*ready' || ended "$LFPROXY_PID" ||
	    lfproxy_said '"?message"?[:=]"?ready"?'
}

# launch_lfproxy ARGUMENT...: returns when it serves.  LIMIT: a command that
# starts it, as in `prlimit --nofile=64`.  In a session of its own, so that
# teardown can tell whether it left a process behind.
launch_lfproxy() {
	equal "subshells around the start of lfproxy" "$LEVEL" "$BASH_SUBSHELL"
	: >"$LFPROXY_LOG"
	# shellcheck disable=SC2086
	setsid ${LIMIT:-} "$LFPROXY" "$@" </dev/null >"$T/lfproxy.out" \
	    2>>"$LFPROXY_LOG" 3>&- &
	LFPROXY_PID=$!
	wait_for 10 lfproxy_ready_or_ended
	refute ended "$LFPROXY_PID"
}

# start_lfproxy: the configuration comes on stdin, but not through a pipe: a
# pipe's end is a shell of its own, and teardown would not know the process.
start_lfproxy() {
	local lines

	mapfile lines
	printf '%s' "${lines[@]}" >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# web NAME...: lfproxy with a frontend `web` in front of these servers; after a
# NAME there may be options, as in 'a weight=3'.  DEFAULTS and BACKEND hold
# further lines of these sections, `check = off` if BACKEND has none.
web() {
	local server name

	{
		common
		printf '[defaults]\n%s\n' "${DEFAULTS:-}"
		unhurried timeout_handshake "${DEFAULTS:-}"
		printf '[frontend web]\nlisten = %s\n' "${WEB:-127.0.0.1:0}"
		printf 'backend = app\npool = main\n'
		printf '[backend app]\nbalance = %s\n%s\n' \
		    "${BALANCE:-roundrobin}" \
		    "${BACKEND:-check = off}"
		for server in "$@"; do
			name=${server%% *}
			echo "server = $name $(addr "$name")${server#"$name"}"
		done
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
}

# find_listening NAME [N]: sets LISTENING to the Nth address of frontend NAME.
# Starts no process, and is not for subshells.
find_listening() {
	local line n=${2:-1}
	local pattern="listening on (.*) \\(frontend $1(, fd:.*)?\\)(\"}?)?\$"

	LISTENING=
	while IFS= read -r line; do
		if [[ $line =~ $pattern ]] && ((--n == 0)); then
			LISTENING=${BASH_REMATCH[1]}
			break
		fi
	done <"$LFPROXY_LOG"
}

# listening NAME [N]: prints that address.
listening() {
	find_listening "$@"
	echo "$LISTENING"
}

# port NAME [N]: its port.
port() {
	find_listening "$@"
	echo "${LISTENING##*:}"
}

url() {
	find_listening "${1:-web}"
	echo "http://127.0.0.1:${LISTENING##*:}/"
}

fetch() {
	curl -sS -m $((60 * PATIENCE)) "$@"
}

# SIGTERM; lfproxy must exit with 0, in time, alone, and without a sanitizer's
# report.
stop_lfproxy() {
	kill -TERM "$LFPROXY_PID" || true
	await_lfproxy 15
}

# await_lfproxy SECONDS: as stop_lfproxy, after the signal was sent.
await_lfproxy() {
	local pid=$LFPROXY_PID rc=0

	LFPROXY_PID=
	if ! wait_for "$1" ended "$pid"; then
		kill -ABRT "$pid" || true
		wait_for 5 ended "$pid" || kill -KILL "$pid"
		fail "lfproxy did not stop"
		return 1
	fi
	wait "$pid" || rc=$?
	no_process_in "$pid" || return
	no_report && equal "lfproxy's exit code" 0 $rc
}

is_empty_session() {
	local left=0

	"$TOOLS/insession" "$1" || left=$?
	[ $left -eq 1 ]
}

# no_process_in SESSION: none runs there; see tests/tools/insession.c.  OUTLIVED:
# a program that lfproxy has not started ends behind it.
no_process_in() {
	local left=0

	[ -z "${OUTLIVED:-}" ] || wait_for 15 is_empty_session "$1" || :
	"$TOOLS/insession" "$1" || left=$?
	[ $left -ne 1 ] || return 0
	pkill -KILL -s "$1"
	fail "lfproxy left processes ($left)"
}

no_report() {
	refute lfproxy_said 'Sanitizer|runtime error:|this must hold and does not'
}

fd_count() {
	find "/proc/$LFPROXY_PID/fd" -mindepth 1 2>/dev/null | wc -l
}

fds_at_most() {
	[ "$(fd_count)" -le "$1" ]
}

fds_at_least() {
	[ "$(fd_count)" -ge "$1" ]
}

rss_kib() {
	awk '/^VmRSS/ { print $2 }' "/proc/$LFPROXY_PID/status"
}

# User and system time in ticks of 10 ms.
cpu_ticks() {
	awk '{ print $14 + $15 }' "/proc/$LFPROXY_PID/stat"
}

# quiet SECONDS: until lfproxy used no time worth mentioning for half a second.
quiet() {
	wait_for "$1" idle_for_a_while
}

idle_for_a_while() {
	local before

	before=$(cpu_ticks)
	sleep 0.5
	[ $(($(cpu_ticks) - before)) -le 1 ]
}

# said_times N PATTERN: at least N lines, in upper or lower case.
said_times() {
	[ "$(grep -ciE -- "$2" "$LFPROXY_LOG")" -ge "$1" ]
}

# settled: what the log says holds for new sessions as well.  The thread that
# wrote the line then changes the choice of servers, and answers after that.
settled() {
	local admin=${ADMIN:-$T/admin.sock}

	[ ! -S "$admin" ] || "$CTL" -S "$admin" show cli level >/dev/null
}

# The messages that a server's state changed.
says_down() {
	said_times "${2:-1}" "^lfproxy: .*\\<$1\\>.*\\<down\\>" && settled
}

says_up() {
	said_times "${2:-1}" "^lfproxy: .*\\<$1\\>.*\\<up\\>" && settled
}

# refused URL: no socket listens there.
refused() {
	local rc=0

	# One that is accepted may never be answered, and asks again.
	curl -s -o /dev/null -m $((5 * PATIENCE)) "$1" || rc=$?
	[ $rc -eq 7 ]
}

# -- the access log --

# A message, as text, in JSON or in logfmt.
MESSAGE='^lfproxy: |"message":|^time=[^ ]* level='

# Sessions that ended, one line each: the log without lfproxy's messages.
sessions() {
	grep -Ev "$MESSAGE" "$LFPROXY_LOG" || true
}

sessions_ended() {
	[ "$(grep -Evc "$MESSAGE" "$LFPROXY_LOG")" -ge "$1" ]
}

# session_like PATTERN: a session's line matches.
session_like() {
	sessions | grep -qE -- "$1"
}

# HAProxy's tcplog; the parts are in BASH_REMATCH, see parse_session.
SESSION='^([^ ]+) \[([0-9]{2}/[A-Z][a-z]{2}/[0-9]{4}(:[0-9]{2}){3}\.[0-9]{3})\]'
SESSION+=' ([^ ]+) ([^ /]+)/([^ /]+) (-?[0-9]+)/(-?[0-9]+)/([0-9]+) ([0-9]+)'
SESSION+=' ([-A-Za-z]{2}) ([0-9]+)/([0-9]+)/([0-9]+)/([0-9]+)/(\+?[0-9]+)'
SESSION+=' ([0-9]+)/([0-9]+)$'

# parse_session LINE: sets S[client date frontend backend server ...].
declare -gA S
# shellcheck disable=SC2034 # S is for the tests.
parse_session() {
	[[ $1 =~ $SESSION ]] || fail "no tcplog line: '$1'"
	S=([client]="${BASH_REMATCH[1]}" [date]="${BASH_REMATCH[2]}"
		[frontend]="${BASH_REMATCH[4]}"
		[backend]="${BASH_REMATCH[5]}" [server]="${BASH_REMATCH[6]}"
		[tw]="${BASH_REMATCH[7]}" [tc]="${BASH_REMATCH[8]}"
		[tt]="${BASH_REMATCH[9]}" [bytes]="${BASH_REMATCH[10]}"
		[code]="${BASH_REMATCH[11]}" [retries]="${BASH_REMATCH[16]}")
}

# last_session: waits for N (default 1) sessions, parses the last one.
last_session() {
	wait_for 10 sessions_ended "${1:-1}"
	parse_session "$(sessions | tail -n 1)"
}

# column_of NAME [SERVER]: of what `show stat` printed.
column_of() {
	awk -v name="$1" -v server="${2:-}" \
	    -f "$ROOT/tests/behaviour/csv_column.awk"
}

# -- bats --

# Bats keeps a record of each command, which takes a hundred times as long as the
# command.  After this it does so for the lines of the test only, not for those of
# the functions that it calls.
untraced() {
	set +T
}

# count_branches: programs of MODE=cover write into a directory of this test, whoever
# runs them.
count_branches() {
	local name=${BATS_TEST_FILENAME##*/}

	export GCOV_PREFIX=$LFPROXY_COVER/${name%.bats}/$BATS_TEST_NUMBER
	mkdir -p "$GCOV_PREFIX"
	chmod 1777 "$GCOV_PREFIX"
	echo "$BATS_TEST_DESCRIPTION" >"$GCOV_PREFIX/name"
}

setup() {
	untraced
	LEVEL=$BASH_SUBSHELL
	[ -z "${LFPROXY_COVER:-}" ] || count_branches
	nginx_config >"$T/nginx.in"
}

stop_others() {
	local name

	for name in "${!PIDS[@]}"; do
		kill -CONT "${PIDS[$name]}" 2>/dev/null || true
		kill -TERM -- "-${PIDS[$name]}" 2>/dev/null || true
	done
	for name in "${!PIDS[@]}"; do
		wait_for 5 ended "${PIDS[$name]}" || true
		kill -KILL -- "-${PIDS[$name]}" 2>/dev/null || true
		wait "${PIDS[$name]}" 2>/dev/null || true
	done
	[ ! -e "$T/holders" ] || xargs kill <"$T/holders" 2>/dev/null || true
}

explain_failure() {
	local f

	if [ -e "$T/lfproxy.ini" ]; then
		echo "--- lfproxy.ini, $(wc -l <"$T/lfproxy.ini") lines"
		head -n 60 "$T/lfproxy.ini"
	fi
	if [ -e "$LFPROXY_LOG" ]; then
		echo "--- lfproxy's log, the end"
		tail -n 40 "$LFPROXY_LOG"
	fi
	for f in "$T"/*.err; do
		[ -s "$f" ] || continue
		echo "--- ${f##*/}, the end"
		tail -n 5 "$f"
	done
}

teardown() {
	local rc=0

	untraced
	stop_others
	if [ -n "$LFPROXY_PID" ]; then
		stop_lfproxy || rc=1
	fi
	if [ $rc -ne 0 ] || [ -z "${BATS_TEST_COMPLETED:-}" ]; then
		explain_failure
	fi
	return $rc
}
