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

/* Sets the classes of pool_options and pool_set_threads. */
static unsigned
set_classes(
    const struct pool_spec *spec, struct pool_class classes[POOL_CLASSES_MAX])
{
	for (unsigned i = 0; i < spec->classes_n; i++)
		classes[i] =
		    (struct pool_class){.threads = spec->classes[i].threads,
		        .nice = spec->classes[i].nice};
	return spec->classes_n;
}

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
	struct thread_class_spec spec[POOL_CLASSES_MAX];
	unsigned n, min, max;

	if (pools_autoscale(pools, pool, &min, &max))
		return range_text(min, max, out);
	n = pool_classes(pool, classes);
	for (unsigned i = 0; i < n; i++)
		spec[i] = (struct thread_class_spec){
		    .threads = classes[i].threads, .nice = classes[i].nice};
	return threads_text(spec, n, out);
}

/* -- settings of a running pool -- */

struct pool_setting {
	struct pools *pools;
	struct pool *pool;
	const struct pool_spec *spec;
	struct changes *changes;
};

/* ok: it was changed; else err says why not. */
static void
report_change(const struct pool_setting *s, const char *key, const char *from,
    const char *to, bool ok, const struct err *err)
{
	if (ok)
		changes_add(s->changes, false, "pool %s: %s: %s -> %s",
		    pool_name(s->pool), key, from, to);
	else
		changes_add(s->changes, true,
		    "pool %s: %s: %s -> %s was not possible, it stays %s: %s",
		    pool_name(s->pool), key, from, to, from, err->text);
}

static void
apply_threads(const struct pool_setting *s)
{
	char from[THREADS_TEXT_SIZE], to[THREADS_TEXT_SIZE];
	struct pool_class classes[POOL_CLASSES_MAX];
	const struct pool_spec *spec = s->spec;
	struct err err;
	bool ok;

	pools_threads_text(s->pools, s->pool, from);
	if (spec->threads_max > 0)
		range_text(spec->threads_min, spec->threads_max, to);
	else
		threads_text(spec->classes, spec->classes_n, to);
	if (strcmp(from, to) == 0)
		return;
	if (spec->threads_max > 0)
		ok = pools_set_autoscale(s->pools, s->pool, spec->threads_min,
		    spec->threads_max, &err);
	else
		ok = pools_set_threads(s->pools, s->pool, classes,
		    set_classes(spec, classes), &err);
	report_change(s, "threads", from, to, ok, &err);
}

static void
apply_shards(const struct pool_setting *s)
{
	unsigned now = pool_shards_wanted(s->pool);
	char from[16], to[16];
	struct err err;

	if (now == s->spec->shards)
		return;
	snprintf(from, sizeof(from), "%u", now);
	snprintf(to, sizeof(to), "%u", s->spec->shards);
	report_change(s, "shards", from, to,
	    pools_set_shards(s->pools, s->pool, s->spec->shards, &err), &err);
}

static void
apply_policy(const struct pool_setting *s, enum policy_kind now)
{
	enum policy_kind wanted = (enum policy_kind)s->spec->promotion;
	struct err err;

	if (now == wanted)
		return;
	report_change(s, "promotion", policy_name(now), policy_name(wanted),
	    pools_set_policy(s->pools, s->pool, wanted, &err), &err);
}

static void
apply_order(const struct pool_setting *s, enum promotion_order now)
{
	enum promotion_order wanted = (enum promotion_order)s->spec->order;

	if (now == wanted)
		return;
	pools_set_order(s->pools, s->pool, wanted);
	report_change(s, "order", promotion_order_name(now),
	    promotion_order_name(wanted), true, NULL);
}

static void
apply_cpus(const struct pool_setting *s)
{
	const cpu_set_t *now = pool_cpu_set(s->pool);
	char from[CPU_LIST_TEXT_SIZE], to[CPU_LIST_TEXT_SIZE];
	cpu_set_t wanted = s->spec->cpus;
	struct err err;

	if (!s->spec->cpus_given)
		cpus_allowed(&wanted);
	if (CPU_EQUAL(now, &wanted))
		return;
	cpu_list_text(now, from);
	cpu_list_text(&wanted, to);
	report_change(s, "cpus", from, to,
	    pools_set_cpus(s->pools, s->pool, &wanted, &err), &err);
}

static unsigned
fewest_threads(const struct pool_spec *spec)
{
	unsigned n = 0;

	if (spec->threads_max > 0)
		return spec->threads_min;
	for (unsigned i = 0; i < spec->classes_n; i++)
		n += spec->classes[i].threads;
	return n;
}

static void
pool_settings_apply(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, struct changes *changes)
{
	struct pool_setting s = {
	    .pools = pools, .pool = pool, .spec = spec, .changes = changes};
	struct pool_status status;

	pool_status(pool, &status);
	/* Never let a pool have more shards than threads: reduce the shards
	 * first if the new threads are too few for the present shards. */
	if (fewest_threads(spec) < pool_shards_wanted(pool))
		apply_shards(&s);
	apply_threads(&s);
	apply_shards(&s);
	apply_policy(&s, status.policy);
	apply_order(&s, status.order);
	apply_cpus(&s);
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
	options.classes_n = set_classes(spec, options.classes);
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
	for (size_t i = 0; i < pools->n; i++) {
		pools->entries[i].leaving = true;
		pools->entries[i].bindable = false;
	}
	for (size_t i = 0; i < spec->frontends_n; i++)
		if (spec->frontends[i].bound)
			pools_entry_find(
			    pools, spec->pools[spec->frontends[i].pool].name)
			    ->bindable = true;
	for (size_t i = 0; i < spec->pools_n; i++) {
		struct pools_entry *e =
		    pools_entry_find(pools, spec->pools[i].name);

		e->leaving = e->idle = e->fresh = false;
		pool_settings_apply(pools, e->pool, &spec->pools[i], changes);
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
