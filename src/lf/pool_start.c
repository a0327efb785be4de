/* SPDX-License-Identifier: MIT
 * See pool.h: the start and the end of a pool, and its shards.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/ensure.h"
#include "lf/pool_internal.h"

static struct shard *
make_shard(struct pool *pool, int *ret_rc)
{
	const struct promotion_ops *promotion = pool->options.promotion
	                                            ? pool->options.promotion
	                                            : &promotion_futex;
	struct shard *s = aligned_alloc(CACHE_LINE, sizeof(*s));
	int rc;

	rc = s ? shard_init(s, pool, pool->shards_made, promotion) : -ENOMEM;
	if (rc < 0) {
		free(s);
		*ret_rc = rc;
		return NULL;
	}
	s->policy = pool->options.policy;
	s->promotion->order = pool->options.order;
	s->closed = 1;
	return s;
}

/* The place of a shard, which may have been used before, with a handle set. */
static int
make_place(struct pool *pool, unsigned i)
{
	struct handle_set *set;
	struct shard *s;
	int rc = 0;

	if (i == pool->shards_made) {
		s = make_shard(pool, &rc);
		if (!s)
			return rc;
		atomic_store_release(&pool->shards[i], s);
		pool->shards_made++;
	}
	s = pool->shards[i];
	if (shard_has_set(s))
		return 0;
	rc = pool->options.new_set(pool->options.arg, &set);
	if (rc == 0)
		shard_put_set(s, set, pool->options.alarms);
	return rc;
}

int
pool_make_shards(struct pool *pool, unsigned n)
{
	int rc = 0;

	for (unsigned i = 0; i < n && rc == 0; i++)
		rc = make_place(pool, i);
	for (unsigned i = 0; i < pool->shards_made && rc < 0; i++)
		shard_drop_set(pool->shards[i]);
	return rc;
}

void
pool_open_shards(struct pool *pool, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct shard *s = pool->shards[i];

		if (!s->closed)
			continue;
		shard_open_set(s);
		atomic_store_relaxed(&s->changed_ns, clock_now_ns());
		atomic_store_relaxed(&s->closed, 0u);
	}
	if (n > pool->shards_n)
		atomic_store_release(&pool->shards_n, n);
	atomic_store_release(&pool->shards_open, n);
}

void
pool_remember_classes(
    struct pool *pool, const struct pool_class *classes, unsigned n)
{
	memcpy(pool->classes, classes, n * sizeof(*classes));
	pool->classes_n = n;
}

void
pool_limit_long_turns(struct pool *pool)
{
	unsigned threads = pool_threads(pool);
	unsigned limit = pool->options.long_turns;
	struct event_handler *h;

	if (limit == 0) {
		limit = pool_usable_cpus(pool);
		if (limit >= threads)
			limit = threads > 1 ? threads - 1 : 1;
	}
	if (pool->admission.apart)
		threads = pool_wanted(pool, GRADE_APART);
	admission_set_limit(
	    &pool->admission, limit < threads ? limit : threads);
	if (pool->admission.apart) {
		admission_wake(&pool->admission);
		return;
	}
	while ((h = admission_take(&pool->admission, clock_now_ns())))
		shard_submit(h);
}

void
pool_set_long_turns(struct pool *pool, unsigned long_turns)
{
	pool->options.long_turns = long_turns;
	pool_limit_long_turns(pool);
}

unsigned
pool_long_turns(const struct pool *pool)
{
	return pool->options.long_turns;
}

void
pool_set_spares(struct pool *pool, unsigned spares)
{
	pool->options.spares = spares;
}

/* After threads could not be started the class may be too small for them. */
static unsigned
wanted_apart(const struct pool *pool)
{
	unsigned spares = pool->spares;

	return pool->options.long_nice > 0 && !pool->may_return &&
	               spares <= pool->classes[0].threads / 2
	           ? spares
	           : 0;
}

unsigned
pool_wanted(const struct pool *pool, unsigned grade)
{
	if (grade == GRADE_APART)
		return wanted_apart(pool);
	if (grade >= pool->classes_n)
		return 0;
	return pool->classes[grade].threads -
	       (grade == 0 ? wanted_apart(pool) : 0);
}

void
pool_hand_over(struct pool *pool)
{
	admission_set_apart(
	    &pool->admission, pool_count_running(pool, GRADE_APART) > 0);
}

int
pool_start_missing(struct pool *pool)
{
	for (unsigned g = 0; g <= GRADE_APART; g++) {
		unsigned n = pool_count_running(pool, (int)g);

		for (; n < pool_wanted(pool, g); n++) {
			int rc = pool_start_thread(pool, g);

			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

int
pool_new(const struct pool_options *options, struct pool **ret_pool)
{
	struct pool *p = calloc(1, sizeof(*p));
	struct err err;
	int rc;

	if (!p)
		return -ENOMEM;
	p->options = *options;
	p->spares = options->spares;
	lock_init(&p->lock);
	pthread_cond_init(&p->changed, NULL);
	admission_init(&p->admission);
	pool_remember_classes(p, options->classes, options->classes_n);
	/* `show pool` has what is in force. */
	(void)!pool_try_long_nice(p, options->long_nice, &err);
	ENSURE(options->shards >= 1 &&
	       options->shards <= pool_class_threads(p->classes, p->classes_n));
	if (options->cpus)
		p->cpus = *options->cpus;
	else
		sched_getaffinity(0, sizeof(p->cpus), &p->cpus);
	p->name = strdup(options->name);
	rc = p->name ? pool_make_shards(p, options->shards) : -ENOMEM;
	if (rc == 0) {
		pool_open_shards(p, options->shards);
		rc = pool_start_missing(p);
		pool_hand_over(p);
		pool_limit_long_turns(p);
	}
	if (rc < 0) {
		pool_free(p);
		return rc;
	}
	pool_assign_homes(p);
	*ret_pool = p;
	return 0;
}

void
pool_stop(struct pool *pool)
{
	for (unsigned i = 0; i < pool->places_n; i++)
		if (pool_thread_state(pool->places[i]) == THREAD_RUNNING)
			pool_retire_thread(pool, pool->places[i]);
	pool_order_all(pool);
}

void
pool_free(struct pool *pool)
{
	if (!pool)
		return;
	pool_stop(pool);
	(void)pool_reap_threads(pool, true);
	/* Their turns are over, other pools' are bounded. */
	while (pool->unsettled > 0) {
		sched_yield();
		grace_poll(pool->options.grace);
	}
	for (unsigned i = 0; i < pool->shards_made; i++) {
		shard_fini(pool->shards[i]);
		free(pool->shards[i]);
	}
	for (unsigned i = 0; i < pool->places_n; i++)
		free(pool->places[i]);
	admission_fini(&pool->admission);
	lock_fini(&pool->lock);
	pthread_cond_destroy(&pool->changed);
	free(pool->name);
	free(pool);
}
