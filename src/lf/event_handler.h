/* SPDX-License-Identifier: MIT
 * An event handler: what owns handles and is told of their events.
 *
 * It is embedded in the thing itself (a session, an acceptor).  Its slot and
 * its type are fixed when its memory is made and never change; everything else
 * but the claim belongs to the claim's owner.
 */
#ifndef LF_EVENT_HANDLER_H
#define LF_EVENT_HANDLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/memory_use.h"
#include "lf/claim.h"
#include "lf/handle.h"

struct pool_thread;
struct shard;
struct event_handler;

/* Pending bits that do not come from the kernel. */
#define NOTE_TIMEOUT 0x00010000u /* the deadline has passed, look at it */
#define NOTE_KILL    0x00020000u /* end now */
#define NOTE_MOVE    0x00080000u /* the shards changed, find your place */
#define NOTE_RESUME  0x00040000u /* go on where the last turn stopped */
#define NOTE_EXPIRE  0x00100000u /* what you use may be past its time */
#define NOTE_DRAIN   0x00200000u /* leave what you use, it is to be empty */
#define NOTE_LEVEL   0x00400000u /* end, so that others have their share */

enum turn {
	TURN_DONE,    /* nothing left to do until something is posted */
	TURN_MORE,    /* the budget is used up: run another turn later */
	TURN_RETIRED, /* the handler has ended and its slot is given back */
};

/* One turn: bounded work that never blocks.  The caller owns the handler and is
 * inside a grace section; after TURN_RETIRED it touches nothing of it. */
struct event_handler_ops {
	enum turn (*turn)(struct event_handler *handler, uint32_t pending,
	    struct pool_thread *self);
};

struct event_handler {
	struct claim claim;
	const struct event_handler_ops *ops; /* fixed */
	struct shard *shard;                 /* where its handles are */
	struct event_handler *next;          /* in a mailbox or a backlog */
	struct pool_thread *bound; /* the one that serves it, or NULL */
	uint32_t slot;             /* fixed */
	uint8_t first_side; /* enum handle_side, fixed: what kind it is */
	/* Long turns in a row: advice, any thread reads and writes it, relaxed;
	 * it may be that of the slot's handler before. */
	uint8_t long_turns;
};

/* Gives a new handler its slot, for ever, and a free claim.  Takes a lock.
 * False when memory is short or all 2^22 slots are taken. */
bool event_handler_init(struct event_handler *handler,
    const struct event_handler_ops *ops, enum handle_side first_side);

/* Any thread: the handler of a slot that event_handler_init gave out. */
struct event_handler *event_handler_at(uint32_t slot);

/* The owner: runs turns until there is nothing left to do (the claim is then
 * dropped), the handler has retired, or it wants to go on later (TURN_MORE: the
 * caller still owns it and has to bring it back). */
enum turn event_handler_run(
    struct event_handler *handler, struct pool_thread *self);

/* A mailbox is a pointer to the handler that came last.  Any thread that owns
 * the handler may push it; a push is a sequentially consistent write.  One that
 * takes gets all, oldest first and linked by next, or NULL. */
void event_handler_push(
    struct event_handler **mailbox, struct event_handler *handler);
struct event_handler *event_handler_take_all(
    struct event_handler **mailbox, struct event_handler **ret_newest);

/* The name of one of its descriptors in the present generation. */
static inline handle_t
event_handler_handle(const struct event_handler *handler, enum handle_side side)
{
	return handle_make(
	    claim_generation(&handler->claim), handler->slot, side);
}

/* The owner: leaves itself a note. */
static inline void
event_handler_note(struct event_handler *handler, uint32_t note)
{
	(void)claim_post(
	    &handler->claim, claim_generation(&handler->claim), note);
}

/* Any thread: the slots that were given out, and the table of them. */
struct memory_use event_handler_memory(void);

#endif
