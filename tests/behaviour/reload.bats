#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# Reload inside the running process: what changes, what stays, what is refused,
# and that no session that exists or begins meanwhile fails.

# bats file_tags=basic

load helpers

ADMIN=$T/admin.sock
INI=$T/lfproxy.ini

ctl() {
	"$CTL" -S "$ADMIN" "$@"
}

# common: the start of every configuration here.  GLOBAL: further lines.
common() {
	cat <<-END
		[global]
		drain_timeout = 10m
		admin = $ADMIN mode=0600
		${GLOBAL:-log = off}
		[pool main]
		${MAIN:-threads = 2}
		[defaults]
		${DEFAULTS:-check = off}
	END
}

# frontend NAME LINE...; backend NAME LINE...
frontend() {
	printf '[frontend %s]\n' "$1"
	shift
	printf '%s\n' "$@"
}

backend() {
	printf '[backend %s]\n' "$1"
	shift
	printf '%s\n' "$@"
}

# site LINE...: the usual file with these lines in the backend.
site() {
	common
	frontend web "listen = 127.0.0.1:0" "backend = app" ${WEB_POOL:+"$WEB_POOL"}
	backend app "$@"
}

# write: the file, from stdin, as an editor would.
write() {
	cat >"$INI.new"
	mv "$INI.new" "$INI"
}

# reloaded [LINE...]: reload answers with exactly these lines, which may be
# patterns, in that order.
reloaded() {
	local line lines

	run -0 ctl reload
	[ $# -gt 0 ] || set -- 'No change.'
	mapfile -t lines <<<"$output"
	equal "the lines of '$output'" $# ${#lines[@]}
	for line in "${lines[@]}"; do
		# shellcheck disable=SC2053 # a pattern
		[[ $line == $1 ]] || fail "expected '$1', got '$line'"
		shift
	done
}

# refused [PATTERN...]: reload changes nothing; its answer has these lines.
refused_reload() {
	local before pattern

	before=$(state)
	run -1 ctl reload
	[[ $output == "Nothing was changed:"$'\n'* ]] || fail "$output"
	for pattern; do
		grep -qE -- "$pattern" <<<"$output" ||
		    fail "no '$pattern' in: $output"
		wait_for 10 lfproxy_said "^lfproxy: error: .*$pattern"
	done
	state_is "$before"
	wait_for 10 lfproxy_said 'error: the configuration was not reloaded'
}

# The sockets of admin clients that have their answers may still be there.
state_is() {
	wait_for 10 state_as "$1" || equal "the state" "$1" "$(state)"
}

state_as() {
	[ "$(state)" = "$1" ]
}

# Everything that a reload could change, without what time changes.
state() {
	ctl show stat | cut -d, -f1,2,5,8,18,19,28,29,57,74
	ctl show pool json | python3 -c '
import json, sys
for p in json.load(sys.stdin):
    print([p[k] for k in ("name", "threads", "shards", "promotion", "order", "cpus")])'
	find "/proc/$LFPROXY_PID/fd" -type l -printf '%l\n' | grep -c socket:
}

# stat PROXY SERVICE COLUMN: a number of `show stat`.
stat_of() {
	ctl show stat | awk -F, -v px="$1" -v sv="$2" -v col="$3" '
	NR == 1 { sub(/^# /, ""); for (i = 1; i <= NF; i++) at[$i] = i }
	$1 == px && $2 == sv { print $at[col] }'
}

stat_is() {
	[ "$(stat_of "$1" "$2" "$3")" = "$4" ]
}

# hold NAME PORT: a keep-alive connection, see ask; HELD has its descriptors.
declare -gA HELD
hold() {
	local fd

	exec {fd}<>"/dev/tcp/127.0.0.1/$2"
	HELD[$1]=$fd
}

# ask NAME: a request on it; prints what the server answers, its name.
ask() {
	local fd=${HELD[$1]} line n=0

	printf 'GET / HTTP/1.1\r\nHost: x\r\n\r\n' >&"$fd"
	while read -r -t $((60 * PATIENCE)) line <&"$fd"; do
		line=${line%$'\r'}
		[[ ${line,,} != content-length:* ]] || n=${line##*: }
		[ -n "$line" ] || break
	done
	[ "$n" -gt 0 ] || return 1
	read -r -t $((60 * PATIENCE)) line <&"$fd"
	echo "$line"
}

# The proxy has closed it.
ended_by_peer() {
	local rc=0

	read -r -t $((60 * PATIENCE)) -u "${HELD[$1]}" || rc=$?
	equal "how the read from $1 ended" 1 $rc
}

drop() {
	local fd=${HELD[$1]}

	exec {fd}>&-
	unset "HELD[$1]"
}

# served_by PORT N: the servers that answered N new connections, sorted.
served_by() {
	local i

	for ((i = 0; i < $2; i++)); do
		fetch "http://127.0.0.1:$1/"
	done | sort -u | tr '\n' ' '
}

pool_of() {
	ctl show pool "$1" json | python3 -c '
import json, sys
p = json.load(sys.stdin)[0]
print(eval(sys.argv[1]))' "$2"
}

pool_is() {
	[ "$(pool_of "$1" "$2" 2>/dev/null)" = "$3" ]
}

no_pool() {
	! ctl show pool "$1" >/dev/null
}

# bats test_tags=covered
@test "reload: the same file changes nothing" {
	start_app a
	site "server = a $(addr a)" | write
	launch_lfproxy -c "$INI"
	before=$(state)
	reloaded
	state_is "$before"
	run -1 ctl reload now
	[[ $output == "Unexpected argument 'now'; this command takes none." ]]
}

# bats test_tags=covered
@test "reload: SIGHUP does what the command does" {
	start_app a
	start_app b
	site "server = a $(addr a)" | write
	launch_lfproxy -c "$INI"
	site "server = b $(addr b)" | write
	kill -HUP "$LFPROXY_PID"
	wait_for 10 lfproxy_said '^lfproxy: reloaded: 2 changes'
	wait_for 10 lfproxy_said '^lfproxy: backend app: server b is new'
	equal "who answers" b "$(fetch "$(url)")"
}

# bats test_tags=covered
@test "reload: needs the level admin" {
	start_app a
	site "server = a $(addr a)" | write
	launch_lfproxy -c "$INI"
	site "server = a $(addr a) weight=5" | write
	run -0 socat -t 60 - "UNIX-CONNECT:$ADMIN" \
	    < <(printf 'operator;reload\n')
	[[ $output == *"Permission denied"* ]]
	equal "the weight" 100 "$(stat_of app a weight)"
}

@test "reload: without a file there is nothing to read" {
	start_app a
	launch_lfproxy -l 127.0.0.1:0 -s "$(addr a)" -a "$ADMIN"
	refused_reload 'started without a file; start it with -c FILE'
	kill -HUP "$LFPROXY_PID"
	wait_for 10 said_times 2 'not reloaded'
	fetch "$(url main)" >/dev/null
}

@test "reload: a bad file changes nothing and says why, all at once" {
	local long

	start_app a
	site "server = a $(addr a)" | write
	launch_lfproxy -c "$INI"
	{ site "server = a $(addr a)" "retries = 11" "colour = blue" \
	    "server = b nowhere:0"; printf '[fronted x]\n'; } | write
	refused_reload 'lfproxy.ini:14: retries: .*0 to 10' \
	    "lfproxy.ini:15: unknown key 'colour'" \
	    "lfproxy.ini:16: server: 'nowhere:0'" \
	    "lfproxy.ini:17: unknown section \\[fronted x\\]"
	site "server = a $(addr a)" | sed 's/backend = app/backend = ap/' | write
	refused_reload "unknown backend 'ap'; did you mean 'app'"
	site "server = a $(addr a)" | sed 's/^threads.*/threads = 1\nshards = 2/' |
	    write
	refused_reload '2 shards need at least 2 threads'
	long=$(printf 'x%.0s' {1..8200})
	site "server = a $(addr a)" "; $long" "$long = 1" | write
	refused_reload 'lfproxy.ini:15: the line has 8204 characters'
	site "server = a $(addr a)" "server = a $(addr a)" | write
	refused_reload "the name 'a' is already used"
	site "server = a $(addr a)" | sed 's/^log.*/log = off\nuser = nobody9/' |
	    write
	refused_reload "this host has no user 'nobody9'"
	printf 'listen = :1\n' | write
	refused_reload "comes before any section"
	: | write
	refused_reload 'lfproxy.ini: '
	rm "$INI"
	refused_reload 'lfproxy.ini: cannot be read: No such file'
	mkdir "$INI"
	refused_reload 'is a directory without \*.ini in it; name a file'
	rmdir "$INI"
	site "server = a $(addr a)" | write
	reloaded
	equal "who answers" a "$(fetch "$(url)")"
}

@test "reload: an address that cannot be bound changes nothing" {
	start_app a
	start_app b
	site "server = a $(addr a)" | write
	launch_lfproxy -c "$INI"
	{
		site "server = b $(addr b)"
		printf '[pool more]\nthreads = 1\n'
		frontend more "listen = 127.0.0.1:0" "listen = $(addr b)" \
		    "backend = app"
	} | write
	refused_reload "$(addr b).*[Aa]ddress already in use"
	equal "who answers" a "$(fetch "$(url)")"
	no_pool more
}

@test "reload: a wildcard cannot replace an address that is still bound" {
	start_app a
	web_port=$(free_port)
	{
		common
		frontend web "listen = 127.0.0.1:$web_port" "backend = app"
		backend app "server = a $(addr a)"
	} | write
	launch_lfproxy -c "$INI"
	sed "s/listen = .*/listen = :$web_port/" "$INI" | write
	refused_reload "this lfproxy still listens on 127.0.0.1:$web_port"
	fetch "$(url)"
}

# bats test_tags=covered,machine
@test "reload: servers come, go and change under a session that stays" {
	start_app a
	start_app b
	start_app c
	site "server = a $(addr a)" "server = b $(addr b)" | write
	launch_lfproxy -c "$INI"
	port=$(port web)
	hold one "$port"
	hold two "$port"
	one=$(ask one) two=$(ask two)
	equal "both" "a b " "$(printf '%s\n' "$one" "$two" | sort | tr '\n' ' ')"
	iid=$(stat_of app BACKEND iid)

	site "server = c $(addr c) weight=50" "server = b $(addr b) weight=7" |
	    write
	reloaded 'backend app: server a is removed' \
	    'backend app: server b: weight: 100 -> 7' \
	    'backend app: server c is new'
	wait_for 10 lfproxy_said 'server app/a is removed; its 1 session may go on for 1h'
	equal "who gets new ones" "b c " "$(served_by "$port" 16)"
	equal "the old session" "$one" "$(ask one)"
	equal "the other" "$two" "$(ask two)"
	equal "iid" "$iid" "$(stat_of app BACKEND iid)"
	equal "sid of b" 2 "$(stat_of app b sid)"
	equal "sid of c" 3 "$(stat_of app c sid)"
	equal "a" "" "$(stat_of app a sid)"
	equal "the weight" 7 "$(stat_of app b weight)"
	refute lfproxy_said 'server app/a is gone'
	drop one
	drop two
	wait_for 10 lfproxy_said 'server app/a is gone'
}

# bats test_tags=covered
@test "reload: a server of another address is another server of its name" {
	start_app a
	start_app b
	site "server = x $(addr a)" | write
	launch_lfproxy -c "$INI"
	port=$(port web)
	hold one "$port"
	equal "before" a "$(ask one)"
	site "server = x $(addr b)" | write
	reloaded "backend app: server x: $(addr a) -> $(addr b), another server"
	equal "the old session" a "$(ask one)"
	equal "after" b "$(fetch "$(url)")"
	equal "its counter begins anew" 1 "$(stat_of app x stot)"
	equal "its sid" 1 "$(stat_of app x sid)"
	equal "the backend's goes on" 2 "$(stat_of app BACKEND stot)"
	# And back, while its session is still there: the one that was.
	site "server = x $(addr a)" | write
	reloaded '*another server'
	equal "its session counts again" 1 "$(stat_of app x scur)"
	drop one
}

@test "reload: timeout_drain ends the sessions of a removed server" {
	start_app a
	start_app b
	GLOBAL='log = stderr' DEFAULTS=$'check = off\ntimeout_drain = 300ms' \
	    site "server = a $(addr a)" "server = b $(addr b)" | write
	launch_lfproxy -c "$INI"
	port=$(port web)
	hold one "$port"
	hold two "$port"
	gone=$(ask one)
	other=$(ask two)
	GLOBAL='log = stderr' DEFAULTS=$'check = off\ntimeout_drain = 300ms' \
	    site "server = $other $(addr "$other")" | write
	reloaded "backend app: server $gone is removed"
	wait_for 10 lfproxy_said "server app/$gone was removed and its timeout_drain has passed: 1 session is"
	wait_for 10 lfproxy_said "server app/$gone is gone"
	wait_for 10 session_like " web app/$gone .* KD "
	ended_by_peer one
	equal "the other" "$other" "$(ask two)"
	drop two
}

# bats test_tags=covered
@test "reload: health and counters stay with the name" {
	DEFAULTS='check = connect interval=100ms fall=2 rise=2'
	start_app a
	start_app b
	site "server = a $(addr a)" "server = b $(addr b)" | write
	launch_lfproxy -c "$INI"
	port=$(port web)
	wait_for 10 stat_is app b check_status L4OK
	end b
	wait_for 10 says_down b
	for _ in 1 2 3; do
		equal "who answers" a "$(fetch "$(url)")"
	done
	DEFAULTS='check = connect interval=1h fall=2 rise=2'
	start_app c
	site "server = c $(addr c)" "server = b $(addr b)" \
	    "server = a $(addr a)" | write
	reloaded 'backend app: server c is new' 'backend app: check: *'
	equal "b" DOWN "$(stat_of app b status)"
	equal "its downs" 1 "$(stat_of app b chkdown)"
	equal "a's sessions" 3 "$(stat_of app a stot)"
	equal "the backend's" 3 "$(stat_of app BACKEND stot)"
	equal "who answers" "a c " "$(served_by "$port" 8)"
	# And the checks go on, at the new pace.
	DEFAULTS='check = connect interval=50ms fall=2 rise=3'
	site "server = a $(addr a)" "server = b $(addr b)" | write
	reloaded 'backend app: server c is removed' 'backend app: check: *'
	restart_app b
	wait_for 10 says_up b
	equal "the rise" 3 "$(stat_of app b check_rise)"
}

@test "reload: disabling a check forgets failures, another kind starts over" {
	DEFAULTS='check = connect interval=50ms fall=1 timeout=5s'
	start_app a
	start_bad nobody refuse
	site "server = a $(addr nobody)" | write
	launch_lfproxy -c "$INI"
	wait_for 10 stat_is app a status DOWN
	sed 's/^check = .*/check = off/' "$INI" | write
	reloaded 'backend app: check: *'
	equal "the state" "no check" "$(stat_of app a status)"
	site "server = a $(addr a)" |
	    sed 's/^check = .*/check = http interval=50ms/' | write
	reloaded '*another server' 'backend app: check: off -> http *'
	wait_for 10 stat_is app a check_status L7OK
	equal "who answers" a "$(fetch "$(url)")"
}

# bats test_tags=covered
@test "reload: frontends come and go, sockets that stay are never closed" {
	start_app a
	start_app b
	one=$(free_port)
	{
		common
		frontend web "listen = 127.0.0.1:$one" "backend = app"
		frontend gone "listen = 127.0.0.1:0" "listen = unix:$T/gone" \
		    "backend = app"
		backend app "server = a $(addr a)"
	} | write
	launch_lfproxy -c "$INI"
	gone=$(port gone)
	hold old "$gone"
	hold web "$one"
	equal "the old one" a "$(ask old)"
	equal "the other" a "$(ask web)"
	ino=$(ss -Htlne "sport = :$one" | grep -o 'ino:[0-9]*')
	[ -n "$ino" ]
	{
		common
		frontend renamed "listen = 127.0.0.1:$one" "listen = unix:$T/new" \
		    "backend = other"
		backend other "server = b $(addr b)"
	} | write
	reloaded 'frontend web is removed' 'frontend gone is removed' \
	    'frontend renamed is new' 'backend app is removed' \
	    'backend other is new'
	equal "the socket" "$ino" \
	    "$(ss -Htlne "sport = :$one" | grep -o 'ino:[0-9]*')"
	wait_for 10 refused "http://127.0.0.1:$gone/"
	[ ! -e "$T/gone" ]
	equal "the old one" a "$(ask old)"
	equal "the other" a "$(ask web)"
	equal "new sessions" b "$(fetch "http://127.0.0.1:$one/")"
	equal "at the new one" b "$(fetch --unix-socket "$T/new" http://x/)"
	equal "ids" "5 6" \
	    "$(stat_of renamed FRONTEND iid) $(stat_of other BACKEND iid)"
	drop old
	drop web
}

# ports: the listens of the frontends one and two, with their sockets' ports.
ports() {
	ctl show capacity | grep -oE 'frontend (one|two) 127[.0-9]*:[0-9]+' |
	    sort -s -k 2,2
}

@test "reload: ports that the kernel chose stay with their frontends" {
	start_app a
	one() { frontend one 'listen = 127.0.0.1:0' 'listen = 127.0.0.1:0' \
	    'backend = app'; }
	two() { frontend two 'listen = 127.0.0.1:0' 'backend = app'; }
	{ common; one; two; backend app "server = a $(addr a)"; } | write
	launch_lfproxy -c "$INI"
	before=$(ports)
	equal "listens" 3 "$(wc -l <<<"$before")"
	{
		common
		frontend new 'listen = 127.0.0.1:0' 'backend = app'
		two
		one
		backend app "server = a $(addr a)"
	} | write
	reloaded 'frontend new is new'
	equal "ports" "$before" "$(ports)"
	equal "at a port of theirs" a \
	    "$(fetch "http://${before##* }/")"
}

# bats test_tags=covered
@test "reload: an address goes and comes back at once, ever again" {
	local i

	start_app a
	one=$(free_port)
	{
		common
		frontend web "listen = 127.0.0.1:0" "backend = app"
		backend app "server = a $(addr a)"
	} >"$T/without.ini"
	{ cat "$T/without.ini"; frontend more "listen = 127.0.0.1:$one" \
	    "listen = unix:$T/more" "backend = app"; } >"$T/with.ini"
	cp "$T/with.ini" "$INI"
	launch_lfproxy -c "$INI"
	fds=$(fd_count)
	for i in {1..20}; do
		write <"$T/without.ini"
		kill -HUP "$LFPROXY_PID"
		wait_for 10 said_times "$i" 'no longer listening on unix:'
		refused "http://127.0.0.1:$one/"
		write <"$T/with.ini"
		reloaded 'frontend more is new'
		equal "who answers" a "$(fetch "http://127.0.0.1:$one/")"
	done
	wait_for 10 fds_at_most "$fds"
}

# bats test_tags=covered
@test "reload: a frontend's backend and time-outs are those of new sessions" {
	start_app a
	start_app b
	{
		GLOBAL='log = stderr' common
		frontend web "listen = 127.0.0.1:0" "backend = one" \
		    "timeout_client = 1h"
		backend one "server = a $(addr a)"
		backend two "server = b $(addr b)"
	} | write
	launch_lfproxy -c "$INI"
	port=$(port web)
	hold old "$port"
	equal "before" a "$(ask old)"
	sed 's/^backend = one/backend = two/; s/^timeout_client = .*/timeout_client = 1s/' \
	    "$INI" | write
	reloaded 'frontend web: backend: one -> two' \
	    'frontend web: timeout_client: 1h -> 1s'
	tries 3 answers_b
	wait_for 10 session_like ' web two/b .* cD '
	equal "the old one" a "$(ask old)"
	drop old
	drop new
	equal "counted on" 2 "$(stat_of web FRONTEND stot)"
}

# In the second that it has.
answers_b() {
	hold new "$port"
	[ "$(ask new)" = b ]
}

@test "reload: a unix socket's mode is changed in place" {
	start_app a
	{
		common
		frontend web "listen = unix:$T/web" "backend = app"
		backend app "server = a $(addr a)"
	} | write
	launch_lfproxy -c "$INI"
	before=$(stat -c %i "$T/web")
	sed "s|^listen = .*|& mode=0600|" "$INI" | write
	reloaded "frontend web: listen: unix:$T/web: mode: 0666 -> 0600"
	equal "the file" "$before 600" "$(stat -c '%i %a' "$T/web")"
	equal "who answers" a "$(fetch --unix-socket "$T/web" http://x/)"
}

@test "reload: global values change, or are said to take a restart, each time" {
	start_app a
	site "server = a $(addr a)" | write
	launch_lfproxy -c "$INI"
	fetch "$(url)" >/dev/null
	GLOBAL=$'log = stderr\nnode = elsewhere\ninfo_name = lfproxy\ndrain_timeout = 1s\nmaxconn = 99\nuser = root' \
	    site "server = a $(addr a)" | sed '/drain_timeout = 10m/d' | write
	reloaded 'global: log: off -> stderr *' \
	    'global: user: (the user who started lfproxy) -> root takes a restart; it stays *' \
	    'global: maxconn: auto -> 99' \
	    "global: node: * -> elsewhere" \
	    'global: info_name: HAProxy -> lfproxy' \
	    'global: drain_timeout: 10m -> 1s'
	reloaded '*takes a restart*'
	wait_for 10 lfproxy_said '^lfproxy: warning: global: user: '
	ctl show info | grep -qx 'Maxconn: 99'
	ctl show info | grep -qx 'node: elsewhere'
	ctl show info | grep -qx 'Name: lfproxy'
	equal "sessions in the log" 0 "$(sessions | wc -l)"
	fetch "$(url)" >/dev/null
	last_session
	equal "the server" a "${S[server]}"
}

# begin_load: verified streams, until end_load.
begin_load() {
	# shellcheck disable=SC2016
	spawn load sh -ec 'while [ ! -e "$1" ]; do
		"$2" client "$3" --connections 8 --up 20000 --down 20000 \
		    --duration 1 --rest 50 --deadline "$4"
	done' sh "$T/enough" "$TOOLS/streamer" "127.0.0.1:$(port web)" \
	    $((60 * PATIENCE))
}

end_load() {
	: >"$T/enough"
	finish load 60
}

flowing() {
	local turns

	turns=$(pool_of "${1:-main}" 'p["turns"]')
	wait_for 10 pool_is "${1:-main}" "p['turns'] > $turns + 100" True
}

ALL_CPUS=$(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)
ONE_CPU=${ALL_CPUS%%[-,]*}

# bats test_tags=slow
@test "reload: pools get what is new in the file under load, and keep what was set" {
	start_streams a
	site "server = a $(addr a)" | write
	launch_lfproxy -c "$INI"
	begin_load
	flowing
	MAIN=$'threads = 3 nice=11, 1 nice=15\nshards = 2\npromotion = always\norder = fifo\ncpus = '$ONE_CPU \
	    site "server = a $(addr a)" | write
	reloaded 'pool main: threads: 2 -> 3 nice=11, 1 nice=15' \
	    'pool main: shards: 1 -> 2' \
	    'pool main: promotion: adaptive -> always' \
	    'pool main: order: lifo -> fifo' \
	    "pool main: cpus: $ALL_CPUS -> $ONE_CPU"
	equal "settings" "4 2 always fifo $ONE_CPU" \
	    "$(pool_of main '" ".join(str(p[k]) for k in ("threads", "shards", "promotion", "order", "cpus"))')"
	flowing
	run -0 ctl set pool main threads 8
	run -0 ctl set pool main shards 4
	run -0 ctl set pool main order priority
	reloaded
	equal "settings" "8 4 priority" \
	    "$(pool_of main '" ".join(str(p[k]) for k in ("threads", "shards", "order"))')"
	flowing
	MAIN='threads = 1' site "server = a $(addr a)" | write
	run -0 ctl reload
	flowing
	wait_for 10 pool_is main '(p["threads"], p["resident"], p["shards"], p["shards_closing"])' \
	    '(1, 1, 1, 0)'
	MAIN='threads = 1..4' site "server = a $(addr a)" | write
	reloaded 'pool main: threads: 1* -> 1..4'
	equal "the range" "{'min': 1, 'max': 4}" "$(pool_of main 'p["autoscale"]')"
	reloaded
	run -0 ctl set pool main threads 3
	reloaded
	equal "threads, range" "(3, None)" \
	    "$(pool_of main 'p["threads"], p["autoscale"]')"
	end_load
}

@test "reload: promotion = kernel and back" {
	start_app a
	site "server = a $(addr a)" | write
	launch_lfproxy -c "$INI"
	MAIN=$'threads = 3\nshards = 1\npromotion = kernel' site "server = a $(addr a)" | write
	reloaded 'pool main: threads: 2 -> 3' \
	    'pool main: promotion: adaptive -> kernel'
	equal "who answers" a "$(fetch "$(url)")"
	MAIN=$'threads = 3\nshards = 1' site "server = a $(addr a)" | write
	reloaded 'pool main: promotion: kernel -> adaptive'
	equal "who answers" a "$(fetch "$(url)")"
}

# bats test_tags=slow
@test "reload: pools come and go, a frontend changes its pool under load" {
	start_streams a
	site "server = a $(addr a)" | write
	launch_lfproxy -c "$INI"
	spawn old "$TOOLS/badclient" idle "127.0.0.1:$(port web)" --deadline 600
	wait_for 10 pool_is main 'p["handlers"]' 1
	begin_load
	flowing
	# The new pool first in the file: it is the frontend's.
	{ MAIN='threads = 2' site "server = a $(addr a)"; } |
	    sed 's/\[pool main\]/[pool next]/' | write
	reloaded 'pool main is removed' 'pool next is new' \
	    'frontend web: pool: main -> next'
	flowing next
	# Its last session keeps it.
	wait_for 10 pool_is main 'p["handlers"]' 1
	refute lfproxy_said 'pool main is gone'
	end old
	wait_for 10 lfproxy_said 'pool main is gone'
	wait_for 10 no_pool main
	refute pgrep -f "lf-main" -s "$LFPROXY_PID"
	flowing next
	# And again with the name it had.
	site "server = a $(addr a)" | write
	reloaded 'pool next is removed' 'pool main is new' \
	    'frontend web: pool: next -> main'
	flowing main
	end_load
	wait_for 10 lfproxy_said 'pool next is gone'
	equal "threads" 2 "$(pool_of main 'p["resident"]')"
}

STORM_FILES=24

# storm SECONDS: reloads of ever another file every 100 ms under all kinds of
# load.  Nobody may notice.
storm() {
	local end fds kib=0 n load web_port other

	web_port=$(free_port) other=$(free_port)
	start_streams s
	start_app a
	start_app b
	start_app c
	for ((n = 0; n < STORM_FILES; n++)); do
		storm_file $n "$web_port" "$other" >"$T/$n.ini"
	done
	ln -sf 0.ini "$INI"
	launch_lfproxy -c "$INI"
	# Shards are made once and kept.
	storm_reload 1 ctl reload
	storm_reload 0 ctl reload
	wait_for 10 pool_is main 'p["shards_closing"]' 0
	fetch "http://127.0.0.1:$web_port/" >/dev/null
	streams "127.0.0.1:$(port raw)" --connections 8 --up 1000 --down 1000
	quiet 30
	fds=$(fd_count)
	spawn keepalive wrk -t1 -c16 -d"$1" --timeout $((10 * PATIENCE)) \
	    "http://127.0.0.1:$web_port/"
	spawn newones wrk -t1 -c8 -d"$1" --timeout $((10 * PATIENCE)) -H 'Connection: close' \
	    "http://127.0.0.1:$web_port/"
	spawn raw "$TOOLS/streamer" client "127.0.0.1:$(port raw)" \
	    --connections 8 --up 200000 --down 200000 --duration "$1" \
	    --deadline $((($1 + 60) * PATIENCE))
	end=$(($(now_ms) + $1 * 1000))
	for ((n = 1; n < 15 || $(now_ms) < end; n++)); do
		storm_reload $n kill -HUP "$LFPROXY_PID"
		wait_for 10 said_times "$((n + 2))" '^lfproxy: reloaded: '
		[ $((n % 7)) -ne 3 ] || ctl set pool main threads $((n % 3 + 2))
		[ $n -ne 12 ] || kib=$(rss_kib)
		# The pace.
		sleep 0.1
	done
	finish raw $((60 * PATIENCE))
	for load in keepalive newones; do
		finish $load 60
		[[ $output != *"Socket errors"* && $output != *Non-2xx* ]] ||
		    fail "$load: $output"
		[[ $output =~ ([0-9]+)\ requests\ in ]]
		[ "${BASH_REMATCH[1]}" -gt "$(scaled 100)" ]
	done
	storm_reload 0 ctl reload
	wait_for 10 said_times "$n" '^lfproxy: reloaded: [1-9][0-9]* changes'
	refute lfproxy_said 'not reloaded'
	wait_for 20 fds_at_most "$fds"
	wait_for 10 pool_is main '(p["threads"], p["resident"], p["handlers"])' \
	    '(2, 2, 0)'
	# Memory of sessions and threads that were there at once is kept.
	[ "$(rss_kib)" -le $((kib + 4096 * PATIENCE)) ] ||
	    fail "memory: $kib KiB after 12 reloads, $(rss_kib) after $n"
}

# storm_reload N COMMAND...: with the Nth file.
storm_reload() {
	ln -sf "$(($1 % STORM_FILES)).ini" "$INI"
	shift
	"$@"
}

# storm_file N PORT PORT: like no other near it.  The rings of ended sessions
# are full soon: they are no more memory for each reload.
storm_file() {
	local GLOBAL=$'log = off\nclosed_sessions = 100'

	MAIN=$(printf 'threads = %d\nshards = %d\norder = %s\n' \
	    $(($1 % 5 + 2)) $(($1 % 2 + 1)) \
	    "$([ $(($1 % 2)) -eq 0 ] && echo lifo || echo fifo)") common
	frontend web "listen = 127.0.0.1:$2" \
	    "backend = $([ $(($1 % 3)) -eq 2 ] && echo other || echo app)" \
	    "timeout_client = $(($1 % 9 + 60))s" \
	    "pool = $([ $(($1 % 4)) -eq 3 ] && echo extra || echo main)"
	frontend raw "listen = 127.0.0.1:0" "backend = raw"
	[ $(($1 % 2)) -eq 0 ] ||
	    frontend now-and-then "listen = 127.0.0.1:$3" "backend = app"
	[ $(($1 % 4)) -ne 3 ] || printf '[pool extra]\nthreads = 2\n'
	backend app "server = a $(addr a) weight=$(($1 % 7 + 1))" \
	    "$([ $(($1 % 2)) -eq 0 ] && echo "server = b $(addr b)" ||
	        echo "server = c $(addr c)")"
	[ $(($1 % 3)) -ne 2 ] || backend other "server = c $(addr c)" \
	    "check = connect interval=50ms"
	backend raw "server = s $(addr s)" \
	    "server = t$(($1 % 3)) $(addr s)"
}

# bats test_tags=slow
@test "reload: every 100 ms under load without a failed session" {
	storm 5
}

# bats test_tags=long
@test "reload: every 100 ms for a minute without a failed session" {
	storm "$(in_short 60)"
}

@test "reload: while draining it is refused" {
	start_app a
	GLOBAL=$'log = off\ndrain_idle_timeout = 10m' \
	    site "server = a $(addr a)" | write
	launch_lfproxy -c "$INI"
	hold one "$(port web)"
	ask one >/dev/null
	kill -TERM "$LFPROXY_PID"
	wait_for 10 lfproxy_said draining
	refused_reload 'lfproxy is stopping'
	drop one
	await_lfproxy 10
}
