#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The keys of TLS: their secrets in a file for Wireshark, and files that root
# alone may read.

load helpers
load rights
load tls

# secrets FILE: the secrets of each session, in order.
secrets() {
	sed '/^#/d' "$1" | sort
}

@test "tls keys: a keylog has the secrets that the client has" {
	local version

	setup_site
	terminate "cert = $T/www.example.pem" "keylog = $T/keys.log"
	for version in 1.2 1.3; do
		s_client -servername www.example "-tls${version/./_}" \
		    -keylogfile "$T/client.log"
	done
	grep -q '^CLIENT_RANDOM ' "$T/client.log"
	grep -q '^SERVER_TRAFFIC_SECRET_0 ' "$T/client.log"
	wait_for 10 sessions_ended 2
	diff <(secrets "$T/client.log") <(secrets "$T/keys.log")
	equal "mode" 600 "$(stat -c %a "$T/keys.log")"
	lfproxy_said "warning: .*keylog"
}

# old_enough FILE: it has not changed for so long that its times alone tell
# whether it changes.
old_enough() {
	[ $(($(date +%s) - $(stat -c %Z "$1"))) -ge 3 ]
}

# bats test_tags=onethread, covered
@test "tls keys: root alone may read a key, and lfproxy runs as another user" {
	need_nobody
	setup_site
	chmod 600 "$T/www.example.pem"
	wait_for 10 old_enough "$T/www.example.pem"
	GLOBAL='user = nobody' terminate "cert = $T/www.example.pem"
	equal "user" "$(id -u nobody)" "$(stat -c %u "/proc/$LFPROXY_PID")"
	equal "answer" a "$(https www.example)"

	# A reload goes on with what has been read, until the file changes.
	sed -i 's/^check = off/&\nretries = 7/' "$T/lfproxy.ini"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said "reloaded: "
	equal "after the reload" a "$(https www.example)"
	touch "$T/www.example.pem"
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said "not reloaded.*www.example.pem' cannot be read: Permission denied"
	equal "after another" a "$(https www.example)"
}
