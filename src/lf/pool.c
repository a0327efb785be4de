/* SPDX-License-Identifier: MIT
 * See pool.h: what the functions of shards and threads ask their pool for.
 * Calls nothing of the shards or the threads.
 */
#include "lf/pool.h"

#include <string.h>

#include "lf/pool_internal.h"

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

uint64_t
pool_awake_ns(const struct pool *pool)
{
	return pool->options.awake_ns;
}

struct admission *
pool_admission(struct pool *pool)
{
	return &pool->admission;
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
	uint32_t first, distance;
	struct shard *a, *b;

	if (n == 1)
		return pool_shard(pool, 0);
	first = (uint32_t)(pool_random(self) >> 32) % n;
	distance = 1 + (uint32_t)(pool_random(self) >> 32) % (n - 1);
	a = pool_shard(pool, first);
	b = pool_shard(pool, (first + distance) % n);
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
pool_shift_home(struct pool *pool, struct shard *from)
{
	uint32_t open = atomic_load_acquire(&pool->shards_open);
	uint32_t to = atomic_load_relaxed(&from->shift_to);

	return to < open && from->id < open ? pool_shard(pool, to) : from;
}

void
pool_call_guard(struct pool *pool)
{
	if (pool->options.call_guard)
		pool->options.call_guard(pool->options.arg);
}
