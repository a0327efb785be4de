/* SPDX-License-Identifier: MIT
 * A backend's queue: sessions that wait, first come first served, until one of
 * its servers is usable and has room (the server's maxconn).  Sessions that
 * were taken over from another process while they waited go on in their order,
 * before those that came here.
 *
 * A thread that frees a slot looks whether a session waits.  If so, it takes a
 * slot for the first in line under the queue's lock, before it wakes that
 * session.  So a session that is woken has its server, a session that ends
 * instead gives the slot back, and no later session can be quicker.
 *
 * No wake-up is lost [P19].  A session that queues writes that it waits, then
 * looks for room.  A thread that makes room, by ending a session or by
 * publishing a lineup, writes that, then looks whether a session waits.  All
 * four accesses are in one total order, so at least one side sees the other and
 * serves the queue.  Serving goes on until no session waits or no server has
 * room; a thread that makes room after that sees the waiters.
 *
 * Sessions that have tried every server pause before they try one again.  They
 * are waiters in a list of their own.  When a server joins the lineup or gets
 * another address, they are called to look at the lineup again.  A session that
 * looks just before the lineup is replaced notices that in queue_pause, under
 * the lock that the control thread takes after replacing it.
 *
 * Any number of sessions may wait or pause, so no thread wakes all of them.  A
 * handler's run grants servers to a few waiters, or calls a few.  Each session
 * that was granted a server, or called, grants or calls a few more when it
 * leaves the queue, whether the session goes on or ends.
 *
 * The lock is held for a choice among servers, never across a system call.  A
 * waiter is woken after the lock was released.  The wake-up names the waiter's
 * generation, so it has no effect on a later session in the same memory
 * (lf/claim.h).
 */
#ifndef MODEL_QUEUE_H
#define MODEL_QUEUE_H

#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/lock.h"
#include "model/counters.h"

struct backend;
struct backend_state;
struct choice;
struct lineup;
struct server;

#define WAITER_NEW UINT64_MAX

/* A session in the queue.  Its memory must stay that of a waiter after the
 * session has ended, as it does in a slab (base/slab.h). */
struct waiter {
	/* Set by its owner before it waits. */
	uint64_t key; /* for the choice */
	/* When the client of a waiter that was taken over from another process
	 * was accepted: such waiters stand first, in the order of this time.
	 * WAITER_NEW for all others. */
	uint64_t since_us;
	uint32_t generation; /* of its owner's claim, while it waits */
	/* The number of waiters when it came, itself included. */
	uint32_t position;
	/* Under the queue's lock. */
	struct list node;       /* empty: in no list */
	struct server *granted; /* has a slot for the waiter; or see queue.c */
	uint64_t lineup;        /* the number of the lineup of granted */
};

struct waiter_ops {
	/* Fills in the choice, without random.  Called under the lock. */
	void (*choice)(const struct waiter *waiter, struct choice *choice);
	/* Wakes the waiter, which has been granted a server or is called.  Any
	 * thread.  Has no effect if that generation has ended. */
	void (*wake)(struct waiter *waiter, uint32_t generation);
};

struct queue {
	struct lock lock;
	const struct waiter_ops *ops;
	struct list waiters; /* first come, first served */
	struct list paused;
	struct list due;      /* paused, and to be called */
	uint64_t grants;      /* so far */
	struct gauge waiting; /* [P19] with the session counts and lineups */
};

/* Initializes the queue.  Runs on the control thread. */
void queue_init(struct queue *queue);

/* Releases the queue's lock.  No session may wait. */
void queue_fini(struct queue *queue);

enum wait_answer {
	WAIT_QUEUED,    /* the waiter will be woken, or has been */
	WAIT_FULL,      /* maxqueue sessions wait, or no session may wait */
	WAIT_NO_SERVER, /* no session may wait, and no server is usable */
};

/* Queues the waiter, after backend_choose returned NULL, or says why it may not
 * wait.  Called by the waiter's owner, in a grace section. */
enum wait_answer queue_wait(struct backend *backend, struct waiter *waiter,
    const struct waiter_ops *ops) MUST_CHECK;

/* Returns what queue_wait would return now.  Any thread in a grace section, and
 * the control thread. */
enum wait_answer queue_peek(const struct backend *backend);

/* Returns the server that the waiter was granted, or NULL while it waits.  The
 * server and its model are pinned once for it.  Called by the waiter's owner.
 */
struct server *queue_granted(
    struct backend *backend, const struct waiter *waiter);

/* Takes the waiter out of the queue.  Returns the server that it was granted,
 * as queue_granted does. */
struct server *queue_leave(struct backend *backend, struct waiter *waiter);

/* Grants slots to waiters, as far as servers have room.  Any thread in a grace
 * section, and the control thread. */
void queue_serve(struct backend_state *backend);

/* Pauses a waiter that has tried every server of the lineup of that number.
 * Returns false if a server has joined since: the waiter does not pause and may
 * choose again.  Called by the waiter's owner, in a grace section. */
bool queue_pause(struct backend *backend, struct waiter *waiter,
    const struct waiter_ops *ops, uint64_t lineup) MUST_CHECK;

/* Returns whether a server has joined since the waiter paused.  Called by its
 * owner. */
bool queue_is_called(struct backend *backend, const struct waiter *waiter);

/* Ends the waiter's pause.  Called by its owner, in a grace section. */
void queue_end_pause(struct backend *backend, struct waiter *waiter);

/* Calls paused waiters, if a server has joined with this lineup, which was just
 * published.  Runs on the control thread. */
void queue_lineup_changed(
    struct backend_state *backend, const struct lineup *lineup);

#endif
