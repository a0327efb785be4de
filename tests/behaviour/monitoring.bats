#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# What packaging has for Prometheus and Grafana, tried with promtool and a
# Prometheus that reads a live lfproxy.

# bats file_tags=onethread

load helpers

RULES=$ROOT/packaging/prometheus/lfproxy.rules.yml
RULE_TESTS=$ROOT/packaging/prometheus/lfproxy.rules.test.yml
DASHBOARD=$ROOT/packaging/grafana/lfproxy.json
ADMIN=$T/admin.sock

tool() {
	python3 -B "$ROOT/tests/behaviour/monitortool.py" "$@"
}

# bats test_tags=unsanitized
@test "monitoring: each alert fires when it has to, and not otherwise" {
	promtool check rules "$RULES"
	run -0 promtool test rules "$RULE_TESTS"
	sed -n 's/^  - alert: //p' "$RULES" | sort >"$T/alerts"
	[ "$(wc -l <"$T/alerts")" -gt 15 ]
	equal "alerts that are tried while they must not fire" \
	    "$(cat "$T/alerts")" "$(sed -n \
	        's/.*alertname: \([A-Za-z]*\), exp_alerts: \[\]}$/\1/p' \
	        "$RULE_TESTS" | sort -u)"
	equal "alerts that are tried while they must fire" \
	    "$(cat "$T/alerts")" "$(grep -A 2 '^    alertname: ' "$RULE_TESTS" |
	        awk '$1 == "alertname:" { name = $2 }
	            $2 == "exp_labels:" { print name }' | sort -u)"
}

prometheus_ready() {
	curl -fsS -o /dev/null -m 5 "http://127.0.0.1:$1/-/ready" 2>/dev/null
}

# An lfproxy in which each metric of the rules and the dashboard has samples.
start_monitored() {
	start_app a
	make_ca ca
	make_cert site ca DNS:site.test
	cat "$T/site.key" >>"$T/site.pem"
	addr a >"$T/members"
	start_lfproxy <<-END
		[global]
		log = off
		http = 127.0.0.1:0
		admin = $ADMIN
		[resolver]
		nameserver = 127.0.0.1:$(free_port)
		timeout = 100ms
		retries = 0
		[tls public]
		cert = $T/site.pem
		[frontend web]
		listen = 127.0.0.1:0
		listen = 127.0.0.1:0 tls=public
		limit = rate=1000/s per=client
		backend = app
		[backend app]
		check = connect
		servers = set 5 file=$T/members
		server = a $(addr a)
		server = named nowhere.test:1 resolve=ttl
	END
	HTTP=$(sed -n 's|.*monitoring at http://\(.*\)/$|\1|p' "$LFPROXY_LOG")
}

# start_prometheus RULES...: reads lfproxy every second.
start_prometheus() {
	{
		printf 'global: {scrape_interval: 1s, evaluation_interval: 1s}\n'
		printf 'scrape_configs:\n- job_name: lfproxy\n'
		printf '  static_configs: [{targets: ["%s"]}]\n' "$HTTP"
		printf 'rule_files:\n'
		printf -- '- %s\n' "$@"
	} >"$T/prometheus.yml"
	on_free_port prometheus prometheus_ready prometheus \
	    --config.file="$T/prometheus.yml" --storage.tsdb.path="$T/tsdb" \
	    --web.listen-address=127.0.0.1:PORT
}

name_fails() {
	fetch "http://$HTTP/metrics" >"$T/metrics"
	grep -q '^lfproxy_name_error{' "$T/metrics"
}

@test "monitoring: alerts and panels have data from a live lfproxy" {
	local command

	start_monitored
	tool record "$DASHBOARD" >"$T/dashboard.yml"
	promtool check rules "$T/dashboard.yml"
	fetch -o /dev/null "$(url)"
	start_prometheus "$RULES" "$T/dashboard.yml"
	wait_for 10 scraped
	"$CTL" -S "$ADMIN" reload
	wait_for 10 name_fails
	tool verify "${ADDRS[prometheus]}" "$DASHBOARD" "$T/metrics"
	tool commands "${ADDRS[prometheus]}" >"$T/commands"
	[ "$(wc -l <"$T/commands")" -ge 8 ]
	while read -r command; do
		# One that does not apply is refused; `ready` may say no.
		run "$CTL" -S "$ADMIN" $command
		[[ $output != *'nknown command'* && $output != *usage* &&
		    -n $output ]] || fail "$command: $output"
	done <"$T/commands"
}

# scraped: Prometheus has a sample of lfproxy's.
scraped() {
	fetch "http://${ADDRS[prometheus]}/api/v1/query?query=lfproxy_ready" |
	    grep -q '"__name__":"lfproxy_ready"'
}
