#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Sets of servers whose members are in DNS, Consul and etcd.  Each source has
# tests of its own: resolver.bats, discovery_consul.bats, discovery_etcd.bats.

load helpers
load operator

NAMES=$T/names

# names LINE...: what the name server says from now on.
names() {
	printf '%s\n' "$@" >"$NAMES.new"
	mv "$NAMES.new" "$NAMES"
}

start_names() {
	: >"$NAMES"
	serve names python3 -B "$ROOT/tests/behaviour/nametool.py" "$NAMES"
}

# set_of LINE...: lfproxy with a frontend web; LINES are those of [backend app].
set_of() {
	start_lfproxy < <(
		common
		printf '[resolver]\nnameserver = %s\n' "$(addr names)"
		printf 'timeout = 200ms\nttl_min = 200ms\n'
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\ncheck = off\n'
		printf '%s\n' "$@"
	)
}

servers_are() {
	[ "$(ctl --json show servers app | python3 -c 'import json, sys
print(*(s["server"] + "=" + s["address"] for s in json.load(sys.stdin)))')" = "$1" ]
}

# servers TEXT: the names and addresses in backend app become these.
servers() {
	wait_for 10 servers_are "$1" ||
	    fail "expected '$1': $(ctl show servers app)"
}

# set_error PATTERN: the last error of the only set.
set_error() {
	ctl show sets json | grep -qE -- "$1"
}

@test "sets: the addresses of a name are servers" {
	start_names
	names 'db ttl=1 127.0.0.1 127.0.0.2'
	set_of 'servers = app 5 dns=db:80 confirm=off'
	servers 'app1=127.0.0.1:80 app2=127.0.0.2:80'
	# app2 keeps its name, and the other one's is free.
	names 'db ttl=1 127.0.0.3 127.0.0.2'
	servers 'app1=127.0.0.3:80 app2=127.0.0.2:80'
	# A failure changes nothing.
	names 'db servfail'
	ctl resolve now backend app
	wait_for 10 set_error SERVFAIL
	servers 'app1=127.0.0.3:80 app2=127.0.0.2:80'
}

@test "sets: SRV records are servers with ports, weights and backups" {
	start_names
	names '_http._tcp.db ttl=1 srv 1 65535 81 one' \
	    '_http._tcp.db ttl=1 srv 2 0 82 two' 'one 127.0.0.1' 'two 127.0.0.2'
	set_of 'servers = app 5 srv=_http._tcp.db'
	servers 'app1=127.0.0.1:81 app2=127.0.0.2:82'
	equal 'weight and backup' 'app1 256 0
app2 1 1' "$(ctl show stat | python3 -B -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    if row["svname"].startswith("app"):
        print(row["svname"], row["weight"], row["bck"])')"
}

@test "sets: instances of a service in Consul are servers" {
	start_names
	serve consul python3 -B "$ROOT/tests/behaviour/consultool.py"
	run -0 curl -sf -m 10 -X PUT "http://$(addr consul)/state" -d '{"index": 7,
	    "instances": [{"Node": {"Node": "n1", "Address": "10.0.0.9"},
	    "Service": {"ID": "web1", "Port": 80, "Weights": {"Passing": 5}},
	    "Checks": [{"Status": "passing"}]}]}'
	set_of "servers = app 5 consul=http://$(addr consul)/web?passing"
	servers 'app1=10.0.0.9:80'
	equal weight '5 (initial 5)' "$(ctl get weight app/app1)"
	signal consul KILL
	wait_for 10 set_error 'Consul|connect'
	servers 'app1=10.0.0.9:80'
}

# bats test_tags=slow
@test "sets: keys in etcd are servers, and sessions go on while others change" {
	local url

	etcd_ready() { curl -s -m 2 "http://127.0.0.1:$1/health" | grep -q true; }
	start_names
	on_free_port etcd etcd_ready env -C "$T" etcd --data-dir "$T/data" \
	    --listen-client-urls http://127.0.0.1:PORT \
	    --advertise-client-urls http://127.0.0.1:PORT \
	    --listen-peer-urls unix://peer:0 \
	    --initial-advertise-peer-urls unix://peer:0 \
	    --initial-cluster default=unix://peer:0 --log-level error
	url=http://$(addr etcd)
	put() { ETCDCTL_API=3 etcdctl --endpoints "$url" put "$@" >/dev/null; }
	serve stream "$TOOLS/streamer" server 127.0.0.1:0 \
	    --deadline $((100 * PATIENCE))
	put /app/a "$(addr stream)"
	set_of "servers = app 9 etcd=$url/app/"
	servers "app1=$(addr stream)"
	spawn load "$TOOLS/streamer" client "127.0.0.1:$(port web)" \
	    --connections 8 --up 20000 --down 20000 --duration 2 \
	    --rest 50 --deadline $((60 * PATIENCE))
	# A wrong value keeps no other one out.
	put /app/0 '10.0.0.8:80 track=b/x'
	wait_for 10 lfproxy_said "app: member 0 .*of the set app is left out: .*unknown backend 'b'"
	put /app/b '10.0.0.9:80 weight=0'
	servers "app1=$(addr stream) app3=10.0.0.9:80"
	ETCDCTL_API=3 etcdctl --endpoints "$url" del /app/b >/dev/null
	servers "app1=$(addr stream)"
	finish load 60
}
