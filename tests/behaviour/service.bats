#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Warnings of `lfproxy -t`, run by root, about a file of lfproxy.service: the user,
# the sandbox and the limits of the unit apply.  The tests bring a systemctl that
# shows these; tests/service/inside.sh has the real one.

load helpers

INI=$T/lfproxy.ini

# unit [NAME=VALUE...]: what systemctl shows of lfproxy.service, whose user is
# nobody.
unit() {
	mkdir -p "$T/bin"
	printf '%s\n' "$@" >"$T/unit"
	cat >>"$T/unit" <<-END
		User=nobody
		Group=nogroup
		RuntimeDirectory=lfproxy-tests
		LimitNOFILE=4096
		DynamicUser=no
		ExecStart={ path=/usr/sbin/lfproxy ; argv[]=/usr/sbin/lfproxy -c ${OF:-$INI} ; ignore_errors=no }
	END
	printf '#!/bin/sh\ncat "%s/unit"\n' "$T" >"$T/bin/systemctl"
	chmod 755 "$T/bin/systemctl"
}

# of_service [LINE...]: a file with these lines of [global].
of_service() {
	{
		printf '[global]\n'
		printf '%s\n' "$@"
		cat <<-END
			[frontend web]
			listen = 127.0.0.1:8080 ${LISTEN:-}
			backend = app
			${FRONTEND:-}
			[backend app]
			check = ${CHECK:-off}
			${BACKEND:-server = a 127.0.0.1:9}
			${SECTIONS:-}
		END
	} >"$INI"
}

# says_of PATTERN...: the file is valid, with a warning for each, and no other.
says_of() {
	local pattern

	PATH=$T/bin:$PATH run -0 "$LFPROXY" -t -c "$INI"
	# shellcheck disable=SC2154 # set by run
	for pattern; do
		grep "warning: in lfproxy.service, as user" <<<"$output" |
		    grep -qF -- "$pattern" ||
		    fail "no '$pattern' in: $output"
	done
	equal "the number of warnings in: $output" $# \
	    "$(grep -c 'warning: in lfproxy.service' <<<"$output")"
	[[ $output == *"configuration is valid" ]]
}

# for_root FILE...: only root may read them.
for_root() {
	chown root "$@"
	chmod 600 "$@"
}

setup() {
	untraced
	LEVEL=$BASH_SUBSHELL
	need_nobody
	mkdir "$T/open"
	unit
}

@test "service: a key that the unit's user cannot read is a warning of -t" {
	make_ca ca
	make_cert www ca DNS:www.example.test
	for_root "$T/www.key"
	LISTEN=tls=public SECTIONS="[tls public]
cert = $T/www.pem key=$T/www.key" of_service
	says_of "$T/www.key' cannot be read: Permission denied"
	[[ $output == "$INI:"[0-9]*": warning: "*"chgrp"*"LoadCredential="*"lfproxy-deploy"* ]]
	chgrp nogroup "$T/www.key"
	chmod 640 "$T/www.key"
	says_of
	# As certbot leaves it: a folder on the way.
	mkdir -m 700 "$T/archive"
	mv "$T/www.key" "$T/archive"
	ln -s archive/www.key "$T/www.key"
	says_of "$T/www.key' cannot be read: Permission denied"
}

@test "service: every file that is read is tried as the unit's user" {
	make_ca ca
	make_cert www ca DNS:www.example.test
	cat "$T/www.pem" "$T/www.key" >"$T/open/www.pem"
	cp "$T/ca.pem" "$T/open/ca.pem"
	echo 192.0.2.0/24 >"$T/open/office"
	# shellcheck disable=SC2016 # the text of a hash
	echo 'ann:$6$a$b:admin' >"$T/open/users"
	echo a-secret-word >"$T/open/secret"
	printf '#!/bin/sh\n' >"$T/open/check"
	chmod 755 "$T/open/check"
	chmod 600 "$T/open/secret"
	chown nobody "$T/open/secret"
	echo 127.0.0.1:9 >"$T/open/set"
	printf '[backend more]\nserver = a 127.0.0.1:9\n' >"$T/open/more.ini"
	head -c 48 /dev/zero >"$T/open/tickets"
	LISTEN=tls=public CHECK=script FRONTEND="deny = list:office" \
	    BACKEND="check_command = $T/open/check \${file:$T/open/secret}
servers = s 2 file=$T/open/set" \
	    SECTIONS="[tls public]
cert_dir = $T/open
ca = $T/open/ca.pem
verify = required
tickets_file = $T/open/tickets
[list office]
file = $T/open/office" of_service "include = $T/open/*.ini" \
	    "http = 127.0.0.1:8404 users=$T/open/users plain_sign_in"
	rm "$T/open/ca.pem"
	cp "$T/ca.pem" "$T/ca-of-clients"
	sed -i "s|$T/open/ca.pem|$T/ca-of-clients|" "$INI"
	says_of
	for file in open/www.pem ca-of-clients open/office open/users \
	    open/secret open/set open/more.ini open/tickets; do
		cp -p "$T/$file" "$T/saved"
		for_root "$T/$file"
		says_of "$T/$file"
		cp -p "$T/saved" "$T/$file"
	done
	chmod 700 "$T/open/check"
	says_of "$T/open/check"
	mkdir "$T/more"
	printf '[backend b]\nserver = a 127.0.0.1:9\n' >"$T/more/b.ini"
	of_service "include = $T/more/*.ini"
	says_of
	chmod 700 "$T/more"
	says_of "include: '$T/more/*.ini' cannot be read: Permission denied"
}

@test "service: paths that are written are tried as the unit's user" {
	mkdir "$T/roots"
	mkdir -m 777 "$T/writable"
	of_service "admin = $T/writable/admin.sock" \
	    "log = file=$T/writable/log" "state_file = $T/writable/state"
	says_of
	of_service "admin = $T/roots/admin.sock" "admin = $T/none/admin.sock" \
	    "log = file=$T/roots/log" "state_file = $T/roots/state"
	says_of "admin: '$T/roots' cannot be written: Permission denied" \
	    "admin: '$T/none' cannot be written: No such file or directory" \
	    "log: '$T/roots' cannot" "state_file: '$T/roots' cannot"
	# A directory that systemd makes may be missing.
	of_service 'admin = /run/lfproxy-tests/admin.sock'
	says_of
	of_service 'admin = /run/lfproxy-tests/more/admin.sock'
	says_of "'/run/lfproxy-tests/more' cannot be written: No such"
	: >"$T/roots/log"
	of_service "log = file=$T/roots/log"
	says_of "log: '$T/roots/log' cannot be written: Permission denied"
}

# need_view: root may make a view of the file system.
need_view() {
	need "CAP_SYS_ADMIN (a mount namespace)" \
	    unshare --mount --propagation private \
	    mount -t tmpfs tmpfs "$T/open"
}

@test "service: the unit's sandbox is taken into account" {
	need_view
	mkdir -m 777 "$T/writable"
	of_service "admin = $T/writable/admin.sock"
	unit ProtectSystem=strict
	says_of "'$T/writable' cannot be written: Read-only file system"
	[[ $output == *"ReadWritePaths= with systemctl edit"* ]]
	unit ProtectSystem=strict "ReadWritePaths=-$T/none $T/writable"
	says_of
	echo 192.0.2.0/24 >"$T/open/office"
	FRONTEND="deny = list:office" SECTIONS="[list office]
file = $T/open/office" of_service
	says_of
	unit "InaccessiblePaths=$T/open"
	says_of "$T/open/office"
	unit PrivateTmp=yes
	OF=/etc/hosts unit PrivateTmp=yes
	says_of
	BACKEND="server = a unix:/tmp/none.sock" of_service \
	    "admin = /var/tmp/admin.sock"
	sed -i "s|^ExecStart=.*|ExecStart={ argv[]=lfproxy -c $INI }|" "$T/unit"
	case $T in
	/tmp/* | /var/tmp/*) says_of "$INI" ;;
	*) says_of "/tmp/none.sock is in" "/var/tmp/admin.sock is in" ;;
	esac
}

@test "service: too few rights or descriptors in the unit are a warning" {
	of_service "user = daemon"
	says_of "user = daemon takes the rights of root"
	of_service "user = nobody"
	says_of
	of_service "maxconn = 3000"
	says_of "maxconn = 3000 takes"
	of_service "maxconn = 1000"
	says_of
	of_service
	sed -i 's/8080/80/' "$INI"
	[ "$(cat /proc/sys/net/ipv4/ip_unprivileged_port_start)" -le 80 ] ||
	    says_of "a port below 1024 takes CAP_NET_BIND_SERVICE"
	unit AmbientCapabilities=cap_net_bind_service
	says_of
	unit User=no-such-user
	says_of "unknown user 'no-such-user'"
	# Root without its rights.
	unit User= CapabilityBoundingSet=cap_net_bind_service
	echo 192.0.2.0/24 >"$T/office"
	chown nobody "$T/office"
	chmod 600 "$T/office"
	FRONTEND="deny = list:office" SECTIONS="[list office]
file = $T/office" of_service
	says_of "$T/office"
	unit User= CapabilityBoundingSet=cap_dac_override
	says_of
}

@test "service: nothing is said of other files, or without systemd" {
	for_root "$INI" 2>/dev/null || of_service
	for_root "$INI"
	says_of "$INI"
	OF=/etc/hosts unit
	says_of
	unit DynamicUser=yes
	says_of
	unit
	printf '#!/bin/sh\nexit 1\n' >"$T/bin/systemctl"
	says_of
}

# says_alone PATTERN...: as says_of, without a unit.
says_alone() {
	local pattern

	PATH=$T/bin:$PATH run -0 "$LFPROXY" -t -c "$INI"
	for pattern; do
		grep -F "warning: as user 'nobody': " <<<"$output" |
		    grep -qF -- "$pattern" || fail "no '$pattern' in: $output"
	done
	equal "the number of warnings in: $output" $# \
	    "$(grep -c "warning: " <<<"$output")"
	[[ $output == *"configuration is valid" ]]
}

@test "service: without the unit files are tried as the user of the file" {
	printf '#!/bin/sh\nexit 1\n' >"$T/bin/systemctl"
	make_ca ca
	make_cert www ca DNS:www.example.test
	for_root "$T/www.key"
	mkdir -m 700 "$T/roots"
	LISTEN=tls=public SECTIONS="[tls public]
cert = $T/www.pem key=$T/www.key" of_service 'user = nobody' \
	    "log = file=$T/roots/log" "state_file = $T/none/state"
	says_alone "$T/www.key' cannot be read: Permission denied"
	[[ $output == *"chgrp"*"lfproxy-deploy"* ]]
	chgrp nogroup "$T/www.key"
	chmod 640 "$T/www.key"
	says_alone "log: '$T/roots' cannot be written: Permission denied" \
	    "state_file: '$T/none' cannot be written: No such file or directory"
	sed -i '/^user/d' "$INI"
	says_alone
}
