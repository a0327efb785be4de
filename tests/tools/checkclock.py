# SPDX-License-Identifier: MIT
# A host of many servers that are checked: reports how punctual the checks are.
#
#   checkclock.py SERVERS SECONDS INTERVAL_MS [http]
#
# Every other server is dead: its port refuses.  The others close what they
# accept, or with `http` answer it first.  The addresses, one line each, end with
# `listening on all`.  SECONDS after each live server was checked for the first
# time, or at SIGINT, it prints the worst gap between two checks of one server,
# as a share of the interval off it, and beside it how late it was itself when it
# asked the machine to be woken; and the most checks within any 20 ms, and ends.
# At SIGUSR1 it forgets what was.
import select
import signal
import socket
import sys
import threading
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
TICK = 0.005
servers, seconds = int(sys.argv[1]), float(sys.argv[2])
interval = int(sys.argv[3]) / 1000
http = sys.argv[4:] == ["http"]
poll = select.epoll()
alive = {}
asked = {}
dead = []
told = {"forget": False, "end": False, "stall": 0.0}
signal.signal(signal.SIGUSR1, lambda *_: told.update(forget=True))
signal.signal(signal.SIGINT, lambda *_: told.update(end=True))
for i in range(servers):
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    if i % 2 == 0:
        s.listen(64)
        s.setblocking(False)
        poll.register(s, select.EPOLLIN)
        alive[s.fileno()] = (s, [])
    else:
        dead.append(s)
    print("127.0.0.1:%d" % s.getsockname()[1])
print("listening on all", flush=True)


def accept(fd):
    listener, times = alive[fd]
    times.append(time.monotonic())
    peer = listener.accept()[0]
    if http:
        asked[peer.fileno()] = peer
        poll.register(peer, select.EPOLLIN)
    else:
        peer.close()


def answer(fd):
    peer = asked.pop(fd)
    try:
        if peer.recv(4096):
            peer.send(ANSWER)
    except OSError:
        pass
    poll.unregister(peer)
    peer.close()


def stall():
    while True:
        due = time.monotonic() + TICK
        time.sleep(TICK)
        told["stall"] = max(told["stall"], time.monotonic() - due)


threading.Thread(target=stall, daemon=True).start()
end = None
while not told["end"] and (end is None or time.monotonic() < end):
    for fd, _ in poll.poll(0.2):
        (accept if fd in alive else answer)(fd)
    if told["forget"]:
        told.update(forget=False, stall=0.0)
        for _, times in alive.values():
            times.clear()
    if end is None and all(times for _, times in alive.values()):
        end = time.monotonic() + seconds

gaps = [abs(b - a - interval) for _, times in alive.values()
        for a, b in zip(times, times[1:])]
every = sorted(t for _, times in alive.values() for t in times)
burst = max(sum(1 for u in every[i:i + servers] if u - t < 0.02)
            for i, t in enumerate(every))
print("checks %d" % len(every))
print("fewest %d" % min(len(times) for _, times in alive.values()))
print("worst %.3f stall %.3f" % (max(gaps) / interval,
                                 told["stall"] / interval))
print("burst %d" % burst, flush=True)
