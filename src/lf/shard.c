/* SPDX-License-Identifier: MIT
 * See shard.h.
 */
#include "lf/shard.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "base/log.h"
#include "lf/pool.h"

int
shard_init(struct shard *shard, struct handle_set *set,
    const struct promotion_ops *promotion, enum policy_kind policy,
    struct grace *grace)
{
	int rc;

	memset(shard, 0, sizeof(*shard));
	shard->set = set;
	shard->policy = policy;
	shard->grace = grace;
	shard->resumed_end = &shard->resumed;
	rc = promotion->create(&shard->promotion);
	if (rc < 0)
		handle_set_free(set);
	return rc;
}

void
shard_fini(struct shard *shard)
{
	shard->promotion->ops->free(shard->promotion);
	handle_set_free(shard->set);
}

/* Note: asleep and mailbox.
 * The leader sets asleep, then looks at the mailbox, then waits; a thread that
 * submits pushes, then looks at asleep.  Both first steps are read-modify-
 * writes in one total order, so at least one of the two sees the other: no
 * handler lies in the mailbox of a leader that sleeps.  [P2] */
void
shard_submit(struct shard *shard, struct event_handler *handler)
{
	struct event_handler *top = atomic_load_relaxed(&shard->mailbox);

	do
		atomic_store_relaxed(&handler->next, top);
	while (!__atomic_compare_exchange_n(&shard->mailbox, &top, handler, 0,
	    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); /* [P2] */
	if (atomic_load_seq(&shard->asleep) &&    /* [P2] */
	    atomic_swap_seq(&shard->asleep, 0u))
		handle_set_wake(shard->set);
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
	shard_submit(handler->shard, handler);
	return true;
}

void
shard_stop(struct shard *shard)
{
	atomic_store_release(&shard->stopping, 1u);
	promotion_close(shard->promotion);
	handle_set_wake(shard->set);
}

static bool
stopping(const struct shard *shard)
{
	return atomic_load_acquire(&shard->stopping);
}

/* The stack becomes the tail of the backlog, oldest first. */
static void
drain_mailbox(struct shard *shard)
{
	struct event_handler *h, *oldest = NULL, **end = NULL;

	if (!atomic_load_relaxed(&shard->mailbox))
		return;
	h = atomic_swap_acq_rel(&shard->mailbox, NULL); /* [P2] */
	while (h) {
		struct event_handler *below = atomic_load_relaxed(&h->next);

		atomic_store_relaxed(&h->next, oldest);
		if (!oldest)
			end = &h->next;
		oldest = h;
		h = below;
		shard->resumed_n++;
	}
	*shard->resumed_end = oldest;
	shard->resumed_end = end;
}

static int
wait_for_events(struct shard *shard)
{
	int timeout_ms = 0;

	if (!shard->resumed && !atomic_load_relaxed(&shard->mailbox)) {
		(void)atomic_swap_seq(&shard->asleep, 1u); /* [P2] */
		if (!atomic_load_seq(&shard->mailbox))     /* [P2] */
			timeout_ms = -1;
	}
	return handle_set_wait(
	    shard->set, shard->batch, SHARD_BATCH, timeout_ms);
}

/* The leader, with an empty batch: waits for events and for the mailbox. */
static void
fetch(struct shard *shard, struct pool_thread *self)
{
	static struct log_limit limit;
	int n = wait_for_events(shard);

	if (atomic_load_relaxed(&shard->asleep))
		atomic_store_relaxed(&shard->asleep, 0u);
	if (n < 0) {
		atomic_bump_own(&shard->ledger.wait_errors, 1u);
		log_limited(&limit, LOG_LEVEL_ERROR,
		    "waiting for events failed: %s", strerror(-n));
		n = 0;
	}
	shard->batch_next = 0;
	shard->batch_end = (unsigned)n;
	shard->backlog = (struct backlog){0};
	for (int i = 0; i < n; i++) {
		if (handle_side(shard->batch[i].handle) == HANDLE_LISTENER)
			shard->backlog.accepts++;
		else
			shard->backlog.relays++;
	}
	atomic_bump_own(&shard->ledger.waits, 1u);
	atomic_bump_own(&shard->ledger.fetched, (unsigned)n);
	atomic_store_relaxed(&shard->ledger.in_batch, (unsigned)n);
	drain_mailbox(shard);
	shard->looked = true;
	self->now_ns = clock_now_ns();
}

/* The leader: claims the handler of the next event that is still meant for
 * somebody; NULL when the batch is used up. */
static struct event_handler *
claim_next(struct shard *shard)
{
	while (shard->batch_next < shard->batch_end) {
		struct handle_event *e = &shard->batch[shard->batch_next++];
		struct event_handler *h =
		    event_handler_at(handle_slot(e->handle));

		if (handle_side(e->handle) == HANDLE_LISTENER)
			shard->backlog.accepts--;
		else
			shard->backlog.relays--;
		atomic_store_relaxed(&shard->ledger.in_batch,
		    shard->batch_end - shard->batch_next);
		switch (claim_post(&h->claim, handle_generation(e->handle),
		    handle_pending(e->handle, e->ready))) {
		case CLAIM_STALE:
			atomic_bump_own(&shard->ledger.stale, 1u);
			break;
		case CLAIM_LEFT:
			atomic_bump_own(&shard->ledger.merged, 1u);
			break;
		case CLAIM_TAKEN:
			atomic_bump_own(&shard->ledger.dispatched, 1u);
			return h;
		}
	}
	return NULL;
}

/* The leader: a handler that was brought by the mailbox.  One for each look at
 * the kernel: these turns are long, and new events must not wait for all. */
static struct event_handler *
resume_next(struct shard *shard)
{
	struct event_handler *h = shard->resumed;

	if (!h || !shard->looked)
		return NULL;
	shard->looked = false;
	shard->resumed_n--;
	shard->resumed = atomic_load_relaxed(&h->next);
	if (!shard->resumed)
		shard->resumed_end = &shard->resumed;
	atomic_bump_own(&shard->ledger.resumed, 1u);
	return h;
}

static void
measure(struct pool_thread *self, enum turn_kind kind)
{
	struct service_time *times = &self->service_time;
	uint64_t now_ns = clock_now_ns();

	service_time_add(times, kind, now_ns - self->now_ns);
	self->now_ns = now_ns;
	atomic_store_relaxed(kind == TURN_RELAY ? &self->stats.relay_turn_ns
	                                        : &self->stats.accept_turn_ns,
	    times->average_ns[kind]);
}

/* Runs the handler's turn; afterwards the handler may be anybody's. */
static enum turn
run(struct shard *shard, struct event_handler *h, struct pool_thread *self)
{
	enum turn_kind kind =
	    h->first_side == HANDLE_LISTENER ? TURN_ACCEPT : TURN_RELAY;
	enum turn turn;

	grace_enter(shard->grace, &self->reader);
	turn = event_handler_run(h, self);
	grace_leave(&self->reader);
	atomic_bump_own(&self->stats.turns, 1u);
	measure(self, kind);
	return turn;
}

/* After promotion, whose cost is none of the turn's: counted as one it made
 * turns look dear, and dear turns make more promotions.  Nobody else waits for
 * this thread, so a handler that wants to go on may, as long as the leader has
 * nothing to do either.  Otherwise it takes its place behind what is ready. */
static void
process(struct shard *shard, struct event_handler *h, struct pool_thread *self)
{
	atomic_store_relaxed(&self->stats.role, ROLE_PROCESSING);
	self->now_ns = clock_now_ns();
	while (run(shard, h, self) == TURN_MORE) {
		if (atomic_load_relaxed(&shard->asleep) && !stopping(shard))
			continue;
		shard_submit(shard, h);
		break;
	}
}

static void
process_inline(
    struct shard *shard, struct event_handler *h, struct pool_thread *self)
{
	atomic_bump_own(&self->stats.inline_turns, 1u);
	if (run(shard, h, self) == TURN_MORE)
		shard_submit(shard, h);
}

static void
give_up_leadership(struct shard *shard, struct pool_thread *self)
{
	atomic_bump_own(&self->stats.promotions, 1u);
	if (promotion_promote(shard->promotion))
		atomic_bump_own(&self->stats.wakes, 1u);
}

static bool
worth_promoting(const struct shard *shard, const struct pool_thread *self)
{
	struct backlog rest = shard->backlog;

	rest.relays += shard->resumed_n;
	return policy_promotes(shard->policy, &self->service_time, &rest,
	    promotion_parked(shard->promotion));
}

/* Leads until a follower is promoted or the shard stops. */
static void
lead(struct shard *shard, struct pool_thread *self)
{
	atomic_store_relaxed(&self->stats.role, ROLE_LEADING);
	self->now_ns = clock_now_ns();
	while (!stopping(shard)) {
		struct event_handler *h = claim_next(shard);

		if (!h)
			h = resume_next(shard);
		if (!h) {
			fetch(shard, self);
			continue;
		}
		if (!worth_promoting(shard, self)) {
			process_inline(shard, h, self);
			continue;
		}
		give_up_leadership(shard, self);
		process(shard, h, self);
		return;
	}
	promotion_promote(shard->promotion);
}

void
shard_serve(struct shard *shard, struct pool_thread *self)
{
	for (;;) {
		atomic_store_relaxed(&self->stats.role, ROLE_FOLLOWING);
		if (promotion_join(shard->promotion, &self->member) ==
		    MEMBER_RETIRE)
			return;
		lead(shard, self);
	}
}
