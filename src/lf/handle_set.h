/* SPDX-License-Identifier: MIT
 * A handle set: what a leader waits on.
 *
 * Each mechanism of the kernel is one file behind this table of functions.
 * lfproxy uses handle_set_epoll.c; the tests have a set that replays a list of
 * events.
 *
 * Events are edge-triggered: an event reports a change since the last event, so
 * the handler must continue until a call would block, or remember that it did
 * not.  One-shot registration was measured to be 10 % dearer per request and 25
 * % dearer per short connection, because it needs a system call for every
 * event.
 *
 *               who may call                     beside
 *   add         owner of the handler             anything
 *   remove      owner of the handler             anything
 *   reactivate  owner of the handler             anything
 *   wait        the leader, threads that stand   anything
 *               by, under POLICY_KERNEL all
 *   wake        any thread                       anything
 *
 * When several threads wait, one of them gets an event or a wake-up.
 */
#ifndef LF_HANDLE_SET_H
#define LF_HANDLE_SET_H

#include <stdint.h>

#include "lf/handle.h"

struct handle_event {
	handle_t handle;
	uint32_t ready; /* HANDLE_... bits of one side */
};

struct handle_set;

struct handle_set_ops {
	/* Reports the present state of fd and all later changes, for the bits
	 * in interest; hang-up and error are always reported.  Returns 0 or
	 * -errno. */
	int (*add)(
	    struct handle_set *set, int fd, handle_t handle, uint32_t interest);
	/* Not needed before close(2) of a descriptor without duplicates.
	 * Returns 0 or -errno. */
	int (*remove)(struct handle_set *set, int fd);
	/* Reports the present state once more.  Returns 0 or -errno. */
	int (*reactivate)(
	    struct handle_set *set, int fd, handle_t handle, uint32_t interest);
	/* Waits for up to max events; timeout_ms as in epoll_wait(2).  Returns
	 * the number of events, or -errno.  Returns 0 on a time-out, when woken
	 * and when interrupted. */
	int (*wait)(struct handle_set *set, struct handle_event *events,
	    int max, int timeout_ms);
	/* Makes the present wait, or the next one, return. */
	void (*wake)(struct handle_set *set);
	void (*free)(struct handle_set *set);
};

struct handle_set {
	const struct handle_set_ops *ops;
};

static inline int
handle_set_add(
    struct handle_set *set, int fd, handle_t handle, uint32_t interest)
{
	return set->ops->add(set, fd, handle, interest);
}

static inline int
handle_set_remove(struct handle_set *set, int fd)
{
	return set->ops->remove(set, fd);
}

static inline int
handle_set_reactivate(
    struct handle_set *set, int fd, handle_t handle, uint32_t interest)
{
	return set->ops->reactivate(set, fd, handle, interest);
}

static inline int
handle_set_wait(struct handle_set *set, struct handle_event *events, int max,
    int timeout_ms)
{
	return set->ops->wait(set, events, max, timeout_ms);
}

static inline void
handle_set_wake(struct handle_set *set)
{
	set->ops->wake(set);
}

static inline void
handle_set_free(struct handle_set *set)
{
	if (set)
		set->ops->free(set);
}

/* Makes an empty set.  Returns 0 or -errno. */
int handle_set_epoll_new(struct handle_set **ret_set);

#endif
