/* SPDX-License-Identifier: MIT
 * The loop of a pool thread at a shard: lead, wait beside others, follow.  See
 * shard_serve in shard.h.
 */
#include "lf/shard.h"

#include <sched.h>

#include "base/clock.h"
#include "base/fault.h"
#include "lf/pool.h"
#include "lf/shard_internal.h"
#include "lf/turns.h"

/* Runs the handler after a promotion.  The time that the promotion took is not
 * counted as the turn's: turns would look long, and long turns make more
 * promotions.  No other thread waits for this one, so a handler that wants to
 * go on may do so as long as the leader has nothing to do either.  Otherwise
 * the handler goes behind what is ready. */
static void
process(struct event_handler *h, struct pool_thread *self)
{
	self->now_ns = clock_now_ns();
	turns_set_role(self, ROLE_PROCESSING);
	if (h->next_turn == NEXT_ADMITTED) {
		shard_run_long(h, self);
		return;
	}
	while (turns_run(h, self) == TURN_MORE) {
		if (h->next_turn == NEXT_SHORT &&
		    atomic_load_relaxed(&h->shard->asleep) &&
		    !member_wanted(&self->member))
			continue;
		shard_submit(h);
		break;
	}
}

/* Lets any other thread take the token.  The guard gives it to one if the turn
 * takes long.  Returns a ticket for promotion_resume. */
static uint64_t
publish_token(struct shard *shard, const struct pool_thread *self)
{
	uint32_t alarm = shard_set_alarm(shard, self->now_ns);
	uint64_t ticket;

	atomic_store_relaxed(&shard->busy_since_ns, self->now_ns);
	ticket = promotion_busy(shard->promotion); /* [P18] */
	shard_call_guard_unless(shard, alarm);
	return ticket;
}

/* Runs the handler with the token published.  Returns false if another thread
 * has taken the token. */
static bool
process_leading(
    struct shard *shard, struct event_handler *h, struct pool_thread *self)
{
	bool shared = !fault_is_on(FAULT_NO_TAKEOVER);
	uint64_t ticket = shared ? publish_token(shard, self) : 0;

	atomic_bump_own(&self->stats.inline_turns, 1u);
	turns_set_role(self, ROLE_PROCESSING);
	if (turns_run(h, self) == TURN_MORE)
		shard_submit(h);
	if (shared && !promotion_resume(shard->promotion, ticket))
		return false;
	turns_set_role(self, ROLE_LEADING);
	return true;
}

/* The holder's look through the parked members. */
struct sweep {
	struct shard *shard;
	struct pool_thread *self;
	promotion_ask ask;
};

/* Asks one member, and counts the wake-up that an answer other than MEMBER_WAIT
 * is. */
static enum member_command
ask_and_count(struct member *m, void *arg)
{
	const struct sweep *sweep = arg;
	enum member_command command = sweep->ask(m, sweep->shard);

	if (command != MEMBER_WAIT)
		atomic_bump_own(&sweep->self->stats.wakes, 1u);
	return command;
}

static void
call_parked(struct shard *shard, struct pool_thread *self, promotion_ask ask)
{
	struct sweep sweep = {.shard = shard, .self = self, .ask = ask};

	promotion_sweep(shard->promotion, ask_and_count, &sweep);
}

/* Returns the command for a parked member.  Called by the holder for the thread
 * that gave the order. */
static enum member_command
ask_member(struct member *m, void *arg)
{
	struct shard *shard = arg;
	uint32_t summons = atomic_load_seq(&m->summons); /* [P10] */
	uint32_t lends;

	if (summons != 0)
		return (enum member_command)summons;
	lends = atomic_load_relaxed(&shard->lends);
	if (lends == 0)
		return MEMBER_WAIT;
	atomic_store_relaxed(&shard->lends, lends - 1);
	return MEMBER_VISIT;
}

static void
obey_orders(struct shard *shard, struct pool_thread *self)
{
	if (!atomic_load_relaxed(&shard->orders))
		return;
	(void)atomic_swap_seq(&shard->orders, 0u); /* [P10] */
	call_parked(shard, self, ask_member);
}

/* Turns do not block, so more running threads than CPUs gain nothing; the guard
 * handles a turn that takes long.  Threads that run come back by themselves and
 * take the token without a wake-up: with 4 threads on 2 CPUs that reduced the
 * wake-ups from 0.55 to 0.05 for each event. */
static bool
room_for_more(const struct shard *shard, uint32_t parked)
{
	uint32_t homes = atomic_load_relaxed(&shard->homes);

	return homes < parked + atomic_load_relaxed(&shard->parallel);
}

/* Returns whether another handler than h has work in the rest of the batch.
 * Often both sides of one session are ready together: a thread that took the
 * second one would only leave it with the owner. */
static bool
others_wait(const struct batch *b, const struct event_handler *h)
{
	if (atomic_load_relaxed(&b->resumed_n) > 0)
		return true;
	for (unsigned i = b->next; i < b->end; i++)
		if (handle_slot(b->events[i].handle) != h->slot)
			return true;
	return false;
}

/* Calls a follower to stand by when the leader has not slept for a while, and
 * events of others wait behind the turn of h that it is about to run. */
static void
call_for_help(struct shard *shard, const struct event_handler *h,
    struct pool_thread *self)
{
	uint32_t parked = promotion_parked(shard->promotion);
	struct batch *b = &shard->batch;

	if (parked == 0 || !shard_has_rest(shard) ||
	    atomic_load_relaxed(&shard->sleepers) > 0 ||
	    atomic_load_relaxed(&shard->policy) != POLICY_ADAPTIVE ||
	    !room_for_more(shard, parked) ||
	    self->now_ns < b->woke_ns + pool_awake_ns(shard->pool) ||
	    self->now_ns < b->called_ns + pool_wake_ns(shard->pool) *
	                                      POLICY_CALL_INTERVAL ||
	    !others_wait(b, h))
		return;
	b->called_ns = self->now_ns;
	if (promotion_invite(shard->promotion))
		atomic_bump_own(&self->stats.wakes, 1u);
}

/* Returns whether to promote before this turn: before every turn under
 * POLICY_ALWAYS, as the paper has it, and otherwise before one that is expected
 * to be long, since the events behind it would have to wait for the guard. */
static bool
has_to_promote(const struct shard *shard, const struct event_handler *h)
{
	if (atomic_load_relaxed(&shard->policy) == POLICY_ALWAYS)
		return true;
	if (h->next_turn == NEXT_ADMITTED)
		return true;
	return atomic_load_relaxed(&h->long_turns) >= POLICY_LONG_TURNS &&
	       (promotion_parked(shard->promotion) > 0 ||
	           atomic_load_relaxed(&shard->sleepers) > 0);
}

/* A thread that joins takes a published token whatever its class, so under
 * adaptive a thread of a lower class may come to lead while a better one is
 * parked.  Looks for one, once in POLICY_RANK_NS: each find costs a wake-up. */
static bool
is_outranked(struct shard *shard, const struct pool_thread *self)
{
	struct promotion *p = shard->promotion;

	if (self->member.grade == 0 ||
	    atomic_load_relaxed(&p->order) != ORDER_PRIORITY ||
	    atomic_load_relaxed(&shard->policy) != POLICY_ADAPTIVE ||
	    self->now_ns < shard->batch.ranked_ns + POLICY_RANK_NS)
		return false;
	shard->batch.ranked_ns = self->now_ns;
	return promotion_outranked(p, &self->member);
}

/* Passes the token on to a parked member.  If there is none, the token becomes
 * free, and a thread that stands by is woken to take it. */
static void
pass_token_on(struct shard *shard, uint32_t alarm, struct pool_thread *self)
{
	if (promotion_promote(shard->promotion)) { /* [P2] [P18] */
		atomic_bump_own(&self->stats.wakes, 1u);
		return;
	}
	shard_call_guard_unless(shard, alarm);
	shard_wake(shard); /* [P2] */
}

static void
give_up(struct shard *shard, struct pool_thread *self)
{
	pass_token_on(shard, shard_set_alarm(shard, self->now_ns), self);
}

/* Promotes, then runs the handler.  A turn that was declared long sets
 * busy_since_ns to 0, so the guard need not find out that it is long: if no
 * follower took the token, another thread looks at the shard with the next
 * tick. */
static void
promote_and_process(
    struct shard *shard, struct event_handler *h, struct pool_thread *self)
{
	atomic_bump_own(&self->stats.promotions, 1u);
	atomic_store_relaxed(&shard->busy_since_ns,
	    h->next_turn == NEXT_ADMITTED ? 0 : self->now_ns);
	give_up(shard, self);
	process(h, self);
}

static enum member_command
ask_to_come(struct member *m, void *arg)
{
	(void)m;
	(void)arg;
	return MEMBER_WORK;
}

/* Makes all members of a shard that is to have no leader look for work
 * themselves, at once instead of one after the other.  A closed shard may have
 * given its alarm back, and none is to lead that one. */
static void
dissolve(struct shard *shard, struct pool_thread *self)
{
	call_parked(shard, self, ask_to_come);
	pass_token_on(shard, 0, self);
}

/* The shard is to have no leader. */
static bool
leaderless(const struct shard *shard)
{
	return atomic_load_relaxed(&shard->policy) == POLICY_KERNEL ||
	       atomic_load_relaxed(&shard->closed);
}

/* Returns whether this thread is wanted elsewhere and may leave.  The next
 * leader takes over the rest of the batch; in a shard that is to have no leader
 * the rest is run first. */
static bool
may_leave(const struct shard *shard, const struct pool_thread *self)
{
	return member_wanted(&self->member) &&
	       !(leaderless(shard) && shard_has_rest(shard));
}

/* Takes the token of a shard that the guard has found unattended. */
static bool
take_unattended(struct shard *shard, struct pool_thread *self)
{
	if (!atomic_load_relaxed(&shard->unattended) || leaderless(shard) ||
	    !promotion_try_lead(shard->promotion, true))
		return false;
	atomic_bump_own(&self->stats.adoptions, 1u);
	return true;
}

/* Runs what is left of the shard's batch.  Returns false if another thread has
 * taken the token, or was free to. */
static bool
work_off(struct shard *shard, struct pool_thread *self)
{
	struct event_handler *h;

	for (;;) {
		if (is_outranked(shard, self)) {
			give_up(shard, self);
			return false;
		}
		h = batch_next(&shard->batch, self);
		if (!h)
			return true;
		if (shard_has_to_wait(h, self))
			continue;
		if (h->next_turn == NEXT_ADMITTED) {
			promote_and_process(shard, h, self);
			return false;
		}
		if (!process_leading(shard, h, self))
			return false;
	}
}

/* Leads an unattended shard to run what is ready there, without a wait.  The
 * shard stays unattended for the guard. */
static void
lead_for_a_look(struct shard *shard, struct pool_thread *self)
{
	if (!shard_hold(shard)) {
		dissolve(shard, self);
		return;
	}
	self->now_ns = clock_now_ns();
	if (work_off(shard, self)) {
		batch_fetch(shard, &shard->batch, BATCH_LOOKING, self);
		if (work_off(shard, self)) {
			atomic_store_relaxed(&shard->busy_since_ns, 0u);
			give_up(shard, self);
		}
	}
	shard_release(shard);
}

/* Looks at all unattended shards.  The guard asks for this, at each of its
 * ticks, when too few threads are parked.  The caller's token is
 * published meanwhile, as in a turn.  Returns false if another thread has taken
 * it. */
static bool
look_around(struct shard *shard, struct pool_thread *self)
{
	unsigned n = pool_shards(self->pool);
	uint64_t ticket;

	atomic_store_relaxed(&shard->lends, 0u);
	ticket = publish_token(shard, self);
	for (unsigned i = 0; i < n; i++) {
		struct shard *s = pool_shard(self->pool, i);

		if (s != shard && take_unattended(s, self))
			lead_for_a_look(s, self);
	}
	if (!promotion_resume(shard->promotion, ticket))
		return false;
	turns_set_role(self, ROLE_LEADING);
	return true;
}

/* Leads until a follower is promoted, the token is taken over, a thread of a
 * better class is parked, or this thread is wanted elsewhere. */
static void
lead_inside(struct shard *shard, struct pool_thread *self)
{
	self->now_ns = clock_now_ns();
	turns_set_role(self, ROLE_LEADING);
	for (;;) {
		struct event_handler *h;

		/* First: an order may be for this thread, and is taken now. */
		obey_orders(shard, self);
		if (may_leave(shard, self) || is_outranked(shard, self))
			break;
		h = batch_next(&shard->batch, self);
		if (!h) {
			if (leaderless(shard)) {
				if (!shard_has_rest(shard)) {
					dissolve(shard, self);
					return;
				}
				/* The rest of the mailbox needs no look. */
				shard->batch.looked = true;
				continue;
			}
			if (atomic_load_relaxed(&shard->lends) > 0 &&
			    !look_around(shard, self))
				return;
			batch_fetch(shard, &shard->batch, BATCH_LEADING, self);
			continue;
		}
		if (shard_has_to_wait(h, self))
			continue;
		if (has_to_promote(shard, h)) {
			promote_and_process(shard, h, self);
			return;
		}
		call_for_help(shard, h, self);
		if (!process_leading(shard, h, self))
			return;
	}
	give_up(shard, self);
}

/* Leads the shard.  The token of a closed shard without a handle set may come
 * to a thread that was on its way there: then nothing is left to do, and no
 * thread has to stay. */
static void
lead(struct shard *shard, struct pool_thread *self)
{
	if (!shard_hold(shard)) {
		dissolve(shard, self);
		return;
	}
	lead_inside(shard, self);
	shard_release(shard);
}

/* While the leader from before the change of policy still waits, the others
 * follow: they would take the wake-ups that are meant for it.  A thread that
 * has waited since the policy was last kernel, and has taken such a wake-up,
 * leaves and passes it on. */
static bool
has_no_leader(const struct shard *shard)
{
	return atomic_load_relaxed(&shard->policy) == POLICY_KERNEL &&
	       promotion_token(shard->promotion) == TOKEN_FREE;
}

/* POLICY_KERNEL: no leader; every thread has a batch of its own. */
static void
serve_with_others(struct shard *shard, struct pool_thread *self)
{
	/* Closed: this thread gets another home soon. */
	if (!shard_hold(shard)) {
		sched_yield();
		return;
	}
	turns_set_role(self, ROLE_STANDBY);
	while (has_no_leader(shard) && !atomic_load_relaxed(&shard->closed) &&
	       !member_wanted(&self->member)) {
		/* A leader that promoted no follower and then saw the new
		 * policy has left these events. */
		if (shard_has_rest(shard) &&
		    promotion_try_lead(shard->promotion, true)) {
			lead(shard, self);
			continue;
		}
		(void)shard_wait_beside(shard, self);
	}
	/* The wake-up that this thread took last may have been meant for
	 * another one: for a leader, now that the shard has one again, or for a
	 * thread that is to leave.  A thread that gets this wake-up passes it
	 * on in the same way. */
	handle_set_wake(shard->set);
	shard_release(shard);
}

/* A shard that is to have no leader needs one for a single purpose: to take the
 * token from a leader that was busy when the policy changed or the shard was
 * closed.  Its own threads do that.  When 16 threads with 8 shards changed to
 * kernel, threads that found their last leader still there took every token
 * they could get and published it at once.  That kept the others from waiting
 * and made them do the same, up to 300 000 times. */
static bool
may_adopt(const struct shard *shard, const struct shard *home)
{
	return !leaderless(shard) ||
	       (shard == home &&
	           promotion_token(shard->promotion) == TOKEN_PUBLISHED);
}

/* Leads a shard that has no leader: home first, then the following ones.
 * Returns false if there is none. */
static bool
adopt(struct shard *home, struct pool_thread *self)
{
	unsigned n = pool_shards(self->pool);

	for (unsigned i = 0; i < n; i++) {
		struct shard *s = pool_shard(self->pool, (home->id + i) % n);

		if (!may_adopt(s, home) ||
		    !promotion_try_lead(s->promotion, s == home))
			continue;
		if (s != home)
			atomic_bump_own(&self->stats.adoptions, 1u);
		lead(s, self);
		return true;
	}
	return false;
}

/* Leads a shard that is without a leader, if there still is one: as if that
 * shard were this thread's home. */
static void
visit(struct pool_thread *self)
{
	unsigned n = pool_shards(self->pool);

	for (unsigned i = 0; i < n; i++) {
		struct shard *s = pool_shard(self->pool, i);

		if (!take_unattended(s, self))
			continue;
		lead(s, self);
		return;
	}
}

#define JOIN_SPINS 32

/* Between two turns a leader holds the token for some hundred nanoseconds; to
 * park for that would cost a wake-up.  Returns whether the token can be had. */
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
shard_follow(struct shard *home, struct pool_thread *self)
{
	enum member_command command;

	if (token_comes_free(home))
		return;
	/* A leader from before the change of policy leaves as soon as it has
	 * seen the new one.  If the threads that it has called could park again
	 * before it frees the token, one of them would have to be promoted, and
	 * so on, the longer the more threads there are. */
	if (atomic_load_relaxed(&home->policy) == POLICY_KERNEL) {
		sched_yield();
		return;
	}
	if (shard_stand_by(home, self))
		return;
	turns_set_role(self, ROLE_FOLLOWING);
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
	case MEMBER_VISIT:
		visit(self);
		break;
	case MEMBER_WAIT:
	case MEMBER_RETIRE:
	case MEMBER_MOVE:
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

		summons = atomic_load_seq(&self->member.summons); /* [P10] */
		if (summons == MEMBER_RETIRE)
			return;
		if (summons == MEMBER_MOVE &&
		    !atomic_cas_seq(&self->member.summons, &summons, 0u))
			continue;
		home = atomic_load_acquire(&self->home); /* [P10] */
		if (has_no_leader(home))
			serve_with_others(home, self);
		else if (!adopt(home, self))
			shard_follow(home, self);
	}
}
