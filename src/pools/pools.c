/* SPDX-License-Identifier: MIT
 * See pools.h.
 */
#include "pools/pools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/text.h"
#include "config/hint.h"
#include "config/pool_text.h"
#include "pools/pools_internal.h"
#include "proxy/keeper.h"
#include "proxy/reaper.h"

#define log_pool(pool, fmt, ...)                                               \
	event_add(EVENT_POOL, LOG_LEVEL_INFO, pool_name(pool), NULL,           \
	    "pool %s: " fmt, pool_name(pool), __VA_ARGS__)

/* How often the progress of a change is looked at. */
#define TICK_MS 10

/* How many sessions are told to move in MOVE_MS, and how many while the pool is
 * behind. */
#define MOVE_MS          1
#define MOVE_SOME        128u
#define MOVE_SOME_BEHIND 16u

/* Tells some sessions of the pool to move, and not more: other messages of the
 * mailboxes, such as a session that has come from another process, wait behind
 * those that were told before. */
static void
move_some(struct pools *p, struct pools_entry *e)
{
	uint32_t n = pool_is_behind(e->pool) ? MOVE_SOME_BEHIND : MOVE_SOME;

	e->move_at = proxy_move_some(p->proxy, e->pool, e->move_at, &n);
	e->moving = e->move_at < slab_made(&p->proxy->sessions);
}

static void
on_move(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct pools *p = timer->data;
	bool any = false;

	(void)events;
	for (size_t i = 0; i < p->n; i++) {
		if (p->entries[i].moving)
			move_some(p, &p->entries[i]);
		any |= p->entries[i].moving;
	}
	if (!any)
		ev_timer_stop(loop, timer);
}

/* Begins to tell all sessions of the pool to move. */
static void
move_all(struct pools *p, struct pools_entry *e)
{
	e->moving = true;
	e->move_at = 0;
	if (!ev_is_active(&p->move))
		ev_timer_again(p->loop, &p->move);
}

static void
on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct pools *p = timer->data;
	bool under_way = false;

	(void)events;
	for (size_t i = 0; i < p->n; i++) {
		struct pools_entry *e = &p->entries[i];

		if (!pool_tick(e->pool))
			continue;
		under_way = true;
		/* Sessions may have begun at a shard that closes. */
		if (!e->moving &&
		    pool_shards(e->pool) > pool_shards_wanted(e->pool))
			move_all(p, e);
	}
	if (!under_way)
		ev_timer_stop(loop, timer);
}

/* Follows the progress of a change of threads or shards until the change is
 * complete. */
static void
follow_change(struct pools *p)
{
	if (!ev_is_active(&p->tick))
		ev_timer_again(p->loop, &p->tick);
}

static uint64_t
count_late(const struct histogram *h)
{
	uint64_t n = 0;

	for (unsigned i = histogram_bucket(AUTOSCALE_LATE_NS);
	     i < HISTOGRAM_BUCKETS; i++)
		n += h->n[i];
	return n;
}

static void
add_shard_sample(struct autoscale_sample *sample, const struct shard *s)
{
	autoscale_add_shard(sample, promotion_parked(s->promotion),
	    atomic_load_relaxed(&s->asleep) +
	        atomic_load_relaxed(&s->sleepers));
}

static void
scale_pool(struct pools *p, struct pools_entry *e)
{
	static struct log_limit limit;
	struct pool_class classes[POOL_CLASSES_MAX];
	struct autoscale_sample sample;
	struct pool_status status;
	struct err err;
	int step;

	pool_status(e->pool, &status);
	sample = (struct autoscale_sample){
	    .threads = pool_threads(e->pool),
	    .promotions = status.sum.wakes,
	    .late = count_late(&status.sum.promotion_delay),
	};
	for (unsigned i = 0; i < pool_shards(e->pool); i++)
		add_shard_sample(&sample, pool_shard(e->pool, i));
	step = autoscale_step(&e->autoscale, &sample);
	if (step == 0)
		return;
	(void)pool_classes(e->pool, classes);
	classes[0].threads = sample.threads + (unsigned)step;
	if (!pool_set_threads(e->pool, classes, 1, &err))
		log_limited(&limit, LOG_LEVEL_WARNING,
		    "pool %s cannot grow to %u threads: %s", pool_name(e->pool),
		    classes[0].threads, err.text);
	else
		log_pool(e->pool, "%u thread%s now, after %s",
		    classes[0].threads, text_s(classes[0].threads),
		    step > 0 ? "two seconds without a parked follower"
		             : "ten seconds with two and more parked");
	follow_change(p);
}

static void
on_scale(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct pools *p = timer->data;
	bool any = false;

	(void)events;
	for (size_t i = 0; i < p->n; i++) {
		if (!p->entries[i].autoscaled)
			continue;
		any = true;
		scale_pool(p, &p->entries[i]);
	}
	if (!any)
		ev_timer_stop(loop, timer);
}

void
pools_watch(struct pools *p)
{
	ev_timer_init(&p->tick, on_tick, 0, TICK_MS / 1000.0);
	ev_timer_init(&p->move, on_move, 0, MOVE_MS / 1000.0);
	ev_timer_init(&p->scale, on_scale, 0, AUTOSCALE_SAMPLE_MS / 1000.0);
	p->tick.data = p->move.data = p->scale.data = p;
}

struct pools_entry *
pools_entry_find(const struct pools *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(pool_name(p->entries[i].pool), name) == 0)
			return &p->entries[i];
	return NULL;
}

void
pools_entry_drop(struct pools *p, struct pools_entry *e)
{
	pool_stop(e->pool);
	keeper_unguard(p->proxy->keeper, e->pool);
	pool_free(e->pool);
	pools_shift_forget(e);
	memmove(e, e + 1, (size_t)(p->entries + --p->n - e) * sizeof(*e));
}

struct pool *
pools_of(struct pools *pools, const struct frontend *frontend)
{
	const struct spec *spec = frontend->model->spec;

	return pools_entry_find(pools, spec->pools[frontend->spec->pool].name)
	    ->pool;
}

void
pools_free(struct pools *pools)
{
	if (!pools)
		return;
	ev_timer_stop(pools->loop, &pools->tick);
	ev_timer_stop(pools->loop, &pools->move);
	ev_timer_stop(pools->loop, &pools->scale);
	for (size_t i = 0; i < pools->n; i++)
		pool_stop(pools->entries[i].pool);
	for (size_t i = 0; i < pools->n; i++) {
		keeper_unguard(pools->proxy->keeper, pools->entries[i].pool);
		pool_free(pools->entries[i].pool);
		pools_shift_forget(&pools->entries[i]);
	}
	free(pools->entries);
	free(pools);
}

size_t
pools_count(const struct pools *pools)
{
	return pools->n;
}

struct pool *
pools_at(struct pools *pools, size_t i)
{
	return pools->entries[i].pool;
}

/* Returns the service time of the present threads.  A thread that has ended or
 * has just started distorts one sample. */
static uint64_t
threads_busy_ns(struct pool *pool)
{
	uint64_t sum = 0;
	struct thread_status t;

	for (unsigned at = 0; pool_thread_status(pool, at, &t);
	     at = t.place + 1)
		sum += atomic_load_relaxed(&t.stats->service.sum_ns);
	return sum;
}

void
pools_sample(struct pools *pools)
{
	for (size_t i = 0; i < pools->n; i++) {
		struct pool_load *load = &pools->entries[i].load;
		uint64_t busy_ns = threads_busy_ns(pools->entries[i].pool);
		uint64_t now_ns = clock_now_ns();

		if (load->at_ns > 0) {
			load->milli =
			    busy_ns > load->busy_ns
			        ? (uint32_t)((busy_ns - load->busy_ns) * 1000 /
			                     (now_ns - load->at_ns))
			        : 0;
			trend_add(&load->trend, load->milli);
		}
		load->busy_ns = busy_ns;
		load->at_ns = now_ns;
	}
}

const struct pool_load *
pools_load_at(const struct pools *pools, size_t i)
{
	return &pools->entries[i].load;
}

struct pools_entry *
pools_entry_of(const struct pools *pools, const struct pool *pool)
{
	size_t i = 0;

	while (pools->entries[i].pool != pool)
		i++;
	return &pools->entries[i];
}

struct pool *
pools_find(struct pools *pools, const char *name, struct err *err)
{
	const struct pools_entry *e = pools_entry_find(pools, name);
	struct hint hint;

	if (e)
		return e->pool;
	hint_init(&hint, name);
	for (size_t i = 0; i < pools->n; i++)
		hint_offer(&hint, pool_name(pools->entries[i].pool));
	err_set(err, "unknown pool '%s'; %s", name, hint_text(&hint, "there"));
	return NULL;
}

bool
pools_autoscale(const struct pools *pools, const struct pool *pool,
    unsigned *ret_min, unsigned *ret_max)
{
	const struct pools_entry *e = pools_entry_of(pools, pool);

	if (!e->autoscaled)
		return false;
	*ret_min = e->autoscale.min;
	*ret_max = e->autoscale.max;
	return true;
}

/* -- changes by the operator, a reload or the load -- */

static bool
change_shards(
    struct pools *pools, struct pool *pool, unsigned shards, struct err *err)
{
	struct pools_entry *e = pools_entry_of(pools, pool);
	unsigned before = pool_shards_wanted(pool);

	if (!pool_set_shards(pool, shards, err))
		return false;
	keeper_watch_alarms(pools->proxy->keeper, pool);
	if (shards != before) {
		pools_shift_forget(e);
		move_all(pools, e);
	}
	log_pool(
	    pool, "%u shard%s now, %u before", shards, text_s(shards), before);
	follow_change(pools);
	return true;
}

unsigned
pools_own_threads(const struct pools *pools, const struct pool *pool)
{
	const struct pools_entry *e = pools_entry_of(pools, pool);

	return e->threads_auto > 0 ? e->threads_auto : pool_threads(pool);
}

/* Sets the threads.  With shards = auto, also sets the shards to suit `fewest`,
 * the fewest threads that there may be, unless that is 0.  A pool never has
 * more shards than threads. */
static bool
change_threads(struct pools *pools, struct pool *pool, unsigned fewest,
    const struct pool_class *classes, unsigned classes_n, struct err *err)
{
	unsigned before = pool_shards_wanted(pool), suitable = before;

	if (pools_entry_of(pools, pool)->shards_auto && fewest > 0)
		suitable = shards_auto(fewest);
	if (suitable < before && !change_shards(pools, pool, suitable, err))
		return false;
	if (!pool_set_threads(pool, classes, classes_n, err)) {
		struct err more;

		if (suitable < before)
			(void)change_shards(pools, pool, before, &more);
		return false;
	}
	return suitable <= before || change_shards(pools, pool, suitable, err);
}

/* Sets the threads: automatic ones for so many CPUs, unless that is 0. */
static bool
set_threads(struct pools *pools, struct pool *pool, unsigned cpus,
    const struct pool_class *classes, unsigned classes_n, struct err *err)
{
	struct pools_entry *e = pools_entry_of(pools, pool);
	unsigned before = pool_threads(pool);
	unsigned own = cpus > 0 ? cpus : pool_class_threads(classes, classes_n);

	pool_set_spares(pool, spare_threads(cpus, e->has_tls));
	if (!change_threads(pools, pool, own, classes, classes_n, err))
		return false;
	e->autoscaled = false;
	e->threads_auto = cpus;
	log_pool(pool, "%u thread%s now, %u before", pool_threads(pool),
	    text_s(pool_threads(pool)), before);
	follow_change(pools);
	return true;
}

bool
pools_set_threads(struct pools *pools, struct pool *pool,
    const struct pool_class *classes, unsigned classes_n, struct err *err)
{
	return set_threads(pools, pool, 0, classes, classes_n, err);
}

bool
pools_set_threads_auto(
    struct pools *pools, struct pool *pool, unsigned cpus, struct err *err)
{
	struct pool_class class = {.threads = threads_for_cpus(cpus,
	                               pools_entry_of(pools, pool)->has_tls)};

	return set_threads(pools, pool, cpus, &class, 1, err);
}

bool
pools_set_shards(
    struct pools *pools, struct pool *pool, unsigned shards, struct err *err)
{
	struct pools_entry *e = pools_entry_of(pools, pool);
	unsigned threads = pools_own_threads(pools, pool), max;
	bool autoscaled = pools_autoscale(pools, pool, &threads, &max);
	unsigned suitable = shards > 0 ? shards : shards_auto(threads);

	/* With autoscaling, the fewest threads count, not the present ones. */
	if (!shards_fit(suitable, threads, autoscaled, err) ||
	    !change_shards(pools, pool, suitable, err))
		return false;
	e->shards_auto = shards == 0;
	return true;
}

void
pools_set_policy(
    struct pools *pools, struct pool *pool, enum policy_kind policy)
{
	(void)pools;
	pool_set_policy(pool, policy);
	log_pool(pool, "promotion is %s now", policy_name(policy));
}

void
pools_set_order(
    struct pools *pools, struct pool *pool, enum promotion_order order)
{
	(void)pools;
	pool_set_order(pool, order);
	log_pool(pool, "order is %s now", promotion_order_name(order));
}

bool
pools_set_cpus(struct pools *pools, struct pool *pool, const cpu_set_t *cpus,
    struct err *err)
{
	(void)pools;
	if (!pool_set_cpus(pool, cpus, err))
		return false;
	log_pool(pool, "runs on %d CPU%s now", CPU_COUNT(cpus),
	    text_s((unsigned)CPU_COUNT(cpus)));
	return true;
}

bool
pools_set_autoscale(struct pools *pools, struct pool *pool, unsigned min,
    unsigned max, struct err *err)
{
	struct pools_entry *e = pools_entry_of(pools, pool);
	unsigned threads = pool_threads(pool);
	struct pool_class class;

	if (min < 1 || max > POOL_THREADS_MAX || min > max)
		return err_set(err,
		    "%u..%u threads are not possible; allowed is 1..%u, the "
		    "smaller number first",
		    min, max, POOL_THREADS_MAX);
	if (!e->shards_auto && min < pool_shards_wanted(pool))
		return err_set(err,
		    "%u thread%s cannot serve %u shards; use at least as many "
		    "threads, or fewer shards first",
		    min, text_s(min), pool_shards_wanted(pool));
	/* A range of threads has a single class, whose nice value is 0, as in
	 * the file. */
	pool_set_spares(pool, 0);
	class = (struct pool_class){.threads = threads < min   ? min
	                                       : threads > max ? max
	                                                       : threads};
	if (!change_threads(pools, pool, min, &class, 1, err))
		return false;
	log_pool(pool, "%u to %u thread%s now, by load", min, max, text_s(max));
	e->threads_auto = 0;
	autoscale_init(&e->autoscale, min, max);
	e->autoscaled = min < max;
	if (e->autoscaled && !ev_is_active(&pools->scale))
		ev_timer_again(pools->loop, &pools->scale);
	follow_change(pools);
	return true;
}

void
pools_second(struct pools *pools)
{
	for (size_t i = 0; i < pools->n; i++) {
		struct pools_entry *e = &pools->entries[i];
		uint64_t now = pool_key_operations(e->pool);

		e->key_rate = now - e->key_operations;
		e->key_operations = now;
	}
}

const struct pool *
pools_stuck(struct pools *pools)
{
	const struct pool *stuck = NULL;

	for (size_t i = 0; i < pools->n; i++)
		if (!pool_moves(pools->entries[i].pool) && !stuck)
			stuck = pools->entries[i].pool;
	return stuck;
}

uint64_t
pools_key_rate(const struct pools *pools, const struct pool *pool)
{
	return pools_entry_of(pools, pool)->key_rate;
}
