/* SPDX-License-Identifier: MIT
 * See pool.h: the guard, which sees that no shard is without a leader for
 * long.
 */
#include "lf/pool.h"

#include "lf/pool_internal.h"

/* Calls without a turn in between until the guard may sleep. */
#define GUARD_IDLE 100

static uint64_t
count_turns(const struct pool *pool)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < pool->places_n; i++)
		n += atomic_load_relaxed(&pool->places[i]->stats.turns);
	return n;
}

/* For a shard without a leader: finds another shard with a parked thread, and
 * asks the holder there to send that thread over. */
static void
lend(struct pool *pool, const struct shard *lacking)
{
	for (unsigned i = 0; i < pool->shards_n; i++) {
		struct shard *s = pool->shards[i];

		if (s == lacking || promotion_parked(s->promotion) == 0)
			continue;
		atomic_store_relaxed(&s->lends_to, lacking->id + 1);
		shard_order(s);
		return;
	}
}

static bool
any_turn_under_way(const struct pool *pool)
{
	for (unsigned i = 0; i < pool->places_n; i++)
		if (atomic_load_relaxed(&pool->places[i]->reader.epoch) != 0)
			return true;
	return false;
}

/* False if a leader has just begun a turn; it may not have seen that the guard
 * was about to sleep. */
static bool
guard_may_sleep(struct pool *pool)
{
	bool may = true;

	for (unsigned i = 0; i < pool->shards_n; i++) {
		struct shard *s = pool->shards[i];

		(void)atomic_swap_seq(&s->unguarded, 1u); /* [P18] */
		may &= promotion_token(s->promotion) !=
		       TOKEN_PUBLISHED; /* [P18] */
	}
	return may;
}

bool
pool_guard(struct pool *pool, uint64_t now_ns, uint64_t limit_ns)
{
	uint64_t turns = count_turns(pool);

	for (unsigned i = 0; i < pool->shards_n; i++) {
		struct shard *s = pool->shards[i];

		if (shard_guard(s, now_ns, limit_ns))
			pool->guarded++;
		else if (promotion_token(s->promotion) == TOKEN_FREE &&
		         pool->options.policy != POLICY_KERNEL)
			lend(pool, s);
	}
	if (turns != pool->guard_turns || any_turn_under_way(pool)) {
		pool->guard_turns = turns;
		pool->guard_idle = 0;
		return true;
	}
	if (++pool->guard_idle >= GUARD_IDLE && guard_may_sleep(pool))
		return false;
	return true;
}
