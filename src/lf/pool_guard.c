/* SPDX-License-Identifier: MIT
 * See pool.h: the guard, which sees that no shard is without a leader for long;
 * and whether the pool moves at all.
 */
#include "lf/pool.h"

#include "lf/pool_internal.h"
#include "lf/shard_internal.h"

/* Calls that find no turn under way until the guard may sleep, while turns are
 * long. */
#define GUARD_IDLE 20

static uint64_t
count_turns(const struct pool *pool)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < pool->places_n; i++)
		n += atomic_load_relaxed(&pool->places[i]->stats.turns);
	return n;
}

static bool
has_leader(const struct shard *shard)
{
	return !atomic_load_relaxed(&shard->unattended) &&
	       promotion_token(shard->promotion) != TOKEN_FREE;
}

static void
ask_to_lend(struct shard *shard, unsigned threads)
{
	atomic_store_relaxed(&shard->lends, threads);
	if (threads > 0)
		shard_order(shard);
}

/* Asks the other shards' parked threads to lead the shards that are without a
 * leader. Returns the number of shards that get none in this way. */
static unsigned
lend_parked(struct pool *pool, unsigned unattended)
{
	unsigned shards = pool_shards(pool);

	for (unsigned i = 0; i < shards; i++) {
		struct shard *s = pool->shards[i];
		unsigned n = promotion_parked(s->promotion);

		if (!has_leader(s))
			continue;
		n = n < unattended ? n : unattended;
		ask_to_lend(s, n);
		unattended -= n;
	}
	return unattended;
}

/* Asks a leader, one that is asleep if possible, to look at the shards without
 * a leader and to come back.  The holder does so itself when more threads are
 * asked for than are parked there. */
static void
lend_leader(struct pool *pool)
{
	struct shard *from = NULL;
	unsigned n = pool_shards(pool);

	for (unsigned i = 0; i < n; i++) {
		struct shard *s = pool->shards[i];

		if (!has_leader(s))
			continue;
		if (!from || atomic_load_relaxed(&s->asleep))
			from = s;
	}
	if (from)
		ask_to_lend(from, atomic_load_relaxed(&from->lends) + 1);
}

static bool
any_turn_under_way(const struct pool *pool)
{
	unsigned n = atomic_load_acquire(&pool->places_n);

	for (unsigned i = 0; i < n; i++)
		if (atomic_load_relaxed(&pool->places[i]->reader.epoch) != 0)
			return true;
	return false;
}

/* Whether the shard needs no guard until its next turn. */
static bool
is_between_turns(const struct shard *shard)
{
	return promotion_token(shard->promotion) == TOKEN_HELD || /* [P18] */
	       atomic_load_relaxed(&shard->policy) == POLICY_KERNEL;
}

/* False if a leader has just begun a turn, or any thread one that was declared
 * long; it may not have seen that the guard was about to sleep.  A thread in a
 * long turn does not hold the token, and the guard ends its SCHED_IDLE.
 * An attempt that is bound to fail is not announced: it would cost leaders a
 * call each time. */
static bool
guard_may_sleep(struct pool *pool)
{
	unsigned n = pool_shards(pool);

	if (++pool->guard_sleeps == 0)
		pool->guard_sleeps = 1;
	for (unsigned i = 0; i < n; i++) {
		struct shard *s = pool->shards[i];

		if (!is_between_turns(s))
			return false;
		(void)atomic_swap_seq(
		    &s->unguarded, pool->guard_sleeps); /* [P18] */
		if (!is_between_turns(s))
			return false;
	}
	return atomic_load_seq(&pool->admission.running) == 0; /* [P18] */
}

/* Whether no turn was long lately, and all alarms are watched: then the guard
 * need not stay awake for the next turns, and may find a long one later.  met:
 * the guard has just met a long turn. */
static bool
is_calm(struct pool *pool, uint64_t now_ns, bool met)
{
	unsigned n = pool_shards(pool);
	bool calm = true;

	for (unsigned i = 0; i < n; i++) {
		struct shard *s = pool->shards[i];

		if (met)
			atomic_store_relaxed(
			    &s->calm_from_ns, now_ns + POLICY_LONG_SEEN_NS);
		calm &= atomic_load_relaxed(&s->watched) &&
		        now_ns >= atomic_load_relaxed(&s->calm_from_ns);
	}
	return calm;
}

bool
pool_guard(struct pool *pool, uint64_t now_ns, uint64_t limit_ns)
{
	unsigned n = pool_shards(pool), unattended = 0;
	bool given = false;

	pool_nice_guard(pool, now_ns);
	for (unsigned i = 0; i < n; i++) {
		if (shard_guard(pool->shards[i], now_ns, limit_ns)) {
			atomic_bump_own(&pool->guarded, UINT64_C(1));
			given = true;
		}
		unattended += atomic_load_relaxed(&pool->shards[i]->unattended);
	}
	if (unattended > 0 && lend_parked(pool, unattended) > 0)
		lend_leader(pool);
	if (is_calm(pool, now_ns, given || unattended > 0))
		return !guard_may_sleep(pool);
	if (any_turn_under_way(pool)) {
		atomic_store_relaxed(&pool->guard_idle, 0u);
		return true;
	}
	return atomic_add_relaxed(&pool->guard_idle, 1u) + 1 < GUARD_IDLE ||
	       !guard_may_sleep(pool);
}

int
pool_alarm(const struct pool *pool, unsigned i)
{
	return pool->shards[i]->alarm;
}

void
pool_alarm_watched(struct pool *pool, unsigned i)
{
	atomic_store_relaxed(&pool->shards[i]->watched, 1u);
}

void
pool_alarm_gone_off(struct pool *pool)
{
	unsigned n = pool_shards(pool);

	for (unsigned i = 0; i < n; i++)
		atomic_store_relaxed(&pool->shards[i]->unguarded, 0u);
}

bool
pool_moves(struct pool *pool)
{
	bool busy = any_turn_under_way(pool), was_busy = pool->moved_busy;
	uint64_t turns = count_turns(pool), before = pool->moved_turns;

	pool->moved_busy = busy;
	pool->moved_turns = turns;
	return !busy || !was_busy || turns != before;
}
