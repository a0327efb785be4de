# SPDX-License-Identifier: MIT
# Much at once, from tools that others wrote.

load helpers

# benchmark ADDRESS-PORT REQUESTS OPTION...: redis-benchmark through lfproxy.
benchmark() {
	local port=$1 n=$2

	shift 2
	run -0 timeout 200 redis-benchmark -h 127.0.0.1 -p "$port" -c 50 \
	    -n "$n" -t set,get -q "$@"
	echo "$output"
	[[ $output == *SET:*"requests per second"* ]]
	[[ $output == *GET:*"requests per second"* ]]
	[[ ! $output =~ [Ee]rror ]]
}

# bats test_tags=slow
@test "load: wrk on 64 connections sees no socket error" {
	start_app a
	start_app b
	THREADS=4 web a b
	run -0 wrk -t2 -c64 -d5 --timeout $((10 * PATIENCE)) "$(url)"
	echo "$output"
	[[ $output != *"Socket errors"* && $output != *Non-2xx* ]]
	[[ $output =~ ([0-9]+)\ requests\ in ]]
	[ "${BASH_REMATCH[1]}" -gt "$(scaled 1000)" ]
	wait_for 10 sessions_ended 64
	# wrk opens one more than asked for, to try the address.
	diff=$(($(sessions | grep -c ' app/a ') -
	    $(sessions | grep -c ' app/b ')))
	[ ${diff#-} -le 1 ]
}

# bats test_tags=slow
@test "load: wrk with a connection for each request sees no socket error" {
	start_app a
	start_app b
	THREADS=4 web a b
	run -0 wrk -t2 -c32 -d3 --timeout $((10 * PATIENCE)) -H 'Connection: close' "$(url)"
	echo "$output"
	[[ $output != *"Socket errors"* && $output != *Non-2xx* ]]
}

# bats test_tags=slow
@test "load: redis-benchmark, pipelined and not" {
	start_redis
	THREADS=4 web redis
	benchmark "$(port web)" "$(scaled 25000)"
	benchmark "$(port web)" "$(scaled 100000)" -P 16
	benchmark "$(port web)" "$(scaled 5000)" -d 20000
	PROMOTION=always
	stop_lfproxy
	THREADS=4 web redis
	benchmark "$(port web)" "$(scaled 12500)"
	benchmark "$(port web)" "$(scaled 50000)" -P 16
}

# bats test_tags=slow
@test "load: redis-benchmark while servers go up and down" {
	local i

	start_redis
	start_app a
	start_app b
	start_lfproxy <<-END
		$(THREADS=4 common)
		[frontend redis]
		listen = 127.0.0.1:0
		backend = redis
		pool = main
		[frontend web]
		listen = 127.0.0.1:0
		backend = app
		pool = main
		[backend redis]
		server = redis $(addr redis)
		check = connect interval=100ms timeout=5s
		[backend app]
		server = a $(addr a)
		server = b $(addr b) check_timeout=500ms
		check = http path=/healthz interval=100ms timeout=20s fall=2 rise=1
	END
	spawn wrk wrk -t1 -c8 -d$((3 * PATIENCE)) -H 'Connection: close' \
	    "$(url)"
	spawn redis-benchmark redis-benchmark -h 127.0.0.1 \
	    -p "$(port redis)" -c 50 -n "$(scaled 100000)" -t set,get -q
	for i in 1 2; do
		end b KILL
		wait_for 10 says_down app/b $((2 * i - 1))
		restart_app b
		wait_for 10 says_up app/b $((2 * i - 1))
		signal b STOP
		wait_for 10 says_down app/b $((2 * i))
		signal b CONT
		wait_for 10 says_up app/b $((2 * i))
	done
	finish redis-benchmark 100
	[[ $output == *GET:*"requests per second"* ]]
	[[ ! $output =~ [Ee]rror ]]
	finish wrk 100
	equal "broken sessions of others" "" "$(sessions |
	    grep -v ' app/b ' | grep -vE ' (--|C[CD]) ')"
	wait_for 10 session_like ' redis redis/redis .* -- '
}

# bats test_tags=slow
@test "load: 2000 idle sessions, each still works at the end" {
	local before

	need_descriptors 4500
	ulimit -n "$(ulimit -Hn)"
	start_app a
	start_app b
	web a b
	fetch -o /dev/null "$(url)"
	wait_for 10 sessions_ended 1
	before=$(fd_count)
	spawn idle "$TOOLS/badclient" idle "127.0.0.1:$(port web)" \
	    --count 2000 --verify --deadline 200
	wait_for 60 has_line idle '^established 2000$'
	wait_for 30 fds_at_least $((before + 4000))
	quiet 30
	signal idle TERM
	finish idle 100
	[[ $output == *"open 2000"*"verified 2000"* ]]
	wait_for 30 sessions_ended 2001
	wait_for 10 fds_at_most "$before"
	equal "broken sessions" "" "$(sessions | grep -v ' -- ')"
}

# bats test_tags=slow
@test "load: nginx behind it, a file of 50 MB with curl, ten at once" {
	local sum i

	start_nginx
	"$TOOLS/streamer" generate --up "$(scaled 50000000)" >"$T/www/big"
	sum=$(sha256sum <"$T/www/big")
	THREADS=4 web nginx
	equal "the page" nginx "$(fetch "$(url)")"
	for i in 1 2 3 4 5 6 7 8 9 10; do
		spawn "curl$i" sh -c "curl -sS '$(url)big' | sha256sum"
	done
	for i in 1 2 3 4 5 6 7 8 9 10; do
		finish "curl$i" 60
		equal "sum $i" "$sum" "$output"
	done
	run fetch -o /dev/null -w '%{http_code}' "$(url)none"
	equal "status" 404 "$output"
}
