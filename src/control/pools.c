/* SPDX-License-Identifier: MIT
 * See pools.h.
 */
#include "control/pools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/cpus.h"
#include "control/autoscale.h"

/* While a change is under way its progress is looked at this often. */
#define TICK_MS 10

struct entry {
	struct pool *pool;
	bool autoscaled, bindable;
	struct autoscale autoscale;
};

struct pools {
	struct ev_loop *loop;
	struct proxy *proxy;
	struct grace *grace;
	struct entry *entries;
	size_t n;
	uint64_t wake_ns;
	bool guarding; /* the guard is wanted at all */
	ev_timer tick, guard, scale;
	ev_async call; /* a pool works again */
};

static int
new_set(void *arg, struct handle_set **ret_set)
{
	(void)arg;
	return handle_set_epoll_new(ret_set);
}

static bool
thread_init(struct pool_thread *self, void *arg)
{
	struct pools *p = arg;

	return proxy_thread_init(self, p->proxy);
}

/* Any pool thread: the one call into libev that is meant for other threads. */
static void
call_guard(void *arg)
{
	struct pools *p = arg;

	ev_async_send(p->loop, &p->call);
}

static void
on_call(struct ev_loop *loop, ev_async *call, int events)
{
	struct pools *p = call->data;

	(void)events;
	if (p->guarding && !ev_is_active(&p->guard))
		ev_timer_again(loop, &p->guard);
}

static void
on_guard(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct pools *p = timer->data;
	uint64_t now_ns = clock_now_ns();
	bool working = false;

	(void)events;
	for (size_t i = 0; i < p->n; i++)
		working |= pool_guard(
		    p->entries[i].pool, now_ns, POOLS_GUARD_MS * NS_PER_MS);
	if (!working)
		ev_timer_stop(loop, timer);
}

static void
on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct pools *p = timer->data;
	bool under_way = false;

	(void)events;
	for (size_t i = 0; i < p->n; i++) {
		struct pool *pool = p->entries[i].pool;

		if (!pool_tick(pool))
			continue;
		under_way = true;
		if (pool_shards(pool) > pool_shards_wanted(pool))
			proxy_move_all(p->proxy, pool);
	}
	if (!under_way)
		ev_timer_stop(loop, timer);
}

static void
changed(struct pools *p)
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
scale(struct pools *p, struct entry *e)
{
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
	for (unsigned i = 0; i < pool_shards(e->pool); i++) {
		struct shard *s = pool_shard(e->pool, i);

		sample.parked += promotion_parked(s->promotion);
		sample.asleep += atomic_load_relaxed(&s->asleep) +
		                 atomic_load_relaxed(&s->sleepers);
	}
	step = autoscale_step(&e->autoscale, &sample);
	if (step == 0)
		return;
	(void)pool_classes(e->pool, classes);
	classes[0].threads = sample.threads + (unsigned)step;
	if (pool_set_threads(e->pool, classes, 1, &err))
		log_info("pool %s: %u threads now, after %s",
		    pool_name(e->pool), classes[0].threads,
		    step > 0 ? "two seconds without a parked follower"
		             : "ten seconds with two and more parked");
	changed(p);
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
		scale(p, &p->entries[i]);
	}
	if (!any)
		ev_timer_stop(loop, timer);
}

static void
watch(struct pools *p, ev_timer *timer, double every_s,
    void (*callback)(struct ev_loop *, ev_timer *, int))
{
	ev_timer_init(timer, callback, every_s, every_s);
	timer->data = p;
}

static int
start_one(struct pools *p, const struct pool_spec *spec, unsigned first_index)
{
	struct pool_options options = {
	    .name = spec->name,
	    .classes_n = spec->classes_n,
	    .shards = spec->shards,
	    .policy = (enum policy_kind)spec->promotion,
	    .order = (enum promotion_order)spec->order,
	    .cpus = spec->cpus_given ? &spec->cpus : NULL,
	    .cpus_quota = cpus_quota(""),
	    .first_index = first_index,
	    .wake_ns = p->wake_ns,
	    .grace = p->grace,
	    .new_set = new_set,
	    .thread_init = thread_init,
	    .thread_fini = proxy_thread_fini,
	    .call_guard = call_guard,
	    .arg = p,
	};

	for (unsigned i = 0; i < spec->classes_n; i++)
		options.classes[i] =
		    (struct pool_class){.threads = spec->classes[i].threads,
		        .nice = spec->classes[i].nice};
	return pool_new(&options, &p->entries[p->n].pool);
}

static bool
start_all(struct pools *p, const struct spec *spec, struct err *err)
{
	unsigned first_index = 0;

	for (size_t i = 0; i < spec->pools_n; i++) {
		const struct pool_spec *s = &spec->pools[i];
		int rc = start_one(p, s, first_index);

		if (rc < 0)
			return err_set(err, "pool %s cannot be started: %s",
			    s->name, strerror(-rc));
		p->n++;
		first_index += pool_threads(p->entries[i].pool);
		if (s->threads_max > 0 &&
		    !pools_set_autoscale(p, p->entries[i].pool, s->threads_min,
		        s->threads_max, err))
			return false;
	}
	for (size_t i = 0; i < spec->frontends_n; i++)
		if (spec->frontends[i].bound)
			p->entries[spec->frontends[i].pool].bindable = true;
	return true;
}

struct pools *
pools_start(struct ev_loop *loop, const struct spec *spec, struct proxy *proxy,
    struct grace *grace, struct err *err)
{
	struct pools *p = calloc(1, sizeof(*p));

	if (p)
		p->entries = calloc(spec->pools_n, sizeof(*p->entries));
	if (!p || !p->entries) {
		free(p);
		err_set(err, "out of memory");
		return NULL;
	}
	p->loop = loop;
	p->proxy = proxy;
	p->grace = grace;
	p->guarding = true;
	p->wake_ns = policy_calibrate();
	watch(p, &p->tick, TICK_MS / 1000.0, on_tick);
	watch(p, &p->guard, POOLS_GUARD_MS / 1000.0, on_guard);
	watch(p, &p->scale, AUTOSCALE_SAMPLE_MS / 1000.0, on_scale);
	ev_async_init(&p->call, on_call);
	p->call.data = p;
	ev_async_start(loop, &p->call);
	if (!start_all(p, spec, err)) {
		pools_free(p);
		return NULL;
	}
	ev_timer_again(loop, &p->guard);
	return p;
}

void
pools_free(struct pools *pools)
{
	if (!pools)
		return;
	ev_timer_stop(pools->loop, &pools->tick);
	ev_timer_stop(pools->loop, &pools->guard);
	ev_timer_stop(pools->loop, &pools->scale);
	for (size_t i = 0; i < pools->n; i++)
		pool_stop(pools->entries[i].pool);
	for (size_t i = 0; i < pools->n; i++)
		pool_free(pools->entries[i].pool);
	ev_async_stop(pools->loop, &pools->call);
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

static struct entry *
entry_of(const struct pools *pools, const struct pool *pool)
{
	size_t i = 0;

	while (pools->entries[i].pool != pool)
		i++;
	return &pools->entries[i];
}

struct pool *
pools_find(struct pools *pools, const char *name, struct err *err)
{
	char names[256] = "";

	for (size_t i = 0; i < pools->n; i++) {
		const char *known = pool_name(pools->entries[i].pool);
		size_t len = strlen(names);

		if (strcmp(known, name) == 0)
			return pools->entries[i].pool;
		snprintf(names + len, sizeof(names) - len, "%s%s",
		    i > 0 ? ", " : "", known);
	}
	err_set(err, "there is no pool '%s'; there %s %s", name,
	    pools->n == 1 ? "is" : "are", names);
	return NULL;
}

bool
pools_set_threads(struct pools *pools, struct pool *pool,
    const struct pool_class *classes, unsigned classes_n, struct err *err)
{
	unsigned before = pool_threads(pool);

	if (!pool_set_threads(pool, classes, classes_n, err))
		return false;
	entry_of(pools, pool)->autoscaled = false;
	log_info("pool %s: %u threads now, %u before", pool_name(pool),
	    pool_threads(pool), before);
	changed(pools);
	return true;
}

bool
pools_set_shards(
    struct pools *pools, struct pool *pool, unsigned shards, struct err *err)
{
	unsigned before = pool_shards_wanted(pool);

	if (!pool_set_shards(pool, shards, err))
		return false;
	if (shards != before)
		proxy_move_all(pools->proxy, pool);
	log_info("pool %s: %u shards now, %u before", pool_name(pool), shards,
	    before);
	changed(pools);
	return true;
}

bool
pools_set_policy(struct pools *pools, struct pool *pool,
    enum policy_kind policy, struct err *err)
{
	struct pool_status status;

	if (policy == POLICY_KERNEL && entry_of(pools, pool)->bindable)
		return err_set(err,
		    "a frontend of pool %s has association = bound, which "
		    "needs a leader; allowed are adaptive and always",
		    pool_name(pool));
	/* Switched back and forth under load, a session was seen to stall. */
	pool_status(pool, &status);
	if ((status.policy == POLICY_KERNEL) != (policy == POLICY_KERNEL))
		return err_set(err,
		    "promotion = kernel is chosen in the file; to change to it "
		    "or from it takes a restart");
	pool_set_policy(pool, policy);
	log_info("pool %s: promotion is %s now", pool_name(pool),
	    policy_name(policy));
	return true;
}

void
pools_set_order(
    struct pools *pools, struct pool *pool, enum promotion_order order)
{
	(void)pools;
	pool_set_order(pool, order);
	log_info("pool %s: order is %s now", pool_name(pool),
	    promotion_order_name(order));
}

bool
pools_set_cpus(struct pools *pools, struct pool *pool, const cpu_set_t *cpus,
    struct err *err)
{
	(void)pools;
	if (!pool_set_cpus(pool, cpus, err))
		return false;
	log_info(
	    "pool %s: runs on %d CPUs now", pool_name(pool), CPU_COUNT(cpus));
	return true;
}

bool
pools_set_autoscale(struct pools *pools, struct pool *pool, unsigned min,
    unsigned max, struct err *err)
{
	struct entry *e = entry_of(pools, pool);
	unsigned threads = pool_threads(pool);
	struct pool_class classes[POOL_CLASSES_MAX];

	if (min < 1 || max > POOL_THREADS_LIMIT || min > max)
		return err_set(err,
		    "%u..%u threads are not possible; allowed is 1..%u, the "
		    "smaller number first",
		    min, max, POOL_THREADS_LIMIT);
	if (min < pool_shards_wanted(pool))
		return err_set(err,
		    "%u threads cannot serve %u shards; use at least as many "
		    "threads, or fewer shards first",
		    min, pool_shards_wanted(pool));
	(void)pool_classes(pool, classes);
	classes[0].threads = threads < min   ? min
	                     : threads > max ? max
	                                     : threads;
	if (!pool_set_threads(pool, classes, 1, err))
		return false;
	log_info("pool %s: %u to %u threads now, by load", pool_name(pool), min,
	    max);
	autoscale_init(&e->autoscale, min, max);
	e->autoscaled = min < max;
	if (e->autoscaled && !ev_is_active(&pools->scale))
		ev_timer_again(pools->loop, &pools->scale);
	changed(pools);
	return true;
}

bool
pools_autoscale(const struct pools *pools, const struct pool *pool,
    unsigned *ret_min, unsigned *ret_max)
{
	const struct entry *e = entry_of(pools, pool);

	if (!e->autoscaled)
		return false;
	*ret_min = e->autoscale.min;
	*ret_max = e->autoscale.max;
	return true;
}

void
pools_set_guard(struct pools *pools, bool on)
{
	pools->guarding = on;
	if (on)
		ev_timer_again(pools->loop, &pools->guard);
	else
		ev_timer_stop(pools->loop, &pools->guard);
}
