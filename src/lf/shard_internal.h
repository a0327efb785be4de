/* SPDX-License-Identifier: MIT
 * What the files of the shard share.  Nobody else includes this.
 */
#ifndef LF_SHARD_INTERNAL_H
#define LF_SHARD_INTERNAL_H

#include <stdbool.h>

#include "lf/pool.h"
#include "lf/shard.h"

/* Any thread: the handle set may be used until shard_release.  False if the
 * shard has none: then it is closed, and no thread waits there.  May be nested.
 */
bool shard_hold(struct shard *shard);
void shard_release(struct shard *shard);

/* The holder, with the shard's batch (leading), or under POLICY_KERNEL a thread
 * with its own.  It is empty: waits for events and for the mailbox. */
void batch_fetch(struct shard *shard, struct batch *b, bool leading,
    struct pool_thread *self);

/* Note: the guard asleep.
 * The guard says that it goes to sleep, then looks at the token, and stays if
 * that is on the table.  A leader lays the token there, then looks whether the
 * guard is asleep, and calls it.  One of the two sees the other: no turn goes
 * unwatched because it began while the guard was making up its mind.  [P18] */
static inline void
shard_call_guard(struct shard *shard)
{
	if (atomic_load_seq(&shard->unguarded) && /* [P18] */
	    atomic_swap_acq_rel(&shard->unguarded, 0u))
		pool_call_guard(shard->pool);
}

/* Claims the handler of the next event that is still meant for somebody; after
 * these comes one that the mailbox brought, if there was a look at the kernel
 * since the last.  NULL when there is none. */
struct event_handler *batch_next(struct batch *b, struct pool_thread *self);

#endif
