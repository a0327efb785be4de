#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# /metrics: what Prometheus reads, beside what HAProxy's own exporter says, and
# the statistics over HTTP.

# bats file_tags=onethread

load helpers

ADMIN=$T/admin.sock

# monitored: reads the rest of the file; its address is in $HTTP.
monitored() {
	{
		printf '[global]\nlog = off\nhttp = 127.0.0.1:0\n'
		printf 'admin = %s\n' "$ADMIN"
		cat
	} >"$T/http.ini"
	launch_lfproxy -c "$T/http.ini"
	HTTP=$(sed -n 's|.*monitoring at http://\(.*\)/$|\1|p' \
	    "$LFPROXY_LOG")
	[ -n "$HTTP" ]
}

two_servers() {
	monitored <<-END
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = connect interval=100ms fall=1 timeout=5s rise=1
		server = a $(addr a) maxconn=20
		server = gone 127.0.0.1:$(free_port)
		[backend unchecked]
		check = off
		server = a $(addr a)
	END
	wait_for 10 metric_is \
	    'haproxy_server_status{proxy="app",server="gone",state="DOWN"}' 1
}

scrape() {
	curl -sS -m 60 -o "$T/metrics" "http://$HTTP/metrics"
}

# metric NAME{LABELS}: of the last scrape.
metric() {
	awk -v name="$1" '$1 == name { print $2 }' "$T/metrics"
}

metric_is() {
	scrape && [ "$(metric "$1")" = "$2" ]
}

# column NAME SERVICE: of a row of `show stat`.
column() {
	"$CTL" -S "$ADMIN" show stat | column_of "$1" "$2"
}

# bats test_tags=covered
@test "metrics: after set maxconn global the limits are those of show stat" {
	start_app a
	two_servers
	"$CTL" -S "$ADMIN" set maxconn global 33
	scrape
	equal "the frontend" 33 \
	    "$(metric 'haproxy_frontend_limit_sessions{proxy="web"}')"
	equal "the backend" 33 \
	    "$(metric 'haproxy_backend_limit_sessions{proxy="app"}')"
	equal "show stat" "33 33 33" \
	    "$(column slim FRONTEND) $(column slim BACKEND | xargs)"
}

# bats test_tags=covered
@test "metrics: admin sockets count as jobs, as in show info" {
	local jobs

	start_app a
	two_servers
	scrape
	jobs=$("$CTL" -S "$ADMIN" show info | sed -n 's/^Jobs: //p')
	# The connection that asks is a job, too.
	equal "jobs" $((jobs - 1)) "$(metric haproxy_process_jobs)"
}

# promtool_passes FILE: HAProxy has one counter whose name promtool does not like.
promtool_passes() {
	run promtool check metrics <"$1"
	equal "what promtool says" "haproxy_process_failed_resolutions counter \
metrics should have \"_total\" suffix" "$output"
}

# bats test_tags=covered
@test "metrics: promtool finds nothing wrong with them" {
	start_app a
	two_servers
	fetch -o /dev/null "$(url)"
	scrape
	promtool_passes "$T/metrics"
	refute grep -vE '^(# (HELP|TYPE) )?[a-z_][a-z0-9_]*(\{[^}]*\})? .+$' "$T/metrics"
}

# bats test_tags=covered
@test "metrics: names and kinds are those of HAProxy's own exporter" {
	local port

	start_app a
	two_servers
	scrape
	on_free_port oracle haproxy_exports bash -c "
	    printf '%s\n' 'defaults' 'mode tcp' 'timeout connect 1s' \
	        'timeout client 1s' 'timeout server 1s' \
	        'frontend prom' 'mode http' 'bind 127.0.0.1:PORT' \
	        'http-request use-service prometheus-exporter' \
	        'backend app' 'server a 127.0.0.1:1 check' >'$T/oracle.cfg'
	    exec haproxy -db -f '$T/oracle.cfg'"
	curl -sS -m 60 -o "$T/theirs" "http://${ADDRS[oracle]}/metrics"
	for file in metrics theirs; do
		sed -n 's/^# TYPE \(haproxy_[a-z_]* [a-z]*\)$/\1/p' "$T/$file" |
		    sort >"$T/$file.types"
		[ "$(wc -l <"$T/$file.types")" -gt 100 ]
	done
	# Those two are HAProxy 3's.
	equal "names that HAProxy does not have" "" \
	    "$(comm -23 "$T/metrics.types" "$T/theirs.types" |
	        grep -vxE 'haproxy_server_(active|backup) gauge')"
	# The missing metrics are of things that a TCP proxy does not have, or, of
	# name servers, are lfproxy_nameserver_NAME_total.
	equal "names that are missing" "" \
	    "$(comm -13 "$T/metrics.types" "$T/theirs.types" |
	        grep -vE '_(http|ssl|zlib|comp|cache|peers|idle)_|_ssl|zlib' |
	        grep -vE 'connection_reuses|header_rewriting|intercepted' |
	        grep -vE '(safe_idle|used|need)_connections|_peers' |
	        grep -vE 'busy_polling|recv_logs|_resolver_')"
}

haproxy_exports() {
	curl -sS -m 5 -o /dev/null "http://127.0.0.1:$1/metrics" 2>/dev/null
}

# bats test_tags=covered
@test "metrics: count what was done, and agree with show stat" {
	local n

	start_app a
	two_servers
	for n in 1 2 3 4 5; do
		fetch -o /dev/null "$(url)"
	done
	wait_for 10 metric_is 'haproxy_frontend_sessions_total{proxy="web"}' 5
	wait_for 10 metric_is \
	    'lfproxy_backend_session_seconds_count{proxy="app"}' 5
	equal "connects" 5 \
	    "$(metric 'lfproxy_backend_connect_seconds_count{proxy="app"}')"
	equal "connects of the other" 0 "$(metric \
	    'lfproxy_backend_connect_seconds_count{proxy="unchecked"}')"
	equal "connects of any length" 5 "$(metric \
	    'lfproxy_backend_connect_seconds_bucket{proxy="app",le="+Inf"}')"
	equal "bytes" \
	    "$(lf show stat app 4 1 | tail -n +2 | cut -d, -f10 | head -n 1)" \
	    "$(metric 'haproxy_server_bytes_out_total{proxy="app",server="a"}')"
	equal "limit" 20 \
	    "$(metric 'haproxy_server_limit_sessions{proxy="app",server="a"}')"
	equal "no limit" "" "$(metric \
	    'haproxy_server_limit_sessions{proxy="app",server="gone"}')"
	equal "servers that are down" 1 "$(metric \
	    'haproxy_backend_agg_server_status{proxy="app",state="DOWN"}')"
	equal "check" 1 "$(metric \
	    'haproxy_server_check_status{proxy="app",server="gone",state="L4CON"}')"
	[ "$(metric 'lfproxy_pool_turns_total{pool="main"}')" -gt 0 ]
	[ "$(metric 'lfproxy_pool_service_seconds_count{pool="main"}')" -gt 0 ]
}

lf() {
	"$CTL" -S "$ADMIN" "$@"
}

# families [QUERY]: the beginnings of the names of metrics, and the status.
families() {
	curl -sS -m 60 -o "$T/some" -w '%{http_code}' \
	    "http://$HTTP/metrics${1:+?$1}"
	sed -n 's/^# TYPE \([a-z]*_[a-z]*\).*/ \1/p' "$T/some" | sort -u |
	    tr -d '\n'
}

@test "metrics: scope selects as in HAProxy's exporter" {
	start_app a
	two_servers
	equal "servers" "200 haproxy_server lfproxy_server" \
	    "$(families scope=server)"
	equal "frontends and backends" "200 haproxy_backend haproxy_frontend \
lfproxy_backend lfproxy_frontend" "$(families 'scope=backend&scope=frontend')"
	equal "global, after a reset" "200 haproxy_process lfproxy_failures lfproxy_pool \
lfproxy_process lfproxy_ready lfproxy_reload lfproxy_reloads lfproxy_resource process_cpu \
process_max process_open process_resident process_start process_threads \
process_virtual" "$(families 'scope=server&scope=&scope=global')"
	equal "no names" 200 "$(families scope=resolver)"
	equal "nothing" "200 0" "$(families 'scope=*&scope=') $(wc -c <"$T/some")"
	equal "all" "$(families)" "$(families 'scope=*&extra-counters&x=y')"
	equal "unknown" 400 "$(families scope=servers)"
	grep -q '^unknown scope' "$T/some"
	equal "without a value" 400 "$(families scope)"
}

@test "metrics: no-maint leaves out servers in maintenance" {
	start_app a
	two_servers
	lf disable server app/gone
	families no-maint >"$T/families"
	equal "the one in maintenance" 0 "$(grep -c '"gone"' "$T/some")"
	grep -q '^haproxy_server_status{proxy="app",server="a",state="UP"} 1' \
	    "$T/some"
	grep -q '^haproxy_backend_agg_server_status.*"MAINT"} 1' "$T/some"
	families >"$T/families"
	grep -q '^haproxy_server_status.*"gone",state="MAINT"} 1' "$T/some"
}

@test "metrics: checks of a backend add up by their result" {
	start_app a
	two_servers
	equal "refused" 1 "$(metric \
	    'haproxy_backend_agg_check_status{proxy="app",state="L4CON"}')"
	wait_for 10 metric_is \
	    'haproxy_backend_agg_check_status{proxy="app",state="L4OK"}' 1
	equal "unchecked" 0 "$(grep -c \
	    '^haproxy_backend_agg_check_status{proxy="unchecked".* [1-9]' \
	    "$T/metrics")"
}

# expect_reload SUCCESS DONE REFUSED: and times that are in order.
expect_reload() {
	scrape
	equal "reload" "$*" "$(metric lfproxy_reload_success) $(metric \
	    lfproxy_reloads_total) $(metric lfproxy_reloads_refused_total)"
	python3 - "$(metric process_start_time_seconds)" \
	    "$(metric lfproxy_reload_success_timestamp_seconds)" \
	    "$(metric lfproxy_reload_timestamp_seconds)" "$(date +%s.%N)" "$1" \
	    <<-'END'
		import sys
		start, good, last, now = (float(n) for n in sys.argv[1:5])
		assert start <= good <= last <= now, sys.argv
		assert (good == last) == (sys.argv[5] == "1"), sys.argv
	END
}

@test "metrics: a refused reload shows, with its time, until one takes effect" {
	start_app a
	two_servers
	scrape
	equal "before any" "1 0 0" "$(metric lfproxy_reload_success) $(metric \
	    lfproxy_reloads_total) $(metric lfproxy_reloads_refused_total)"
	equal "no time of a reload" "" \
	    "$(metric lfproxy_reload_timestamp_seconds)"
	equal "since the start" "$(metric process_start_time_seconds)" \
	    "$(metric lfproxy_reload_success_timestamp_seconds)"
	lf reload
	expect_reload 1 1 0
	echo 'nonsense = 1' >>"$T/http.ini"
	run ! lf reload
	expect_reload 0 1 1
	sed -i '$d' "$T/http.ini"
	lf reload
	expect_reload 1 2 1
}

@test "metrics: ready is what /readyz says" {
	start_app a
	two_servers
	wait_for 10 metric_is lfproxy_ready 1
	curl -fsS -o "$T/readyz" "http://$HTTP/readyz"
	lf disable server app/a
	scrape
	equal "without a server" 0 "$(metric lfproxy_ready)"
	run ! curl -fsS -o "$T/readyz" "http://$HTTP/readyz"
}

# near NAME VALUE: the metric is within a tenth of the value, or 2.
near() {
	python3 -c 'import sys
ours, theirs = (float(n) for n in sys.argv[1:])
assert abs(ours - theirs) <= max(2, theirs / 10), sys.argv' \
	    "$(metric "$1")" "$2"
}

@test "metrics: those of the process are what the kernel says" {
	local pid

	start_app a
	two_servers
	pid=$LFPROXY_PID
	scrape
	near process_open_fds "$(find "/proc/$pid/fd" -mindepth 1 | wc -l)"
	equal "threads" "$(awk '/^Threads:/ { print $2 }' "/proc/$pid/status")" \
	    "$(metric process_threads)"
	equal "limit on descriptors" \
	    "$(awk '/^Max open files/ { print $4 }' "/proc/$pid/limits")" \
	    "$(metric process_max_fds)"
	near process_virtual_memory_bytes "$(awk \
	    '/^VmSize:/ { print $2 * 1024 }' "/proc/$pid/status")"
	near process_resident_memory_bytes "$(awk \
	    '/^VmRSS:/ { print $2 * 1024 }' "/proc/$pid/status")"
	[[ $(metric process_cpu_seconds_total) =~ ^[0-9]+\.[0-9]{6}$ ]]
	wrk -c 8 -t 1 -d 1 "$(url)" >"$T/wrk"
	near_cpu "$pid"
}

# near_cpu PID: within half a second: the kernel's figure is read later.
near_cpu() {
	scrape
	python3 - "$(metric process_cpu_seconds_total)" "$1" <<-'END'
		import os, sys
		fields = open(f"/proc/{sys.argv[2]}/stat").read().split(") ")[1].split()
		cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
		ours = float(sys.argv[1])
		assert ours > 0 and cpu - 0.5 < ours < cpu + 0.1, (ours, cpu)
	END
}

# status KIND LABELS: which of the states holds.
status() {
	sed -n "s/^haproxy_$1_status{$2,state=\"\(.*\)\"} 1\$/\1/p" "$T/metrics"
}

# The values are those of HAProxy's exporter.
@test "metrics: a server that is stopping, a frontend that was shut down" {
	start_app a
	monitored <<-END
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[frontend paused]
		listen = 127.0.0.1:0
		backend = app
		[frontend shut]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = connect interval=1h
		server = a $(addr a)
		server = b $(addr a) track=app/a
		server = c $(addr a) check=off
		server = d $(addr a) check=off
	END
	lf set server app/a health stopping
	lf set server app/c health stopping
	lf set server app/c state drain
	lf set server app/d state drain
	lf disable frontend paused
	lf shutdown frontend shut
	scrape
	equal "a" NOLB "$(status server 'proxy="app",server="a"')"
	equal "b, which tracks it" NOLB \
	    "$(status server 'proxy="app",server="b"')"
	equal "c" NOLB "$(status server 'proxy="app",server="c"')"
	equal "d" DRAIN "$(status server 'proxy="app",server="d"')"
	equal "how many" 3 \
	    "$(metric 'haproxy_backend_agg_server_status{proxy="app",state="NOLB"}')"
	equal "web" UP "$(status frontend 'proxy="web"')"
	equal "paused" UP "$(status frontend 'proxy="paused"')"
	equal "shut" DOWN "$(status frontend 'proxy="shut"')"
}

# bats test_tags=covered
@test "metrics: the CSV and JSON pages are those of the admin socket" {
	start_app a
	two_servers
	lf show stat | head -n 1 >"$T/want"
	curl -sS "http://$HTTP/stats;csv" >"$T/csv"
	equal "header" "$(cat "$T/want")" "$(head -n 1 "$T/csv")"
	equal "rows" 7 "$(wc -l <"$T/csv")"
	# The URL of clients made for HAProxy's statistics page.
	equal "rows" 7 "$(curl -sS "http://$HTTP/haproxy/;csv" | wc -l)"
	run -0 python3 -c '
import json, sys
rows = json.load(sys.stdin)
names = [f["field"]["name"] for f in rows[0]]
print(len(rows), names[0])' < <(curl -sS "http://$HTTP/stats;json")
	equal "JSON" "6 pxname" "$output"
}

many() {
	local n

	printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
	printf '[backend app]\ncheck = off\n'
	for ((n = 0; n < $1; n++)); do
		printf 'server = s%d 127.0.0.1:%d\n' $n $((n % 60000 + 1))
	done
}

# A client that takes a page slowly gets it as a whole, of the model that it
# began with, while a reload changes it.
# bats test_tags=covered
@test "metrics: a thousand servers, a slow reader, and a reload meanwhile" {
	local n samples

	monitored < <(many 1000)
	spawn slow curl -sS -m 200 --limit-rate 200k -o "$T/slow" \
	    "http://$HTTP/metrics"
	wait_for 10 test -s "$T/slow"
	sed -i '/ s500 /d' "$T/http.ini"
	lf reload
	# Another client does not wait.
	run -0 curl -sS -m $((60 * PATIENCE)) "http://$HTTP/healthz"
	finish slow 60
	promtool_passes "$T/slow"
	samples=$(grep -c '^haproxy_server_weight{' "$T/slow")
	equal "servers in the slow page" 1000 "$samples"
	scrape
	equal "servers afterwards" 999 \
	    "$(grep -c '^haproxy_server_weight{' "$T/metrics")"
	equal "samples that are there twice" "" \
	    "$(grep -v '^#' "$T/slow" | cut -d' ' -f1 | sort | uniq -d)"
}

# own NAME{LABELS} VALUE: a metric of lfproxy's own.
own() {
	equal "$1" "$2" "$(metric "lfproxy_$1")"
}

# bats test_tags=covered
@test "metrics: lfproxy's own metrics match show stat and show info" {
	start_app a
	monitored <<-END
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = connect interval=100ms fall=1 timeout=5s rise=1
		panic_percent = 60
		retry_budget = 50%
		retry_budget_min = 7
		retries = 3
		balance = roundrobin
		server = a $(addr a)
		server = gone 127.0.0.1:$(free_port)
		[backend full]
		maxqueue = 1
		check = off
		server = a $(addr a)
	END
	wait_for 10 metric_is 'lfproxy_backend_panic{proxy="app"}' 1
	fetch -o /dev/null "$(url)"
	fetch -o /dev/null "$(url)"
	lf set server app/a state drain
	scrape
	own 'backend_panic{proxy="full"}' 0
	own 'backend_usable_servers{proxy="full"}' 1
	own 'server_usable{proxy="app",server="gone"}' 0
	own 'server_usable{proxy="full",server="a"}' 1
	own 'server_admin_state{proxy="app",server="a",state="drain"}' 1
	own 'server_admin_state{proxy="app",server="a",state="ready"}' 0
	own 'server_admin_state{proxy="full",server="a",state="ready"}' 1
	own 'server_ejections_total{proxy="app",server="a"}' 0
	own 'backend_queue_refused_total{proxy="app"}' 0
	own 'backend_retries_refused_total{proxy="app"}' 0
	own 'backend_current_retries{proxy="app"}' 0
	own 'backend_limit_retries{proxy="app"}' 7
	own 'backend_max_retries{proxy="app"}' \
	    "$(lf show stat app 2 -1 | column_of lf_retries_max)"
	own 'process_pipes_refused_total' 0
	own 'process_maxconn_reached_total' 0
	# In seconds what is in microseconds there.
	lf clear loop
	wait_for 10 metric_moved lfproxy_process_loop_iterations_total 1
	python3 - "$(metric lfproxy_process_loop_max_time_seconds)" \
	    "$(lf show info | sed -n 's/^LoopMaxTime_us: //p')" <<-'END'
		import sys
		metric, now_us = float(sys.argv[1]), int(sys.argv[2])
		assert 0 < metric * 1e6 <= now_us, (metric, now_us)
	END
	promtool_passes "$T/metrics"
	equal "help has the metric's unit" "" \
	    "$(grep -E '^# HELP .*_seconds .*(milli|micro)' "$T/metrics")"
}

metric_moved() {
	scrape && [ "$(metric "$1")" -gt "$2" ]
}

# Metrics of columns that are times have seconds, the columns milliseconds.
# bats test_tags=covered
@test "metrics: times are in seconds" {
	start_bad slow silent
	monitored <<-END
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = off
		timeout_server = 1200ms
		server = a $(addr slow)
	END
	run curl -s -m 60 "$(url)"
	wait_for 10 metric_moved_to_seconds
	equal "the same" "$(metric 'haproxy_backend_max_total_time_seconds{proxy="app"}')" \
	    "$(lf show stat app 2 -1 | column_of ttime_max |
	        sed -E 's/^(.)(...)$/\1.\2/')"
	equal "a bucket below" 0 "$(metric \
	    'lfproxy_backend_session_seconds_bucket{proxy="app",le="0.536870912"}')"
	equal "a bucket above" 1 "$(metric \
	    'lfproxy_backend_session_seconds_bucket{proxy="app",le="34.3597384"}')"
	connect=$(metric 'lfproxy_server_connect_time_seconds{proxy="app",server="a"}')
	[[ $connect =~ ^0\.[0-9]{6}$ ]] ||
	    fail "to connect: $connect"
}

metric_moved_to_seconds() {
	scrape && [[ $(metric \
	    'haproxy_backend_max_total_time_seconds{proxy="app"}') =~ ^1\.[2-9] ]]
}

@test "metrics: an ejected server is down, exhausted ports are counted" {
	start_bad r refuse
	start_app a
	start_bad silent silent
	monitored <<-END
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = off
		eject_after = 1
		eject_time = 10m
		eject_time_max = 10m
		server = r $(addr r)
		server = a $(addr a)
		[frontend narrow]
		listen = 127.0.0.1:0
		backend = narrow
		[backend narrow]
		check = off
		retries = 0
		server = s $(addr silent) source=127.0.0.1:$(free_port)
	END
	fetch -o /dev/null "$(url)"
	fetch -o /dev/null "$(url)"
	wait_for 10 metric_is \
	    'lfproxy_server_ejections_total{proxy="app",server="r"}' 1
	equal "the ejected one" 1 "$(metric \
	    'haproxy_server_status{proxy="app",server="r",state="DOWN"}')"
	equal "the other one" 1 "$(metric \
	    'haproxy_server_status{proxy="app",server="a",state="UP"}')"
	equal "usable" 1 "$(metric 'lfproxy_backend_usable_servers{proxy="app"}')"
	# There is one port for two sessions.
	spawn two "$TOOLS/badclient" silent "127.0.0.1:$(port narrow)" \
	    --count 2 --deadline 200
	wait_for 10 metric_moved 'lfproxy_resource_exhausted_total{resource="ports"}' 0
	equal "descriptors" 0 "$(metric 'lfproxy_resource_exhausted_total{resource="descriptors"}')"
}

# Compares a pool that is idle, so that no value changes between the two reads.
pools_agree() {
	scrape
	lf show pool json | python3 -c '
import json, sys
metrics = {}
for line in open(sys.argv[1]):
    if line.startswith("lfproxy_pool_"):
        name, value = line.split()
        metrics[name] = float(value)
pool, same = json.load(sys.stdin)[0], []
for name, value in pool.items():
    for metric in f"lfproxy_pool_{name}", f"lfproxy_pool_{name}_total":
        if metric + "{pool=\"main\"}" in metrics:
            assert metrics[metric + "{pool=\"main\"}"] == value, name
            same.append(name)
assert len(same) >= 14, same' "$T/metrics" 2>"$T/why"
}

# Enough load that leadership was taken over, and not by the guard alone.
roles_moved() {
	wrk -c 64 -t 1 -d 1 "$(url)" >"$T/wrk"
	lf show pool json | python3 -c '
import json, sys
pool = json.load(sys.stdin)[0]
sys.exit(pool["taken_over"] == pool["guarded"] or pool["wakes"] == 0)'
}

# bats test_tags=covered
@test "metrics: those of a pool match show pool" {
	start_app s
	monitored <<-END
		[pool main]
		threads = 2
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		[backend app]
		check = off
		server = s $(addr s)
	END
	wait_for 60 roles_moved
	wait_for 10 pools_agree || fail "$(cat "$T/why")"
}

process_agrees() {
	local bytes

	bytes=$(lf show info | sed -n 's/^PoolAlloc_bytes: //p')
	scrape
	[ "$(metric haproxy_process_pool_allocated_bytes)" -eq "$bytes" ]
}

# bats test_tags=covered
@test "metrics: the heap is shown in bytes" {
	monitored < <(many 2000)
	[ "$(lf show info | sed -n 's/^PoolAlloc_MB: //p')" -ge 1 ] ||
	    skip "this malloc does not report its size"
	wait_for 10 process_agrees
}
