#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# lfproxyctl import: files that a configuration names, and hostile ones.

# bats file_tags=onethread

load helpers
load importrows

setup_file() {
	"$ROOT/scripts/make-test-certs" "$BATS_FILE_TMPDIR/tls"
}

# import_quickly KIND FILE: what is written goes to files; a conversion that
# hangs ends with status 124.
import_quickly() {
	timeout 20 "$CTL" import "$@" 2>"$T/errors" >"$T/result"
}

@test "importfiles: paths with blanks give a file that is valid" {
	mkdir "$T/my dir"
	printf '10.0.0.0/8\n' >"$T/my dir/bad.lst"
	haproxy 0 'server a 10.0.0.1:80' "tcp-request connection reject if { src -f \"$T/my dir/bad.lst\" }" \
	    "stats socket \"$T/my dir/admin\" level admin"
	has "deny = 10.0.0.0/8"
	says "an admin socket is a path without blanks"
	haproxy 1 'server a 10.0.0.1:80' "bind 127.0.0.1:7001 ssl crt \"$T/my dir/rsa.pem\""
	says "CLIENTS: left out: the certificate is missing"
}

@test "importfiles: nothing is in an empty file" {
	: >"$T/empty.lst"
	haproxy 0 'server a 10.0.0.1:80' "tcp-request connection reject if { src -f $T/empty.lst }"
	has "deny = list:empty.lst" "file = $T/empty.lst"
	haproxy 0 'server a 10.0.0.1:80\nbackend c\n server c 10.0.0.3:80' "use_backend c if { req.ssl_sni -f $T/empty.lst }"
	lacks '^sni'
}

@test "importfiles: only regular files are read" {
	mkfifo "$T/fifo"
	printf 'events {}\nstream { include %s; }\n' "$T/fifo" >"$T/in.conf"
	run import_quickly nginx "$T/in.conf"
	equal "the status" 2 "$status"
	cat >"$T/in.cfg" <<-END
		listen a
		 mode tcp
		 bind 127.0.0.1:7000
		 tcp-request connection reject if { src -f $T/fifo }
		 server s 10.0.0.1:80
	END
	run import_quickly haproxy "$T/in.cfg"
	equal "the status" 1 "$status"
	run import_quickly haproxy "$T/fifo"
	equal "the status" 2 "$status"
	grep -q "not a regular file" "$T/errors"
	run import_quickly haproxy /dev/zero
	equal "the status" 2 "$status"
}

@test "importfiles: a search for files and long words are bounded" {
	printf 'events {}\nstream { include /*/*/*/*/*; }\n' >"$T/in.conf"
	run import_quickly nginx "$T/in.conf"
	equal "the status" 2 "$status"
	grep -q "in.conf:2: include: wildcards" "$T/errors"
	{
		printf 'events {}\nstream { upstream '
		head -c 1000000 /dev/zero | tr '\0' a
		printf ' { server 10.0.0.1:1; } }\n'
	} >"$T/in.conf"
	run import_quickly nginx "$T/in.conf"
	equal "the status" 2 "$status"
	[ "$(wc -c <"$T/errors")" -lt 1000 ]
}

@test "importfiles: files of addresses stay files that commands know" {
	printf '# bad ones\n192.0.2.0/24\n 198.51.100.7\n' >"$T/bad.lst"
	printf '10.0.0.0/255.0.0.0\n' >"$T/masks.lst"
	haproxy 0 'server a 10.0.0.1:80' "acl bad src -f $T/bad.lst\n tcp-request connection reject if bad\n tcp-request connection reject if { src -f $T/bad.lst 203.0.113.9 }"
	has "[list bad.lst]" "file = $T/bad.lst" "deny = list:bad.lst" \
	    "deny = list:bad.lst 203.0.113.9"
	equal "lists" 1 "$(grep -c '^\[list' <<<"$output")"
	haproxy 0 'server a 10.0.0.1:80\nbackend c\n server c 10.0.0.3:80' "use_backend c if { src -f $T/bad.lst }"
	has "route = src=list:bad.lst backend=c"
	haproxy 0 'server a 10.0.0.1:80' "stick-table type ip size 1m expire 30m store conn_cur\n tcp-request connection track-sc0 src\n tcp-request connection reject if { sc0_conn_cur gt 5 } !{ src -f $T/bad.lst }"
	has "limit = sessions=5 prefix6=128 except=list:bad.lst"
	# Ranges with masks become a part of the result.
	haproxy 0 'server a 10.0.0.1:80' "tcp-request connection reject if { src -f $T/masks.lst }"
	has "deny = 10.0.0.0/8"
	says "read into the result"
	# What a file and a range have in common depends on the file.
	haproxy 1 'server a 10.0.0.1:80\nbackend c\n server c 10.0.0.3:80' "use_backend c if { src -f $T/bad.lst } { src 192.0.2.0/25 }"
	says "the same cannot be tested twice"
	lacks '^route'
}

@test "importfiles: a file of another form is refused without showing its text" {
	printf 'root:secret:19000:0\nsecret one\n' >"$T/shadow"
	cat >"$T/in.cfg" <<-END
		frontend a
		 mode tcp
		 bind 127.0.0.1:7000 ssl crt-list $T/shadow
		 bind 127.0.0.1:7001
		 acl x req.ssl_alpn -f $T/shadow
		 acl y req.ssl_sni -f $T/shadow
		 acl z src -f $T/shadow
		 use_backend b if x
		 use_backend b if y
		 use_backend b if z
		 use_backend %[req.ssl_sni,map($T/shadow)]
		 default_backend b
		backend b
		 mode tcp
		 server s 10.0.0.1:80
	END
	run import_quickly haproxy "$T/in.cfg"
	equal "the status" 1 "$status"
	! grep secret "$T/result" "$T/errors" || fail "it shows the file"
	printf 'events {}\nstream { include %s; }\n' "$T/shadow" >"$T/in.conf"
	run import_quickly nginx "$T/in.conf"
	equal "the status" 2 "$status"
	! grep secret "$T/result" "$T/errors" || fail "it shows the file"
}

@test "importfiles: --serve-check writes what the packaged service starts with" {
	cat >"$T/in.cfg" <<-END
		global
		 user root
		 group root
		 stats socket $T/none/admin.sock level admin
		listen a
		 mode tcp
		 timeout client 1m
		 timeout server 1m
		 bind 127.0.0.1:7000
		 server s 10.0.0.1:80
	END
	run --separate-stderr "$CTL" import --serve-check haproxy "$T/in.cfg"
	equal "the status ($stderr)" 0 "$status"
	has "admin = /run/lfproxy/admin.sock level=admin"
	lacks "^user"
	lacks "^group"
	sed -i 's|mode tcp|&\n bind 127.0.0.1:7001 ssl crt /none.pem|' "$T/in.cfg"
	run --separate-stderr "$CTL" import --serve-check haproxy "$T/in.cfg"
	equal "the status" 2 "$status"
	equal "the output" "" "$output"
	[[ $stderr == *"/none.pem"* ]] || fail "$stderr"
	[[ $stderr == *"the service would not start with the result"* ]]
}
