/* SPDX-License-Identifier: MIT
 * Promotion as the paper has it (POSA2, Leader/Followers, steps 4 and 5):
 * a mutex around the state, and followers asleep on condition variables.
 *
 * One condition variable for each follower instead of one for all: the paper
 * leaves open who is woken, and the last to park has the warmest caches.
 */
#include "lf/promotion.h"

#include <errno.h>
#include <stdlib.h>

#include "base/ensure.h"

struct promotion_by_mutex {
	struct promotion promotion;
	pthread_mutex_t lock;
	struct member *top; /* the stack of parked followers */
	bool led, closed;
};

static struct promotion_by_mutex *
self_of(struct promotion *promotion)
{
	return (struct promotion_by_mutex *)(void *)promotion;
}

static int
mutex_create(struct promotion **ret_promotion)
{
	struct promotion_by_mutex *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->promotion.ops = &promotion_mutex;
	pthread_mutex_init(&p->lock, NULL);
	*ret_promotion = &p->promotion;
	return 0;
}

static void
mutex_free(struct promotion *promotion)
{
	struct promotion_by_mutex *p = self_of(promotion);

	ENSURE(!p->top);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

static void
set_led_locked(struct promotion_by_mutex *p, bool led)
{
	p->led = led;
	atomic_store_relaxed(&p->promotion.led, led);
}

static void
park_locked(struct promotion_by_mutex *p, struct member *self)
{
	self->command = MEMBER_WAIT;
	self->next = p->top;
	p->top = self;
	atomic_add_relaxed(&p->promotion.parked, 1u);
	pthread_cond_init(&self->called, NULL);
	while (self->command == MEMBER_WAIT)
		pthread_cond_wait(&self->called, &p->lock);
	pthread_cond_destroy(&self->called);
}

/* The follower is told under the lock: once it has been let go, its memory is
 * its own again. */
static void
call_top_locked(struct promotion_by_mutex *p, enum member_command command)
{
	struct member *m = p->top;

	p->top = m->next;
	atomic_sub_relaxed(&p->promotion.parked, 1u);
	m->command = command;
	pthread_cond_signal(&m->called);
}

static enum member_command
mutex_join(struct promotion *promotion, struct member *self)
{
	struct promotion_by_mutex *p = self_of(promotion);
	enum member_command command;

	pthread_mutex_lock(&p->lock);
	if (p->closed) {
		command = MEMBER_RETIRE;
	} else if (!p->led) {
		set_led_locked(p, true);
		command = MEMBER_LEAD;
	} else {
		park_locked(p, self);
		command = self->command;
	}
	pthread_mutex_unlock(&p->lock);
	return command;
}

static bool
mutex_promote(struct promotion *promotion)
{
	struct promotion_by_mutex *p = self_of(promotion);
	bool woken;

	pthread_mutex_lock(&p->lock);
	ENSURE(p->led);
	woken = p->top != NULL;
	if (woken)
		call_top_locked(p, MEMBER_LEAD);
	else
		set_led_locked(p, false);
	pthread_mutex_unlock(&p->lock);
	return woken;
}

static void
mutex_close(struct promotion *promotion)
{
	struct promotion_by_mutex *p = self_of(promotion);

	pthread_mutex_lock(&p->lock);
	p->closed = true;
	while (p->top)
		call_top_locked(p, MEMBER_RETIRE);
	pthread_mutex_unlock(&p->lock);
}

const struct promotion_ops promotion_mutex = {
    .name = "mutex",
    .create = mutex_create,
    .free = mutex_free,
    .join = mutex_join,
    .promote = mutex_promote,
    .close = mutex_close,
};
