#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Pools as their operator sees them: what `show pool` and `show threads` say,
# and what `set pool` changes while traffic flows.

load helpers

# Values of classes, which add to that of the process.
NICER=5
NICEST=9

# nice_by N: that of a thread; the suite may be run by nice.
nice_by() {
	local nice

	nice=$(($(nice) + $1))
	echo $((nice < 19 ? nice : 19))
}

ADMIN=$T/admin.sock

# MAIN: lines of the pool main.  LAZY: of a second one.
common() {
	cat <<-END
		[global]
		log = off
		drain_timeout = 10m
		admin = $ADMIN mode=0600
		[pool main]
		${MAIN:-threads = 3 nice=0, 1 nice=$NICER
		shards = 1}
		[pool lazy]
		${LAZY:-threads = 1}
	END
}

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# set_main WHAT VALUE...: the answer must be empty.
set_main() {
	run -0 ctl set pool main "$@"
	equal "the answer to set pool main $*" "" "$output"
}

# refused_with PATTERN ARGUMENT...: `set pool ARGUMENT...` is an error.
refused_with() {
	local pattern=$1

	shift
	run -1 ctl set pool "$@"
	# shellcheck disable=SC2053 # a pattern
	[[ $output == $pattern ]] || fail "set pool $*: $output"
}

# main EXPRESSION: Python, of the pool main's object p.
main() {
	ctl show pool main json | of_json p "$1"
}

# threads EXPRESSION: Python, of the list t of main's threads.
threads() {
	ctl show threads main json | of_json t "$1"
}

of_json() {
	python3 -c '
import json, sys
value = json.load(sys.stdin)
print(eval("(" + sys.argv[2] + ")", {sys.argv[1]: value[0] if sys.argv[1] == "p" else value}))
' "$1" "$2"
}

is() {
	[ "$("$1" "$2")" = "$3" ]
}

SETTINGS='[p[k] for k in ("threads", "classes", "autoscale", "shards",
    "promotion", "order", "cpus")]'

# The machine's CPUs that this test may use, and the first of them.
ALL_CPUS=$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)
ONE_CPU=${ALL_CPUS%%[-,]*}

# begin_load: verified streams through the frontend, in the background, until
# end_load.
begin_load() {
	# shellcheck disable=SC2016
	spawn load sh -ec 'while [ ! -e "$1" ]; do
		"$2" client "$3" --connections 8 --up 20000 --down 20000 \
		    --duration 1 --rest 50 --deadline "$4"
	done' sh "$T/enough" "$TOOLS/streamer" "127.0.0.1:$(port web)" \
	    $((60 * PATIENCE))
	wait_for 10 is main 'p["turns"] > 100' True
}

end_load() {
	: >"$T/enough"
	finish load 60
}

# Traffic flows, and did after the last change.
flowing() {
	wait_for 10 is main "p[\"turns\"] > $(main 'p["turns"]') + 100" True
}

streaming() {
	start_streams a
	web a
}

quiet_ledger() {
	is main 'p["handlers"] == 0 and p["fetched"] ==
	    p["dispatched"] + p["merged"] + p["stale"] + p["in_batch"]' True
}

@test "pool: show pool shows settings, roles, ledger, counters and times" {
	local cpus

	cpus=$(nproc)
	streaming
	streams "127.0.0.1:$(port web)" --connections 4 --up 50000 --down 50000
	run -0 ctl show pool main
	[[ $output == "pool main"$'\n'* ]]
	for line in 'threads     4 wanted, 4 resident' \
	    'roles       [0-4] leading, [0-4] processing, [0-4] standby, [0-4] following' \
	    "classes     3 nice=0, 1 nice=$NICER" 'autoscale   off' \
	    'shards      1' 'promotion   adaptive, order lifo' \
	    "cpus        $ALL_CPUS" 'handlers    [0-9]+, moved 0' \
	    'ledger      fetched [1-9][0-9]* [=~] dispatched [1-9][0-9]* \+ merged [0-9]+ \+ stale [0-9]+ \+ in batch [0-9]+' \
	    'waits       [1-9][0-9]*, errors 0' \
	    'turns       [1-9][0-9]*, inline [0-9]+, resumed [0-9]+' \
	    'promotions  [0-9]+, wakes [0-9]+' \
	    'leadership  adoptions [0-9]+, taken over [0-9]+, guarded [0-9]+' \
	    'long turns  0 running of '$((cpus < 3 ? cpus : 3))', nicer by [0-9]+, 0 waiting, waits 0, waited 0\.0 us' \
	    'TLS keys    operations 0, in the last second 0' \
	    'costs       wake [0-9.]+ us, relay turn [0-9.]+ us, accept turn [0-9.]+ us' \
	    'times in us           count         p50         p90         p99         max' \
	    'promotion delay( +[0-9.]+){5}' 'poll gap( +[0-9.]+){5}' \
	    'service +[1-9][0-9]*( +[0-9.]+){4}'; do
		grep -qxE "  $line" <<<"$output" || fail "no line '$line': $output"
	done
	refute grep -qE '.{81}' <<<"$output"
	wait_for 10 quiet_ledger
}

@test "pool: show pool json has the numbers of the text" {
	streaming
	streams "127.0.0.1:$(port web)" --connections 4 --up 50000 --down 50000
	wait_for 10 quiet_ledger
	equal "both pools" "['main', 'lazy']" \
	    "$(ctl show pool json | of_json all '[x["name"] for x in all]')"
	equal "ledger" \
	    "$(ctl show pool main | grep -o 'fetched [0-9]*' | cut -d' ' -f2)" \
	    "$(main 'p["fetched"]')"
	equal "turns" True "$(main 'p["service_us"]["count"] <= p["turns"] and
	    0 < p["service_us"]["p50"] <= p["service_us"]["p90"]
	    <= p["service_us"]["p99"] <= p["service_us"]["max"]')"
	equal "threads" "4 [3, 1]" "$(main '"%d %s" % (p["threads"],
	    [c["threads"] for c in p["classes"]])')"
	equal "lazy" 0 "$(ctl show pool lazy json | of_json p 'p["turns"]')"
}

@test "pool: show threads has a row for each thread and the sums of the pool" {
	streaming
	streams "127.0.0.1:$(port web)" --connections 4 --up 50000 --down 50000
	wait_for 10 quiet_ledger
	run -0 ctl show threads main
	equal "rows" 16 "$(grep -cE '^ {7}[0-3] ' <<<"$output")"
	refute grep -qE '.{81}' <<<"$output"
	equal "ids" "[0, 1, 2, 3]" "$(threads '[x["thread"] for x in t]')"
	equal "classes" "[0, 0, 0, 1]" "$(threads '[x["class"] for x in t]')"
	equal "nice" "[$(nice), $(nice), $(nice), $(nice_by $NICER)]" \
	    "$(threads '[x["nice"] for x in t]')"
	# The last turn may not be over.
	wait_for 10 is threads \
	    'len([x for x in t if x["role"] == "leading"])' 1
	equal "turns" "$(main 'p["turns"]')" \
	    "$(threads 'sum(x["turns"] for x in t)')"
	equal "time in roles" True "$(threads 'all(x["leading_us"] +
	    x["following_us"] + x["standby_us"] + x["processing_us"] > 0
	    for x in t)')"
	equal "the kernel's threads" True "$(threads "all(open(
	    '/proc/$LFPROXY_PID/task/%d/comm' % x['tid']).read() ==
	    'lf-main-%d\n' % x['thread'] for x in t)")"
	equal "all threads" 5 "$(ctl show threads json | of_json t 'len(t)')"
	run -1 ctl show threads nope
	equal "the answer" "Unknown pool 'nope'; there are main, lazy." \
	    "$output"
}

# bats test_tags=slow
@test "pool: threads come and go under load, no byte is lost" {
	streaming
	begin_load
	for value in 1 8 '2..6' '2 nice=1, 3 nice=4' auto 3; do
		set_main threads "$value"
		flowing
	done
	wait_for 10 is main '(p["threads"], p["resident"])' '(3, 3)'
	end_load
	wait_for 10 quiet_ledger
	wait_for 10 lfproxy_said 'pool main: 8 threads now, 1 before'
}

# bats test_tags=slow
@test "pool: shards, promotion, order and cpus change under load" {
	MAIN='threads = 4' streaming
	begin_load
	for value in 4 2 1 3 auto; do
		set_main shards "$value"
		flowing
	done
	set_main shards 2
	for value in always kernel adaptive; do
		set_main promotion "$value"
		equal "promotion" "$value" "$(main 'p["promotion"]')"
		flowing
	done
	for value in fifo priority lifo; do
		set_main order "$value"
		equal "order" "$value" "$(main 'p["order"]')"
	done
	set_main handshake_threads 2
	equal "long turns" 2 "$(main 'p["long_limit"]')"
	set_main handshake_threads auto
	equal "long turns" True \
	    "$(main "p[\"long_limit\"] == min(3, $(nproc))")"
	set_main handshake_nice 0
	equal "nice of long turns" 0 "$(main 'p["long_nice"]')"
	if ((EUID == 0)); then
		set_main handshake_nice 19
		equal "nice of long turns" 19 "$(main 'p["long_nice"]')"
	fi
	set_main cpus "$ONE_CPU"
	equal "cpus" "$ONE_CPU" "$(main 'p["cpus"]')"
	flowing
	set_main cpus all
	equal "cpus" "$ALL_CPUS" "$(main 'p["cpus"]')"
	wait_for 10 is main '(p["shards"], p["shards_closing"])' '(2, 0)'
	end_load
	wait_for 10 quiet_ledger
}

# bats test_tags=slow
@test "pool: impossible changes are refused with the reason, under load" {
	MAIN=$'threads = 4\nshards = 2' streaming
	begin_load
	before=$(main "$SETTINGS")
	refused_with "'0' is not a number of threads; allowed are auto, 1 to 1024, *" \
	    main threads 0
	refused_with "'1025' is not a number of threads; *" main threads 1025
	refused_with "'1000, 25' makes 1025 threads; allowed are 1 to 1024*" \
	    main threads '1000, 25'
	refused_with "'8..2' is not a range of threads; *" main threads 8..2
	refused_with "'nice=20' is not possible; *" main threads '2 nice=20'
	refused_with "1 thread cannot serve 2 shards; *." main threads 1
	refused_with "5 shards need at least 5 threads, and there are 4; *" \
	    main shards 5
	refused_with "'0' is not a number of shards; *" main shards 0
	refused_with "'0' is not a number of threads; allowed are auto, or 1 to 1024." \
	    main handshake_threads 0
	refused_with "'21' is not a whole number from 0 to 20." main handshake_nice 21
	refused_with "'allways' is unknown; did you mean 'always'? *" \
	    main promotion allways
	refused_with "'random' is unknown; allowed are lifo, fifo, priority." \
	    main order random
	refused_with "CPU 1024 does not exist or may not be used here; allowed are $ALL_CPUS, or all." \
	    main cpus 1024
	refused_with "'x' is not a list of CPUs; *" main cpus x
	refused_with "'nice' cannot be set; allowed are threads, shards, *" \
	    main nice 5
	refused_with "The value of cpus is missing; *" main cpus
	refused_with "What to set is missing; *" main
	refused_with "Unknown pool 'mian'; did you mean 'main'? there are main, lazy." \
	    mian threads 2
	refused_with "The name of a pool is missing, *"
	equal "the settings" "$before" "$(main "$SETTINGS")"
	end_load
}

@test "pool: changes need the level admin" {
	start_app a
	web a
	before=$(main "$SETTINGS")
	run -0 socat -t 60 - "UNIX-CONNECT:$ADMIN" \
	    < <(printf 'operator;set pool main threads 7;show cli level\n')
	[[ $output == *"Permission denied"*operator* ]]
	equal "the settings" "$before" "$(main "$SETTINGS")"
	printf 'help set\n' | socat -t 60 - "UNIX-CONNECT:$ADMIN" >"$T/help"
	grep -q '^  set pool <pool> <what> <value> ' "$T/help"
}

@test "pool: with shards = auto the shards follow the threads" {
	MAIN='threads = 8' start_app a
	MAIN='threads = 8' web a
	equal "of 8 threads" 4 "$(main 'p["shards"]')"
	set_main threads 1
	equal "of 1 thread" 1 "$(main 'p["shards"]')"
	set_main threads '2, 2 nice=1'
	equal "of 4 threads" 2 "$(main 'p["shards"]')"
	set_main threads 1..9
	equal "of 1 thread or more" 1 "$(main 'p["shards"]')"
	set_main threads 8
	set_main shards 3
	set_main threads 6
	equal "of a number that was set" 3 "$(main 'p["shards"]')"
	refused_with "2 threads cannot serve 3 shards; *." main threads 2
	set_main shards auto
	equal "of 6 threads" 3 "$(main 'p["shards"]')"
	set_main threads 2
	equal "of 2 threads" 1 "$(main 'p["shards"]')"
	wait_for 10 is main 'p["shards_closing"]' 0
	fetch "$(url)" >/dev/null
}

@test "pool: a range of threads is shown, and ends with a number" {
	MAIN='threads = 1..4' start_app a
	MAIN='threads = 1..4' web a
	equal "the range" "{'min': 1, 'max': 4}" "$(main 'p["autoscale"]')"
	ctl show pool main | grep -qx '  autoscale   1..4 threads'
	refused_with "2 shards need at least 2 threads, and autoscaling may leave 1; *" \
	    main shards 2
	set_main threads 2
	equal "the range" None "$(main 'p["autoscale"]')"
	set_main threads 2..3
	equal "the range" "{'min': 2, 'max': 3}" "$(main 'p["autoscale"]')"
	fetch "$(url)" >/dev/null
}

@test "pool: a range of threads grows under load, and says so" {
	# A handshake with such a key takes far longer here than at its client:
	# lfproxy is short of threads however busy the machine is.
	openssl req -x509 -newkey rsa:3072 -nodes -days 2 -subj /CN=slow \
	    -keyout "$T/slow.key" -out "$T/slow.pem" 2>/dev/null
	cat "$T/slow.key" >>"$T/slow.pem"
	start_app a
	MAIN='threads = 1..2' WEB='127.0.0.1:0 tls=slow' \
	    LAZY=$'threads = 1\n[tls slow]\ncert = '"$T/slow.pem" web a
	spawn load "$TOOLS/tlsload" handshakes --connections 16 --requests 0 \
	    --ms 0 --deadline 500 "$(listening web)"
	wait_for 30 is main '(p["threads"], p["resident"])' '(2, 2)'
	wait_for 10 lfproxy_said 'pool main: 2 threads now, after two seconds without'
	end load
}

@test "pool: each shard has a leader, and none with promotion = kernel" {
	start_app a
	MAIN=$'threads = 3\nshards = 3\ncpus = '"$ONE_CPU" web a
	wait_for 10 is main 'p["roles"]["leading"]' 3
	set_main promotion kernel
	wait_for 10 is main '[p["roles"][r] for r in ("leading", "standby")]' \
	    '[0, 3]'
	# Listeners are not counted.
	equal "handlers" 0 "$(main 'p["handlers"]')"
	fetch "$(url)" >/dev/null
}

# Symptom: with promotion = kernel such a pool grew and never shrank.
@test "pool: a range of threads shrinks when nothing is to be done" {
	start_app a
	MAIN=$'threads = 4\nshards = 1\npromotion = kernel' \
	    LAZY=$'threads = 4\nshards = 1' web a
	set_main threads 1..4
	ctl set pool lazy threads 1..4
	equal "threads" 4 "$(main 'p["threads"]')"
	wait_for 30 lfproxy_said 'pool lazy: 3 threads now, after ten seconds'
	wait_for 20 lfproxy_said 'pool main: 3 threads now, after ten seconds'
	fetch "$(url)" >/dev/null
}

# Symptom: threads that had been nice stayed so when a range took their place.
@test "pool: the threads of a range are not nice, whatever they were before" {
	start_app a
	MAIN="threads = 2 nice=$NICER, 1 nice=$NICEST"$'\nshards = 1' web a
	nice_now() { is threads 'sorted({x["nice"] for x in t})' "$1"; }
	need_less_nice
	set_main threads 1..3
	equal "classes" "[{'threads': 3, 'nice': 0}]" "$(main 'p["classes"]')"
	wait_for 10 nice_now "[$(nice)]"
}

@test "pool: a class is nicer than lfproxy by its value, also after a change" {
	local own

	start_app a
	renice -n "$(nice_by 2)" -p $BASHPID >/dev/null
	own=$(nice)
	MAIN=$'threads = 1 nice=0, 1 nice=1\nshards = 1' web a
	nice_now() { is threads '[x["nice"] for x in t]' "$1"; }
	wait_for 10 nice_now "[$own, $(nice_by 1)]"
	set_main threads 1 nice=1, 1 nice=2
	wait_for 10 nice_now "[$(nice_by 1), $(nice_by 2)]"
	need_less_nice
	set_main threads 1 nice=0, 1 nice=0
	wait_for 10 nice_now "[$own, $own]"
	set_main threads 1 nice=-1, 1 nice=19
	wait_for 10 nice_now "[$((own - 1)), 19]"
}

@test "pool: nice and cpus of the file hold for its threads alone" {
	MAIN="threads = 1 nice=$NICER, 1 nice=$NICEST
	cpus = $ONE_CPU" start_app a
	MAIN="threads = 1 nice=$NICER, 1 nice=$NICEST
	cpus = $ONE_CPU" web a
	equal "nice" "[$(nice_by $NICER), $(nice_by $NICEST)]" \
	    "$(threads '[x["nice"] for x in t]')"
	for tid in $(threads '" ".join(str(x["tid"]) for x in t)'); do
		equal "cpus of $tid" "$ONE_CPU" "$(sed -n \
		    's/^Cpus_allowed_list:\t//p' \
		    "/proc/$LFPROXY_PID/task/$tid/status")"
		nice=$(awk '{ print $19 }' \
		    "/proc/$LFPROXY_PID/task/$tid/stat")
		[ "$nice" -eq "$(nice_by $NICER)" ] ||
		    [ "$nice" -eq "$(nice_by $NICEST)" ]
	done
	equal "cpus of lazy" "$ALL_CPUS" \
	    "$(ctl show pool lazy json | of_json p 'p["cpus"]')"
	fetch "$(url)" >/dev/null
	equal "lazy's turns" 0 \
	    "$(ctl show pool lazy json | of_json p 'p["turns"]')"
}

@test "pool: the file's shards and cpus are refused with the reason" {
	start_app a
	MAIN=$'threads = 2\nshards = 3\ncpus = 1024' common >"$T/bad.ini"
	printf '[frontend f]\nlisten=:0\nbackend=b\n[backend b]\nserver=s %s\n' \
	    "$(addr a)" >>"$T/bad.ini"
	run -78 "$LFPROXY" -t -c "$T/bad.ini"
	[[ $output == *"bad.ini:7: shards: 3 shards need at least 3 threads, and there are 2; allowed are 1 to 2"* ]]
	[[ $output == *"bad.ini:8: cpus: CPU 1024 does not exist or may not be used here; allowed are $ALL_CPUS, or all"* ]]
}

# complete_ctl WORD...: what bash offers in place of the last word.
complete_ctl() {
	COMP_WORDS=(lfproxyctl "$@")
	COMP_CWORD=$#
	COMPREPLY=()
	_lfproxyctl
	echo "${COMPREPLY[*]}"
}

@test "pool: completion offers pools, settings and values" {
	start_app a
	web a
	compopt() { :; }
	mkdir -p "$T/bin"
	ln -sf "$CTL" "$T/bin/lfproxyctl"
	PATH=$T/bin:$PATH
	# shellcheck source=/dev/null
	. "$ROOT/etc/completion/lfproxyctl"
	equal "commands" "save set show shutdown" "$(complete_ctl -S "$ADMIN" s)"
	equal "to show" "table threads tls top" "$(complete_ctl -S "$ADMIN" show t)"
	equal "pools" "main lazy json" "$(complete_ctl -S "$ADMIN" show pool '')"
	equal "pools" "main lazy" "$(complete_ctl -S "$ADMIN" set pool '')"
	equal "settings" "threads shards promotion order cpus" \
	    "$(complete_ctl -S "$ADMIN" set pool main '')"
	equal "promotions" "adaptive always" \
	    "$(complete_ctl -S "$ADMIN" set pool main promotion a)"
	equal "orders" "lifo fifo priority" \
	    "$(complete_ctl -S "$ADMIN" set pool main order '')"
	equal "nobody there" "" "$(complete_ctl -S /nowhere set pool '')"
}

@test "pool: a new nice value is that of the threads that are there, too" {
	start_app a
	MAIN="threads = 2" web a
	set_main threads 2 nice=$NICEST
	for tid in $(threads '" ".join(str(x["tid"]) for x in t)'); do
		equal "nice of $tid" "$(nice_by $NICEST)" "$(awk '{ print $19 }' \
		    "/proc/$LFPROXY_PID/task/$tid/stat")"
	done
}

# The descriptors that shards have, an epoll set, an eventfd and a timerfd each,
# among others that stay.
shard_fds() {
	find "/proc/$LFPROXY_PID/fd" -lname 'anon_inode:\[*' \
	    2>/dev/null | wc -l
}

shard_fds_are() {
	[ "$(shard_fds)" -eq "$1" ]
}

# bats test_tags=slow
@test "pool: closed shards give their descriptors back, under load" {
	MAIN=$'threads = 1\nshards = 1' streaming
	before=$(shard_fds)
	begin_load
	for promotion in adaptive kernel always; do
		set_main promotion "$promotion"
		for round in 1 2; do
			set_main threads 200
			set_main shards 200
			equal "descriptors of shards, round $round" \
			    $((before + 3 * 199)) "$(shard_fds)"
			flowing
			set_main shards 1
			wait_for 20 shard_fds_are "$before"
			flowing
		done
	done
	set_main threads 1
	wait_for 10 is main '(p["resident"], p["shards_closing"])' '(1, 0)'
	end_load
	wait_for 10 quiet_ledger
	equal "descriptors of shards" "$before" "$(shard_fds)"
}

@test "pool: shards without descriptors are refused and leave none open" {
	MAIN=$'threads = 40\nshards = 1' streaming
	before=$(shard_fds)
	fds=$(fd_count)
	# An epoll set is the first that is refused, then an eventfd.
	for limit in $((fds + 21)) $((fds + 22)); do
		prlimit --pid "$LFPROXY_PID" --nofile="$limit:"
		refused_with '*: Too many open files; raise the limit of descriptors (LimitNOFILE, ulimit -n)*' \
		    main shards 40
		equal "descriptors of shards" "$before" "$(shard_fds)"
		equal "shards" 1 "$(main 'p["shards"]')"
	done
	prlimit --pid "$LFPROXY_PID" --nofile=1000:
	begin_load
	set_main shards 40
	equal "descriptors of shards" $((before + 3 * 39)) "$(shard_fds)"
	flowing
	set_main shards 1
	wait_for 20 shard_fds_are "$before"
	end_load
	wait_for 10 quiet_ledger
}

@test "pool: threads that cannot be started say which limit to raise" {
	{
		printf '[pool main]\nthreads = 60\nshards = 60\n'
		printf '[frontend web]\nlisten = unix:%s\nbackend = app\n' "$T/web"
		printf '[backend app]\ncheck = off\nserver = a 127.0.0.1:9\n'
	} >"$T/many.ini"
	run -71 prlimit --nofile=64:64 timeout 60 "$LFPROXY" -c "$T/many.ini"
	[[ $output == *"pool main cannot be started: Too many open files; raise the limit of descriptors (LimitNOFILE, ulimit -n)"* ]]
}
