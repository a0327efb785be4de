/* SPDX-License-Identifier: MIT
 * An event handler: owns handles and processes their events.
 *
 * A struct event_handler is embedded in a session or an acceptor.  Its slot and
 * its type are fixed when its memory is made and never change.  All other
 * fields but the claim belong to the claim's owner.
 */
#ifndef LF_EVENT_HANDLER_H
#define LF_EVENT_HANDLER_H

#include <stdbool.h>
#include <stdint.h>

#include "lf/claim.h"
#include "lf/handle.h"

struct pool_thread;
struct shard;
struct event_handler;

/* Pending bits that do not come from the kernel. */
#define NOTE_TIMEOUT 0x00010000u /* the deadline may have passed */
#define NOTE_KILL    0x00020000u /* end now */
#define NOTE_MOVE    0x00080000u /* the shards changed: move if needed */
#define NOTE_RESUME  0x00040000u /* continue where the last turn stopped */
#define NOTE_EXPIRE  0x00100000u /* the server in use may have expired */
#define NOTE_DRAIN   0x00200000u /* leave the server, which is drained */
#define NOTE_LEVEL   0x00400000u /* end, for a rebalancing */
#define NOTE_SHIFT   0x00800000u /* move to the shard pool_shift_home names */
#define NOTE_PACE    0x01000000u /* its bandwidth is due, or has new limits */
#define NOTE_LEAVE   0x02000000u /* go over to another process */
#define NOTE_ADOPT   0x04000000u /* it has come from another process */
#define NOTE_EVICT   0x08000000u /* end unless the client does its part */

/* The unit of event_handler.busy. */
#define HANDLER_BUSY_NS 64u

enum turn {
	TURN_DONE,    /* no work left until bits are posted */
	TURN_MORE,    /* the budget is used up; needs another turn */
	TURN_RETIRED, /* the handler has ended and returned its slot */
};

/* Runs one turn: bounded work that never blocks.  The caller owns the handler
 * and is inside a grace section.  After TURN_RETIRED the caller must not touch
 * the handler. */
struct event_handler_ops {
	enum turn (*turn)(struct event_handler *handler, uint32_t pending,
	    struct pool_thread *self);
};

/* How long a handler's next turn takes.  A turn is some 50 us of work; one that
 * may take longer has to be declared beforehand. */
enum next_turn {
	NEXT_SHORT,
	NEXT_LONG,     /* declared; runs once it is admitted (admission.h) */
	NEXT_ADMITTED, /* likewise, and admitted */
};

struct event_handler {
	struct claim claim;
	const struct event_handler_ops *ops; /* fixed */
	struct shard *shard;                 /* where its handles are */
	struct event_handler *next;          /* in a mailbox or a backlog */
	uint32_t slot;                       /* fixed */
	uint8_t first_side; /* enum handle_side, fixed: what kind it is */
	/* Long turns in a row.  A hint: any thread reads and writes it,
	 * relaxed, and it may stem from the slot's former handler. */
	uint8_t long_turns;
	uint8_t next_turn; /* enum next_turn */
	/* The time of all turns so far, in HANDLER_BUSY_NS; wraps.  A hint like
	 * long_turns: two readings tell the load in between. */
	uint32_t busy;
};

/* Assigns a slot, which the handler keeps forever, and a free claim.  Takes a
 * lock.  Returns false when out of memory or when all 2^22 slots are taken. */
bool event_handler_init(struct event_handler *handler,
    const struct event_handler_ops *ops, enum handle_side first_side);

/* Returns the handler of a slot that event_handler_init has assigned.  Any
 * thread. */
struct event_handler *event_handler_at(uint32_t slot);

/* Declares that the handler's next turn is long.  The leader promotes before
 * such a turn, whatever the policy, and the turn waits while too many of the
 * pool run.  Holds for one turn: a handler that was run for another reason, and
 * has not computed, declares again.  Called in a turn.  Caller owns the
 * handler. */
static inline void
event_handler_declare_long(struct event_handler *handler)
{
	handler->next_turn = NEXT_LONG;
}

/* Runs turns until no work is left, the handler has retired, its budget is used
 * up, or the next turn is long and not admitted.  TURN_DONE: the claim was
 * dropped.  TURN_MORE: the caller still owns the handler and must submit it
 * again.  Caller owns the handler. */
enum turn event_handler_run(
    struct event_handler *handler, struct pool_thread *self);

/* A mailbox is a stack of owned handlers: a pointer to the handler that was
 * pushed last.  The push is a sequentially consistent write.  Any thread that
 * owns the handler may push it. */
void event_handler_push(
    struct event_handler **mailbox, struct event_handler *handler);
/* Takes all handlers out of the mailbox.  Returns them oldest first, linked by
 * next, or NULL. */
struct event_handler *event_handler_take_all(
    struct event_handler **mailbox, struct event_handler **ret_newest);

/* Returns the handle of one of the descriptors in the present generation. */
static inline handle_t
event_handler_handle(const struct event_handler *handler, enum handle_side side)
{
	return handle_make(
	    claim_generation(&handler->claim), handler->slot, side);
}

/* Posts a note to the caller's own handler.  Caller owns the handler. */
static inline void
event_handler_note(struct event_handler *handler, uint32_t note)
{
	(void)claim_post(
	    &handler->claim, claim_generation(&handler->claim), note);
}

#endif
