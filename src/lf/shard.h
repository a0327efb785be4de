/* SPDX-License-Identifier: MIT
 * A shard: one handle set with its leadership, its batch and its mailbox.
 *
 *   kernel --wait--> batch --claim--> turn           (the leader's way)
 *   owner  --submit--> mailbox --drain--> backlog --> turn
 *
 * The batch is what one wait has fetched.  It belongs to the shard, not to the
 * thread that fetched it: a leader that promotes hands the rest to the next.
 * The mailbox brings handlers that are already owned: a turn that used up its
 * budget, a deadline that passed.  Ownership travels with them, so the mailbox
 * needs no memory, has no limit and never holds a stale entry.
 *
 * Shards are never freed before their pool: whoever owns a handler may follow
 * its shard pointer.  A closed shard gives its handle set back as soon as no
 * thread is inside, and gets another one when it is opened again.
 */
#ifndef LF_SHARD_H
#define LF_SHARD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/grace.h"
#include "lf/event_handler.h"
#include "lf/handle_set.h"
#include "lf/policy.h"
#include "lf/promotion.h"

#define SHARD_BATCH 64
/* Without a leader there is nobody to hand a batch on to: small ones. */
#define SHARD_BATCH_KERNEL 8

struct pool;
struct pool_thread;

/* Events that were fetched, and owned handlers that were brought. */
struct batch {
	struct handle_event events[SHARD_BATCH];
	unsigned next, end;
	uint32_t left;                 /* end - next, for readers elsewhere */
	struct backlog backlog;        /* of the events left, by kind */
	struct event_handler *resumed; /* drained mailbox, oldest first */
	struct event_handler **resumed_end;
	uint32_t resumed_n; /* how many, for readers elsewhere */
	bool looked;        /* at the kernel since the last one was resumed */
	uint64_t looked_ns; /* when the last look ended */
	uint64_t rested_ns; /* when the last look that had to wait ended */
};

void batch_init(struct batch *batch);

/* In the word `inside`: the shard has no handle set, or none for others. */
#define SHARD_NO_SET 0x80000000u

struct shard {
	/* The control thread writes, while `inside` says that there is none.
	 * May be used by whoever has entered with shard_hold, and in a turn,
	 * which is a grace section: of the shard where the handler is
	 * registered, or of one chosen in this turn.  [P28] */
	struct handle_set *set;
	struct promotion *promotion;
	struct pool *pool;
	unsigned id;

	/* The control thread writes, all read: relaxed. */
	uint32_t policy;     /* enum policy_kind */
	uint32_t closed;     /* no handler is or will be here: leave */
	uint32_t homes;      /* threads whose home it is */
	uint32_t parallel;   /* of these, how many CPUs there are for */
	uint32_t sole;       /* its one thread never shares it: see lead */
	uint32_t lends_to;   /* id + 1 of a shard that needs a thread, or 0 */
	uint64_t changed_ns; /* when it was opened, or got its policy */
	/* Handlers registered here. */
	uint32_t handlers;

	/* Any thread pushes (a stack), a leader takes all. */
	struct event_handler *mailbox CACHE_LINE_ALIGNED; /* [P2] */
	uint32_t asleep;        /* a leader waits without a time-out [P2] */
	uint32_t sleepers;      /* threads in wait under POLICY_KERNEL [P2] */
	uint32_t orders;        /* something is wanted of members [P10] */
	uint32_t unguarded;     /* the guard has gone to sleep [P18] */
	uint32_t inside;        /* threads that use the set [P28] */
	uint64_t busy_since_ns; /* when the leader's present turn began */

	/* The holder's alone; the promotion hands them on. */
	struct batch batch CACHE_LINE_ALIGNED;
};

/* The owner of a handler, inside a grace section together with pool_place: it
 * is registered here from now on, or no longer. */
static inline void
shard_enter(struct shard *shard, struct event_handler *handler)
{
	atomic_store_relaxed(&handler->shard, shard);
	atomic_add_relaxed(&shard->handlers, 1u);
}

static inline void
shard_leave(struct event_handler *handler)
{
	atomic_sub_acq_rel(&handler->shard->handlers, 1u);
}

/* Without a handle set.  0 or -errno. */
int shard_init(struct shard *shard, struct pool *pool, unsigned id,
    const struct promotion_ops *promotion);
void shard_fini(struct shard *shard);

/* Control thread.  Prepares a handle set, which shard_open_set lets the threads
 * use; the shard owns it.  Nothing happens if the shard has one in use. */
bool shard_has_set(const struct shard *shard); /* in use */
void shard_put_set(struct shard *shard, struct handle_set *set);
void shard_open_set(struct shard *shard);
/* Control thread: frees a set that is prepared and not in use. */
void shard_drop_set(struct shard *shard);
/* Control thread, of a closed shard, where nothing is registered and a grace
 * period has passed since the last thread could have chosen it: frees the set
 * unless a thread is inside; then false.  Does not block. */
bool shard_close_set(struct shard *shard);

/* A pool thread: serves its home shard, or one that lacks a leader, until it is
 * summoned to retire. */
void shard_serve(struct pool_thread *self);

/* Any thread that owns the handler: some thread of its shard will run it. */
void shard_submit(struct event_handler *handler);

/* Any thread: leaves a note with the handler of that generation, and sees to it
 * that it is read.  False when the handler has ended. */
bool shard_note(
    struct event_handler *handler, uint32_t generation, uint32_t note);

/* Any thread: the holder sweeps soon, and waiting threads look at summons and
 * policy. */
void shard_order(struct shard *shard);

/* Control thread: if the leader has been inside a handler for longer than
 * limit_ns, or nobody leads, gives the token to a parked member.  True if one
 * was called. */
bool shard_guard(struct shard *shard, uint64_t now_ns, uint64_t limit_ns);

#endif
