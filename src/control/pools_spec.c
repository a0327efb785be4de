/* SPDX-License-Identifier: MIT
 * See pools.h: starts the pools of a configuration, and makes running pools
 * follow a changed one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/events.h"
#include "base/fault.h"
#include "base/grace.h"
#include "config/cpus.h"
#include "config/pool_text.h"
#include "control/pools_internal.h"

/* -- the threads of a configuration and of a pool -- */

static const char *
range_text(unsigned min, unsigned max, char out[THREADS_TEXT_SIZE])
{
	snprintf(out, THREADS_TEXT_SIZE, "%u..%u", min, max);
	return out;
}

const char *
pools_threads_text(const struct pools *pools, const struct pool *pool,
    char out[THREADS_TEXT_SIZE])
{
	struct pool_class classes[POOL_CLASSES_MAX];
	unsigned min, max;

	if (pools_autoscale(pools, pool, &min, &max))
		return range_text(min, max, out);
	return threads_text(classes, pool_classes(pool, classes), out);
}

/* -- settings of a running pool -- */

/* A setting that a reload may change. */
struct pool_setting {
	struct changes *changes;
	const char *pool, *key, *from, *to;
	struct err err;
};

/* Returns whether the setting has another value. */
static bool
is_another(
    struct pool_setting *s, const char *key, const char *from, const char *to)
{
	s->key = key;
	s->from = from;
	s->to = to;
	return strcmp(from, to) != 0;
}

static void
report_change(const struct pool_setting *s, bool changed)
{
	if (changed)
		changes_add(s->changes, false, "pool %s: %s: %s -> %s", s->pool,
		    s->key, s->from, s->to);
	else
		changes_add(s->changes, true,
		    "pool %s: %s: %s -> %s was not possible, it stays %s: %s",
		    s->pool, s->key, s->from, s->to, s->from, s->err.text);
}

static bool
set_spec_threads(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, struct err *err)
{
	return spec->threads_max > 0
	           ? pools_set_autoscale(
	                 pools, pool, spec->threads_min, spec->threads_max, err)
	           : pools_set_threads(
	                 pools, pool, spec->classes, spec->classes_n, err);
}

static void
apply_shards(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, struct changes *changes)
{
	struct pool_setting s = {.changes = changes, .pool = pool_name(pool)};
	char from[16], to[16];

	snprintf(from, sizeof(from), "%u", pool_shards_wanted(pool));
	snprintf(to, sizeof(to), "%u", spec->shards);
	if (is_another(&s, "shards", from, to))
		report_change(
		    &s, pools_set_shards(pools, pool, spec->shards, &s.err));
}

static unsigned
fewest_threads(const struct pool_spec *spec)
{
	return spec->threads_max > 0
	           ? spec->threads_min
	           : pool_class_threads(spec->classes, spec->classes_n);
}

static void
apply_settings(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, struct changes *changes)
{
	struct pool_setting s = {.changes = changes, .pool = pool_name(pool)};
	char from[THREADS_TEXT_SIZE], to[THREADS_TEXT_SIZE];
	char cpus_from[CPU_LIST_TEXT_SIZE], cpus_to[CPU_LIST_TEXT_SIZE];
	cpu_set_t cpus = spec->cpus;
	struct pool_status now;

	pool_status(pool, &now);
	if (!spec->cpus_given)
		cpus_allowed(&cpus);
	/* Never let a pool have more shards than threads: reduce the shards
	 * first if the new threads are too few for the present shards. */
	if (fewest_threads(spec) < pool_shards_wanted(pool))
		apply_shards(pools, pool, spec, changes);
	if (is_another(&s, "threads", pools_threads_text(pools, pool, from),
	        spec->threads_max > 0
	            ? range_text(spec->threads_min, spec->threads_max, to)
	            : threads_text(spec->classes, spec->classes_n, to)))
		report_change(&s, set_spec_threads(pools, pool, spec, &s.err));
	apply_shards(pools, pool, spec, changes);
	if (is_another(&s, "promotion", policy_name(now.policy),
	        policy_name(spec->promotion))) {
		pools_set_policy(pools, pool, spec->promotion);
		report_change(&s, true);
	}
	if (is_another(&s, "order", promotion_order_name(now.order),
	        promotion_order_name(spec->order))) {
		pools_set_order(pools, pool, spec->order);
		report_change(&s, true);
	}
	if (is_another(&s, "handshake_threads",
	        handshake_threads_text(pool_long_turns(pool), from),
	        handshake_threads_text(spec->handshake_threads, to))) {
		pool_set_long_turns(pool, spec->handshake_threads);
		report_change(&s, true);
	}
	snprintf(from, sizeof(from), "%u", pool_long_nice(pool));
	snprintf(to, sizeof(to), "%u", spec->handshake_nice);
	if (is_another(&s, "handshake_nice", from, to))
		report_change(
		    &s, pool_set_long_nice(pool, spec->handshake_nice, &s.err));
	if (is_another(&s, "cpus", cpu_list_text(pool_cpu_set(pool), cpus_from),
	        cpu_list_text(&cpus, cpus_to)))
		report_change(&s, pools_set_cpus(pools, pool, &cpus, &s.err));
}

/* -- starts and ends of pools -- */

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

/* Starts the pool and appends its entry, which is fresh.  Returns 0 or -errno.
 */
static int
start_pool(struct pools *p, const struct pool_spec *spec)
{
	struct pool_options options = {
	    .name = spec->name,
	    .classes_n = spec->classes_n,
	    .shards = spec->shards,
	    .policy = spec->promotion,
	    .order = spec->order,
	    .long_turns = spec->handshake_threads,
	    .long_nice = spec->handshake_nice,
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
	memcpy(options.classes, spec->classes, sizeof(options.classes));
	rc = pool_new(&options, &p->entries[p->n].pool);
	if (rc < 0)
		return rc;
	p->next_index += pool_threads(p->entries[p->n++].pool);
	return 0;
}

bool
pools_prepare(struct pools *pools, const struct spec *spec, struct err *err)
{
	for (size_t i = 0; i < spec->pools_n; i++) {
		const struct pool_spec *s = &spec->pools[i];
		int rc = 0;

		if (!pools_entry_find(pools, s->name))
			rc = start_pool(pools, s);
		if (rc == 0)
			continue;
		pools_cancel(pools);
		return err_set(err, "pool %s cannot be started: %s%s", s->name,
		    strerror(-rc), pool_start_hint(-rc));
	}
	return true;
}

void
pools_cancel(struct pools *pools)
{
	for (size_t i = pools->n; i-- > 0;)
		if (pools->entries[i].fresh)
			pools_entry_drop(pools, &pools->entries[i]);
}

void
pools_apply(
    struct pools *pools, const struct spec *spec, struct changes *changes)
{
	for (size_t i = 0; i < pools->n; i++)
		pools->entries[i].leaving = true;
	for (size_t i = 0; i < spec->pools_n; i++) {
		struct pools_entry *e =
		    pools_entry_find(pools, spec->pools[i].name);

		e->leaving = e->idle = e->fresh = false;
		/* apply_settings reports the shards' number by itself. */
		e->shards_auto = false;
		apply_settings(pools, e->pool, &spec->pools[i], changes);
		e->shards_auto = spec->pools[i].shards_auto;
	}
}

void
pools_reap(struct pools *pools,
    bool (*in_use)(const struct listeners *, struct pool *),
    const struct listeners *listeners)
{
	for (size_t i = pools->n; i-- > 0;) {
		struct pools_entry *e = &pools->entries[i];
		bool idle = e->leaving && !in_use(listeners, e->pool) &&
		            pool_is_idle(e->pool);

		if (idle && !e->idle)
			e->idle_at = grace_stamp(pools->grace);
		else if (idle && grace_passed(pools->grace, e->idle_at)) {
			event_add(EVENT_POOL, LOG_LEVEL_INFO,
			    pool_name(e->pool), NULL,
			    "pool %s is gone: it was removed and has no "
			    "session left",
			    pool_name(e->pool));
			pools_entry_drop(pools, e);
			continue;
		}
		e->idle = idle;
	}
}

struct pools *
pools_start(struct ev_loop *loop, const struct spec *spec, struct proxy *proxy,
    struct grace *grace, struct err *err)
{
	struct pools *p = calloc(1, sizeof(*p));
	struct changes none;

	if (!p) {
		err_oom(err);
		return NULL;
	}
	p->loop = loop;
	p->proxy = proxy;
	p->grace = grace;
	p->guarding = !fault_is_on(FAULT_NO_GUARD);
	p->wake_ns = policy_calibrate();
	pools_watch(p);
	if (!pools_prepare(p, spec, err)) {
		pools_free(p);
		return NULL;
	}
	changes_init(&none);
	pools_apply(p, spec, &none);
	changes_fini(&none);
	pools_set_guard(p, p->guarding);
	return p;
}
