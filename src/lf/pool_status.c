/* SPDX-License-Identifier: MIT
 * The status of a pool.  See pool_status in pool.h.
 */
#include <string.h>

#include "base/clock.h"
#include "lf/pool_internal.h"

const char *
thread_role_name(enum thread_role role)
{
	static const char *const names[] = {
	    [ROLE_FOLLOWING] = "following",
	    [ROLE_STANDBY] = "standby",
	    [ROLE_LEADING] = "leading",
	    [ROLE_PROCESSING] = "processing",
	};
	_Static_assert(ROLE_PROCESSING + 1 == sizeof(names) / sizeof(names[0]),
	    "a name each");

	return names[role];
}

static void
add_count(uint64_t *into, const uint64_t *from)
{
	*into += atomic_load_relaxed(from);
}

static void
add_stats(struct thread_stats *sum, const struct thread_stats *s)
{
	add_count(&sum->waits, &s->waits);
	add_count(&sum->fetched, &s->fetched);
	add_count(&sum->dispatched, &s->dispatched);
	add_count(&sum->merged, &s->merged);
	add_count(&sum->stale, &s->stale);
	add_count(&sum->resumed, &s->resumed);
	add_count(&sum->turns, &s->turns);
	add_count(&sum->inline_turns, &s->inline_turns);
	add_count(&sum->promotions, &s->promotions);
	add_count(&sum->wakes, &s->wakes);
	add_count(&sum->adoptions, &s->adoptions);
	add_count(&sum->wait_errors, &s->wait_errors);
	add_count(&sum->moved, &s->moved);
	add_count(&sum->key_operations, &s->key_operations);
	histogram_merge(&sum->promotion_delay, &s->promotion_delay);
	histogram_merge(&sum->poll_gap, &s->poll_gap);
	histogram_merge(&sum->service, &s->service);
}

static bool
present(const struct pool_thread *t)
{
	return pool_thread_state(t) == THREAD_RUNNING ||
	       pool_thread_state(t) == THREAD_RETIRING;
}

/* The mean of the present threads that have an average at all. */
static uint64_t
mean_turn_ns(const struct pool *pool, enum turn_kind kind)
{
	uint64_t sum = 0, n = 0;

	for (unsigned i = 0; i < pool->places_n; i++) {
		const struct pool_thread *t = pool->places[i];
		uint64_t ns = atomic_load_relaxed(&t->stats.turn_ns[kind]);

		if (!present(t))
			continue;
		sum += ns;
		n += ns > 0;
	}
	return n > 0 ? sum / n : 0;
}

static void
add_shard_status(const struct shard *shard, struct pool_status *s)
{
	s->in_batch += atomic_load_relaxed(&shard->batch.left);
	s->taken_over += atomic_load_relaxed(&shard->promotion->taken_over);
	s->handlers += atomic_load_relaxed(&shard->handlers);
}

static void
add_admission_status(const struct admission *a, struct pool_status *s)
{
	s->long_limit = atomic_load_relaxed(&a->limit);
	s->long_running = atomic_load_relaxed(&a->running);
	s->long_waiting = atomic_load_relaxed(&a->waiting);
	s->long_waits = atomic_load_relaxed(&a->waits);
	s->long_waited_ns = atomic_load_relaxed(&a->waited_ns);
}

void
pool_status(struct pool *pool, struct pool_status *ret_status)
{
	struct pool_status *s = ret_status;

	memset(s, 0, sizeof(*s));
	s->shards = pool->shards_open;
	s->policy = pool->options.policy;
	s->order = pool->options.order;
	s->wake_ns = pool->options.wake_ns;
	s->guarded = atomic_load_relaxed(&pool->guarded);
	s->long_nice = pool_nice_in_force(pool);
	add_admission_status(&pool->admission, s);
	for (unsigned i = 0; i < pool->shards_made; i++)
		add_shard_status(pool->shards[i], s);
	s->sum.wakes = s->guarded;
	for (unsigned i = 0; i < pool->places_n; i++) {
		const struct pool_thread *t = pool->places[i];

		add_stats(&s->sum, &t->stats);
		s->in_batch += atomic_load_relaxed(&t->batch.left);
		if (!present(t))
			continue;
		s->threads++;
		s->roles[atomic_load_relaxed(&t->stats.role)]++;
	}
	for (int kind = 0; kind < TURN_KINDS; kind++)
		s->turn_ns[kind] = mean_turn_ns(pool, (enum turn_kind)kind);
}

uint64_t
pool_key_operations(const struct pool *pool)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < pool->places_n; i++)
		add_count(&sum, &pool->places[i]->stats.key_operations);
	return sum;
}

uint64_t
pool_shard_busy_ns(const struct pool *pool, unsigned shard)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < pool->places_n; i++)
		add_count(&sum, &pool->places[i]->shard_ns[shard]);
	return sum;
}

unsigned
pool_places(const struct pool *pool)
{
	return pool->places_n;
}

bool
pool_thread_status(
    struct pool *pool, unsigned place, struct thread_status *ret_status)
{
	struct pool_thread *t;
	uint64_t now_ns = clock_now_ns(), since_ns;

	while (place < pool->places_n && !present(pool->places[place]))
		place++;
	if (place >= pool->places_n)
		return false;
	t = pool->places[place];
	*ret_status = (struct thread_status){
	    .place = place,
	    .tid = t->tid,
	    .nice = pool_nice_of(pool, t->member.grade),
	    .grade = t->member.grade,
	    .shard = t->home->id,
	    .retiring = pool_thread_state(t) == THREAD_RETIRING,
	    .role = (enum thread_role)atomic_load_relaxed(&t->stats.role),
	    .stats = &t->stats,
	};
	for (int r = 0; r < ROLES; r++)
		ret_status->role_ns[r] =
		    atomic_load_relaxed(&t->stats.role_ns[r]);
	since_ns = atomic_load_relaxed(&t->stats.role_since_ns);
	if (now_ns > since_ns)
		ret_status->role_ns[ret_status->role] += now_ns - since_ns;
	return true;
}
