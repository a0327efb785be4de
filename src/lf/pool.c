/* SPDX-License-Identifier: MIT
 * See pool.h.
 */
#include "lf/pool.h"

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
		shard_put_set(s, set);
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

int
pool_start_missing(struct pool *pool)
{
	for (unsigned g = 0; g < pool->classes_n; g++) {
		unsigned n = pool_count_running(pool, (int)g);

		for (; n < pool->classes[g].threads; n++) {
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
	int rc;

	if (!p)
		return -ENOMEM;
	p->options = *options;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	pool_remember_classes(p, options->classes, options->classes_n);
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
	pthread_mutex_destroy(&pool->lock);
	pthread_cond_destroy(&pool->changed);
	free(pool->name);
	free(pool);
}

const char *
pool_name(const struct pool *pool)
{
	return pool->name;
}

unsigned
pool_classes(const struct pool *pool, struct pool_class ret[POOL_CLASSES_MAX])
{
	memcpy(ret, pool->classes, sizeof(pool->classes));
	return pool->classes_n;
}

const cpu_set_t *
pool_cpu_set(const struct pool *pool)
{
	return &pool->cpus;
}

unsigned
pool_threads(const struct pool *pool)
{
	return pool_class_threads(pool->classes, pool->classes_n);
}

unsigned
pool_shards_wanted(const struct pool *pool)
{
	return pool->shards_open;
}

struct grace *
pool_grace(const struct pool *pool)
{
	return pool->options.grace;
}

uint64_t
pool_wake_ns(const struct pool *pool)
{
	return pool->options.wake_ns;
}

unsigned
pool_shards(const struct pool *pool)
{
	return atomic_load_acquire(&pool->shards_n);
}

struct shard *
pool_shard(struct pool *pool, unsigned id)
{
	return atomic_load_acquire(&pool->shards[id]);
}

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators", 2016). */
uint64_t
pool_random(struct pool_thread *self)
{
	uint64_t x = self->random;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	self->random = x;
	return x * 0x2545f4914f6cdd1dull;
}

struct shard *
pool_place(struct pool *pool, struct pool_thread *self)
{
	uint32_t n = atomic_load_acquire(&pool->shards_open);
	struct shard *a, *b;

	if (n == 1)
		return pool_shard(pool, 0);
	a = pool_shard(pool, (uint32_t)(pool_random(self) >> 32) % n);
	b = pool_shard(pool, (uint32_t)(pool_random(self) >> 32) % n);
	return atomic_load_relaxed(&a->handlers) <=
	               atomic_load_relaxed(&b->handlers)
	           ? a
	           : b;
}

struct shard *
pool_home_of(struct pool *pool, uint32_t slot)
{
	return pool_shard(pool, slot % atomic_load_acquire(&pool->shards_open));
}

struct shard *
pool_home(const struct pool_thread *self)
{
	struct shard *home = atomic_load_acquire(&self->home);

	/* It may have been closing since before this section began. */
	if (home->id < atomic_load_acquire(&self->pool->shards_open))
		return home;
	return pool_shard(self->pool, 0);
}
