#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# The agent beside a check: what it says becomes the server's weight and state.

# bats file_tags=onethread

load helpers
load checks
load ctl

# agent LINE: what the agent of `a` answers from now on.
agent() {
	printf '%s\n' "$1" >"$T/answer.new"
	mv "$T/answer.new" "$T/answer"
}

# with_agent: `a` has an agent, and at the address of `b` there is none.
with_agent() {
	start_app a
	LISTEN=127.0.0.2:0 start_app b
	agent 'ready up 100%'
	echo "#!/bin/sh
		exec cat '$T/answer'" >"$T/agent.sh"
	chmod +x "$T/agent.sh"
	start_script agent "$T/agent.sh"
	BACKEND="$(checked connect fall=1 rise=1)
		agent = on port=$(addr agent | sed 's/.*://') interval=50ms" \
	    DEFAULTS='timeout_queue = 100s' web a b
	until_column 10 a agent_status L7OK
}

answers() {
	for _ in 1 2 3 4; do
		fetch "$(url)"
	done | sort -u | xargs
}

# bats test_tags=covered
@test "agent: weights, in percent and as they are" {
	with_agent
	equal "the weight" 100 "$(column a weight)"
	agent '75%'
	until_column 10 a weight 75
	agent 'weight:7'
	until_column 10 a weight 7
	agent '250%'
	until_column 10 a weight 250
	agent '0%'
	until_column 10 a weight 0
	equal "who answers" b "$(answers)"
	equal "b's weight" 100 "$(column b weight)"
}

# bats test_tags=covered
@test "agent: drain, maint and ready" {
	with_agent
	agent drain
	until_column 10 a status 'DRAIN (agent)'
	equal "who answers" b "$(answers)"
	agent maint
	until_column 10 a status MAINT
	equal "who answers" b "$(answers)"
	wait_for 10 lfproxy_said 'server app/a is set to maint: by its agent'
	agent ready
	until_column 10 a status UP
	equal "who answers" "a b" "$(answers)"
}

nothing_drains() {
	[ -z "$("$CTL" -S "$ADMIN" show drains)" ]
}

# bats test_tags=covered
@test "agent: maint while the server fades for a drain stays maint" {
	with_agent
	agent up
	"$CTL" -S "$ADMIN" drain server app/a over 2s
	agent maint
	until_column 10 a status MAINT
	agent up
	wait_for 20 nothing_drains
	equal "status" MAINT "$(column a status)"
	refute lfproxy_said 'server app/a is set to drain'
}

# bats test_tags=covered
@test "agent: down with a reason, and up again" {
	with_agent
	agent 'down #disk is full'
	until_column 10 a status 'DOWN (agent)'
	equal "its status" L7STS "$(column a agent_status)"
	equal "what it said" 'down #disk is full' "$(column a last_agt)"
	wait_for 10 lfproxy_said 'server app/a is down: by its agent, disk is full'
	equal "times down" 1 "$(column a chkdown)"
	equal "who answers" b "$(answers)"
	agent up
	until_column 10 a status UP
	equal "who answers" "a b" "$(answers)"
}

# bats test_tags=covered
@test "agent: while it says down, checks bring the server neither up nor down" {
	local at

	with_agent
	agent down
	until_column 10 a status 'DOWN (agent)'
	at=$(addr a)
	end a
	wait_for 10 lfproxy_said 'server app/a stays down, as its agent says: its checks fail: L4CON'
	LISTEN=$at start_app a
	wait_for 10 lfproxy_said 'server app/a stays down, as its agent says: its checks pass: L4OK'
	equal "times down" 1 "$(column a chkdown)"
	refute lfproxy_said 'server app/a is up'
	agent up
	wait_for 10 lfproxy_said 'server app/a is up: by its agent'
	equal "who answers" "a b" "$(answers)"
}

# bats test_tags=covered
@test "agent: up does not overrule a failing check" {
	with_agent
	end a
	until_column 10 a status DOWN
	agent up
	wait_for 10 column_is a last_agt up
	equal "the status" DOWN "$(column a status)"
}

# bats test_tags=covered
@test "agent: several words, and unknown ones" {
	with_agent
	agent 'up 50%,drain maxconn:30 whatever'
	until_column 10 a status 'DRAIN (agent)'
	equal "the weight" 50 "$(column a weight)"
	equal "maxconn" 30 "$(column a slim)"
	wait_for 10 lfproxy_said "a word that is not among .*: 'whatever'"
	agent 'nonsense'
	until_column 10 a agent_status L7RSP
	equal "the status" 'DRAIN (agent)' "$(column a status)"
	equal "maxconn" 30 "$(column a slim)"
	agent 'maxconn:-1 up'
	wait_for 10 lfproxy_said "a word that is not among .*: 'maxconn:-1'"
	equal "maxconn" 30 "$(column a slim)"
}

# holds_one PORT: a session that lasts, and has been answered.
holds_one() {
	spawn "hold$1" python3 -u -c "
import socket, sys
s = socket.create_connection(('127.0.0.1', $(port web)))
s.sendall(b'GET / HTTP/1.1\r\nHost: x\r\n\r\n')
s.recv(100)
print('answered')
s.recv(1000000) and s.recv(1)
"
	wait_for 10 has_line "hold$1" answered
}

# bats test_tags=covered
@test "agent: maxconn holds sessions back, and lets them go on" {
	with_agent
	agent 'down maxconn:1'
	until_column 10 a status 'DOWN (agent)'
	wait_for 10 lfproxy_said 'server app/a has maxconn 1 instead of 0: by its agent'
	end b
	agent 'up'
	until_column 10 a status UP
	until_column 10 b status DOWN
	holds_one 1
	equal "sessions" 1 "$(column a scur)"
	spawn second curl -sS -m $((60 * PATIENCE)) "$(url)"
	wait_for 10 queued_is 1
	agent 'maxconn:2'
	finish second
	equal "the answer" a "$output"
	equal "maxconn" 2 "$(column a slim)"
	agent 'maxconn:0'
	until_column 10 a slim ''
}

queued_is() {
	[ "$("$CTL" -S "$ADMIN" show stat app 2 -1 |
	    awk -F, '$2 == "BACKEND" { print $3 }')" = "$1" ]
}

# bats test_tags=covered
@test "agent: the file's new maxconn comes before what the agent said" {
	with_agent
	agent 'maxconn:7'
	until_column 10 a slim 7
	agent 'up'
	wait_for 10 column_is a last_agt up
	"$CTL" -S "$ADMIN" reload
	equal "maxconn" 7 "$(column a slim)"
	sed -i '/server = a /s/$/ maxconn=9/' "$T/lfproxy.ini"
	"$CTL" -S "$ADMIN" reload
	equal "maxconn" 9 "$(column a slim)"
}

# bats test_tags=covered
@test "agent: its columns, up, down, and gone" {
	with_agent
	for x in agent_status:L7OK agent_code:0 agent_rise:1 agent_fall:1 \
	    agent_health:1 "agent_desc:Layer7 check passed" \
	    "last_agt:ready up 100%"; do
		equal "${x%%:*}" "${x#*:}" "$(column a "${x%%:*}")"
	done
	[[ $(column a agent_duration) =~ ^[0-9]+$ ]]
	agent 'down #x'
	until_column 10 a agent_status L7STS
	equal "its health" 0 "$(column a agent_health)"
	equal "the words" "Layer7 wrong status" "$(column a agent_desc)"
	end agent
	until_column 10 a agent_status L4CON
	equal "its health" 0 "$(column a agent_health)"
	equal "the code" "" "$(column a agent_code)"
	equal "the status" 'DOWN (agent)' "$(column a status)"
}

# bats test_tags=covered
@test "agent: an agent that does not answer changes nothing" {
	with_agent
	agent '20%'
	until_column 10 a weight 20
	end agent
	until_column 10 a agent_status L4CON
	equal "the weight" 20 "$(column a weight)"
	equal "the status" UP "$(column a status)"
}

@test "agent: a reload keeps what it said, or forgets it with the agent" {
	with_agent
	agent '20% drain maxconn:3'
	until_column 10 a status 'DRAIN (agent)'
	"$CTL" -S "$ADMIN" reload
	equal "the status" 'DRAIN (agent)' "$(column a status)"
	equal "the weight" 20 "$(column a weight)"
	sed -i 's/agent = on.*/agent = off/' "$T/lfproxy.ini"
	"$CTL" -S "$ADMIN" reload
	equal "the weight" 100 "$(column a weight)"
	equal "maxconn" "" "$(column a slim)"
	equal "who answers" "a b" "$(answers)"
	equal "the agent" "" "$(column a agent_status)"
}

# bats test_tags=covered
@test "agent: is sent what it shall be sent" {
	start_app a
	printf '#!/bin/sh\nread -r x; echo "weight:${#x}"\n' >"$T/agent.sh"
	chmod +x "$T/agent.sh"
	start_script agent "$T/agent.sh"
	BACKEND="check = off
		agent = on port=$(addr agent | sed 's/.*://') interval=50ms send=state\\x20now\\n" \
	    web a
	until_column 10 a weight 9
}

no_changes_left() {
	[ -z "$(ctl show expiring)" ] &&
	    [[ $(ctl show drift) == *"0 changes by commands"* ]]
}

# What the agent says in between is no order of the operator.
@test "agent: changes for a time end in spite of its answers" {
	with_agent
	agent 'drain 50%'
	until_column 10 a weight 50
	ctl set weight app/a 70 for 1s
	ctl set server app/a state maint for 1s
	wait_for 20 no_changes_left || fail "$(ctl show drift)"
	until_column 10 a weight 50
	until_column 10 a status 'DRAIN (agent)'
}
