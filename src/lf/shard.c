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
#include "lf/turns.h"

void
batch_init(struct batch *batch)
{
	memset(batch, 0, sizeof(*batch));
	batch->resumed_end = &batch->resumed;
}

static void
kick(void *arg)
{
	shard_order(arg);
}

int
shard_init(struct shard *shard, struct pool *pool, unsigned id,
    struct handle_set *set, const struct promotion_ops *promotion)
{
	int rc;

	memset(shard, 0, sizeof(*shard));
	shard->pool = pool;
	shard->id = id;
	shard->set = set;
	batch_init(&shard->batch);
	rc = promotion->create(kick, shard, &shard->promotion);
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
 * A leader sets asleep, then looks at the mailbox and at orders, then waits; a
 * thread that submits or orders writes, then looks at asleep.  Both first steps
 * are read-modify-writes in one total order, so at least one of the two sees
 * the other: nothing lies with a leader that sleeps.  Under POLICY_KERNEL
 * sleepers counts in the place of asleep.  [P2] */
static void
wake(struct shard *shard)
{
	if (atomic_load_seq(&shard->sleepers) > 0 || /* [P2] */
	    (atomic_load_seq(&shard->asleep) &&      /* [P2] */
	        atomic_swap_seq(&shard->asleep, 0u)))
		handle_set_wake(shard->set);
}

void
shard_submit(struct event_handler *handler)
{
	struct shard *shard = handler->shard;

	event_handler_push(&shard->mailbox, handler); /* [P2] */
	wake(shard);
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
	wake(shard);
}

/* The stack becomes the tail of the backlog, oldest first. */
static void
drain_mailbox(struct shard *shard, struct batch *b)
{
	struct event_handler *h, *newest;

	if (!atomic_load_relaxed(&shard->mailbox))
		return;
	h = event_handler_take_all(&shard->mailbox, &newest); /* [P2] */
	if (!h)
		return;
	*b->resumed_end = h;
	b->resumed_end = &newest->next;
	for (; h; h = h->next)
		atomic_store_relaxed(&b->resumed_n, b->resumed_n + 1);
}

/* The leader's wait. */
static int
wait_as_leader(struct shard *shard, struct batch *b)
{
	int timeout_ms = 0, n;

	if (!b->resumed && !atomic_load_relaxed(&shard->mailbox)) {
		(void)atomic_swap_seq(&shard->asleep, 1u); /* [P2] */
		if (!atomic_load_seq(&shard->mailbox) &&   /* [P2] */
		    !atomic_load_seq(&shard->orders))
			timeout_ms = -1;
	}
	n = handle_set_wait(shard->set, b->events, SHARD_BATCH, timeout_ms);
	if (atomic_load_relaxed(&shard->asleep))
		atomic_store_relaxed(&shard->asleep, 0u);
	return n;
}

/* How long a thread may not notice, under POLICY_KERNEL, that something is
 * wanted of it: an eventfd wakes any one of those who wait, and a particular
 * one cannot be chosen. */
#define KERNEL_LOOK_MS 50

static int
wait_with_others(struct shard *shard, struct batch *b)
{
	int timeout_ms = 0, n;

	if (!b->resumed) {
		(void)atomic_add_seq(&shard->sleepers, 1u); /* [P2] */
		if (!atomic_load_seq(&shard->mailbox))      /* [P2] */
			timeout_ms = KERNEL_LOOK_MS;
	}
	n = handle_set_wait(
	    shard->set, b->events, SHARD_BATCH_KERNEL, timeout_ms);
	if (!b->resumed)
		atomic_sub_relaxed(&shard->sleepers, 1u);
	return n;
}

/* What the look has found, into the books. */
static void
enter(struct batch *b, int n, struct pool_thread *self)
{
	b->next = 0;
	b->end = (unsigned)n;
	b->backlog = (struct backlog){0};
	for (int i = 0; i < n; i++) {
		if (handle_side(b->events[i].handle) == HANDLE_LISTENER)
			b->backlog.accepts++;
		else
			b->backlog.relays++;
	}
	atomic_bump_own(&self->stats.waits, 1u);
	atomic_bump_own(&self->stats.fetched, (unsigned)n);
	atomic_store_relaxed(&b->left, (unsigned)n);
	b->looked = true;
}

/* Eyes closed: from the end of one look at the kernel to the start of the next,
 * if that one found events at once: they may have waited as long. */
static void
measure_eyes(struct batch *b, int n, uint64_t from_ns, struct pool_thread *self)
{
	if (n > 0 && b->looked_ns > 0 && b->looked_ns < from_ns &&
	    self->now_ns - from_ns < 10000)
		histogram_add(&self->stats.eyes_closed, from_ns - b->looked_ns);
	b->looked_ns = self->now_ns;
	if (n == 0 || self->now_ns - from_ns > 5000)
		b->rested_ns = self->now_ns;
}

/* With an empty batch: waits for events and for the mailbox. */
static void
fetch(struct shard *shard, struct batch *b, bool leading,
    struct pool_thread *self)
{
	static struct log_limit limit;
	uint64_t from_ns = self->now_ns;
	int n;

	n = leading ? wait_as_leader(shard, b) : wait_with_others(shard, b);
	if (n < 0) {
		atomic_bump_own(&self->stats.wait_errors, 1u);
		log_limited(&limit, LOG_LEVEL_ERROR,
		    "waiting for events failed: %s", strerror(-n));
		n = 0;
	}
	self->now_ns = clock_now_ns();
	enter(b, n, self);
	/* Nobody had to look while it was closed or led in another way. */
	if (b->looked_ns < atomic_load_relaxed(&shard->changed_ns))
		b->looked_ns = 0;
	measure_eyes(b, n, from_ns, self);
	drain_mailbox(shard, b);
	if (atomic_load_relaxed(&shard->unguarded) &&
	    atomic_swap_acq_rel(&shard->unguarded, 0u))
		pool_call_guard(shard->pool);
}

/* Claims the handler of the next event that is still meant for somebody; NULL
 * when the batch is used up. */
static struct event_handler *
claim_next(struct batch *b, struct pool_thread *self)
{
	while (b->next < b->end) {
		struct handle_event *e = &b->events[b->next++];
		struct event_handler *h =
		    event_handler_at(handle_slot(e->handle));

		if (handle_side(e->handle) == HANDLE_LISTENER)
			b->backlog.accepts--;
		else
			b->backlog.relays--;
		atomic_store_relaxed(&b->left, b->end - b->next);
		switch (claim_post(&h->claim, handle_generation(e->handle),
		    handle_pending(e->handle, e->ready))) {
		case CLAIM_STALE:
			atomic_bump_own(&self->stats.stale, 1u);
			break;
		case CLAIM_LEFT:
			atomic_bump_own(&self->stats.merged, 1u);
			break;
		case CLAIM_TAKEN:
			atomic_bump_own(&self->stats.dispatched, 1u);
			return h;
		}
	}
	return NULL;
}

/* A handler that was brought by the mailbox.  One for each look at the kernel:
 * these turns are long, and new events must not wait for all. */
static struct event_handler *
resume_next(struct batch *b, struct pool_thread *self)
{
	struct event_handler *h = b->resumed;

	if (!h || !b->looked)
		return NULL;
	b->looked = false;
	atomic_store_relaxed(&b->resumed_n, b->resumed_n - 1);
	b->resumed = h->next;
	if (!b->resumed)
		b->resumed_end = &b->resumed;
	atomic_bump_own(&self->stats.resumed, 1u);
	return h;
}

static struct event_handler *
next(struct batch *b, struct pool_thread *self)
{
	struct event_handler *h = claim_next(b, self);

	return h ? h : resume_next(b, self);
}

/* After promotion, whose cost is none of the turn's: counted as one it made
 * turns look dear, and dear turns make more promotions.  Nobody else waits for
 * this thread, so a handler that wants to go on may, as long as the leader has
 * nothing to do either.  Otherwise it takes its place behind what is ready. */
static void
process(struct event_handler *h, struct pool_thread *self)
{
	self->now_ns = clock_now_ns();
	turns_set_role(self, ROLE_PROCESSING);
	while (turns_run(h, self) == TURN_MORE) {
		if (atomic_load_relaxed(&h->shard->asleep) &&
		    !member_wanted(&self->member))
			continue;
		shard_submit(h);
		break;
	}
}

/* With the token on the table, if there is anybody who could take it; false if
 * somebody has. */
static bool
process_leading(
    struct shard *shard, struct event_handler *h, struct pool_thread *self)
{
	bool shared = !atomic_load_relaxed(&shard->sole);
	uint64_t ticket = 0;

	if (shared) {
		atomic_store_relaxed(&shard->busy_since_ns, self->now_ns);
		ticket = promotion_busy(shard->promotion);
	}
	atomic_bump_own(&self->stats.inline_turns, 1u);
	if (turns_run(h, self) == TURN_MORE)
		shard_submit(h);
	return !shared || promotion_resume(shard->promotion, ticket);
}

/* The holder, on behalf of whoever gave the order. */
static enum member_command
ask_member(struct member *m, void *arg)
{
	struct shard *shard = arg;
	uint32_t summons = atomic_load_seq(&m->summons); /* [P10] */
	uint32_t lends_to;

	if (summons != 0)
		return (enum member_command)summons;
	if (atomic_load_seq(&m->mailbox)) /* [P10] */
		return MEMBER_WORK;
	lends_to = atomic_load_relaxed(&shard->lends_to);
	if (lends_to == 0)
		return MEMBER_WAIT;
	atomic_store_relaxed(&shard->lends_to, 0u);
	pool_thread_of(m)->visits = lends_to;
	return MEMBER_MOVE;
}

static void
obey_orders(struct shard *shard)
{
	if (!atomic_load_relaxed(&shard->orders))
		return;
	(void)atomic_swap_seq(&shard->orders, 0u); /* [P10] */
	promotion_sweep(shard->promotion, ask_member, shard);
}

/* Turns do not block, so more running threads than CPUs would only take turns
 * on them; one whose turn does last is the guard's business.  Those that run
 * come back by themselves and take the token from the table, without a wake-up:
 * with 4 threads on 2 CPUs this made of 0.55 wake-ups for each event 0.05. */
static bool
room_for_more(const struct shard *shard, uint32_t parked)
{
	uint32_t homes = atomic_load_relaxed(&shard->homes);

	return homes < parked + atomic_load_relaxed(&shard->parallel);
}

static bool
worth_help(const struct shard *shard, const struct pool_thread *self)
{
	struct backlog rest = shard->batch.backlog;
	enum policy_kind policy = atomic_load_relaxed(&shard->policy);
	uint32_t parked = promotion_parked(shard->promotion);

	if (policy == POLICY_ADAPTIVE && !room_for_more(shard, parked))
		return false;
	rest.busy_ns = self->now_ns - shard->batch.rested_ns;
	rest.relays += shard->batch.resumed_n;
	return policy_promotes(policy, &self->service_time, &rest, parked,
	    pool_wake_ns(shard->pool));
}

/* The paper's rule for all, or for what is going to last: those who wait behind
 * it would wait for the guard. */
static bool
has_to_promote(const struct shard *shard, const struct event_handler *h)
{
	if (atomic_load_relaxed(&shard->policy) == POLICY_ALWAYS)
		return true;
	return atomic_load_relaxed(&h->long_turns) >= POLICY_LONG_TURNS &&
	       promotion_parked(shard->promotion) > 0;
}

static void
give_up(struct shard *shard, struct pool_thread *self)
{
	if (promotion_promote(shard->promotion))
		atomic_bump_own(&self->stats.wakes, 1u);
}

/* Where others find this thread: written before it looks whether it is wanted,
 * as they put something into its mailbox before they look where it is.  [P10]
 */
static void
come_to(struct shard *shard, struct pool_thread *self)
{
	if (atomic_load_relaxed(&self->at) != shard)
		(void)atomic_swap_seq(&self->at, shard); /* [P10] */
}

/* A handler that is bound to another thread goes to that one's own mailbox. The
 * holder calls the thread if it is parked here; at another shard, where it may
 * sleep as leader, the order wakes that one's holder.  In any case the thread
 * looks for itself before it waits and after it has parked.  [P10] */
static bool
hand_off(struct shard *shard, struct event_handler *h, struct pool_thread *self)
{
	struct pool_thread *to = h->bound;
	struct shard *at;

	if (!to || to == self || !turns_hand_off(h, self))
		return false;
	at = atomic_load_seq(&to->at); /* [P10] */
	if (at == shard)
		promotion_sweep(shard->promotion, ask_member, shard);
	else if (at)
		shard_order(at);
	return true;
}

/* The shard is to have no leader. */
static bool
leaderless(const struct shard *shard)
{
	return atomic_load_relaxed(&shard->policy) == POLICY_KERNEL ||
	       atomic_load_relaxed(&shard->closed);
}

/* Fetched or brought, and not looked at.  The holder knows; others may ask what
 * the last one has left. */
static bool
has_rest(const struct shard *shard)
{
	return atomic_load_relaxed(&shard->batch.left) > 0 ||
	       atomic_load_relaxed(&shard->batch.resumed_n) > 0;
}

/* The rest goes to the next leader; where there will be none it is done first.
 */
static bool
may_leave(const struct shard *shard, const struct pool_thread *self)
{
	return member_wanted(&self->member) &&
	       !(leaderless(shard) && has_rest(shard));
}

/* Leads until a follower is promoted, the token is taken over, or something is
 * wanted of this thread. */
static void
lead(struct shard *shard, struct pool_thread *self)
{
	self->now_ns = clock_now_ns();
	turns_set_role(self, ROLE_LEADING);
	come_to(shard, self);
	while (!may_leave(shard, self)) {
		struct event_handler *h;

		obey_orders(shard);
		h = next(&shard->batch, self);
		if (!h) {
			if (leaderless(shard)) {
				if (!has_rest(shard))
					break;
				/* The rest of the mailbox needs no look. */
				shard->batch.looked = true;
				continue;
			}
			fetch(shard, &shard->batch, true, self);
			continue;
		}
		if (hand_off(shard, h, self))
			continue;
		if (has_to_promote(shard, h)) {
			atomic_bump_own(&self->stats.promotions, 1u);
			give_up(shard, self);
			process(h, self);
			return;
		}
		if (worth_help(shard, self) &&
		    promotion_invite(shard->promotion))
			atomic_bump_own(&self->stats.wakes, 1u);
		if (!process_leading(shard, h, self))
			return;
	}
	give_up(shard, self);
}

/* POLICY_KERNEL: no leader; every thread has a batch of its own. */
static void
serve_with_others(struct shard *shard, struct pool_thread *self)
{
	struct batch *b = &self->batch;

	turns_set_role(self, ROLE_LEADING);
	while (atomic_load_relaxed(&shard->policy) == POLICY_KERNEL &&
	       !atomic_load_relaxed(&shard->closed) &&
	       !member_wanted(&self->member)) {
		struct event_handler *h;

		/* Of a leader that promoted nobody and then saw the policy. */
		if (has_rest(shard) &&
		    promotion_try_lead(shard->promotion, true)) {
			lead(shard, self);
			continue;
		}
		fetch(shard, b, false, self);
		while ((h = next(b, self)) || b->resumed) {
			if (!h) /* the rest of the mailbox needs no look */
				b->looked = true;
			else if (turns_run(h, self) == TURN_MORE)
				shard_submit(h);
		}
	}
	/* Somebody else may wait in there, and not for what this one was. */
	wake(shard);
}

/* Leads a shard that has no leader: home first, then next door. */
static bool
adopt(struct shard *home, struct pool_thread *self)
{
	unsigned n = pool_shards(self->pool);

	for (unsigned i = 0; i < n; i++) {
		struct shard *s = pool_shard(self->pool, (home->id + i) % n);

		if (!promotion_try_lead(s->promotion, s == home))
			continue;
		if (s != home)
			atomic_bump_own(&self->stats.adoptions, 1u);
		lead(s, self);
		return true;
	}
	return false;
}

#define JOIN_SPINS 32

/* The shard that asked for a thread, if it still lacks one. */
static void
visit(struct pool_thread *self)
{
	struct shard *s = pool_shard(self->pool, self->visits - 1);

	self->visits = 0;
	if (!promotion_try_lead(s->promotion, false))
		return;
	atomic_bump_own(&self->stats.adoptions, 1u);
	lead(s, self);
}

/* Between two turns a leader holds the token for some hundred nanoseconds; to
 * park for that would cost a wake-up.  True when the token can be had. */
static bool
token_comes_free(const struct shard *home)
{
	for (int i = 0; i < JOIN_SPINS; i++) {
		if (promotion_token(home->promotion) != TOKEN_HELD)
			return true;
		if (atomic_load_relaxed(&home->asleep))
			return false;
		cpu_relax();
	}
	return false;
}

static void
follow(struct shard *home, struct pool_thread *self)
{
	enum member_command command;

	if (token_comes_free(home))
		return;
	turns_set_role(self, ROLE_FOLLOWING);
	come_to(home, self);
	command = promotion_join(home->promotion, &self->member);
	self->now_ns = clock_now_ns();
	if (self->member.called_ns > 0)
		histogram_add(&self->stats.promotion_delay,
		    self->now_ns - self->member.called_ns);
	self->member.called_ns = 0;
	switch (command) {
	case MEMBER_LEAD:
		lead(home, self);
		break;
	case MEMBER_MOVE:
		if (self->visits > 0)
			visit(self);
		break;
	case MEMBER_WAIT:
	case MEMBER_RETIRE:
	case MEMBER_WORK:
		/* The loop below sees why. */
		break;
	}
}

void
shard_serve(struct pool_thread *self)
{
	self->now_ns = clock_now_ns();
	for (;;) {
		uint32_t summons;
		struct shard *home;

		turns_work_mailbox(self);
		summons = atomic_load_seq(&self->member.summons); /* [P10] */
		if (summons == MEMBER_RETIRE)
			return;
		if (summons == MEMBER_MOVE &&
		    !atomic_cas_seq(&self->member.summons, &summons, 0u))
			continue;
		home = atomic_load_acquire(&self->home); /* [P10] */
		if (atomic_load_relaxed(&home->policy) == POLICY_KERNEL)
			serve_with_others(home, self);
		else if (!adopt(home, self))
			follow(home, self);
	}
}

bool
shard_guard(struct shard *shard, uint64_t now_ns, uint64_t limit_ns)
{
	uint64_t since_ns = atomic_load_relaxed(&shard->busy_since_ns);

	switch (promotion_token(shard->promotion)) {
	case TOKEN_HELD:
		return false;
	case TOKEN_TABLE:
		if (promotion_parked(shard->promotion) == 0 ||
		    now_ns < since_ns + limit_ns)
			return false;
		break;
	case TOKEN_NOBODY:
		break;
	}
	/* The token is this thread's for a moment: it never leads. */
	return promotion_parked(shard->promotion) > 0 &&
	       promotion_try_lead(shard->promotion, true) &&
	       promotion_promote(shard->promotion);
}
