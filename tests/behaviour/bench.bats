# SPDX-License-Identifier: MIT
# The benches themselves, as far as a test suite has time for them.

# bats file_tags=onethread

load helpers

bench_python() {
	run env PYTHONPATH="$ROOT/tests:$ROOT/tests/bench" timeout 200 \
	    python3 -B "$@"
	echo "$output"
}

# bats test_tags=unsanitized
@test "bench: a budget is met, missed, or not concluded" {
	bench_python - <<-END
		from bench import INCONCLUSIVE, MET, MISSED, judge
		assert judge([0.88, 0.89, 0.90, 0.89, 0.88], 0.90) == MET
		assert judge([0.93, 0.92, 0.91, 0.92, 0.93], 0.90) == MISSED
		assert judge([1.5, 1.45, 1.4, 1.45, 1.5], -1.3) == MET
		assert judge([1.2, 1.25, 1.2, 1.25, 1.2], -1.3) == MISSED
		assert judge([0.5, 0.7, 0.8, 0.9, 1.2], 2) == INCONCLUSIVE
		assert judge([0.8, 0.8], 2) == INCONCLUSIVE
	END
	[ "$status" -eq 0 ]
}

# Symptom: wrk pads a time in seconds with a space, and a bench beside other work
# ended there.
# bats test_tags=unsanitized
@test "bench: wrk's latencies are read in every unit" {
	bench_python - <<-END
		from measuring.load import wrk_time_us
		said = "     50%   11.34ms\n     75%  640.00us\n     99%    1.40s \n"
		assert wrk_time_us(said, 50) == 11340, wrk_time_us(said, 50)
		assert wrk_time_us(said, 75) == 640, wrk_time_us(said, 75)
		assert wrk_time_us(said, 99) == 1400000, wrk_time_us(said, 99)
	END
	[ "$status" -eq 0 ]
}

# Symptom: a bench that had failed left the proxy behind that it was waiting for.
# bats test_tags=unsanitized
@test "bench: a proxy that never answers is ended, with all below it" {
	bench_python - <<-END
		import measuring.process
		from contenders import start_on_ports
		measuring.process.DEADLINE_S = 0.5
		argv = ["bash", "-c", "trap : TERM; sleep 1000 & echo \$\$ \$! "
		        ">$T/pids; while true; do wait; done"]
		try:
		    start_on_ports("slow", ["127.0.0.1:1"], "127.0.0.1",
		                   lambda addresses, folder: "", argv)
		except measuring.process.MeasuringError as error:
		    print(error)
	END
	[ "$status" -eq 0 ]
	[[ $output == "slow does not get there" ]]
	read -r shell sleeper <"$T/pids"
	wait_for 10 ended "$shell"
	wait_for 10 ended "$sleeper"
}

# of_session PID COMMAND: whether COMMAND is running in that session.
of_session() {
	ps -s "$1" -o stat=,comm= | grep -v '^Z' | grep -qE "$2"
}

no_session() {
	! of_session "$1" .
}

# bats test_tags=unsanitized
@test "bench: SIGTERM ends a bench and the proxies that it has started" {
	local name

	for name in TERM HUP; do
		spawn bench env PYTHONPATH="$ROOT/tests" PEERS=machine python3 \
		    -B "$ROOT/tests/bench/bench.py" "$BUILD" "$T/report.md" \
		    --only keep-alive
		wait_for 10 of_session "${PIDS[bench]}" 'lfproxy|haproxy|nginx'
		signal bench "$name"
		wait_for 10 no_session "${PIDS[bench]}"
	done
}

# bats test_tags=unsanitized
@test "bench: one peer of each version, the newest last" {
	mkdir -p "$T/build/peers/old/usr/sbin" "$T/build/peers/new/usr/sbin"
	bench_python - <<-END
		import peers

		class Fake(peers.Peer):
		    said = {None: "3.0.11-1", "old": "3.0.9", "new": "3.2.1"}
		    def __init__(self, kind, tree=None):
		        self.kind, self.tree = kind, tree
		        self.told(f"v {self.said[tree and tree.name]}\nOpenSSL 3.5.1",
		                  "^v (.+)", "(OpenSSL .+)")
		        print(self.kind, self.version)

		peers.Peer = Fake
		peers.TREES = peers.pathlib.Path("$T/build/peers")
		assert [p.name for p in peers.peers()] == [
		    "HAProxy 3.0.9", "HAProxy 3.0.11", "HAProxy 3.2",
		    "nginx 3.0.9", "nginx 3.0.11", "nginx 3.2"]
		assert peers.newest("nginx").name == "nginx 3.2"
		assert peers.kind_of("HAProxy 3.2, splice-auto") == "HAProxy"
	END
	[ "$status" -eq 0 ]
}

# Symptom: the memory of a process that had had sessions before was measured, and
# was within the budget, when the first 1500 sessions took 0.52 KiB each.
# bats test_tags=unsanitized
@test "bench: an idle session of a fresh process takes at most half a KiB" {
	bench_python - <<-END
		from samples import Samples, raise_descriptors
		raise_descriptors()
		with Samples("$BUILD") as samples:
		    kib = samples.idle("lfproxy", 1500)["kib"]
		print(kib)
		assert 0.2 < kib <= 0.5, kib
	END
	[ "$status" -eq 0 ]
}

# bats test_tags=unsanitized
@test "bench: a whole tree is kept, one that lacks a file or a package is made again" {
	mkdir "$T/bin"
	cat >"$T/bin/mmdebstrap" <<-'END'
		#!/bin/sh
		for tree; do case $tree in *.new) break ;; esac; done
		mkdir -p "$tree/var/lib/dpkg/info"
		cd "$tree"
		echo x >file
		: >conf
		printf '/.\n/file\n/conf\n' >var/lib/dpkg/info/a.list
		md5sum file conf >var/lib/dpkg/info/a.md5sums
		printf '%s\n' 'Package: a' 'Status: install ok installed' \
		    'Architecture: all' 'Version: 1' 'Maintainer: m' \
		    'Description: d' 'Conffiles:' \
		    " /conf $(md5sum <conf | cut -c 1-32)" \
		    >var/lib/dpkg/status
		echo made >>../made
	END
	chmod +x "$T/bin/mmdebstrap"
	PATH=$T/bin:$PATH
	tree() { "$ROOT/scripts/debian-tree" suite "$T/tree" "$@"; }
	tree a
	echo y >"$T/tree/conf"
	tree a
	[ "$(wc -l <"$T/made")" -eq 1 ]
	rm "$T/tree/file"
	tree a
	[ "$(wc -l <"$T/made")" -eq 2 ]
	tree a b
	[ "$(wc -l <"$T/made")" -eq 3 ]
}

# bats test_tags=covered
@test "bench: a flooding client stops on SIGTERM" {
	start_app a
	spawn flood "$TOOLS/badclient" never-read "$(addr a)" --count 50 \
	    --deadline 200
	wait_for 10 has_line flood '^established 50$'
	signal flood TERM
	wait_for 10 ended "${PIDS[flood]}"
}

# tls_load MODE OPTION...: against nginx with TLS.
tls_load() {
	run "$TOOLS/tlsload" "$@" --deadline 100 "$(addr tls)"
	echo "$output"
}

# bats test_tags=unsanitized
@test "bench: the TLS load counts handshakes and checks what it gets" {
	make_ca ca
	make_cert site ca DNS:site.example
	start_nginx_tls site
	tls_load handshakes --connections 4 --count 20 --ca "$T/ca.pem" \
	    --sni site.example
	[ "$status" -eq 0 ]
	[[ $output == *'"handshakes": 20, "resumed": 0, '* ]]
	tls_load handshakes --connections 4 --count 20 --resume --tls 1.2
	[ "$status" -eq 0 ]
	[[ $output == *'"handshakes": 20, "resumed": 16, '*'"TLSv1.2"'* ]]
	tls_load handshakes --count 1 --groups P-256
	[ "$status" -eq 0 ]
	[[ $output == *'"group": "secp256r1"'* ]]
	tls_load handshakes --count 1 --requests 0 --alpn x,http/1.1
	[ "$status" -eq 0 ]
	[[ $output == *'"handshakes": 1, '*'"alpn": "http/1.1"'* ]]
	tls_load handshakes --count 1 --ca "$T/ca.pem" --sni other.example
	[ "$status" -eq 1 ]
	[[ $output == *'handshake: certificate verify failed'* ]]
	tls_load storm --connections 8 --storm 4 --rate 500 --ms 200
	[ "$status" -eq 0 ]
	[[ $output == '{"requests": '[1-9]*'"handshakes": 8, '*'"storm": {"per_s": '[1-9]* ]]
	mkdir "$T/www/bytes"
	head -c 1000000 /dev/zero | tr '\0' x >"$T/www/bytes/1000000"
	tls_load bulk --connections 2 --bytes 1000000
	[ "$status" -eq 0 ]
	[[ $output == *'"bytes": 2000000, '* ]]
	printf y | dd of="$T/www/bytes/1000000" bs=1 seek=999999 conv=notrunc
	tls_load bulk --bytes 1000000
	[ "$status" -eq 1 ]
	[[ $output == *'a wrong byte among the last '*'before 0 more'* ]]
}

# bats test_tags=slow, timing
@test "bench: three rounds of the start are judged against the peers" {
	local rc

	bench_python "$ROOT/tests/bench/bench.py" "$BUILD" "$T/report.md" \
	    --rounds 3 --only start
	rc=$status
	# 3: the machine was too busy to conclude anything.
	[ "$rc" -eq 0 ] || { [ "$rc" -eq 3 ] && [[ $output == *inconclusive* ]]; }
	grep -qE '^\| HAProxy [0-9.]+ \| [0-9.]+' "$T/report.md"
	grep -qE '^\| nginx [0-9.]+ \| [0-9.]+' "$T/report.md"
}

# `make soak` does the same for five minutes, and is stricter.
# bats test_tags=slow, timing
@test "soak: half a minute of mixed load leaves memory and descriptors flat" {
	bench_python "$ROOT/tests/bench/soak.py" "$BUILD" --seconds 30
	[ "$status" -eq 0 ]
	[[ $output == *"failed runs: 0"* ]]
}

# bats test_tags=covered
@test "soak: growth of memory and of descriptors is found" {
	bench_python - <<-END
		from soak import compare
		def run(kib, fds):
		    return [(t / 10, kib(t / 10), fds(t / 10))
		            for t in range(3000)]
		flat = run(lambda t: 5000 + int(t * 10) % 7 * 8, lambda t: 700)
		assert compare(flat, 300)
		# The warm-up may take what it needs; less later is no harm.
		assert compare(run(lambda t: 5000 if t < 50 else 9000,
		                   lambda t: 30 if t < 50 else 700), 300)
		assert compare(run(lambda t: 9000 - 10 * t, lambda t: 700), 300)
		assert not compare(run(lambda t: 5000 + t, lambda t: 700), 300)
		assert not compare(run(lambda t: 5000, lambda t: 700 + t / 8), 300)
	END
	[ "$status" -eq 0 ]
}

# leaks VARIABLE WHAT: the soak of an lfproxy that loses it fails, and says so.
leaks() {
	mkdir -p "$T/$1"
	ln -s "$ROOT/build/fault/lfproxy" "$T/$1/lfproxy"
	ln -s "$BUILD/tools" "$BUILD/lab" "$BUILD/bench" "$T/$1"
	export "LFPROXY_FAULT_$1=1"
	bench_python "$ROOT/tests/bench/soak.py" "$T/$1" --seconds 20
	unset "LFPROXY_FAULT_$1"
	[ "$status" -eq 1 ]
	[[ $output =~ $2:\ [0-9]+\ at\ first,\ [0-9]+\ at\ last,\ [^,]*,\ allowed\ [^\;]*\;\ grows ]]
}

# bats test_tags=long
@test "soak: an lfproxy that leaks memory, or descriptors, fails" {
	[ -x "$ROOT/build/fault/lfproxy" ] ||
	    skip "no build/fault/lfproxy; make MODE=fault builds it"
	leaks LEAK_MEMORY 'memory, KiB'
	leaks LEAK_FD descriptors
}
