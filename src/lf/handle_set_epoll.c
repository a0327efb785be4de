/* SPDX-License-Identifier: MIT
 * The handle set on epoll(7), edge-triggered.
 *
 * The wake-up is an eventfd in the same set.  It is never read: with
 * edge-triggering every write makes a new event, and its 64-bit count will not
 * overflow.
 */
#include "lf/handle_set.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/fault.h"

#define WAKE_HANDLE UINT64_MAX /* side 3: no handler has it */
#define MAX_EVENTS  64

struct handle_set_epoll {
	struct handle_set set;
	int epoll_fd, wake_fd;
};

static struct handle_set_epoll *
epoll_set_of(struct handle_set *set)
{
	return (struct handle_set_epoll *)(void *)set;
}

static uint32_t
to_epoll(uint32_t interest)
{
	uint32_t e = EPOLLET;

	if (interest & HANDLE_READABLE)
		e |= EPOLLIN | EPOLLPRI;
	if (interest & HANDLE_WRITABLE)
		e |= EPOLLOUT;
	if (interest & HANDLE_READ_CLOSED)
		e |= EPOLLRDHUP;
	return e;
}

/* A read stops at urgent data, though more may lie behind it: a short read then
 * does not mean that the queue is empty, just as when its end is near. */
static uint32_t
from_epoll(uint32_t e)
{
	return (e & (EPOLLIN | EPOLLPRI) ? HANDLE_READABLE : 0) |
	       (e & EPOLLPRI ? HANDLE_READ_ON : 0) |
	       (e & EPOLLOUT ? HANDLE_WRITABLE : 0) |
	       (e & EPOLLRDHUP ? HANDLE_READ_CLOSED : 0) |
	       (e & EPOLLHUP ? HANDLE_HUNG_UP : 0) |
	       (e & EPOLLERR ? HANDLE_ERROR : 0);
}

static int
control(
    struct handle_set *set, int op, int fd, handle_t handle, uint32_t interest)
{
	struct epoll_event e = {
	    .events = to_epoll(interest), .data = {.u64 = handle}};

	if ((op == EPOLL_CTL_ADD && fault_fails(FAULT_EPOLL_CTL)) ||
	    epoll_ctl(epoll_set_of(set)->epoll_fd, op, fd, &e) < 0)
		return -errno;
	return 0;
}

static int
epoll_add(struct handle_set *set, int fd, handle_t handle, uint32_t interest)
{
	return control(set, EPOLL_CTL_ADD, fd, handle, interest);
}

static int
epoll_remove(struct handle_set *set, int fd)
{
	return control(set, EPOLL_CTL_DEL, fd, 0, 0);
}

static int
epoll_reactivate(
    struct handle_set *set, int fd, handle_t handle, uint32_t interest)
{
	return control(set, EPOLL_CTL_MOD, fd, handle, interest);
}

static int
epoll_set_wait(struct handle_set *set, struct handle_event *events, int max,
    int timeout_ms)
{
	struct epoll_event found[MAX_EVENTS];
	int n, kept = 0;

	n = epoll_wait(epoll_set_of(set)->epoll_fd, found,
	    max < MAX_EVENTS ? max : MAX_EVENTS, timeout_ms);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		if (found[i].data.u64 == WAKE_HANDLE)
			continue;
		events[kept].handle = found[i].data.u64;
		events[kept++].ready = from_epoll(found[i].events);
	}
	return kept;
}

static void
epoll_wake(struct handle_set *set)
{
	uint64_t one = 1;
	ssize_t n;

	do
		n = write(epoll_set_of(set)->wake_fd, &one, sizeof(one));
	while (n < 0 && errno == EINTR);
}

static void
epoll_free(struct handle_set *set)
{
	struct handle_set_epoll *s = epoll_set_of(set);

	close(s->epoll_fd);
	close(s->wake_fd);
	free(s);
}

static const struct handle_set_ops epoll_ops = {
    .add = epoll_add,
    .remove = epoll_remove,
    .reactivate = epoll_reactivate,
    .wait = epoll_set_wait,
    .wake = epoll_wake,
    .free = epoll_free,
};

int
handle_set_epoll_new(struct handle_set **ret_set)
{
	struct handle_set_epoll *s = malloc(sizeof(*s));
	int rc;

	if (!s)
		return -ENOMEM;
	s->set.ops = &epoll_ops;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = s->epoll_fd < 0 || s->wake_fd < 0 ? -errno : 0;
	if (rc == 0)
		rc = epoll_add(
		    &s->set, s->wake_fd, WAKE_HANDLE, HANDLE_READABLE);
	if (rc < 0) {
		if (s->epoll_fd >= 0)
			close(s->epoll_fd);
		if (s->wake_fd >= 0)
			close(s->wake_fd);
		free(s);
		return rc;
	}
	*ret_set = &s->set;
	return 0;
}
