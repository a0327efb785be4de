/* SPDX-License-Identifier: MIT
 * A handle set: what a leader waits on.
 *
 * A page for each mechanism behind this table.  handle_set_epoll.c is the real
 * one; the tests have a scripted one that replays a list of events.
 *
 * Edge-triggered: an event says that something has changed since the last one,
 * and the handler must go on until a call would block (or remember that it did
 * not).  One-shot registration was measured 10 % dearer per request and 25 %
 * dearer per short connection, because it needs a system call for every event.
 *
 *               who may call                     beside
 *   add         owner of the handler             anything
 *   remove      owner of the handler             anything
 *   reactivate  owner of the handler             anything
 *   wait        the leader                       all but another wait
 *               under POLICY_KERNEL any thread   anything
 *   wake        any thread                       anything
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
	/* Events of fd from now on, the present state included, for the bits in
	 * interest (hang-up and error always).  0 or -errno. */
	int (*add)(
	    struct handle_set *set, int fd, handle_t handle, uint32_t interest);
	/* Closing a descriptor removes it, if no duplicate exists. */
	int (*remove)(struct handle_set *set, int fd);
	/* Reports the present state once more. */
	int (*reactivate)(
	    struct handle_set *set, int fd, handle_t handle, uint32_t interest);
	/* Up to max events; timeout_ms as in epoll_wait(2).  The number of
	 * events, 0 also when woken or interrupted; or -errno. */
	int (*wait)(struct handle_set *set, struct handle_event *events,
	    int max, int timeout_ms);
	/* Makes the present or the next wait return. */
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

/* 0 or -errno. */
int handle_set_epoll_new(struct handle_set **ret_set);

#endif
