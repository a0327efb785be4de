/* SPDX-License-Identifier: MIT
 * See promotion_mutex.h.
 */
#include "lf/promotion_mutex.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/ensure.h"

#define MEMBERS_MAX 1024

struct promotion_by_mutex {
	struct promotion promotion;
	void (*kick)(void *arg);
	void *kick_arg;
	pthread_mutex_t lock;
	uint32_t token; /* enum promotion_token; also read without the lock */
	uint64_t times; /* the token has changed: what a ticket remembers */
	struct list bench; /* the parked members, oldest first */
	pthread_cond_t called[MEMBERS_MAX + 1]; /* by member id, from 1 */
};

static struct promotion_by_mutex *
self_of(struct promotion *promotion)
{
	return (struct promotion_by_mutex *)(void *)promotion;
}

static int
mutex_create(
    void (*kick)(void *arg), void *arg, struct promotion **ret_promotion)
{
	struct promotion_by_mutex *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->promotion.ops = &promotion_mutex;
	p->kick = kick;
	p->kick_arg = arg;
	list_init(&p->bench);
	pthread_mutex_init(&p->lock, NULL);
	*ret_promotion = &p->promotion;
	return 0;
}

static void
mutex_free(struct promotion *promotion)
{
	struct promotion_by_mutex *p = self_of(promotion);

	if (!p)
		return;
	ENSURE(list_empty(&p->bench));
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static void
set_token_locked(struct promotion_by_mutex *p, enum promotion_token token)
{
	(void)atomic_swap_seq(&p->token, (uint32_t)token); /* [P18] */
	p->times++;
}

static bool
take_locked(struct promotion_by_mutex *p, bool busy_too)
{
	if (p->token == TOKEN_HELD ||
	    (p->token == TOKEN_PUBLISHED && !busy_too))
		return false;
	if (p->token == TOKEN_PUBLISHED)
		atomic_add_relaxed(&p->promotion.taken_over, 1u);
	set_token_locked(p, TOKEN_HELD);
	return true;
}

/* Calls kick without the lock, because kick may wake the holder, which takes
 * the lock. */
static enum member_command
park_locked(struct promotion_by_mutex *p, struct member *self)
{
	atomic_store_relaxed(&self->command, MEMBER_WAIT);
	list_append(&p->bench, &self->bench);
	atomic_add_relaxed(&p->promotion.parked, 1u);
	ENSURE(self->id >= 1 && self->id <= MEMBERS_MAX);
	pthread_cond_init(&p->called[self->id], NULL);
	if (member_wanted(self)) { /* [P10] */
		pthread_mutex_unlock(&p->lock);
		p->kick(p->kick_arg);
		pthread_mutex_lock(&p->lock);
	}
	while (atomic_load_relaxed(&self->command) == MEMBER_WAIT)
		pthread_cond_wait(&p->called[self->id], &p->lock);
	pthread_cond_destroy(&p->called[self->id]);
	return (enum member_command)atomic_load_relaxed(&self->command);
}

static enum member_command
mutex_join(struct promotion *promotion, struct member *self)
{
	struct promotion_by_mutex *p = self_of(promotion);
	enum member_command command = MEMBER_LEAD;

	pthread_mutex_lock(&p->lock);
	if (!take_locked(p, true))
		command = park_locked(p, self);
	pthread_mutex_unlock(&p->lock);
	return command;
}

static bool
mutex_try_lead(struct promotion *promotion, bool busy_too)
{
	struct promotion_by_mutex *p = self_of(promotion);
	bool taken;

	pthread_mutex_lock(&p->lock);
	taken = take_locked(p, busy_too);
	pthread_mutex_unlock(&p->lock);
	return taken;
}

/* Signals under the lock: once the lock is released the member may return from
 * join, and its memory may go. */
static void
call_locked(
    struct promotion_by_mutex *p, struct member *m, enum member_command command)
{
	list_remove(&m->bench);
	atomic_sub_relaxed(&p->promotion.parked, 1u);
	atomic_store_relaxed(&m->command, command);
	pthread_cond_signal(&p->called[m->id]);
}

static enum promotion_token
mutex_token(const struct promotion *promotion)
{
	const struct promotion_by_mutex *p =
	    (const struct promotion_by_mutex *)(const void *)promotion;

	return (enum promotion_token)atomic_load_seq(&p->token); /* [P18] */
}

static bool
mutex_promote(struct promotion *promotion)
{
	struct promotion_by_mutex *p = self_of(promotion);
	bool called;

	pthread_mutex_lock(&p->lock);
	ENSURE(p->token == TOKEN_HELD);
	called = !list_empty(&p->bench);
	if (called) {
		struct member *m = promotion_pick(promotion, &p->bench);

		m->called_ns = clock_now_ns();
		call_locked(p, m, MEMBER_LEAD);
	} else {
		set_token_locked(p, TOKEN_FREE);
	}
	pthread_mutex_unlock(&p->lock);
	return called;
}

static bool
mutex_invite(struct promotion *promotion)
{
	struct promotion_by_mutex *p = self_of(promotion);
	bool called;

	pthread_mutex_lock(&p->lock);
	called = !list_empty(&p->bench);
	if (called) {
		struct member *m = promotion_pick(promotion, &p->bench);

		m->called_ns = clock_now_ns();
		call_locked(p, m, MEMBER_WORK);
	}
	pthread_mutex_unlock(&p->lock);
	return called;
}

static bool
mutex_outranked(struct promotion *promotion, const struct member *self)
{
	struct promotion_by_mutex *p = self_of(promotion);
	bool outranked;

	pthread_mutex_lock(&p->lock);
	outranked = promotion_outranks(&p->bench, self);
	pthread_mutex_unlock(&p->lock);
	return outranked;
}

static uint64_t
mutex_busy(struct promotion *promotion)
{
	struct promotion_by_mutex *p = self_of(promotion);
	uint64_t ticket;

	pthread_mutex_lock(&p->lock);
	set_token_locked(p, TOKEN_PUBLISHED);
	ticket = p->times;
	pthread_mutex_unlock(&p->lock);
	return ticket;
}

static bool
mutex_resume(struct promotion *promotion, uint64_t ticket)
{
	struct promotion_by_mutex *p = self_of(promotion);
	bool mine;

	pthread_mutex_lock(&p->lock);
	mine = p->token == TOKEN_PUBLISHED && p->times == ticket;
	if (mine)
		set_token_locked(p, TOKEN_HELD);
	pthread_mutex_unlock(&p->lock);
	return mine;
}

static void
mutex_sweep(struct promotion *promotion, promotion_ask ask, void *arg)
{
	struct promotion_by_mutex *p = self_of(promotion);

	pthread_mutex_lock(&p->lock);
	list_for_each_safe (n, &p->bench) {
		struct member *m = container_of(n, struct member, bench);
		enum member_command c = ask(m, arg);

		if (c != MEMBER_WAIT)
			call_locked(p, m, c);
	}
	pthread_mutex_unlock(&p->lock);
}

const struct promotion_ops promotion_mutex = {
    .name = "mutex",
    .create = mutex_create,
    .free = mutex_free,
    .join = mutex_join,
    .try_lead = mutex_try_lead,
    .token = mutex_token,
    .promote = mutex_promote,
    .invite = mutex_invite,
    .outranked = mutex_outranked,
    .busy = mutex_busy,
    .resume = mutex_resume,
    .sweep = mutex_sweep,
};
