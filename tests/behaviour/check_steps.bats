#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Checks that are made of steps, and the tls check, against real servers and
# against ones that fail in each way.

# bats file_tags=onethread

load helpers
load checks
load postgres

# down_with NAME STATUS WORDS: the check failed so, and said that.
down_with() {
	until_failed "$1" "$2"
	[[ $(column "$1" last_chk) == *"$3"* ]] ||
	    fail "it said: $(column "$1" last_chk)"
}

# says NAME LINE...: a server that says these lines, and what it is told goes to
# $T/NAME.told.
says() {
	local name=$1

	shift
	{
		echo '#!/bin/sh'
		for line in "$@"; do
			printf 'printf %s\n' "'$line'"
			echo "read -r x && echo \"\$x\" >>'$T/$name.told'"
		done
		echo 'exec sleep 5'
	} >"$T/$name.sh"
	chmod +x "$T/$name.sh"
	start_script "$name" "$T/$name.sh"
}

# bats test_tags=covered
@test "check: redis, alive and dead" {
	start_redis
	BACKEND="$(checked redis fall=1)" web redis
	until_check redis L7OK
	end redis KILL
	down_with redis L4CON "Connection refused"
}

# bats test_tags=covered
@test "check: redis, one that wants a password is not well" {
	start_redis
	redis-cli -p "$(addr redis | sed 's/.*://')" config set requirepass x
	BACKEND="$(checked redis fall=1)" web redis
	down_with redis L7RSP NOAUTH
}

# bats test_tags=covered
@test "check: send-expect against redis, several steps" {
	start_redis
	BACKEND="$(checked send-expect fall=1 rise=1)
		check_step = send \"SET a b\\r\\n\"
		check_step = expect hex 2b4f4b0d0a
		check_step = send \"INFO replication\\r\\n\"
		check_step = refuse regex \"^-\"
		check_step = expect regex \"^role:(master|slave)\\r\$\"" \
	    web redis
	until_check redis L7OK
	redis-cli -p "$(addr redis | sed 's/.*://')" \
	    config set requirepass x >/dev/null
	down_with redis L7RSP "no hex"
}

# bats test_tags=covered
@test "check: send-expect, silence" {
	start_bad a silent
	BACKEND="$(impatient send-expect fall=1)
		check_step = expect hello" web a
	down_with a L7TOUT "no answer"
}

# bats test_tags=covered
@test "check: send-expect, refused" {
	start_bad a refuse
	BACKEND="$(checked send-expect fall=1)
		check_step = expect hello" web a
	down_with a L4CON "Connection refused"
}

# bats test_tags=covered
@test "check: send-expect, an end in the middle of the answer" {
	says a "hel"
	sed -i 's/^exec.*//; s/^read.*//' "$T/a.sh"
	BACKEND="$(checked send-expect fall=1)
		check_step = expect hello" web a
	down_with a L7RSP "the connection ended without hello: hel"
}

# bats test_tags=covered
@test "check: send-expect, more than it is willing to read" {
	echo '#!/bin/sh
	exec head -c 65536 /dev/zero' >"$T/a.sh"
	chmod +x "$T/a.sh"
	start_script a "$T/a.sh"
	BACKEND="$(checked send-expect fall=1)
		check_step = expect hello" web a
	down_with a L7RSP "16 KiB without hello"
}

# bats test_tags=covered
@test "check: smtp, the whole conversation" {
	says a '220-mail\r\n220 mail ready\r\n' '250-mail\r\n250 SIZE\r\n' \
	    '221 bye\r\n'
	BACKEND="$(checked smtp)" web a
	until_check a L7OK 221
	wait_for 10 grep -q QUIT "$T/a.told"
	grep -q 'EHLO lfproxy' "$T/a.told"
}

# bats test_tags=covered
@test "check: smtp, with the name of this host" {
	says a '220 mail\r\n' '250 mail\r\n' '221 bye\r\n'
	BACKEND="$(checked smtp hello=lb-1.example.com)" web a
	until_check a L7OK 221
	wait_for 10 grep -q QUIT "$T/a.told"
	grep -qx $'EHLO lb-1.example.com\r' "$T/a.told"
}

@test "check: smtp, with HELO" {
	says a '220 mail\r\n' '250 mail\r\n' '221 bye\r\n'
	BACKEND="$(checked smtp hello=lb-1.example.com helo)" web a
	until_check a L7OK 221
	wait_for 10 grep -q QUIT "$T/a.told"
	grep -qx $'HELO lb-1.example.com\r' "$T/a.told"
}

@test "check: smtp, a server that is too busy" {
	says a '421 too busy\r\n'
	BACKEND="$(checked smtp fall=1)" web a
	down_with a L7STS "421 too busy"
	equal "the code" 421 "$(column a check_code)"
	wait_for 10 lfproxy_said 'app/a is down: L7STS \(.*\), code: 421, info: "421 too busy", check duration: '
}

@test "check: mysql, a handshake and an error" {
	says a 'J\0\0\0\n8.0.32\0'
	says b 'E\0\0\0\377\151\4Host is blocked'
	BACKEND="$(checked mysql fall=1)" web a b
	until_check a L7OK
	down_with b L7STS "Host"
	equal "the code" 1129 "$(column b check_code)"
	wait_for 10 lfproxy_said 'app/b is down: L7STS \(.*\), code: 1129, info: "Host is blocked", check duration: '
}

# bats test_tags=covered
@test "check: postgresql" {
	start_postgres
	BACKEND="$(checked postgresql fall=1)" web postgres
	until_check postgres L7OK
	echo "host all lfproxy all reject" >"$DB/data/pg_hba.conf"
	signal postgres HUP
	down_with postgres L7RSP "pg_hba.conf"
}

@test "check: tls, verified, not verified, and not TLS" {
	make_ca ca
	make_cert good ca IP:127.0.0.1
	start_nginx
	start_nginx_tls good
	BACKEND="$(checked "tls ca=$T/ca.pem fall=1")" web nginx tls
	until_check tls L6OK
	down_with nginx L6RSP "wrong version number"
	sed -i "s| ca=$T/ca.pem||" "$T/lfproxy.ini"
	"$CTL" -S "$ADMIN" reload
	down_with tls L6RSP certificate
	sed -i "s|check = tls|& verify=off|" "$T/lfproxy.ini"
	"$CTL" -S "$ADMIN" reload
	until_check tls L6OK
}

@test "check: tls, another name than the certificate's" {
	make_ca ca
	make_cert good ca DNS:app.example
	start_nginx_tls good
	BACKEND="$(checked "tls ca=$T/ca.pem sni=app.example fall=1")" web tls
	until_check tls L6OK
	sed -i "s|sni=app.example|sni=other.example|" "$T/lfproxy.ini"
	"$CTL" -S "$ADMIN" reload
	down_with tls L6RSP "hostname mismatch"
}

# bats test_tags=covered
@test "check: tls, silence, refusal, and an end" {
	start_bad a silent
	start_bad b refuse
	start_bad c half-close
	BACKEND="$(impatient "tls verify=off fall=1")" web a b c
	down_with a L6TOUT "no end"
	down_with b L4CON "refused"
	until_column 10 c status DOWN
	[[ $(column c check_status) == L6* ]]
}

# bats test_tags=covered
@test "check: send-expect within TLS" {
	make_ca ca
	make_cert good ca IP:127.0.0.1
	start_nginx_tls good
	BACKEND="$(checked "send-expect tls=on ca=$T/ca.pem")
		check_step = send \"GET / HTTP/1.0\\r\\n\\r\\n\"
		check_step = expect regex \"\\AHTTP/1.[01] 200 \"" web tls
	until_check tls L7OK
}

# bats test_tags=covered
@test "check: a reload that changes nothing lets a running check end" {
	says a 'hel'
	sed -i 's/^exec.*//; s/^read.*/sleep 1; printf lo/' "$T/a.sh"
	BACKEND="check = send-expect interval=60s timeout=50s fall=1
		check_step = expect hello" web a
	"$CTL" -S "$ADMIN" reload
	"$CTL" -S "$ADMIN" reload
	until_check a L7OK
}
