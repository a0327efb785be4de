/* SPDX-License-Identifier: MIT
 * See loop.h.
 */
#include "tools/upgradeload/loop.h"

#include <sys/epoll.h>

#include "tools/upgradeload/client.h"
#include "tools/upgradeload/kinds.h"

#define BATCH 256

/* What a timer of the queue is for. */
struct timer {
	struct conn *conn;
	uint64_t number;
};

static int epoll_fd;
static struct conn **by_fd;
static size_t by_fd_n;
static uint64_t next_timer;
static struct pace_queue timers;
static size_t timers_room;
static volatile sig_atomic_t told_to_end;

static void
on_usr1(int sig)
{
	(void)sig;
	told_to_end = 1;
}

void
loop_init(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		tool_die(TOOL_SYSTEM, "getrlimit: %s", strerror(errno));
	by_fd_n = limit.rlim_cur < 1000000 ? limit.rlim_cur : 1000000;
	by_fd = calloc(by_fd_n, sizeof(struct conn *));
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!by_fd || epoll_fd < 0)
		tool_die(TOOL_SYSTEM, "epoll: %s", strerror(errno));
	signal(SIGUSR1, on_usr1);
}

void
loop_set_timer(struct conn *c, uint64_t after_ms)
{
	struct timer *t = malloc(sizeof(*t));

	if (timers.n == timers_room) {
		timers_room = timers_room > 0 ? 2 * timers_room : 1024;
		timers.heap =
		    realloc(timers.heap, timers_room * sizeof(*timers.heap));
	}
	if (!t || !timers.heap)
		tool_die(TOOL_SYSTEM, "out of memory");
	c->timer = ++next_timer;
	*t = (struct timer){.conn = c, .number = c->timer};
	pace_push(&timers, pace_now_ns() + after_ms * 1000000, t);
}

void
loop_add(struct conn *c)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = c};

	if ((size_t)c->fd >= by_fd_n)
		tool_die(TOOL_SYSTEM, "descriptor %d is out of range", c->fd);
	by_fd[c->fd] = c;
	if (!c->connected)
		ev.events |= EPOLLOUT;
	c->interest = ev.events;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &ev) < 0)
		tool_die(TOOL_SYSTEM, "epoll_ctl: %s", strerror(errno));
}

void
loop_remove(struct conn *c)
{
	by_fd[c->fd] = NULL;
}

void
loop_set_events(struct conn *c, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = c};

	c->interest = events;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &ev) < 0)
		tool_die(TOOL_SYSTEM, "epoll_ctl: %s", strerror(errno));
}

void
loop_listen(struct conn *listener)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = listener};

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener->fd, &ev) < 0)
		tool_die(TOOL_SYSTEM, "epoll_ctl: %s", strerror(errno));
}

static void
on_timer(struct conn *c)
{
	enum kind kind = c->kind;

	if (c->fd >= 0) {
		kind_on_timer(c);
		return;
	}
	conn_free(c);
	if (!ending)
		client_open(kind);
}

int
loop_run_timers(void)
{
	uint64_t now_ns = pace_now_ns(), left_ns;

	while (timers.n > 0 && timers.heap[0].at_ns <= now_ns) {
		struct timer *t = pace_pop(&timers);
		bool is_newest = t->conn->timer == t->number;
		struct conn *c = t->conn;

		free(t);
		if (is_newest)
			on_timer(c);
	}
	if (timers.n == 0)
		return 100;
	left_ns = timers.heap[0].at_ns - now_ns;
	return left_ns > 100000000 ? 100 : (int)((left_ns + 999999) / 1000000);
}

/* See tool_goes_on. */
bool
loop_is_to_end(void)
{
	sigset_t pending;

	sigpending(&pending);
	return told_to_end || sigismember(&pending, SIGUSR1);
}

void
loop_end_all(void)
{
	ending = true;
	for (size_t fd = 0; fd < by_fd_n; fd++)
		if (by_fd[fd])
			kind_end(by_fd[fd]);
}

void
loop_serve_events(const sigset_t *mask, int timeout)
{
	struct epoll_event events[BATCH];
	int n = epoll_pwait(epoll_fd, events, BATCH, timeout, mask);

	for (int i = 0; i < n; i++) {
		struct conn *c = events[i].data.ptr;

		if (c->accept)
			c->accept(c);
		else if (c->fd >= 0)
			conn_on_events(c, events[i].events);
	}
}
