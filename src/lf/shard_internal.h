/* SPDX-License-Identifier: MIT
 * Internals of shards.  Only files of lf include this file.
 */
#ifndef LF_SHARD_INTERNAL_H
#define LF_SHARD_INTERNAL_H

#include <stdbool.h>

#include "lf/pool.h"
#include "lf/shard.h"

/* Allows the caller to use the handle set until shard_release.  Returns false
 * if the shard has no set: it is closed, and no thread waits there.  May be
 * nested. Any thread. */
bool shard_hold(struct shard *shard);
/* Ends the use of the handle set that shard_hold has allowed. */
void shard_release(struct shard *shard);

/* Waits for events and for the mailbox, and fills the batch, which is empty.
 * Called by the holder with the shard's batch (leading), or under POLICY_KERNEL
 * by a thread with its own batch. */
void batch_fetch(struct shard *shard, struct batch *b, bool leading,
    struct pool_thread *self);

/* Note: the guard asleep.
 * The guard sets unguarded, then reads the token, and stays awake if the token
 * is published.  A leader publishes the token, then reads unguarded,
 * and calls the guard if it is set.  At least one of the two sees the other's
 * write, so every turn is guarded, also one that begins while the guard goes to
 * sleep.  [P18] */
static inline void
shard_call_guard(struct shard *shard)
{
	if (atomic_load_seq(&shard->unguarded) && /* [P18] */
	    atomic_swap_acq_rel(&shard->unguarded, 0u))
		pool_call_guard(shard->pool);
}

/* Returns the next handler to run, which the caller owns then: that of the next
 * event that is not stale, or after all events one from the mailbox.  At most
 * one of the mailbox is returned for each wait.  Returns NULL if none is left.
 */
struct event_handler *batch_next(struct batch *b, struct pool_thread *self);

#endif
