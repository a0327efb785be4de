/* SPDX-License-Identifier: MIT
 * See shard.h.
 */
#include "lf/shard.h"

#include <string.h>

#include "lf/shard_internal.h"

static void
kick(void *arg)
{
	shard_order(arg);
}

int
shard_init(struct shard *shard, struct pool *pool, unsigned id,
    const struct promotion_ops *promotion)
{
	memset(shard, 0, sizeof(*shard));
	shard->pool = pool;
	shard->id = id;
	shard->alarm = -1;
	shard->inside = SHARD_NO_SET;
	batch_init(&shard->batch);
	return promotion->create(kick, shard, &shard->promotion);
}

void
shard_fini(struct shard *shard)
{
	shard->promotion->ops->free(shard->promotion);
	shard_alarm_close(shard);
	handle_set_free(shard->set);
}

/* Note: asleep and mailbox.
 * A leader sets asleep, then looks at the mailbox and at orders, then waits; a
 * thread that submits or orders writes, then looks at asleep.  Both first steps
 * are read-modify-writes in one total order, so at least one of the two sees
 * the other: nothing lies with a leader that sleeps.  A thread that waits
 * beside others counts itself in sleepers in the place of asleep.  The leader
 * alone clears asleep: one that stands by may fetch the wake-up that was meant
 * for the leader.  [P2] */
void
shard_wake(struct shard *shard)
{
	if (atomic_load_seq(&shard->sleepers) == 0 && /* [P2] */
	    !atomic_load_seq(&shard->asleep))         /* [P2] */
		return;
	if (!shard_hold(shard))
		return;
	handle_set_wake(shard->set);
	shard_release(shard);
}

void
shard_submit(struct event_handler *handler)
{
	struct shard *shard = handler->shard;

	event_handler_push(&shard->mailbox, handler); /* [P2] */
	shard_wake(shard);
}

bool
shard_note(struct event_handler *handler, uint32_t generation, uint32_t note)
{
	switch (claim_post(&handler->claim, generation, note)) {
	case CLAIM_STALE:
		return false;
	case CLAIM_LEFT:
		return true;
	case CLAIM_TAKEN:
		break;
	}
	shard_submit(handler);
	return true;
}

void
shard_order(struct shard *shard)
{
	(void)atomic_swap_seq(&shard->orders, 1u); /* [P2] [P10] */
	shard_wake(shard);
}

static bool
is_unattended(const struct shard *shard, uint64_t now_ns, uint64_t limit_ns)
{
	uint64_t since_ns = atomic_load_relaxed(&shard->busy_since_ns);

	return atomic_load_relaxed(&shard->policy) != POLICY_KERNEL &&
	       promotion_token(shard->promotion) != TOKEN_HELD &&
	       now_ns >= since_ns + limit_ns;
}

/* Wakes a thread that stands by, or else a parked one.  To call the latter, the
 * guard's thread holds the token for a moment; it never leads. */
static bool
give_to_another(struct shard *shard)
{
	if (atomic_load_relaxed(&shard->sleepers) > 0) {
		shard_wake(shard);
		return true;
	}
	if (promotion_parked(shard->promotion) == 0 ||
	    !promotion_try_lead(shard->promotion, true))
		return false;
	if (promotion_promote(shard->promotion)) /* [P2] */
		return true;
	/* The member was called meanwhile, and the token is free. */
	shard_wake(shard); /* [P2] */
	return false;
}

bool
shard_guard(struct shard *shard, uint64_t now_ns, uint64_t limit_ns)
{
	bool unattended = is_unattended(shard, now_ns, limit_ns);
	bool given = unattended && give_to_another(shard);

	atomic_store_relaxed(
	    &shard->unattended, (uint32_t)(unattended && !given));
	return given;
}
