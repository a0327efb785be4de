# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Helpers for the tests of lfproxyctl; `load ctl` after `load helpers`.

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = stderr
		drain_timeout = 10m
		node = edge-1
		admin = $ADMIN mode=0600
		admin = 127.0.0.1:0
		[pool main]
		threads = 2
		[pool slow]
		threads = 1
		[frontend a-frontend-of-a-long-name]
		listen = 127.0.0.1:0
		backend = app
		pool = slow
	END
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

two_apps() {
	start_app a
	start_app b
	web a 'b weight=50'
}

# The address of the TCP admin socket, whose level is user.
tcp_admin() {
	ctl show cli sockets | grep -o '127\.0\.0\.1:[0-9]*'
}
