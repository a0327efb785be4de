# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# Helpers for tests of `lfproxyctl import`: they convert a few lines.

CTL=$BUILD/lfproxyctl

# convert KIND STATUS: standard input, whose result is valid and has the exit
# status; it is $output then.
convert() {
	mkdir -p "$T/$1"
	sed "s|@DIR@|$BATS_FILE_TMPDIR/tls|g" >"$T/$1/in.cfg"
	run --separate-stderr "$CTL" import "$1" "$T/$1/in.cfg"
	printf '%s\n' "$output" >"$T/$1/out.ini"
	equal "the status of $(cat "$T/$1/in.cfg") as $output $stderr" "$2" \
	    "$status"
	"$LFPROXY" -t -c "$T/$1/out.ini" || fail "$output"
}

# haproxy STATUS BACKEND [FRONTEND [GLOBAL]]: a proxy with these lines.
haproxy() {
	convert haproxy "$1" <<-END
		global
		$(printf ' %b' "${4:-log stdout local0}")
		defaults
		 mode tcp
		 timeout client 1m
		 timeout server 1m
		 timeout connect 5s
		frontend f
		 bind 127.0.0.1:7000
		$(printf ' %b' "${3:-option tcplog}")
		 default_backend b
		backend b
		$(printf ' %b' "$2")
	END
}

# has LINE...: the result has each of the lines.
has() {
	local line

	for line; do
		grep -qxF -- "$line" <<<"$output" ||
			fail "no line '$line' in $output"
	done
}

# lacks PATTERN: no line of the result matches.
lacks() {
	! grep -- "$1" <<<"$output" || fail "a line $1 in $output"
}

# says TEXT...: the result has each of the texts.
says() {
	local text

	for text; do
		[[ $output == *"$text"* ]] || fail "no '$text' in $output"
	done
}

# nginx STATUS STREAM: a stream block with these lines.
nginx() {
	convert nginx "$1" <<-END
		events {}
		stream {
		$(printf '%b' "$2")
		}
	END
}

FULL='proxy_half_close on; '
