#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Active health checks against real servers, seen through the admin socket.

# bats file_tags=onethread

load helpers
load checks

# bats test_tags=covered
@test "check: a server that ends goes down after fall, and comes back after rise" {
	start_app a
	start_app b
	BACKEND="$(checked connect fall=3 rise=2)" web a b
	until_column 10 a check_status L4OK
	equal "a's status" UP "$(column a status)"

	end a
	until_column 10 a status DOWN
	equal "failures while up" 3 "$(column a chkfail)"
	equal "times down" 1 "$(column a chkdown)"
	equal "the check" L4CON "$(column a check_status)"
	equal "the reason" "Connection refused" "$(column a last_chk)"
	wait_for 10 says_down app/a
	for _ in 1 2 3 4; do
		equal "who answers" b "$(fetch "$(url)")"
	done

	restart_app a
	until_column 10 a status UP
	wait_for 10 says_up app/a
	equal "the answers" "a b" \
	    "$(for _ in 1 2; do fetch "$(url)"; done | sort | xargs)"
}

# bats test_tags=covered
@test "check: the status shows how many failures are left" {
	start_app a
	BACKEND="$(checked connect fall=1000 rise=2)" web a
	until_column 10 a check_status L4OK
	end a
	wait_for 10 column_like a status '^UP [0-9]+/1000$'
	equal "times down" 0 "$(column a chkdown)"
}

# bats test_tags=covered
@test "check: http, a good status" {
	start_app a
	BACKEND="$(checked http path=/healthz)" web a
	until_column 10 a check_status L7OK
	equal "the code" 200 "$(column a check_code)"
}

# bats test_tags=covered
@test "check: http, a bad status with its reason" {
	start_app a
	BACKEND="$(checked http path=/status/503 fall=2)" web a
	until_failed a L7STS
	equal "the code" 503 "$(column a check_code)"
	[ -n "$(column a last_chk)" ]
}

# bats test_tags=covered
@test "check: http, a status that was declared good" {
	start_app a
	BACKEND="$(checked http path=/status/503 status=500-599)" web a
	until_column 10 a check_status L7OK
	equal "the code" 503 "$(column a check_code)"
}

# bats test_tags=covered
@test "check: http, silence is a timeout of the answer" {
	start_bad a silent
	BACKEND="$(impatient http fall=1)" web a
	until_failed a L7TOUT
}

# bats test_tags=covered
@test "check: http, a refused connect" {
	start_bad a refuse
	BACKEND="$(checked http fall=1)" web a
	until_failed a L4CON
}

# bats test_tags=covered
@test "check: http, no answer to the connect" {
	start_bad a full
	BACKEND="$(impatient http fall=1)" web a
	until_failed a L4TOUT
}

# bats test_tags=covered
@test "check: http, something that is not HTTP" {
	start_bad a half-close
	BACKEND="$(checked http fall=1)" web a
	until_failed a L7RSP
}

# bats test_tags=covered
@test "check: connect, no answer" {
	start_bad a full
	BACKEND="$(impatient connect fall=1)" web a
	until_failed a L4TOUT
}

# bats test_tags=covered
@test "check: http against nginx, with HEAD" {
	start_nginx
	BACKEND="$(checked http path=/index.html method=HEAD)" web nginx
	until_column 10 nginx check_status L7OK
	equal "the code" 200 "$(column nginx check_code)"
}

# bats test_tags=covered
@test "check: a server on a unix socket" {
	LISTEN=unix:$T/a.sock start_app a
	BACKEND="$(checked http path=/healthz fall=1 rise=1)" web a
	until_column 10 a check_status L7OK
	end a
	until_failed a L4CON
}

# bats test_tags=covered
@test "check: servers without a check have none" {
	start_app a
	web a
	equal "the status" "no check" "$(column a status)"
	equal "the check" "" "$(column a check_status)"
}

# bats test_tags=covered
@test "check: a hundred checks leave no descriptor behind" {
	local fds

	start_app a
	start_bad b silent
	BACKEND="check = http interval=20ms timeout=20ms fall=1000" web a b
	until_column 10 b check_status L7TOUT
	fds=$(fd_count)
	wait_for 30 column_like b chkfail '^[0-9]{3,}$'
	wait_for 10 fds_at_most $((fds + 2))
}

# bats test_tags=covered
@test "check: a check under way does not hold up the end" {
	start_bad a silent
	BACKEND="check = http interval=60s timeout=60s" web a
	wait_for 10 column_is a check_status INI
	stop_lfproxy
}
