#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The configuration as an operator meets it: lfproxy -t, -T, -l and -s.

# bats file_tags=onethread, basic

load environment
load rights

setup() {
	lfproxy=${LFPROXY_BUILD:?names the folder of the build}/lfproxy
	ini=$BATS_TEST_TMPDIR/lfproxy.ini
	bats_require_minimum_version 1.5.0
}

# Writes the configuration from standard input; a file that is complete.
write() {
	cat >"$ini"
}

write_good() {
	write <<-'EOF'
	; two servers behind one port
	[global]
	node = lb1

	[defaults]
	timeout_client = 90s

	[frontend web]
	listen  = 127.0.0.1:0
	    listen = unix:/run/web.sock mode=0600
	backend = app

	[backend app]
	server = app1 10.0.0.11:8080
	server = app2 10.0.0.12:8080 weight=50   ; the small one
	check  = http path=/healthz
	EOF
}

@test "config: -t says that a good file is valid" {
	write_good
	run -0 --separate-stderr "$lfproxy" -t -c "$ini"
	[ "$output" = "$ini: configuration is valid" ]
	[ -z "$stderr" ]
}

@test "config: -t reports every error with its line, exits with 78" {
	write <<-'EOF'
	early = 1
	[frontend web]
	listen = 80
	backend = ap
	plain
	[backend app]
	sever = a 10.0.0.1:80
	server = a 10.0.0.1:80 weight=300
	timeout_server = 30
	[backend app]
	server = a 10.0.0.1:80
	EOF
	run -78 --separate-stderr "$lfproxy" -t -c "$ini"
	[ -z "$output" ]
	expected=(
		"$ini:1: the key 'early' comes before any section"
		"$ini:3: listen: '80' has no port"
		"$ini:4: backend: unknown backend 'ap'; did you mean 'app'?"
		"$ini:5: the line is neither [section] nor 'key = value'"
		"$ini:7: unknown key 'sever' in [backend app]; did you mean 'server'?"
		"$ini:8: server: weight: '300' is not a whole number from 0 to 256"
		"$ini:9: timeout_server: '30' has no unit; write 30s or 30ms"
		"$ini:10: there is a second [backend app], first in line 6"
	)
	[ "${#stderr_lines[@]}" -eq "${#expected[@]}" ]
	for i in "${!expected[@]}"; do
		[[ "${stderr_lines[i]}" == "${expected[i]}"* ]]
	done
}

@test "config: a line longer than 8192 characters is an error with its line" {
	write_good
	printf 'retries = %08200d\n' 3 >>"$ini"
	run -78 "$lfproxy" -t -c "$ini"
	[ "$output" = "$ini:17: the line has 8210 characters; at most 8192 are allowed" ]
}

@test "config: a server with many options goes into one line, or into several" {
	local options="weight=50 maxconn=2000 slow_start=30s on_down=close
	    check_interval=1500ms check_fast_interval=500ms check_fall=5
	    check_down_interval=10s check_timeout=1s check_rise=3
	    source=[2001:db8:1:2:3:4:5:7] keepalive=60s:10s:3"
	write_good
	printf 'server = many [2001:db8:1:2:3:4:5:6]:8080 %s\n' \
	    "$(tr -s '\n\t ' ' ' <<<"$options")" >>"$ini"
	"$lfproxy" -T -c "$ini" >"$BATS_TEST_TMPDIR/one"
	grep -q 'server = many .* check_fall=5 .* keepalive=1m:10s:3' \
	    "$BATS_TEST_TMPDIR/one"
	write_good
	printf 'server = many [2001:db8:1:2:3:4:5:6]:8080 \\\n%s\n' \
	    "$(sed 's/$/ \\/; $s/ .$//' <<<"$options")" >>"$ini"
	[ "$(wc -l <"$ini")" -eq 21 ]
	"$lfproxy" -T -c "$ini" >"$BATS_TEST_TMPDIR/several"
	diff "$BATS_TEST_TMPDIR/one" "$BATS_TEST_TMPDIR/several"
	# Lines below have their numbers.
	echo 'xyzzy = 1' >>"$ini"
	run -78 "$lfproxy" -t -c "$ini"
	[[ "$output" == "$ini:22: unknown key 'xyzzy'"* ]]
}

@test "config: a file of HAProxy, of nginx or in UTF-16 is reported in one line" {
	write <<-'EOF'
	# an haproxy.cfg
	global
	    log /dev/log local0
	    log-format "[%tr] %ST"
	defaults
	    timeout connect 5s
	frontend web
	    bind :80
	    default_backend app
	backend app
	    server a 10.0.0.1:80 check inter 2s
	EOF
	run -78 "$lfproxy" -t -c "$ini"
	[ "$output" = "$ini: is a configuration of HAProxy (line 2: 'global'); convert it with \`lfproxyctl import haproxy FILE >lfproxy.ini\`" ]
	write <<-'EOF'
	user www-data;
	worker_processes auto;
	stream {
	    upstream app { server 10.0.0.1:80; }
	    server { listen 80; proxy_pass app; }
	}
	EOF
	run -78 "$lfproxy" -t -c "$ini"
	[ "$output" = "$ini: is a configuration of nginx (line 3: 'stream {'); convert it with \`lfproxyctl import nginx FILE >lfproxy.ini\`" ]
	write_good
	iconv -f UTF-8 -t UTF-16 "$ini" >"$ini.16"
	run -78 "$lfproxy" -t -c "$ini.16"
	[ "$output" = "$ini.16: is UTF-16 text; save it as UTF-8" ]
	# Lines of theirs in a file of ours are errors of their own.
	write_good
	echo 'global' >>"$ini"
	run -78 "$lfproxy" -t -c "$ini"
	[[ "$output" == "$ini:17: "* ]]
}

@test "config: a non-ASCII blank is named in the error" {
	write_good
	printf 'retries\302\240= 3\n' >>"$ini"
	run -78 "$lfproxy" -t -c "$ini"
	[ "$output" = "$ini:17: the line has a no-break space (U+00A0); write an ordinary blank, or none" ]
	# In comments everything is fine.
	write_good
	printf '; caf\303\251\302\240 \342\200\234x\342\200\235\nretries = 3 ; \302\240\n' >>"$ini"
	"$lfproxy" -t -c "$ini"
}

@test "config: a NUL byte is an error with its line" {
	write_good
	printf 'retries = 3\0000\n' >>"$ini"
	run -78 "$lfproxy" -t -c "$ini"
	[ "$output" = "$ini:17: the line has a NUL byte; this must be a text file" ]
}

@test "config: a missing newline at the end is fine" {
	write_good
	printf 'retries = 9' >>"$ini"
	"$lfproxy" -t -c "$ini"
	"$lfproxy" -T -c "$ini" | grep -qx 'retries = 9'
}

@test "config: an empty file is an error" {
	write </dev/null
	run -78 "$lfproxy" -t -c "$ini"
	[[ "$output" == "$ini: the file is empty or has comments only"* ]]
}

@test "config: a file that is not there, and a directory, are errors" {
	run -78 "$lfproxy" -t -c "$ini"
	[ "$output" = "$ini: cannot be read: No such file or directory" ]
	mkdir "$BATS_TEST_TMPDIR/empty"
	run -78 "$lfproxy" -t -c "$BATS_TEST_TMPDIR/empty"
	[[ "$output" == "$BATS_TEST_TMPDIR/empty: is a directory without *.ini in it; "* ]]
}

@test "config: a file without the right to read it is an error" {
	local WITHOUT
	# Root may read every file, unless it is without this right.
	without dac_override dac_read_search
	write_good
	chmod 0 "$ini"
	run -78 "${WITHOUT[@]}" "$lfproxy" -t -c "$ini"
	[ "$output" = "$ini: cannot be read: Permission denied" ]
}

@test "config: a bad file does not start anything" {
	write <<<'[frontend web]'
	run -78 timeout 60 "$lfproxy" -c "$ini"
	[[ "$output" == *"$ini: no backend is defined; write a [backend NAME]"* ]]
}

@test "config: -T prints what it would print again" {
	write_good
	"$lfproxy" -T -c "$ini" >"$BATS_TEST_TMPDIR/once.ini"
	"$lfproxy" -T -c "$BATS_TEST_TMPDIR/once.ini" >"$BATS_TEST_TMPDIR/twice.ini"
	diff "$BATS_TEST_TMPDIR/once.ini" "$BATS_TEST_TMPDIR/twice.ini"
	for line in 'node = lb1' 'timeout_client = 90s' 'timeout_server = 5m' \
	    'listen = unix:/run/web.sock mode=0600' \
	    'server = app1 10.0.0.11:8080 weight=100 maxconn=0' \
	    'server = app2 10.0.0.12:8080 weight=50 maxconn=0'; do
		grep -qxF "$line" "$BATS_TEST_TMPDIR/once.ini"
	done
	grep -qx 'check = http path=/healthz .*method=GET .*status=200-399 .*fall=3 rise=2.*' \
	    "$BATS_TEST_TMPDIR/once.ini"
	grep -qx 'threads = auto ; here [1-9][0-9]*' "$BATS_TEST_TMPDIR/once.ini"
}

@test "config: -T has the variables filled in, and needs them no more" {
	write_good
	printf '%s\n' 'retries = ${TRIES:-7}' \
	    'check_header = X-Is: ${WHO} $${WHO}' >>"$ini"
	run -78 env -u WHO "$lfproxy" -t -c "$ini"
	[[ "$output" == "$ini:18: check_header: the variable WHO is not set;"* ]]
	WHO=me "$lfproxy" -T -c "$ini" >"$BATS_TEST_TMPDIR/once.ini"
	grep -qxF 'retries = 7' "$BATS_TEST_TMPDIR/once.ini"
	grep -qxF 'check_header = X-Is: me $${WHO}' "$BATS_TEST_TMPDIR/once.ini"
	env -u WHO "$lfproxy" -T -c "$BATS_TEST_TMPDIR/once.ini" |
	    diff "$BATS_TEST_TMPDIR/once.ini" -
}

@test "config: -l and -s make a configuration without a file" {
	"$lfproxy" -T -l :8080 -s 10.0.0.11:80 -s web=10.0.0.12:80 \
	    -b roundrobin -k http:/up -n 3 -a /run/a.sock >"$ini"
	for line in 'admin = /run/a.sock mode=0660 level=admin timeout=10s maxconn=256' 'threads = 3' \
	    'listen = :8080' 'server = s1 10.0.0.11:80 weight=100 maxconn=0' \
	    'server = web 10.0.0.12:80 weight=100 maxconn=0'; do
		grep -qxF "$line" "$ini"
	done
	grep -q '^check = http path=/up ' "$ini"
	"$lfproxy" -t -c "$ini"
}

@test "config: errors of -l and -s name the option, and exit with 78" {
	run -78 --separate-stderr "$lfproxy" -t -l 80 -s 10.0.0.1:0 -n 0
	[ "${#stderr_lines[@]}" -eq 3 ]
	[[ "$stderr" == *"-l 80: '80' has no port; "* ]]
	[[ "$stderr" == *"-s 10.0.0.1:0: '10.0.0.1:0' has no port "* ]]
	[[ "$stderr" == *"-n 0: '0' is not a number of threads; "* ]]
}

@test "config: wrong usage points to the help, exits with 64" {
	for args in "" "-t" "-l :80" "-s h:80" "-c f -l :80" "-c f -n 2" \
	    "-c f g" "-c" "-x" "--nonsense"; do
		# shellcheck disable=SC2086 # cut into words on purpose
		run -64 --separate-stderr "$lfproxy" $args
		[ -z "$output" ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ "$stderr" == *"; try lfproxy -h" ]]
	done
}

@test "config: -h and -V answer on standard output and exit with 0" {
	run -0 --separate-stderr "$lfproxy" -h
	[[ "$output" == *"usage: lfproxy -c FILE"* ]]
	[ -z "$stderr" ]
	run -0 --separate-stderr "$lfproxy" -V
	[[ "${lines[0]}" == "lfproxy "[0-9]* ]]
	[ -z "$stderr" ]
}

@test "config: every key that is listed is one that -T prints" {
	write_good
	# Sections that need not be there.
	printf '[tls public]\n[list office]\n' >>"$ini"
	"$lfproxy" -T -c "$ini" >"$BATS_TEST_TMPDIR/printed"
	"$lfproxy" --list-keys >"$BATS_TEST_TMPDIR/keys"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/keys")" -gt 20 ]
	while IFS=$'\t' read -r section key _; do
		case $section,$key in
		defaults,* | *:*) continue ;;
		esac
		grep -Eq "^(; )?$key (=|is not set)" "$BATS_TEST_TMPDIR/printed"
	done <"$BATS_TEST_TMPDIR/keys"
}
