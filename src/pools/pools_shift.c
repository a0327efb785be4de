/* SPDX-License-Identifier: MIT
 * See pools.h: measures the load of the shards and of their sessions, and moves
 * sessions as shift.h decides.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/events.h"
#include "pools/pools_internal.h"
#include "pools/shift.h"
#include "proxy/session_facts.h"

/* How much the caller's timer may be early or late. */
#define SHIFT_SLACK_MS 500

/* The state of a pool with two shards or more. */
struct pools_shift {
	struct shift shift;
	struct shift_move move;
	/* The turn time of each session, by its index, when it was last read;
	 * while shift.streak > 0. */
	uint32_t *marks;
	uint32_t marks_n;
	uint64_t marked_ms;
	unsigned shards;
	struct shift_load loads[]; /* by shard */
};

void
pools_shift_forget(struct pools_entry *entry)
{
	if (!entry->shift)
		return;
	free(entry->shift->marks);
	free(entry->shift);
	entry->shift = NULL;
}

static void
sample_shards(struct pools_shift *s, const struct pool *pool)
{
	for (unsigned i = 0; i < s->shards; i++)
		shift_sample(&s->loads[i], pool_shard_busy_ns(pool, i));
}

/* Reads the turn time of all sessions.  Sessions that begin later stay where
 * they are.  Returns false when memory is short. */
static bool
mark_sessions(struct pools_shift *s, const struct proxy *proxy)
{
	uint32_t made = slab_made(&proxy->sessions);
	uint32_t *marks = reallocarray(s->marks, made + 1u, sizeof(*marks));

	if (!marks)
		return false;
	s->marks = marks;
	s->marks_n = made;
	s->marked_ms = clock_now_ms();
	for (uint32_t i = 0; i < made; i++)
		marks[i] = session_load_busy(proxy, i);
	return true;
}

static void
offer_sessions(
    struct pools_shift *s, struct pool *pool, const struct proxy *proxy)
{
	const struct shard *from = pool_shard(pool, s->move.from);

	for (uint32_t i = 0; i < s->marks_n; i++) {
		struct session_load load;
		uint32_t busy;

		if (!session_load_read(proxy, i, &load) || load.shard != from ||
		    load.accepted_ms >= s->marked_ms)
			continue;
		busy = load.busy - s->marks[i];
		shift_offer(
		    &s->move, &(struct shift_session){.index = i,
		                  .generation = load.generation,
		                  .load_ns = (uint64_t)busy * HANDLER_BUSY_NS});
	}
}

static unsigned
percent(uint64_t busy_ns, uint64_t window_ns)
{
	return (unsigned)(busy_ns * 100 / window_ns);
}

static void
move_sessions(struct pools_shift *s, struct pool *pool, struct proxy *proxy)
{
	const struct shift_move *m = &s->move;
	const char *name = pool_name(pool);
	unsigned n = 0;

	offer_sessions(s, pool, proxy);
	shift_choose(&s->shift, s->loads, &s->move);
	pool_set_shift(pool, m->from, m->to);
	for (size_t i = 0; i < m->n; i++)
		n += session_load_shift(
		    proxy, m->sessions[i].index, m->sessions[i].generation);
	if (n > 0)
		event_add(EVENT_POOL, LOG_LEVEL_INFO, name, NULL,
		    "pool %s: %u session%s from shard %u, which was busy for "
		    "%u %% of the time, to shard %u, busy for %u %%",
		    name, n, n == 1 ? " moves" : "s move", m->from,
		    percent(m->from_ns, m->window_ns), m->to,
		    percent(m->to_ns, m->window_ns));
}

static void
look_at_pool(struct pools_entry *e, struct proxy *proxy, uint64_t elapsed_ns)
{
	struct pools_shift *s = e->shift;

	sample_shards(s, e->pool);
	switch (
	    shift_look(&s->shift, s->loads, s->shards, elapsed_ns, &s->move)) {
	case SHIFT_NONE:
		break;
	case SHIFT_MARK:
		/* Without memory, the next look begins again. */
		if (!mark_sessions(s, proxy))
			s->shift.streak = 0;
		break;
	case SHIFT_MOVE:
		do
			move_sessions(s, e->pool, proxy);
		while (shift_next(&s->shift, s->loads, s->shards, &s->move));
		break;
	}
	if (s->shift.streak > 0)
		return;
	free(s->marks);
	s->marks = NULL;
	s->marks_n = 0;
}

/* Returns whether to look at the pool.  The first look has nothing to compare
 * with.  While shards close, their sessions move anyway. */
static bool
prepare_look(struct pools_entry *e)
{
	unsigned n = pool_shards(e->pool);

	if (n < 2 || n != pool_shards_wanted(e->pool)) {
		pools_shift_forget(e);
		return false;
	}
	if (e->shift)
		return true;
	e->shift =
	    calloc(1, sizeof(*e->shift) + n * sizeof(e->shift->loads[0]));
	if (!e->shift)
		return false;
	e->shift->shards = n;
	sample_shards(e->shift, e->pool);
	return false;
}

void
pools_shift_sessions(struct pools *pools)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t elapsed_ns = now_ns - pools->looked_ns;

	if (elapsed_ns < (SHIFT_LOOK_MS - SHIFT_SLACK_MS) * NS_PER_MS)
		return;
	pools->looked_ns = now_ns;
	for (size_t i = 0; i < pools->n; i++)
		if (prepare_look(&pools->entries[i]))
			look_at_pool(
			    &pools->entries[i], pools->proxy, elapsed_ns);
}
