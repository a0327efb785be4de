/* SPDX-License-Identifier: MIT
 * When a shard has a handle set, and who may use it.  See shard.h and
 * shard_internal.h.
 */
#include "lf/shard.h"

#include "lf/shard_internal.h"

/* Note: the handle set of a closed shard.
 * A thread counts itself in `inside` before it touches the set and takes itself
 * out again afterwards; the control thread takes the set away with the exchange
 * that finds the count at 0 and leaves SHARD_NO_SET.  All of that is one word,
 * so either the thread came first, and the exchange fails, or the thread finds
 * SHARD_NO_SET in what its own addition returns, and keeps off.  [P28]
 *
 * A leader, and under POLICY_KERNEL a thread that waits beside others, is
 * inside from its first step at the shard to its last.  So without a set no
 * thread waits, and a wake-up that finds no set has no thread to wake: a thread
 * that comes after the next set has been put there looks at the mailbox and at
 * orders before it waits.
 *
 * Turns are not counted.  Where a handler is registered the count of handlers
 * keeps the shard from closing, and where a turn is about to register one the
 * grace period does (close_empty_shards). */
bool
shard_hold(struct shard *shard)
{
	if (!(atomic_add_acq_rel(&shard->inside, 1u) &
	        SHARD_NO_SET)) /* [P28] */
		return true;
	shard_release(shard);
	return false;
}

void
shard_release(struct shard *shard)
{
	atomic_sub_acq_rel(&shard->inside, 1u); /* [P28] */
}

bool
shard_has_set(const struct shard *shard)
{
	return !(atomic_load_relaxed(&shard->inside) & SHARD_NO_SET);
}

void
shard_put_set(struct shard *shard, struct handle_set *set, bool alarm)
{
	shard->set = set;
	if (alarm)
		shard_alarm_open(shard);
}

void
shard_open_set(struct shard *shard)
{
	if (!shard_has_set(shard))
		atomic_sub_acq_rel(&shard->inside, SHARD_NO_SET); /* [P28] */
}

void
shard_drop_set(struct shard *shard)
{
	if (shard_has_set(shard))
		return;
	handle_set_free(shard->set);
	shard->set = NULL;
	shard_alarm_close(shard);
}

bool
shard_close_set(struct shard *shard)
{
	uint32_t no_thread = 0;

	if (!atomic_cas_acq_rel(
	        &shard->inside, &no_thread, SHARD_NO_SET)) /* [P28] */
		return false;
	shard_drop_set(shard);
	return true;
}
