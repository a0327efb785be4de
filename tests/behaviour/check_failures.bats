#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Every kind of check against servers that fail in every way, and what is told
# of each: status, code, description, duration, words.

# bats file_tags=onethread

load helpers
load checks

# rows < TABLE: until the servers' rows are like the table; see checkrows.py.
rows() {
	python3 "$ROOT/tests/tools/checkrows.py" "$ADMIN" $((20 * PATIENCE))
}

# Starts servers that fail in the same way for every check that reads an answer:
# slow: longer than the timeout; mute: the connection is made, and that is all.
start_failing() {
	start_bad refuse refuse
	start_bad full full
	start_bad mute silent
	start_bad reset reset
	start_bad close close
	start_bad slow slow --bytes 1000 --rate 1
}
FAILING=(refuse full mute reset close slow)

# The timeout, in milliseconds, as a duration: it and what a busy machine adds.
TIMEOUT=$((1000 * PATIENCE))
LASTS='(99[0-9]|[0-9]{4,5})'
QUICK='[0-9]{1,3}'

asked() {
	echo "check = $* interval=100ms timeout=${TIMEOUT}ms"
}

# says NAME LINES: a server that reads something, if only an end, and says that.
says() {
	printf '#!/bin/sh\n%s\n%s\n' \
	    'timeout 1 dd bs=4096 count=1 of=/dev/null status=none' "$2" \
	    >"$T/$1.sh"
	chmod +x "$T/$1.sh"
	start_script "$1" "$T/$1.sh"
}

# bats test_tags=covered
@test "check: connect, in every way" {
	start_app good
	start_failing
	BACKEND="$(asked connect)" web good "${FAILING[@]}"
	rows <<-END
		svname  check_status  check_code  check_duration  check_desc                  last_chk
		good    L4OK          .{0}        $QUICK          Layer4_check_passed         .{0}
		refuse  L4CON         .{0}        $QUICK          Layer4_connection_problem   Connection_refused
		full    L4TOUT        .{0}        $LASTS          Layer4_timeout              no_answer_to_the_connect
		mute    L4OK          .{0}        $QUICK          Layer4_check_passed         .{0}
		close   L4OK          .{0}        $QUICK          Layer4_check_passed         .{0}
	END
}

# A reset that comes early enough is one of the connect.
# bats test_tags=covered
@test "check: http, in every way" {
	start_nginx
	start_failing
	says nonsense 'printf "+PONG\r\n"'
	says half 'printf "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhal"'
	says head 'printf "HTTP/1.1 200 OK\r\nContent-"'
	says stuck 'printf "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhal"; sleep 30'
	says missing 'printf "HTTP/1.1 404 Nobody\r\nContent-Length: 0\r\n\r\n"'
	says body 'printf "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad"'
	BACKEND="$(asked http path=/index.html)
		check_body = nginx" \
	    web nginx "${FAILING[@]}" nonsense half head stuck missing body
	rows <<-END
		svname   check_status check_code check_duration check_desc                last_chk
		nginx    L7OK         200        $QUICK         Layer7_check_passed       OK
		refuse   L4CON        .{0}       $QUICK         Layer4_connection_problem Connection_refused
		full     L4TOUT       .{0}       $LASTS         Layer4_timeout            no_answer_to_the_connect
		mute     L7TOUT       .{0}       $LASTS         Layer7_timeout            no_complete_answer
		reset    (L7RSP|L4CON) .{0}      $QUICK         (Layer7_invalid_response|Layer4_connection_problem) .+
		close    L7RSP        .{0}       $QUICK         Layer7_invalid_response   .+
		nonsense L7RSP        .{0}       $QUICK         Layer7_invalid_response   .+
		half     L7RSP        .{0}       $QUICK         Layer7_invalid_response   .+
		head     L7RSP        .{0}       $QUICK         Layer7_invalid_response   .*ended_in_the_head.*
		stuck    L7TOUT       .{0}       $LASTS         Layer7_timeout            no_complete_answer
		missing  L7STS        404        $QUICK         Layer7_wrong_status       Nobody
		body     L7RSP        200        $QUICK         Layer7_invalid_response   the_body_does_not_contain_nginx
	END
}

# bats test_tags=slow
@test "check: https and tls, in every way" {
	local kind

	make_ca ca
	make_ca other
	make_cert good ca IP:127.0.0.1
	make_cert name ca DNS:app.example
	make_cert foreign other IP:127.0.0.1
	expired old ca IP:127.0.0.1
	start_failing
	start_nginx
	for x in good name foreign old; do
		start_nginx_tls "$x"
		# shellcheck disable=SC2004 # they are names
		ADDRS[$x]=${ADDRS[tls]} PIDS[$x]=${PIDS[tls]}
		unset "PIDS[tls]"
	done
	for kind in "https path=/index.html" tls; do
		BACKEND="$(asked "$kind ca=$T/ca.pem")" \
		    web good name foreign old nginx "${FAILING[@]}"
		rows <<-END
			svname  check_status check_duration check_desc                last_chk
			good    L[67]OK      $QUICK         Layer._check_passed       (OK)?
			name    L6RSP        $QUICK         Layer6_invalid_response   .*(mismatch|no_alternative_certificate).*
			foreign L6RSP        $QUICK         Layer6_invalid_response   .*certificate.*
			old     L6RSP        $QUICK         Layer6_invalid_response   .*certificate_has_expired.*
			nginx   L6RSP        $QUICK         Layer6_invalid_response   .*wrong_version_number.*
			refuse  L4CON        $QUICK         Layer4_connection_problem Connection_refused
			full    L4TOUT       $LASTS         Layer4_timeout            no_answer_to_the_connect
			mute    L6TOUT       $LASTS         Layer6_timeout            no_end_of_the_TLS_handshake
			reset   L6RSP        $QUICK         Layer6_invalid_response   .+
			close   L6RSP        $QUICK         Layer6_invalid_response   .+
		END
		equal "good's status" "$([[ $kind == tls ]] && echo L6OK || echo L7OK)" \
		    "$(column good check_status)"
		stop_lfproxy
	done
}

# bats test_tags=covered
@test "check: redis, in every way" {
	start_redis
	start_failing
	make_ca ca
	make_cert cert ca IP:127.0.0.1
	start_nginx_tls cert
	says other 'printf "HTTP/1.1 400 Bad Request\r\n\r\n"'
	says no 'printf -- "-LOADING dataset in memory\r\n"'
	says half 'printf "+PO"'
	says stuck 'printf "+PO"; sleep 30'
	BACKEND="$(asked redis)" web redis "${FAILING[@]}" tls other no half stuck
	rows <<-END
		svname check_status check_code check_duration check_desc                last_chk
		redis  L7OK         0          $QUICK         Layer7_check_passed       .{0}
		refuse L4CON        .{0}       $QUICK         Layer4_connection_problem Connection_refused
		full   L4TOUT       .{0}       $LASTS         Layer4_timeout            no_answer_to_the_connect
		mute   L7TOUT       .{0}       $LASTS         Layer7_timeout            no_answer
		reset  L7RSP        .{0}       $QUICK         Layer7_invalid_response   the_connection_ended_.*
		close  L7RSP        .{0}       $QUICK         Layer7_invalid_response   the_connection_ended_.*
		tls    L7RSP        .{0}       $QUICK         Layer7_invalid_response   the_connection_ended_without.*
		other  L7RSP        .{0}       $QUICK         Layer7_invalid_response   .*without.*HTTP/1.1_400.*
		no     L7RSP        .{0}       $QUICK         Layer7_invalid_response   was_refused_by.*LOADING.*
		half   L7RSP        .{0}       $QUICK         Layer7_invalid_response   .*without_.*_.PO
		stuck  L7RSP        .{0}       $LASTS         Layer7_invalid_response   no_.*
	END
	# Alive, but stopped: the kernel goes on accepting.
	stop_process "${PIDS[redis]}"
	until_column 10 redis check_status L7TOUT
	signal redis CONT
	until_column 10 redis check_status L7OK
}

# bats test_tags=covered
@test "check: postgresql, mysql and smtp against what they are not" {
	local kind

	start_redis
	start_failing
	for kind in postgresql mysql smtp; do
		BACKEND="$(asked $kind)" web redis "${FAILING[@]}"
		rows <<-END
			svname check_status check_duration check_desc                last_chk
			redis  L7(RSP|TOUT) [0-9]+         Layer7_.*                 .+
			refuse L4CON        $QUICK         Layer4_connection_problem Connection_refused
			full   L4TOUT       $LASTS         Layer4_timeout            no_answer_to_the_connect
			mute   L7TOUT       $LASTS         Layer7_timeout            no_answer
			reset  L7RSP        $QUICK         Layer7_invalid_response   the_connection_ended_.*
			close  L7RSP        $QUICK         Layer7_invalid_response   the_connection_ended_.*
		END
		stop_lfproxy
	done
}

# bats test_tags=covered
@test "check: agents, in every way; none of it changes the server" {
	local agents=() bad

	start_app app
	start_failing
	says half 'printf "75"; sleep 30'
	says ended 'printf "up 75%%"'
	says empty 'echo'
	says nonsense 'echo "GET / HTTP/1.1"'
	for x in "${FAILING[@]}" half ended empty nonsense; do
		bad=s-$x
		# shellcheck disable=SC2004 # it is a name
		ADDRS[$bad]=$(addr app)
		agents+=("$bad agent_port=${ADDRS[$x]##*:}")
	done
	BACKEND="check = off
		agent = on interval=100ms timeout=${TIMEOUT}ms send=x\\n" \
	    web "${agents[@]}"
	rows <<-END
		svname     agent_status agent_code agent_duration agent_desc                agent_health weight last_agt
		s-refuse   L4CON        .{0}       $QUICK         Layer4_connection_problem 1            100    Connection_refused
		s-full     L4TOUT       .{0}       $LASTS         Layer4_timeout            1            100    no_answer_to_the_connect
		s-mute     L7TOUT       .{0}       $LASTS         Layer7_timeout            1            100    no_answer
		s-reset    L7RSP        .{0}       $QUICK         Layer7_invalid_response   1            100    .+
		s-close    L7RSP        .{0}       $QUICK         Layer7_invalid_response   1            100    .+
		s-half     L7RSP        .{0}       $LASTS         Layer7_.*                 1            100    .+
		s-ended    L7RSP        .{0}       $QUICK         Layer7_invalid_response   1            100    .*ended.*75%
		s-empty    L7RSP        .{0}       $QUICK         Layer7_invalid_response   1            100    an_empty_line.*
		s-nonsense L7RSP        .{0}       $QUICK         Layer7_invalid_response   1            100    GET_/_HTTP/1.1
	END
	equal "nobody is down" "" "$("$CTL" -S "$ADMIN" show stat app 4 -1 |
	    grep -c DOWN | grep -v '^0$' || true)"
}

# The example, with the addresses of real servers, listening anywhere.
# bats test_tags=covered
@test "check: the example of etc is as it says" {
	start_redis
	start_app app1
	start_app app2
	start_app app3
	cat >"$T/agent.sh" <<-'END'
		#!/bin/sh
		read -r word && [ "$word" = load ] && echo '75% maxconn:50'
	END
	chmod +x "$T/agent.sh"
	start_script agent "$T/agent.sh"
	sed -e "s|^admin =.*|admin = $ADMIN|" -e 's/^listen .*/listen = 127.0.0.1:0/' \
	    -e "s/cache1 [^ ]*/cache1 $(addr redis)/" \
	    -e "s/cache2 [^ ]*/cache2 127.0.0.1:1/" \
	    -e "s/app1 [^ ]*/app1 $(addr app1)/" \
	    -e "s/app2 [^ ]*/app2 $(addr app2)/" \
	    -e "s/app3 [^ ]*/app3 $(addr app3)/" \
	    -e "s/9999 send/$(addr agent | sed 's/.*://') send/" \
	    -e "s/agent_port=9998/agent_port=1/" \
	    -e 's/192\.0\.2\.[0-9]*/127.0.0.9/g' \
	    "$ROOT/etc/examples/checks.ini" >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	rows <<-END
		svname check_status agent_status weight slim tracked  last_agt
		cache1 L7OK         .{0}         100    .{0} .{0}     .{0}
		cache2 L4CON        .{0}         100    .{0} .{0}     .{0}
		db2    L4CON        .{0}         100    .{0} .{0}     .{0}
		app1   L7.*         L7OK         75     50   .{0}     75%_maxconn:50
		app2   L7.*         L4CON        100    .{0} .{0}     Connection_refused
		app3   L7OK         .{0}         100    .{0} .{0}     .{0}
		queue1 PROCOK       .{0}         100    .{0} .{0}     .{0}
		queue2 .{0}         .{0}         100    .{0} app/app1 .{0}
	END
	redis-cli -p "$(addr redis | sed 's/.*://')" replicaof 127.0.0.1 1
	rows <<-END
		svname status
		cache1 DOWN
	END
}
