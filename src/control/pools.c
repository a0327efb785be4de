/* SPDX-License-Identifier: MIT
 * See pools.h.
 */
#include "control/pools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/events.h"
#include "base/fault.h"
#include "base/grace.h"
#include "base/text.h"
#include "config/cpus.h"
#include "control/pools_internal.h"
#include "proxy/reaper.h"

/* How often the progress of a change is looked at while it is under way. */
#define TICK_MS 10

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

/* Runs on any pool thread.  ev_async_send is the one call into libev that other
 * threads may make. */
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

void
pools_changed(struct pools *p)
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

/* Under POLICY_KERNEL no thread is parked: the first thread that waits on the
 * handle set counts as the leader, the others as followers. */
static void
add_shard(struct autoscale_sample *sample, const struct shard *s)
{
	uint32_t sleepers = atomic_load_relaxed(&s->sleepers);

	sample->asleep += atomic_load_relaxed(&s->asleep) + (sleepers > 0);
	sample->parked +=
	    promotion_parked(s->promotion) + (sleepers > 0 ? sleepers - 1 : 0);
}

static void
scale(struct pools *p, struct pools_entry *e)
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
		add_shard(&sample, pool_shard(e->pool, i));
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
		event_add(EVENT_POOL, LOG_LEVEL_INFO, pool_name(e->pool), NULL,
		    "pool %s: %u thread%s now, after %s", pool_name(e->pool),
		    classes[0].threads, text_s(classes[0].threads),
		    step > 0 ? "two seconds without a parked follower"
		             : "ten seconds with two and more parked");
	pools_changed(p);
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

int
pools_entry_add(struct pools *p, const struct pool_spec *spec)
{
	struct pool_options options = {
	    .name = spec->name,
	    .classes_n = spec->classes_n,
	    .shards = spec->shards,
	    .policy = (enum policy_kind)spec->promotion,
	    .order = (enum promotion_order)spec->order,
	    .cpus = spec->cpus_given ? &spec->cpus : NULL,
	    .cpus_quota = cpus_quota(""),
	    .first_index = p->next_index,
	    .wake_ns = p->wake_ns,
	    .grace = p->grace,
	    .new_set = new_set,
	    .thread_init = thread_init,
	    .thread_fini = proxy_thread_fini,
	    .call_guard = call_guard,
	    .arg = p,
	};
	struct pools_entry *grown =
	    reallocarray(p->entries, p->n + 1, sizeof(*p->entries));
	int rc;

	if (!grown)
		return -ENOMEM;
	p->entries = grown;
	p->entries[p->n] = (struct pools_entry){.fresh = true};
	for (unsigned i = 0; i < spec->classes_n; i++)
		options.classes[i] =
		    (struct pool_class){.threads = spec->classes[i].threads,
		        .nice = spec->classes[i].nice};
	rc = pool_new(&options, &p->entries[p->n].pool);
	if (rc < 0)
		return rc;
	p->next_index += pool_threads(p->entries[p->n++].pool);
	return 0;
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
	pool_free(e->pool);
	memmove(e, e + 1, (size_t)(p->entries + --p->n - e) * sizeof(*e));
}

struct pool *
pools_of(struct pools *pools, const struct frontend *frontend)
{
	const struct spec *spec = frontend->model->spec;

	return pools_entry_find(pools, spec->pools[frontend->spec->pool].name)
	    ->pool;
}

struct pools *
pools_new(struct ev_loop *loop, struct proxy *proxy, struct grace *grace)
{
	struct pools *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->loop = loop;
	p->proxy = proxy;
	p->grace = grace;
	p->guarding = !fault_is_on(FAULT_NO_GUARD);
	p->wake_ns = policy_calibrate();
	watch(p, &p->tick, TICK_MS / 1000.0, on_tick);
	watch(p, &p->guard, POOLS_GUARD_MS / 1000.0, on_guard);
	watch(p, &p->scale, AUTOSCALE_SAMPLE_MS / 1000.0, on_scale);
	ev_async_init(&p->call, on_call);
	p->call.data = p;
	ev_async_start(loop, &p->call);
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
	char names[256] = "";

	const struct pools_entry *e = pools_entry_find(pools, name);

	if (e)
		return e->pool;
	for (size_t i = 0; i < pools->n; i++) {
		const char *known = pool_name(pools->entries[i].pool);
		size_t len = strlen(names);

		snprintf(names + len, sizeof(names) - len, "%s%s",
		    i > 0 ? ", " : "", known);
	}
	err_set(err, "there is no pool '%s'; there %s %s", name,
	    pools->n == 1 ? "is" : "are", names);
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

void
pools_set_guard(struct pools *pools, bool on)
{
	pools->guarding = on;
	if (on)
		ev_timer_again(pools->loop, &pools->guard);
	else
		ev_timer_stop(pools->loop, &pools->guard);
}
