/* SPDX-License-Identifier: MIT
 * A backend's queue: sessions that wait, first come first served, until one of
 * its servers is usable and has room (the server's maxconn).
 *
 * A slot is never handed over bare.  Whoever frees one looks whether somebody
 * waits and if so takes a slot for the first in line, under the queue's lock,
 * before it wakes that session: a session that is woken has its server, one
 * that ends instead gives it back, and nobody who comes later can be quicker.
 *
 * No wake-up is lost [P19]: who queues writes that it waits, then looks for
 * room; who makes room, by ending a session or by publishing a lineup, writes
 * that, then looks whether anybody waits.  All four are in one total order, so
 * one of the two sees the other and serves the queue.  To serve is to go on
 * until nobody waits or no server has room; room that is made after that look
 * was made by somebody who finds that there are waiters.
 *
 * Sessions that have tried every server pause before they try one again.  They
 * are waiters as well, in a list of their own, and are called when a server
 * joins the lineup, or gets another address, to look at it again.  A session
 * that looks just before the lineup is replaced finds that in queue_pause,
 * under the lock that the control thread takes after it has replaced it.
 *
 * Any number of sessions may wait or pause, so nobody wakes all of them: a turn
 * grants or calls a few, and each session that was granted a server, or called,
 * goes on with that when it leaves the queue, whether it goes on or ends.
 *
 * The lock is held for a choice among servers, never across a system call:
 * woken is who was taken out, afterwards, by its generation, so that a session
 * that has ended meanwhile is not meant (lf/claim.h).
 */
#ifndef MODEL_QUEUE_H
#define MODEL_QUEUE_H

#include <stdint.h>

#include "base/list.h"
#include "base/lock.h"
#include "model/counters.h"

struct backend;
struct backend_state;
struct choice;
struct lineup;
struct server;

/* One in the queue.  Its memory has to stay what it is for ever, as that of a
 * slab does. */
struct waiter {
	/* Set by its owner before it waits. */
	uint64_t key;        /* for the choice */
	uint32_t generation; /* of its owner's claim, while it waits */
	/* How many waited when it came, itself included. */
	uint32_t position;
	/* Under the queue's lock. */
	struct list node;       /* empty: it is in no list */
	struct server *granted; /* it has a slot there; or see queue.c */
	uint64_t lineup;        /* the number of the lineup it is from */
};

struct waiter_ops {
	/* What it brings along, its random bits excepted; under the lock. */
	void (*choice)(const struct waiter *waiter, struct choice *choice);
	/* Any thread: it has been granted a server, or is called.  Without
	 * effect when that generation has ended. */
	void (*wake)(struct waiter *waiter, uint32_t generation);
};

struct queue {
	struct lock lock;
	const struct waiter_ops *ops;
	struct list waiters; /* first come, first served */
	struct list paused;
	struct list due;      /* they paused, and are to be called */
	uint64_t grants;      /* so far */
	struct gauge waiting; /* [P19] with the session counts and lineups */
};

void queue_init(struct queue *queue);
void queue_fini(struct queue *queue);

enum wait_answer {
	WAIT_QUEUED,    /* it will be woken, or is so already */
	WAIT_FULL,      /* as many wait as maxqueue allows, or none may */
	WAIT_NO_SERVER, /* none may wait, and no server is usable */
};

/* The waiter's owner, in a grace section: after backend_choose had none. */
enum wait_answer queue_wait(struct backend *backend, struct waiter *waiter,
    const struct waiter_ops *ops);

/* The control thread as well: what queue_wait would answer now. */
enum wait_answer queue_peek(const struct backend *backend);

/* The waiter's owner: the server that it was granted, NULL: it still waits.
 * The server's model is pinned once for it. */
struct server *queue_granted(struct backend *backend, struct waiter *waiter);

/* The same, but it waits no longer. */
struct server *queue_leave(struct backend *backend, struct waiter *waiter);

/* Any thread in a grace section, and the control thread: there may be room. */
void queue_serve(struct backend_state *backend);

/* The waiter's owner, in a grace section: it has tried every server of the
 * lineup of that number, and pauses.  False: a server has joined since, so it
 * does not, and may choose again. */
bool queue_pause(struct backend *backend, struct waiter *waiter,
    const struct waiter_ops *ops, uint64_t lineup);

/* The owner of a waiter that pauses: a server has joined since. */
bool queue_is_called(struct backend *backend, const struct waiter *waiter);

/* The owner of a waiter that pauses, in a grace section: it does no longer. */
void queue_end_pause(struct backend *backend, struct waiter *waiter);

/* Control thread: the lineup was published. */
void queue_lineup_changed(
    struct backend_state *backend, const struct lineup *lineup);

#endif
