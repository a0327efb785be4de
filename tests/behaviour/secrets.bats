#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Passwords of the configuration: where they come from, and that nothing shows
# them.

# bats file_tags=onethread

load helpers
load operator
load upgrade

common() {
	cat <<-END
		[global]
		log = stderr
		drain_timeout = 20s
		admin = $ADMIN mode=0600
		http = 127.0.0.1:0
		[pool main]
		threads = 2
	END
}

# echo_server NAME: answers with what it is sent.
echo_server() {
	spawn "$1" python3 -c '
import socketserver
class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        data = self.request.recv(1000)
        while data:
            self.request.sendall(b"-you said " + data)
            data = self.request.recv(1000)
class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
with Server(("127.0.0.1", 0), Echo) as s:
    print("127.0.0.1:%d" % s.server_address[1], flush=True)
    s.serve_forever()'
	wait_for 20 has_line "$1" '^127'
	# shellcheck disable=SC2034 # web has it.
	ADDRS[$1]=$(head -n 1 "$T/$1.out")
}

# told: an answer of the server, which repeats its password, is in show stat.
told() {
	ctl show stat | grep -q 'you said AUTH'
}

# all_that_shows: everything that a user of the level user, or a reader of the
# log, can see, in one stream.
all_that_shows() {
	local command http

	cat "$LFPROXY_LOG"
	ctl reload
	while read -r command; do
		echo "== $command"
		printf 'user; %s\n' "$command" |
		    socat -t 20 - "UNIX-CONNECT:$ADMIN"
		# shellcheck disable=SC2086
		ctl --json $command 2>&1
	done <<-END
		show stat
		show stat typed
		show stat json
		show info
		show events
		show changes
		show servers state
		show servers conn
		show schema json
		show capacity
		show memory
		show pool
		show sess
		show closed
		show lasting
		explain 192.0.2.1 web
		help
	END
	http=$(sed -n 's|.*monitoring at \(http://.*\)/$|\1|p' "$LFPROXY_LOG")
	fetch "$http/stats;csv" "$http/metrics" "$http/healthz" "$http/readyz"
	"$LFPROXY" -T -c "$T/lfproxy.ini"
	"$LFPROXY" -t -c "$T/lfproxy.ini"
	cat "$LFPROXY_LOG"
}

# shows_none SECRET...
shows_none() {
	local secret

	all_that_shows >"$T/shown" 2>&1 || true
	grep -q '^== help' "$T/shown"
	grep -q '^haproxy_process_uptime_seconds ' "$T/shown"
	for secret in "$@"; do
		refute grep -nF -- "$secret" "$T/shown"
	done
}

# shellcheck disable=SC2016 # lfproxy fills it in.
@test "secrets: values of variables and files are hidden in a server's answer" {
	echo_server a
	echo 'from-a-file-9Xq' >"$T/pw"
	chmod 600 "$T/pw"
	export PW='from-the-env-7Zk'
	BACKEND='check = send-expect interval=50ms fall=1
agent = on port=9 interval=1s send="AGENT-${PW}"
check_step = send "AUTH ${PW} ${file:'"$T"'/pw}\r\n"
check_step = expect "+OK"' web a
	wait_for 20 told
	shows_none "$PW" 'from-a-file-9Xq'
	grep -qF 'AUTH ${PW} ${file:' "$T/shown"
	# The printed configuration can be read back.
	"$LFPROXY" -T -c "$T/lfproxy.ini" >"$T/printed.ini"
	"$LFPROXY" -T -c "$T/printed.ini" | diff - "$T/printed.ini"
	echo 'another-one-3Wv' >"$T/pw"
	run -0 ctl reload
	[[ $output == *'backend app: check_step: changed (it may hold a password, so its values are not shown)'* ]]
	sed -i 's/AUTH/AUTH literal-5Tn/; s/AGENT/literal-6Tn/' "$T/lfproxy.ini"
	run -0 ctl reload
	[[ $output == *'backend app: agent: changed (it may hold'* ]]
	wait_for 20 told
	shows_none "$PW" 'from-a-file-9Xq' 'another-one-3Wv' >"$T/none" 2>&1
	# Values in the file itself are visible to users who may read the file.
	refute grep -q 'literal-[56]Tn.* -> ' "$LFPROXY_LOG"
}

# shellcheck disable=SC2016
@test "secrets: a file in any value, read again with each reload" {
	start_app a
	echo 'Bearer-first-4Rw' >"$T/pw"
	BACKEND='check = http path=/x
check_body = "${file:'"$T"'/pw}"' web a
	printf 'Bearer-second-4Rw\r\n' >"$T/pw"
	run -0 ctl reload
	[[ $output == *'backend app: check_body: changed (a secret in it is another)'* ]]
	shows_none Bearer-first-4Rw Bearer-second-4Rw
	chmod 644 "$T/pw"
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *"warning: every user of this host can read the secret in $T/pw; chmod o-r"* ]]
	chmod 600 "$T/pw"
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output != *warning* ]]
	echo abc >"$T/pw"
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *'warning: the secret ${file:'"$T"'/pw} has fewer than 4 characters, so it is not masked'* ]]
	echo abcd >"$T/pw"
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output != *warning* ]]
}

# shellcheck disable=SC2016
# bats test_tags=covered
@test "secrets: nothing shows of one that is longer than what is shown" {
	local long

	long=Token-$(printf 'x%.0s' {1..300})
	echo_server a
	echo "$long" >"$T/pw"
	chmod 600 "$T/pw"
	BACKEND='check = send-expect interval=50ms fall=1
check_step = send "AUTH ${file:'"$T"'/pw}\r\n"
check_step = expect "+OK ${file:'"$T"'/pw}"' web a
	wait_for 20 told
	shows_none Token-
}

# shellcheck disable=SC2016
@test "secrets: a file's text is sent as it is, with quotes and backslashes" {
	echo_server a
	printf '%s\n' 'pa"ss\now\q9Wz' >"$T/pw"
	chmod 600 "$T/pw"
	BACKEND='check = send-expect interval=50ms fall=1
check_step = send "AUTH ${file:'"$T"'/pw}\r\n"
check_step = expect "+OK"' web a
	wait_for 20 told
	shows_none 'ss\now' 'q9Wz'
	grep -qF 'you said AUTH ${file:' "$T/shown"
	"$LFPROXY" -T -c "$T/lfproxy.ini" >"$T/printed.ini"
	"$LFPROXY" -T -c "$T/printed.ini" | diff - "$T/printed.ini"
}

# shellcheck disable=SC2016
# bats test_tags=covered
@test "secrets: an error shows no part of one" {
	printf '[frontend f]\nlisten = 127.0.0.1:0\nbackend = b\n[backend b]\nserver = s 127.0.0.1:1\ncheck = send-expect\ncheck_step = send "AUTH ${PW}"\ncheck_step = send AUTH ${PW}\ncheck_step = expect "a"\n' >"$T/in.ini"
	run -78 env 'PW=pa"ss-5Kq\w-5Kq' "$LFPROXY" -t -c "$T/in.ini"
	[[ $output == *':7: check_step: send: "AUTH ${PW}" has a quote that closes it'* ]]
	[[ $output == *":8: check_step: send: '\\w': unknown escape"* ]]
	[[ $output != *5Kq* ]]
}

# with_file: a configuration whose node is the file's text; prints the errors.
with_file() {
	# shellcheck disable=SC2016
	printf '[global]\nnode = ${file:%s}\n[frontend f]\nlisten = 127.0.0.1:0\nbackend = b\n[backend b]\nserver = s 127.0.0.1:1\n' \
	    "$1" >"$T/in.ini"
	run "$LFPROXY" -t -c "$T/in.ini"
}

# shellcheck disable=SC2016
@test "secrets: a file that cannot be taken is an error with its reason" {
	with_file "$T/none"
	[[ $status -ne 0 && $output == *":2: node: the file $T/none cannot be read: No such file"* ]]
	with_file "$T"
	[[ $status -ne 0 && $output == *"$T is not a regular file"* ]]
	mkfifo "$T/fifo"
	with_file "$T/fifo"
	[[ $status -ne 0 && $output == *"fifo is not a regular file"* ]]
	: >"$T/empty"
	with_file "$T/empty"
	[[ $status -ne 0 && $output == *"the file $T/empty is empty"* ]]
	printf 'a\nb\n' >"$T/lines"
	with_file "$T/lines"
	[[ $status -ne 0 && $output == *"the file $T/lines has the control character 0x0a"* ]]
	head -c 5000 /dev/zero | tr '\0' x >"$T/long"
	with_file "$T/long"
	[[ $status -ne 0 && $output == *"the file $T/long has more than 4096 characters"* ]]
	# An error about a value does not show it either.
	echo 'no*name*8Ls' >"$T/pw"
	with_file "$T/pw"
	[[ $status -ne 0 && $output == *'${file:'* && $output != *8Ls* ]]
}

# variable NAME VALUE: `show env` has this value at the level operator: in the
# list, alone, and in JSON.
variable() {
	equal "$1 in the list" "$1=$2" "$(printf 'operator; show env\n' |
	    socat -t 60 - "UNIX-CONNECT:$ADMIN" | grep "^$1=")"
	equal "$1 alone" "$1=$2" "$(ctl show env "$1")"
	equal "$1 in JSON" "$2" "$(ctl show env "$1" json |
	    python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["value"])')"
}

# shellcheck disable=SC2016
variables_are_masked() {
	variable HEADER_PW '${HEADER_PW}'
	variable AGENT_PW '${AGENT_PW}'
	variable PIN '${PIN}'
	variable OPTIONAL_PW '${OPTIONAL_PW}'
	refute grep -F 'q3Wq' <(ctl show env; ctl show env json)
}

# shellcheck disable=SC2016
@test "secrets: show env has none" {
	start_app a
	echo 'user:from-a-file-w8Wq' >"$T/pw"
	chmod 600 "$T/pw"
	export HEADER_PW='header-q3Wq' AGENT_PW='agent-q3Wq' PIN=7q \
	    OPTIONAL_PW='optional-q3Wq' ABSENT_PW='' \
	    WITHIN='https://u:header-q3Wq@host/agent-q3Wq' \
	    PART='from-a-file-w8Wq' PLAIN='app' PIN_TOO=7q
	BACKEND='check = http interval=50ms
check_header = X-Auth: ${HEADER_PW} ${PIN} ${OPTIONAL_PW:-fallback-8Zr}
check_header = X-Other: ${ABSENT_PW:-absent-8Zr} ${file:'"$T"'/pw}
agent = off
server_defaults = agent_send=A${AGENT_PW}' web a
	FIRST=$LFPROXY_PID
	variables_are_masked
	variable WITHIN 'https://u:${HEADER_PW}@host/${AGENT_PW}'
	variable PART '${PART}'
	variable PLAIN app
	variable ABSENT_PW ''
	# A name is masked, not each value of its length.
	variable PIN_TOO 7q
	# The text for a missing variable is for -T alone.
	"$LFPROXY" -T -c "$T/lfproxy.ini" | grep -qF '${OPTIONAL_PW:-fallback-8Zr}'
	export OPTIONAL_PW=opt
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *'secret ${OPTIONAL_PW} has fewer than 4'* ]]
	# Secrets of a former configuration remain masked, also after an upgrade.
	sed -i '/^check_header\|^server_defaults/d' "$T/lfproxy.ini"
	ctl reload
	variables_are_masked
	upgrade
	variables_are_masked
	upgrade
	variables_are_masked
	refute grep LFPROXY_SECRETS <(ctl show env)
	stop_newest
}
