#!/usr/bin/env bats
# SPDX-License-Identifier: MIT
# How long a start takes with a thousand frontends, beside HAProxy's.

load helpers

# files N: configurations of N frontends, each with a listener and a backend of
# one server.
files() {
	python3 - "$1" "$T" <<-'END'
	import sys
	n, to = int(sys.argv[1]), sys.argv[2]
	with open(to + "/lfproxy.ini", "w") as f:
	    f.write("[global]\nlog = off\n[pool main]\nthreads = 2\n"
	            "[defaults]\ncheck = off\n")
	    for i in range(n):
	        f.write(f"[frontend f{i}]\nlisten = 127.0.0.1:{20000 + i}\n"
	                f"backend = b{i}\n"
	                f"[backend b{i}]\nserver = s 127.0.0.1:{40000 + i}\n")
	with open(to + "/haproxy.cfg", "w") as f:
	    f.write("global\n nbthread 2\n maxconn 4000\n"
	            "defaults\n mode tcp\n timeout connect 5s\n"
	            " timeout client 1m\n timeout server 1m\n")
	    for i in range(n):
	        f.write(f"frontend f{i}\n bind 127.0.0.1:{20000 + i}\n"
	                f" default_backend b{i}\n"
	                f"backend b{i}\n server s 127.0.0.1:{40000 + i}\n")
	END
}

# The medians of the CPU time that each has taken when its last port has been
# connected to, in interleaved rounds; fails when the first is the larger one.
compare='
import os, socket, statistics, subprocess, sys, time
port, last = 20000, int(sys.argv[1]) - 1
commands = [["%s" % sys.argv[2], "-c", sys.argv[3] + "/lfproxy.ini"],
            ["haproxy", "-db", "-f", sys.argv[3] + "/haproxy.cfg"]]
def cost(command):
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
    try:
        for _ in range(3000):
            if p.poll() is not None:
                sys.exit("%s has ended" % command)
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port + last)) == 0:
                    break
            time.sleep(0.01)
        else:
            sys.exit("%s does not listen" % command)
        tasks = "/proc/%d/task" % p.pid
        return sum(int(open(f"{tasks}/{t}/schedstat").read().split()[0])
                   for t in os.listdir(tasks)) / 1e6
    finally:
        p.kill()
        p.wait()
costs = [[], []]
for _ in range(7):
    for i in 0, 1:
        costs[i].append(cost(commands[i]))
ours, theirs = (statistics.median(c) for c in costs)
print(f"CPU of a start: lfproxy {ours:.1f} ms, HAProxy {theirs:.1f} ms")
sys.exit(ours > theirs)
'

# bats test_tags=timing
@test "start: a thousand frontends take no longer than with HAProxy" {
	[ "$SCALE" -eq 1 ] || skip "a sanitizer's time says nothing"
	netns own
	files 1000
	# shellcheck disable=SC2086
	${NS[own]} python3 -c "$compare" 1000 "$LFPROXY" "$T"
}

# Names that are the last of ten thousand are found, doubles among them noticed.
# bats test_tags=covered
@test "start: ten thousand servers, and one name twice" {
	{
		common
		printf '[frontend web]\nlisten = 127.0.0.1:0\nbackend = app\n'
		printf '[backend app]\ncheck = off\n'
		printf 'server = s%s 127.0.0.1:9\n' {1..10000}
		echo 'server = s1 127.0.0.1:10'
	} >"$T/lfproxy.ini"
	run -78 "$LFPROXY" -t -c "$T/lfproxy.ini"
	[[ $output == *"the name 's1' is already used by another server of [backend app], first in line"* ]]
	sed -i '$d' "$T/lfproxy.ini"
	run -0 "$LFPROXY" -t -c "$T/lfproxy.ini"
}

# Starts that get a signal once the first socket answers, and then at moments up to
# when the log says that all is ready.
early_signals='
import os, random, signal, socket, subprocess, sys, time
lfproxy, t, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
path = t + "/early.sock"

def connect():
    with socket.socket(socket.AF_UNIX) as s:
        return s.connect_ex(path) == 0

def until(what, p, condition):
    end = time.monotonic() + 180
    while not condition():
        if p.poll() is not None:
            sys.exit(f"{what}: it ended with {p.returncode}")
        if time.monotonic() > end:
            sys.exit(f"{what}: not in time")

def log():
    with open(t + "/early.log") as f:
        return f.read()

def start():
    if os.path.exists(path):
        os.unlink(path)
    with open(t + "/early.log", "w") as f:
        p = subprocess.Popen([lfproxy, "-c", t + "/early.ini"], stderr=f)
    until("listens", p, connect)
    return p

def stop(p, what):
    p.send_signal(signal.SIGTERM)
    if p.wait(180) != 0:
        sys.exit(f"{what}: SIGTERM ended it with {p.returncode}")
    if "stopped with " not in log():
        sys.exit(f"{what}: SIGTERM did not stop it: " + log())

for n in range(rounds):
    number = (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)[n % 3]
    what = f"round {n}, {number.name}"
    p = start()
    try:
        p.send_signal(number)
        for _ in range(20):
            time.sleep(random.uniform(0, 0.003))
            if p.poll() is None:
                p.send_signal(number)
        if number == signal.SIGHUP:
            until(what, p, lambda: "reload" in log())
        if n % 2:
            until(what, p, lambda: "up to " in log())
        stop(p, what)
    finally:
        p.kill()
        p.wait()
'

@test "start: signals at the moment when the first socket listens are handled" {
	{
		common
		printf '%s\n' '[frontend web]' "listen = unix:$T/early.sock" \
		    'backend = app' '[backend app]' 'check = off' \
		    'server = s 127.0.0.1:9'
	} >"$T/early.ini"
	python3 -c "$early_signals" "$LFPROXY" "$T" "$(scaled 30)"
}
