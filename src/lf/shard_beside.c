/* SPDX-License-Identifier: MIT
 * Waiting beside others: see shard_internal.h.
 */
#include "lf/shard_internal.h"

#include "lf/turns.h"

/* Puts the rest of the thread's own batch, which no other thread can take, into
 * the mailbox. */
static void
give_rest_away(struct batch *b, struct pool_thread *self)
{
	struct event_handler *h;

	while ((h = batch_next(b, self)) || b->resumed) {
		if (h)
			shard_submit(h);
		else
			b->looked = true;
	}
}

/* A turn beside other threads that wait. */
static void
process_beside(
    struct batch *b, struct event_handler *h, struct pool_thread *self)
{
	if (shard_has_to_wait(h, self))
		return;
	if (h->next_turn == NEXT_ADMITTED) {
		give_rest_away(b, self);
		shard_run_long(h, self);
	} else if (turns_run(h, self) == TURN_MORE) {
		shard_submit(h);
	}
}

/* Whether the leader could have taken the fetched events as soon: it waits too,
 * or has nothing left behind a turn that began just now. */
static bool
is_needless(const struct shard *shard, const struct pool_thread *self)
{
	return atomic_load_relaxed(&shard->asleep) ||
	       (!shard_has_rest(shard) &&
	           self->now_ns < atomic_load_relaxed(&shard->busy_since_ns) +
	                              pool_wake_ns(shard->pool));
}

bool
shard_wait_beside(struct shard *shard, struct pool_thread *self)
{
	enum thread_role role = atomic_load_relaxed(&self->stats.role);
	struct batch *b = &self->batch;
	struct event_handler *h;
	bool any = false;

	batch_fetch(shard, b, BATCH_BESIDE, self);
	if (b->end > 0 || b->resumed)
		b->needless = is_needless(shard, self) ? b->needless + 1 : 0;
	/* The wake-up for an order may have come together with events, and
	 * their turns may take long. */
	if ((b->end > 0 || b->resumed) &&
	    atomic_load_seq(&shard->orders) && /* [P10] */
	    promotion_token(shard->promotion) == TOKEN_HELD)
		handle_set_wake(shard->set);
	while ((h = batch_next(b, self)) || b->resumed) {
		if (!h) { /* the rest of the mailbox needs no look */
			b->looked = true;
			continue;
		}
		any = true;
		turns_set_role(self, ROLE_PROCESSING);
		process_beside(b, h, self);
	}
	turns_set_role(self, role);
	return any;
}

/* While the caller stands by it is counted in standbys; with it and the leader
 * no more than `parallel` threads wait.  With ORDER_PRIORITY each event is the
 * best class's: of those who wait in the handle set the kernel would wake any
 * one. */
static bool
may_stand_by(const struct shard *shard, const struct pool_thread *self)
{
	return atomic_load_relaxed(&shard->policy) == POLICY_ADAPTIVE &&
	       !atomic_load_relaxed(&shard->closed) &&
	       !atomic_load_seq(&shard->orders) && /* [P10] */
	       !member_wanted(&self->member) &&
	       atomic_load_relaxed(&shard->standbys) <
	           atomic_load_relaxed(&shard->parallel) &&
	       atomic_load_relaxed(&shard->promotion->order) != ORDER_PRIORITY;
}

/* Counts the caller among those who stand by, and lets it use the handle set.
 */
static bool
begin_to_stand_by(struct shard *shard, const struct pool_thread *self)
{
	if (atomic_load_relaxed(&shard->standbys) + 1 >=
	    atomic_load_relaxed(&shard->parallel))
		return false;
	atomic_add_relaxed(&shard->standbys, 1u);
	if (may_stand_by(shard, self) && shard_hold(shard))
		return true;
	atomic_sub_relaxed(&shard->standbys, 1u);
	return false;
}

bool
shard_stand_by(struct shard *shard, struct pool_thread *self)
{
	bool held, any, may;

	if (!begin_to_stand_by(shard, self))
		return false;
	turns_set_role(self, ROLE_STANDBY);
	self->batch.needless = 0;
	do {
		any = shard_wait_beside(shard, self);
		held = promotion_token(shard->promotion) == TOKEN_HELD;
		may = may_stand_by(shard, self);
	} while (any && held && may && self->batch.needless < POLICY_NEEDLESS);
	/* The wake-up that ended this wait may concern the leader or other
	 * threads that stand by.  Each thread passes it on in the same way. */
	if (!may)
		handle_set_wake(shard->set);
	atomic_sub_relaxed(&shard->standbys, 1u);
	shard_release(shard);
	return !held || !may;
}
