/* SPDX-License-Identifier: MIT
 * See client.h.
 */
#include "tools/upgradeload/client.h"

#include "tools/upgradeload/conn.h"
#include "tools/upgradeload/kinds.h"
#include "tools/upgradeload/loop.h"

#define DIRECT_N 64
#define SOURCES  8
#define ONCE_MAX 900 /* at a time: then the pace is lower */

static uint32_t next_id;

/* Another source for each session: else TIME-WAIT takes all ports.  ONCE has
 * sources of its own, by which other programs can tell these sessions. */
static void
bind_source(int fd, uint32_t id, enum kind kind)
{
	struct sockaddr_in from = {.sin_family = AF_INET};
	uint32_t first = INADDR_LOOPBACK + 1 + (kind == ONCE ? SOURCES : 0);
	int one = 1;

	from.sin_addr.s_addr = htonl(first + id % SOURCES);
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&from, sizeof(from)) < 0)
		tool_die(TOOL_SYSTEM, "bind: %s", strerror(errno));
}

void
client_open(enum kind kind)
{
	const struct tool_addr *to = kind == QUEUED      ? &opt.queue
	                             : kind == LATE      ? &opt.late
	                             : kind == INSPECTED ? &opt.inspected
	                             : kind == DIRECT    ? &opt.direct
	                                                 : &opt.to;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct conn *c;

	if (fd < 0)
		tool_die(TOOL_SYSTEM, "socket: %s", strerror(errno));
	c = conn_new(fd);
	c->id = next_id++;
	c->kind = kind;
	conn_set_options(fd, kind == FLOOD_DOWN || kind == FLOOD_UP);
	bind_source(fd, c->id, kind);
	c->due = 1;
	c->finish = kind == ONCE;
	if (c->finish)
		c->due = 0;
	c->asked_ns = pace_now_ns();
	sum.made += kind != DIRECT;
	sum.by_kind[kind]++;
	if (kind == ONCE && ++sum.once_open > sum.once_max)
		sum.once_max = sum.once_open;
	if (connect(fd, &to->sa, to->len) < 0 && errno != EINPROGRESS) {
		conn_fail(c, errno == ECONNREFUSED ? &sum.refused : &sum.cut,
		    strerror(errno));
		return;
	}
	loop_add(c);
}

/* Returns the kind of session i.  90 of a hundred are idle; 12 of these wait
 * for a server and 12 for the rest of a PROXY header, and own one descriptor of
 * the proxy. */
static enum kind
kind_of(uint64_t i)
{
	uint64_t of_hundred = i % 100;
	bool odd = i / 100 % 2 == 1;

	if (of_hundred == 99)
		return odd ? FLOOD_UP : FLOOD_DOWN;
	if (of_hundred == 98)
		return odd ? HALF_SERVER : HALF_CLIENT;
	if (of_hundred == 97)
		return odd ? MOVING : LATE;
	if (of_hundred >= 90)
		return MOVING;
	if (of_hundred >= 78)
		return QUEUED;
	return of_hundred >= 66 ? INSPECTED : IDLE;
}

/* Opens as many as are due at that rate; returns how many there are then. */
static uint64_t
open_at_rate(uint64_t opened, uint64_t until, uint64_t rate, uint64_t began_ns,
    bool once)
{
	uint64_t due = (pace_now_ns() - began_ns) * rate / PACE_NS;

	due = due < until ? due : until;
	for (; opened < due && (!once || sum.once_open < ONCE_MAX); opened++)
		client_open(once ? ONCE : kind_of(opened));
	return opened;
}

double
client_run(void)
{
	sigset_t mask = tool_catch_stop();
	uint64_t began_ns = pace_now_ns(), opened = 0, once = 0, awaited = 0;
	uint64_t ended_ns = 0;

	for (uint64_t i = 0; i < opt.sessions; i++)
		awaited += kind_is_awaited(kind_of(i));
	for (int i = 0; opt.direct.len > 0 && i < DIRECT_N; i++)
		client_open(DIRECT);
	while (tool_goes_on() && !(ending && sum.open == 0)) {
		int timeout = loop_run_timers();

		if (opened < opt.sessions && !ending)
			opened = open_at_rate(
			    opened, opt.sessions, 2000, began_ns, false);
		else if (counting && !ending && opt.rate > 0)
			once = open_at_rate(
			    once, UINT64_MAX, opt.rate, began_ns, true);
		loop_serve_events(&mask, ending || timeout < 1 ? timeout : 1);
		if (!counting && !ending && sum.established >= awaited) {
			printf("established %llu\n",
			    (unsigned long long)opt.sessions);
			fflush(stdout);
			counting = true;
			began_ns = pace_now_ns();
		}
		if (!ending && loop_is_to_end()) {
			ended_ns = pace_now_ns();
			counting = false;
			loop_end_all();
		}
	}
	return ended_ns > began_ns
	           ? (double)once * 1e9 / (double)(ended_ns - began_ns)
	           : 0.0;
}
