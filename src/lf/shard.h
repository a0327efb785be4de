/* SPDX-License-Identifier: MIT
 * A shard: one handle set with its leadership, its batch and its mailbox.
 *
 *   kernel --wait--> batch --claim--> turn        (the leader's way)
 *   owner  --submit--> mailbox --drain--> backlog --> turn
 *
 * The batch is what one wait has fetched.  It belongs to the shard, not to the
 * thread that fetched it: a leader that promotes hands the rest to the next.
 * The mailbox brings handlers that are already owned: a turn that used up its
 * budget, a deadline that passed.  Ownership travels with them, so the mailbox
 * needs no memory, has no limit and never holds a stale entry.
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

enum thread_role { ROLE_FOLLOWING, ROLE_LEADING, ROLE_PROCESSING };

/* Written by one thread, read by any: relaxed words on their own lines. */
struct thread_stats {
	uint64_t turns;        /* calls of a handler */
	uint64_t inline_turns; /* of these, while leading */
	uint64_t promotions;   /* leadership given up before a turn */
	uint64_t wakes;        /* of these, to a parked follower */
	uint64_t relay_turn_ns, accept_turn_ns; /* moving averages */
	uint32_t role;                          /* enum thread_role */
} CACHE_LINE_ALIGNED;

/* fetched = dispatched + merged + stale + in batch, exactly, whenever no leader
 * is between two steps.  Written by the leader alone. */
struct ledger {
	uint64_t waits, fetched, dispatched, merged, stale, in_batch;
	uint64_t resumed; /* handlers taken up from the mailbox */
	uint64_t wait_errors;
};

struct shard {
	struct handle_set *set;
	struct promotion *promotion;
	struct grace *grace;
	enum policy_kind policy;
	uint32_t stopping;

	/* Any thread pushes (a stack), the leader takes all. */
	struct event_handler *mailbox CACHE_LINE_ALIGNED; /* [P2] */
	uint32_t asleep; /* the leader waits without a time-out [P2] */

	/* The leader's alone; the promotion hands them on. */
	struct handle_event batch[SHARD_BATCH] CACHE_LINE_ALIGNED;
	unsigned batch_next, batch_end;
	struct backlog backlog;        /* of the batch: by kind */
	struct event_handler *resumed; /* drained, oldest first */
	struct event_handler **resumed_end;
	unsigned resumed_n;
	bool looked; /* at the kernel since the last one was resumed */

	struct ledger ledger CACHE_LINE_ALIGNED;
};

/* Takes the set over, also on failure.  0 or -errno. */
int shard_init(struct shard *shard, struct handle_set *set,
    const struct promotion_ops *promotion, enum policy_kind policy,
    struct grace *grace);
void shard_fini(struct shard *shard);

/* A pool thread: serves the shard until shard_stop. */
void shard_serve(struct shard *shard, struct pool_thread *self);

/* Any thread that owns the handler: some thread of the shard will run it. */
void shard_submit(struct shard *shard, struct event_handler *handler);

/* Any thread: leaves a note with the handler of that generation, and sees to it
 * that it is read.  False when the handler has ended. */
bool shard_note(
    struct event_handler *handler, uint32_t generation, uint32_t note);

/* Any thread: every thread leaves after the turn it is in. */
void shard_stop(struct shard *shard);

#endif
