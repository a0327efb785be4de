/* SPDX-License-Identifier: MIT
 * Admission: how many of a pool's turns that were declared long run at once.
 *
 *   NEXT_LONG -- ask: room ------------------> NEXT_ADMITTED -- end
 *       |                                           ^
 *       +---- ask: no room --> waits --- end, take -+
 *
 * A handler that waits is owned: its claim stays taken, so no other thread runs
 * it, and events that arrive only leave bits.  The queue is linked by the
 * handlers' next and needs no memory.  The handlers are admitted in the order
 * in which they asked.  While any handler waits, as many are admitted as the
 * limit allows, and each of these ends its turn later; so none waits forever.
 *
 * With threads apart, which run nothing but long turns, every handler waits,
 * and one of these threads takes it from the queue.
 */
#ifndef LF_ADMISSION_H
#define LF_ADMISSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

struct event_handler;

struct admission {
	struct lock lock;
	/* Written under the lock; any thread reads these, relaxed. */
	uint32_t limit;     /* handlers admitted at once */
	uint32_t running;   /* handlers admitted, and not ended [P18] */
	uint32_t waiting;   /* handlers in the queue */
	uint64_t waits;     /* handlers that had to wait, so far */
	uint64_t waited_ns; /* the sum of their waits, up to since_ns */
	/* Used under the lock. */
	uint64_t since_ns; /* the last change of waiting */
	struct event_handler *first, **end;
	bool apart;           /* there are threads apart */
	pthread_cond_t ready; /* they wait for handlers, or for a summons */
};

/* Initializes an admission with the limit 1, without handlers. */
void admission_init(struct admission *admission);
/* Frees the lock.  Handlers that still wait are given up. */
void admission_fini(struct admission *admission);

/* Admits the handler, whose next turn is NEXT_LONG.  Returns false if the
 * handler has to wait, or is for a thread apart: the caller has given it up.
 * Caller owns the handler.  Any thread. */
bool admission_ask(struct admission *admission, struct event_handler *handler,
    uint64_t now_ns);

/* Ends an admitted turn.  Returns the next handler, which is admitted now and
 * owned by the caller, or NULL. */
struct event_handler *admission_end(
    struct admission *admission, uint64_t now_ns);

/* Sets how many handlers are admitted at once, at least 1.  If it is more than
 * before, the caller takes and submits handlers until there are none. */
void admission_set_limit(struct admission *admission, uint32_t limit);

/* Says whether there are threads apart.  When there are none any more, the
 * caller takes and submits handlers until there are none. */
void admission_set_apart(struct admission *admission, bool apart);

/* Waits until a handler waits and there is room, and admits it.  Returns it,
 * owned by the caller, or NULL once the summons is not 0.  On a thread apart.
 */
struct event_handler *admission_await(
    struct admission *admission, const uint32_t *summons);

/* Makes threads apart look at the queue and their summons again. */
void admission_wake(struct admission *admission);

/* Admits the first of those that wait, if there is room.  Returns it, owned by
 * the caller, or NULL. */
struct event_handler *admission_take(
    struct admission *admission, uint64_t now_ns);

#endif
