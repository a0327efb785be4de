#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Servers that the file disables: in maintenance until an operator says
# otherwise, or until the file does.

# bats file_tags=onethread

load helpers
load operator

# state NAME: status, srv_op_state and srv_admin_state.
state() {
	echo "$(column status "$1") $(ctl show servers state app |
	    awk -v name="$1" '$4 == name { print $6, $7 }')"
}

# answers_of N: the servers that answer N requests, without repetitions.
answers_of() {
	for _ in $(seq "$1"); do
		fetch "$(url)"
	done | sort -u | xargs
}

@test "disabled: a server is in maintenance until it is enabled" {
	start_app a
	start_app b
	web 'a disabled' b
	# The values of HAProxy 2.6: CMAINT and FMAINT.
	equal "a" "MAINT 0 5" "$(state a)"
	equal "b" "no check 2 0" "$(state b)"
	equal "who answers" b "$(answers_of 4)"
	done_ enable server app/a
	equal "a" "no check 2 4" "$(state a)"
	equal "who answers" "a b" "$(answers_of 4)"
	run -0 "$LFPROXY" -T -c "$T/lfproxy.ini"
	[[ $output == *"server = a $(addr a) weight=100 maxconn=0 disabled"* ]]
}

# bats test_tags=covered
@test "disabled: a server is not checked until it is enabled" {
	start_app b
	# shellcheck disable=SC2034,SC2154 # web has it.
	ADDRS[a]=127.0.0.1:1
	BACKEND='check = connect interval=20ms fall=1 timeout=5s' web 'a disabled' b
	wait_for 20 is check_status b L4OK
	equal "check of a" "INI 0" "$(column check_status a) $(column chkfail a)"
	done_ enable server app/a
	wait_for 20 is status a DOWN
}

# bats test_tags=covered
@test "disabled: an operator's word holds until the file has another one" {
	start_app a
	start_app b
	web 'a disabled' b
	done_ set server app/a state ready
	change_file 'threads = 2' 'threads = 3' >/dev/null
	equal "after a reload that has the same" "no check 2 4" "$(state a)"
	run -0 change_file ' disabled' ''
	[[ $output == *'backend app: server a: disabled: on -> (no)'* ]]
	equal "a" "no check 2 0" "$(state a)"
	equal "who answers" "a b" "$(answers_of 4)"
	change_file "^\(server = b .*\)" '\1 disabled' >/dev/null
	equal "b" "MAINT 0 5" "$(state b)"
	equal "who answers" a "$(answers_of 4)"
	done_ set server app/a state maint
	change_file '^\(server = b .*\) disabled' '\1' >/dev/null
	equal "a stays" "MAINT 0 1" "$(state a)"
	equal "who answers" b "$(answers_of 4)"
}

# bats test_tags=covered
@test "disabled: with 'for' it is disabled again afterwards" {
	start_app a
	start_app b
	web 'a disabled' b
	# Both at once, however slow this machine is.
	answers '^[0-9]+ app 1 a [^ ]+ 2 4 ' \
	    'enable server app/a for 300ms; show servers state app'
	wait_for 20 is status a MAINT
	equal "a" "MAINT 0 5" "$(state a)"
}
