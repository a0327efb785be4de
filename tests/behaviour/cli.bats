# SPDX-License-Identifier: MIT
# The command line of lfproxy.

# bats file_tags=onethread, basic

load helpers

# usage_error ARGUMENT...: exits with 64, says something, serves nothing.
usage_error() {
	run -64 timeout 60 "$LFPROXY" "$@"
	echo "$output"
	[[ $output == *lfproxy* ]]
}

# bats test_tags=covered
@test "cli: listeners and servers without a file" {
	start_app a
	start_app b
	launch_lfproxy -l 127.0.0.1:0 -s "$(addr a)" -s "$(addr b)"
	address=$(sed -n \
	    's/^lfproxy: .*listening on \([^ ]*\).*/\1/p' "$LFPROXY_LOG")
	equal "the names" "a b" "$(fetch -H 'Connection: close' \
	    "http://$address/?[1-10]" | sort -u | xargs)"
	wait_for 10 sessions_ended 10
}

# bats test_tags=covered
@test "cli: several listeners, one of them a unix socket" {
	start_app a
	launch_lfproxy -l 127.0.0.1:0 -l "unix:$T/web.sock" -s "$(addr a)"
	equal "the answer" a "$(fetch --unix-socket "$T/web.sock" http://web/)"
	stop_lfproxy
	[ ! -e "$T/web.sock" ]
}

@test "cli: -V prints the version" {
	run -0 "$LFPROXY" -V
	[[ ${lines[0]} =~ ^lfproxy\ [0-9]+\.[0-9]+\.[0-9]+ ]]
	[[ $output == *$'\n'"$(openssl version | sed 's/.*Library: //; s/)$//')" ]] ||
	    fail "$output"
}

@test "cli: -V has every kind of check that the file knows" {
	local kinds

	printf '[backend b]\ncheck = nonsense\n' >"$T/lfproxy.ini"
	run -78 "$LFPROXY" -t -c "$T/lfproxy.ini"
	kinds=$(sed -n 's/.*allowed are off, \(.*\)/\1/p' <<<"$output")
	[[ $kinds == *redis* ]]
	run -0 "$LFPROXY" -V
	[[ $output == *$'\n'"checks: $kinds, agent"$'\n'* ]] ||
	    fail "$kinds: $output"
}

@test "cli: -h prints how to use it, on stdout" {
	run -0 --separate-stderr "$LFPROXY" -h
	[[ $output == *"-c"* && $output == *"-l"* && $output == *"-s"* ]]
	[[ $output == *"-t"* && $output == *"-V"* ]]
	equal "stderr" "" "$stderr"
}

@test "cli: nothing to do is a usage error" {
	usage_error
}

@test "cli: an unknown option is a usage error, with what to use instead" {
	usage_error -Z
	usage_error -f x.cfg
	[[ $output == *"-f is unknown; name the configuration with -c FILE; try lfproxy -h" ]]
}

@test "cli: an option without its value is a usage error" {
	usage_error -c
	usage_error -l
}

@test "cli: a listener without a server is a usage error" {
	usage_error -l 127.0.0.1:0
}

@test "cli: a server without a listener is a usage error" {
	usage_error -s 127.0.0.1:80
}

@test "cli: a file and listeners together are a usage error" {
	echo >"$T/lfproxy.ini"
	usage_error -c "$T/lfproxy.ini" -l 127.0.0.1:0 -s 127.0.0.1:80
}

@test "cli: words that are no options are a usage error" {
	usage_error -l 127.0.0.1:0 -s 127.0.0.1:80 more
	usage_error "$T/lfproxy.ini"
	[[ $output == *"name a configuration with -c FILE"* ]]
}

# bats test_tags=covered
@test "cli: a unix listener does not replace a regular file" {
	echo precious >"$BATS_TEST_TMPDIR/file"
	run "$LFPROXY_BUILD/lfproxy" -l "unix:$BATS_TEST_TMPDIR/file" \
	    -s 127.0.0.1:9
	[ "$status" -eq 71 ]
	[[ "$output" == *"not a socket"* || "$output" == *"non-socket"* ]]
	[ "$(cat "$BATS_TEST_TMPDIR/file")" = precious ]
}

@test "cli: user= without the rights of root names the cause and the way out" {
	local without=""

	[ "$(id -u)" -ne 0 ] ||
		without="setpriv --bounding-set=-setuid,-setgid --inh-caps=-setuid,-setgid"
	for key in user group; do
		printf '%s\n' '[global]' "$key = daemon" '[frontend f]' \
		    'listen = 127.0.0.1:0' 'backend = b' '[backend b]' \
		    'server = a 127.0.0.1:9' >"$T/lfproxy.ini"
		# shellcheck disable=SC2086 # words
		run -71 $without timeout 60 "$BUILD/lfproxy" -c "$T/lfproxy.ini"
		[[ $output == *"error: $key = daemon takes the rights of root (CAP_SETUID and CAP_SETGID), but this process runs as uid "*"; start it as root, or leave $key out" ]]
	done
}
