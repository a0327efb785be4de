#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Programs written for HAProxy's socket, as they are.

# bats file_tags=onethread

load helpers
load terminal

ADMIN=$T/admin.sock

common() {
	cat <<-END
		[global]
		log = off
		drain_timeout = 2s
		node = edge-1
		admin = $ADMIN
		[pool main]
		threads = 2
	END
}

# site: web and api in front of servers a (up), b (down) and c (not checked).
site() {
	start_app a
	start_app c
	{
		common
		cat <<-END
			[frontend web]
			listen = 127.0.0.1:0
			backend = app
			[frontend api]
			listen = 127.0.0.1:0
			backend = rest
			[backend app]
			balance = roundrobin
			check = connect interval=100ms rise=1 fall=1 timeout=5s
			server = a $(addr a)
			server = b 127.0.0.1:$(free_port) weight=7
			[backend rest]
			balance = roundrobin
			check = off
			server = c $(addr c)
		END
	} >"$T/lfproxy.ini"
	launch_lfproxy -c "$T/lfproxy.ini"
	wait_for 10 checked
}

checked() {
	[ "$(ctl show stat app 4 -1 | sed 1d | cut -d, -f18 | xargs)" = "UP DOWN" ]
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# bats test_tags=covered
@test "admin clients: Python's csv reader" {
	site
	fetch "$(url)" >/dev/null
	python3 - "$ADMIN" <<'END'
import csv, io, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect(sys.argv[1])
s.sendall(b"show stat\n")
text = b"".join(iter(lambda: s.recv(4096), b"")).decode()
assert text.startswith("# ") and text.endswith("\n\n")
rows = list(csv.DictReader(io.StringIO(text[2:].rstrip("\n") + "\n")))
by = {(r["pxname"], r["svname"]): r for r in rows}
assert len(by) == len(rows) == 7, by.keys()
assert all(None not in r and None not in r.values() for r in rows), "ragged"
assert by["app", "a"]["status"] == "UP" and by["app", "b"]["status"] == "DOWN"
assert by["app", "a"]["check_status"] == "L4OK"
assert by["app", "b"]["last_chk"] == "Connection refused"
assert by["rest", "c"]["status"] == "no check"
assert int(by["app", "BACKEND"]["stot"]) == 1
numbers = set(rows[0]) - {"pxname", "svname", "status", "check_status", "last_chk",
    "last_agt", "agent_status", "check_desc", "agent_desc", "addr", "cookie", "mode",
    "algo", "tracked", "-", "", "lf_pool", "lf_admin"}
for row in rows:
    for name in numbers:
        assert row[name] == "" or row[name].lstrip("-").isdigit(), (name, row[name])
END
}

exporter_ready() {
	curl -s -m 2 -o /dev/null "http://127.0.0.1:$1/metrics"
}

# bats test_tags=covered
@test "admin clients: the Prometheus exporter for HAProxy" {
	command -v prometheus-haproxy-exporter >/dev/null ||
	    skip "no prometheus-haproxy-exporter here"
	site
	fetch "$(url)" >/dev/null
	wait_for 10 rates_taken
	on_free_port exporter exporter_ready prometheus-haproxy-exporter \
	    --haproxy.scrape-uri="unix:$ADMIN" \
	    --web.listen-address=127.0.0.1:PORT
	curl -sS -m 60 "http://$(addr exporter)/metrics" >"$T/metrics"
	has() {
		grep -qxF -- "$1" "$T/metrics" ||
		    fail "no '$1' in: $(grep '^haproxy' "$T/metrics")"
	}
	has 'haproxy_up 1'
	has 'haproxy_exporter_csv_parse_failures_total 0'
	# The probe for readiness may have been counted as a scrape.
	grep -qE '^haproxy_exporter_scrapes_total [2-9]$' "$T/metrics"
	has 'haproxy_server_up{backend="app",server="a"} 1'
	has 'haproxy_server_up{backend="app",server="b"} 0'
	has 'haproxy_server_up{backend="rest",server="c"} 1'
	has 'haproxy_backend_up{backend="app"} 1'
	has 'haproxy_server_weight{backend="app",server="b"} 7'
	has 'haproxy_frontend_sessions_total{frontend="web"} 1'
	has 'haproxy_server_sessions_total{backend="app",server="a"} 1'
	grep -q '^haproxy_version_info{.*version="2\.6\.' "$T/metrics"
	refute grep -iE 'level=(error|warn)' "$T/exporter.err"
}

rates_taken() {
	[ "$(ctl show stat web 1 -1 | sed 1d | cut -d, -f8)" = 1 ]
}

# hatop's screen, from top to bottom; the first server has the cursor.
hatop_on_screen() {
	site
	fetch "$(url)" >/dev/null
	in_terminal 120x40 env TERM=screen hatop -s "$ADMIN" -i 1
	wait_to_see '^ *HAProxy Version: 2\.6'
	wait_to_see '^>>> app$'
}

# leave_hatop: with its own key, and it has nothing to complain of.
leave_hatop() {
	press q
	wait_for 20 test -e "$T/code"
	equal "hatop's exit code" 0 "$(cat "$T/code")"
}

# column SERVER NUMBER: what `show stat` says of it.
column() {
	ctl show stat app 4 -1 | awk -F, -v s="$1" -v n="$2" '$2 == s { print $n }'
}

status_is() {
	[ "$(column "$1" 18)" = "$2" ]
}

weight_is() {
	[ "$(column "$1" 19)" = "$2" ]
}

# select_server BACKEND/SERVER: moves the cursor from the first line to its own.
# hatop says at the bottom which that is: [#proxy/#server].
select_server() {
	local at lines

	at=$(ctl show stat | awk -F, -v s="$1" \
	    '$1 "/" $2 == s { print "#" $28 "/#" $29 }')
	lines=$(screen | awk -v b=">>> ${1%/*}" -v s="${1#*/}" '
		/^>>>/ && !first { first = NR }
		$0 == b { there = 1 }
		there && $1 == s { print NR - first; exit }')
	press -N "$lines" Down
	wait_to_see "\\[$at\\]\$"
}

# bats test_tags=covered
@test "admin clients: hatop shows the servers" {
	hatop_on_screen
	for line in 'Node: edge-1' '^>>> web$' '^FRONTEND .* OPEN .* 1$' \
	    '^a *100 UP *L4OK .* 1$' '^b *7 DOWN *L4CON' '^>>> rest$' \
	    '^c *100 '; do
		wait_to_see "$line"
	done
	leave_hatop
}

# bats test_tags=covered
@test "admin clients: hatop's keys disable, enable and weigh servers" {
	hatop_on_screen
	select_server app/a
	press F10
	wait_for 10 status_is a MAINT
	equal "b" DOWN "$(column b 18)"
	wait_to_see '^a *100 MAINT '
	press F9
	wait_for 10 status_is a UP
	wait_to_see '^a *100 UP '
	press F5
	wait_for 10 weight_is a 90
	wait_to_see '^a *90 UP '
	press F7
	wait_for 10 weight_is a 91
	wait_to_see '^a *91 UP '
	press F8
	wait_for 10 weight_is a 101
	wait_to_see '^a *101 UP '
	press F4
	wait_for 10 weight_is a 100
	# Any weight: the command line, to which Space brings the server's name.
	press Space
	wait_to_see 'app/a'
	press Home
	press -l 'set weight '
	press End
	press -l ' 33'
	press Enter
	wait_for 10 weight_is a 33
	press Escape 1
	wait_to_see '^a *33 UP '
	# On all backends that have a server of that name.
	press F2
	wait_for 10 status_is a MAINT
	press F1
	wait_for 10 status_is a UP
	leave_hatop
	equal "the weight of b" 7 "$(column b 19)"
}
