/* SPDX-License-Identifier: MIT
 * Simulated descriptors: eventfds, timerfds and sets of the latter, as the
 * keeper and the alarms of shards use them.
 */
#include "sim/descriptors.h"

#include <errno.h>
#include <string.h>

#include "sim/kernel.h"
#include "sim/sim.h"

#define DESCRIPTORS 64
#define FIRST       1000 /* no wire of a handle set has such a number */
/* A call that may fail does so once in this many calls. */
#define REFUSED 16

enum kind { CLOSED, EVENT, TIMER, SET };

struct descriptor {
	enum kind kind;
	uint64_t count;    /* an eventfd's; of a timer: it has gone off */
	uint64_t until_ns; /* when the timer goes off, or SIM_NEVER */
	int set;           /* the timer is in this one, or 0 */
	bool edge;         /* the set has not reported it since it went off */
};

static struct descriptor descriptors[DESCRIPTORS];
static const char polls; /* the address where threads wait */

void
sim_close_all(void)
{
	memset(descriptors, 0, sizeof(descriptors));
}

static struct descriptor *
at(int fd, enum kind kind)
{
	int i = fd - FIRST;

	if (i < 0 || i >= DESCRIPTORS || descriptors[i].kind != kind)
		sim_fail("descriptor %d is not of kind %d", fd, (int)kind);
	return &descriptors[i];
}

static int
open_one(enum kind kind)
{
	int i = 0;

	while (i < DESCRIPTORS && descriptors[i].kind != CLOSED)
		i++;
	if (i == DESCRIPTORS)
		sim_fail("too many descriptors");
	descriptors[i] =
	    (struct descriptor){.kind = kind, .until_ns = SIM_NEVER};
	return FIRST + i;
}

static int
refuse(int error)
{
	errno = error;
	return -1;
}

int
sim_eventfd(void)
{
	return open_one(EVENT);
}

int
sim_timerfd(void)
{
	return sim_by_chance(REFUSED) ? refuse(EMFILE) : open_one(TIMER);
}

int
sim_epoll(void)
{
	return open_one(SET);
}

int
sim_close(int fd)
{
	if (fd < FIRST || fd >= FIRST + DESCRIPTORS ||
	    descriptors[fd - FIRST].kind == CLOSED)
		sim_fail("descriptor %d is closed twice", fd);
	descriptors[fd - FIRST].kind = CLOSED;
	return 0;
}

ssize_t
sim_write_event(int fd, const char *function, int line)
{
	sim_point("write", function, line);
	at(fd, EVENT)->count++;
	sim_unblock_all(&polls);
	return sizeof(uint64_t);
}

ssize_t
sim_read_event(int fd, const char *function, int line)
{
	struct descriptor *d;

	sim_point("read", function, line);
	d = at(fd, EVENT);
	if (d->count == 0)
		return refuse(EAGAIN);
	d->count = 0;
	return sizeof(uint64_t);
}

/* Lets the timers go off whose time has come. */
static void
let_time_pass(void)
{
	for (int i = 0; i < DESCRIPTORS; i++) {
		struct descriptor *d = &descriptors[i];

		if (d->kind != TIMER || d->until_ns > sim_now_ns())
			continue;
		d->until_ns = SIM_NEVER;
		d->count = 1;
		d->edge = true;
	}
}

int
sim_timerfd_set(
    int fd, const struct itimerspec *in, const char *function, int line)
{
	uint64_t ns = (uint64_t)in->it_value.tv_sec * 1000000000u +
	              (uint64_t)in->it_value.tv_nsec;
	struct descriptor *d;

	sim_point("timer", function, line);
	let_time_pass();
	d = at(fd, TIMER);
	d->count = 0;
	d->until_ns = ns > 0 ? sim_now_ns() + ns : SIM_NEVER;
	sim_unblock_all(&polls);
	return 0;
}

int
sim_epoll_add(int set, int fd)
{
	struct descriptor *d;

	(void)at(set, SET);
	if (fd < 0)
		return refuse(EBADF);
	d = at(fd, TIMER);
	if (d->set == set)
		return refuse(EEXIST);
	if (sim_by_chance(REFUSED))
		return refuse(ENOSPC);
	d->set = set;
	d->edge = d->count > 0;
	return 0;
}

/* A timer that was set again since it went off is no longer ready. */
static bool
is_ready_in(const struct descriptor *d, int set)
{
	return d->kind == TIMER && d->set == set && d->edge && d->count > 0;
}

int
sim_epoll_take(int set, int max, const char *function, int line)
{
	int n = 0;

	sim_point("epoll", function, line);
	let_time_pass();
	(void)at(set, SET);
	for (int i = 0; i < DESCRIPTORS && n < max; i++) {
		struct descriptor *d = &descriptors[i];

		n += is_ready_in(d, set);
		if (d->set == set)
			d->edge = false;
	}
	return n;
}

static bool
is_ready(int fd)
{
	if (descriptors[fd - FIRST].kind == EVENT)
		return at(fd, EVENT)->count > 0;
	(void)at(fd, SET);
	for (int i = 0; i < DESCRIPTORS; i++)
		if (is_ready_in(&descriptors[i], fd))
			return true;
	return false;
}

static int
count_ready(struct pollfd fds[], nfds_t n)
{
	int ready = 0;

	let_time_pass();
	for (nfds_t i = 0; i < n; i++) {
		fds[i].revents = is_ready(fds[i].fd) ? POLLIN : 0;
		ready += fds[i].revents != 0;
	}
	return ready;
}

/* The next time when a timer goes off, or that time if it is sooner. */
static uint64_t
next_timer_ns(uint64_t ns)
{
	for (int i = 0; i < DESCRIPTORS; i++)
		if (descriptors[i].kind == TIMER &&
		    descriptors[i].until_ns < ns)
			ns = descriptors[i].until_ns;
	return ns;
}

int
sim_ppoll(struct pollfd fds[], nfds_t n, const struct timespec *limit,
    const char *function, int line)
{
	uint64_t until_ns = SIM_NEVER;
	int ready;

	sim_point("poll", function, line);
	if (limit)
		until_ns = sim_now_ns() +
		           (uint64_t)limit->tv_sec * 1000000000u +
		           (uint64_t)limit->tv_nsec;
	while ((ready = count_ready(fds, n)) == 0 && sim_now_ns() < until_ns)
		(void)sim_block(
		    &polls, next_timer_ns(until_ns), function, line);
	return ready;
}
