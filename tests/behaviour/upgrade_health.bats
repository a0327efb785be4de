#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Upgrades: the other process has the health of servers as it was.

# shellcheck disable=SC2030,SC2031 # each test has its own LFPROXY_PID

load helpers
load checks
load ctl
load upgrade

# agent WORDS: what the agent answers from now on.
agent() {
	printf '%s\n' "$1" >"$T/answer.new"
	mv "$T/answer.new" "$T/answer"
}

# start_agent WORDS
start_agent() {
	agent "$1"
	printf '#!/bin/sh\nexec cat %s\n' "'$T/answer'" >"$T/agent.sh"
	chmod +x "$T/agent.sh"
	start_script agent "$T/agent.sh"
}

# status_is STATUS BACKEND SERVER
status_is() {
	[ "$(stat_of "$2" "$3" status)" = "$1" ]
}

begin_with_servers() {
	site >"$T/lfproxy.ini"
	cat >>"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	FIRST=$LFPROXY_PID
	PORT=$(listening web)
}

@test "upgrade: a server that its agent has down comes up when the agent says so" {
	start_app a
	start_agent down
	begin_with_servers <<-END
		agent = on port=$(addr agent | sed 's/.*://') interval=100ms
	END
	wait_for 10 status_is 'DOWN (agent)' app a
	upgrade
	status_is 'DOWN (agent)' app a || fail "$(stat_of app a status)"
	agent up
	wait_for 10 status_is 'no check' app a
	equal "answer" a "$(fetch "http://$PORT/")"
	stop_newest
}

# Symptom: the other process checked at the place of the file, and the server
# went down.
@test "upgrade: a server is checked where an operator has said" {
	start_app a
	start_app b
	begin_with_servers <<-END
		[backend spare]
		check = connect interval=100ms fall=1 rise=1
		server = s 127.0.0.1:$(free_port)
		server = other $(addr b)
	END
	wait_for 10 status_is DOWN spare s
	ctl set server spare/s check-addr 127.0.0.1 port "$(addr a | sed 's/.*://')"
	wait_for 10 status_is UP spare s
	[[ $(ctl show drift) == *"server spare/s check-port: "*" -> $(addr a | sed 's/.*://')"* ]] ||
	    fail "$(ctl show drift)"
	upgrade
	pause 0.5
	status_is UP spare s || fail "$(stat_of spare s status)"
	equal "drift" 2 "$(ctl show drift | grep -c 'spare/s check-')"
	stop_newest
}

@test "upgrade: servers stay down and stopping, enabled and added ones as well" {
	start_app a
	start_app b
	begin_with_servers <<-END
		[backend spare]
		check = connect interval=1h fall=1 rise=1
		server = down 127.0.0.1:$(free_port)
		server = enabled 127.0.0.1:$(free_port) disabled=on
		server = stopping $(addr b)
		[backend tracks]
		check = off
		server = t $(addr b) track=spare/down
	END
	ctl enable server spare/enabled
	ctl add server spare/added "127.0.0.1:$(free_port)" check
	ctl enable health spare/added
	ctl enable server spare/added
	ctl set server spare/added health down
	ctl set server spare/enabled health down
	wait_for 10 status_is DOWN spare down
	checked() { [ "$(stat_of spare stopping check_status)" = L4OK ]; }
	wait_for 10 checked
	ctl set server spare/stopping health stopping
	equal "stopping" NOLB "$(stat_of spare stopping status)"
	last=$(ctl show events 1 | cut -d' ' -f1)
	upgrade
	status_is DOWN spare down
	status_is DOWN spare enabled || fail "$(stat_of spare enabled status)"
	status_is DOWN spare added || fail "$(stat_of spare added status)"
	status_is DOWN tracks t
	refute lfproxy_said 'could not be done again'
	# An operator has said none of that, and who has said the rest is known.
	shown=$(ctl show events | awk -v last="$last" '$1 > last')
	[[ $shown == *'spare/down is down: as before the start of this process'* ]] ||
	    fail "$shown"
	refute grep -q ' down: by operator' <<<"$shown"
	shown=$(ctl show changes)
	[[ $shown == *"uid $UID, pid "*'server spare/stopping health: up -> stopping'* ]] ||
	    fail "$shown"
	refute grep -qE 'former process|spare/down' <<<"$shown"
	stop_newest
}
