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
#include "base/log.h"
#include "base/thread.h"
#include "config/cpus.h"
#include "config/pool_text.h"
#include "control/pools_internal.h"
#include "proxy/keeper.h"

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

bool
pools_threads_are_auto(const struct pools *pools, const struct pool *pool)
{
	return pools_entry_of(pools, pool)->threads_auto > 0;
}

/* -- settings of a running pool -- */

#define SETTING_TEXT_SIZE POOLS_SETTING_SIZE

static void
put_setting(char out[SETTING_TEXT_SIZE], const char *text)
{
	snprintf(out, SETTING_TEXT_SIZE, "%s", text);
}

static void
threads_now(struct pools *pools, struct pool *pool, char *out)
{
	(void)pools_threads_text(pools, pool, out);
}

static void
threads_wanted(const struct pool_spec *spec, char *out)
{
	if (spec->threads_max > 0)
		(void)range_text(spec->threads_min, spec->threads_max, out);
	else
		(void)threads_text(spec->classes, spec->classes_n, out);
}

static bool
set_spec_threads(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, struct err *err)
{
	if (spec->threads_auto > 0)
		return pools_set_threads_auto(
		    pools, pool, spec->threads_auto, err);
	return spec->threads_max > 0
	           ? pools_set_autoscale(
	                 pools, pool, spec->threads_min, spec->threads_max, err)
	           : pools_set_threads(
	                 pools, pool, spec->classes, spec->classes_n, err);
}

static void
shards_now(struct pools *pools, struct pool *pool, char *out)
{
	(void)pools;
	snprintf(out, SETTING_TEXT_SIZE, "%u", pool_shards_wanted(pool));
}

static void
shards_wanted(const struct pool_spec *spec, char *out)
{
	snprintf(out, SETTING_TEXT_SIZE, "%u", spec->shards);
}

static bool
set_spec_shards(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, struct err *err)
{
	return pools_set_shards(
	    pools, pool, spec->shards_auto ? 0 : spec->shards, err);
}

static void
promotion_now(struct pools *pools, struct pool *pool, char *out)
{
	struct pool_status now;

	(void)pools;
	pool_status(pool, &now);
	put_setting(out, policy_name(now.policy));
}

static void
promotion_wanted(const struct pool_spec *spec, char *out)
{
	put_setting(out, policy_name(spec->promotion));
}

static bool
set_spec_promotion(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, struct err *err)
{
	(void)err;
	pools_set_policy(pools, pool, spec->promotion);
	return true;
}

static void
order_now(struct pools *pools, struct pool *pool, char *out)
{
	struct pool_status now;

	(void)pools;
	pool_status(pool, &now);
	put_setting(out, promotion_order_name(now.order));
}

static void
order_wanted(const struct pool_spec *spec, char *out)
{
	put_setting(out, promotion_order_name(spec->order));
}

static bool
set_spec_order(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, struct err *err)
{
	(void)err;
	pools_set_order(pools, pool, spec->order);
	return true;
}

static void
long_turns_now(struct pools *pools, struct pool *pool, char *out)
{
	(void)pools;
	(void)handshake_threads_text(pool_long_turns(pool), out);
}

static void
long_turns_wanted(const struct pool_spec *spec, char *out)
{
	(void)handshake_threads_text(spec->handshake_threads, out);
}

static bool
set_spec_long_turns(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, struct err *err)
{
	(void)pools;
	(void)err;
	pool_set_long_turns(pool, spec->handshake_threads);
	return true;
}

static void
long_nice_now(struct pools *pools, struct pool *pool, char *out)
{
	(void)pools;
	snprintf(out, SETTING_TEXT_SIZE, "%u", pool_long_nice(pool));
}

static void
long_nice_wanted(const struct pool_spec *spec, char *out)
{
	snprintf(out, SETTING_TEXT_SIZE, "%u", spec->handshake_nice);
}

static bool
set_spec_long_nice(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, struct err *err)
{
	(void)pools;
	return pool_set_long_nice(pool, spec->handshake_nice, err);
}

static cpu_set_t
spec_cpus(const struct pool_spec *spec)
{
	cpu_set_t cpus = spec->cpus;

	if (!spec->cpus_given)
		cpus_allowed(&cpus);
	return cpus;
}

static void
cpus_now(struct pools *pools, struct pool *pool, char *out)
{
	(void)pools;
	(void)cpu_list_text(pool_cpu_set(pool), out);
}

static void
cpus_wanted(const struct pool_spec *spec, char *out)
{
	cpu_set_t cpus = spec_cpus(spec);

	(void)cpu_list_text(&cpus, out);
}

static bool
set_spec_cpus(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, struct err *err)
{
	cpu_set_t cpus = spec_cpus(spec);

	return pools_set_cpus(pools, pool, &cpus, err);
}

/* Settings that commands and reloads may change: how to write the present value
 * and that of the spec, and how to set the latter.  The threads are set before
 * the shards. */
enum { SETTING_THREADS, SETTING_SHARDS };
static const struct pool_setting {
	const char *key;
	void (*now)(struct pools *pools, struct pool *pool, char *out);
	void (*wanted)(const struct pool_spec *spec, char *out);
	bool (*set)(struct pools *pools, struct pool *pool,
	    const struct pool_spec *spec, struct err *err);
} pool_settings[] = {
    [SETTING_THREADS] = {"threads", threads_now, threads_wanted,
        set_spec_threads},
    [SETTING_SHARDS] = {"shards", shards_now, shards_wanted, set_spec_shards},
    {"promotion", promotion_now, promotion_wanted, set_spec_promotion},
    {"order", order_now, order_wanted, set_spec_order},
    {"handshake_threads", long_turns_now, long_turns_wanted,
        set_spec_long_turns},
    {"handshake_nice", long_nice_now, long_nice_wanted, set_spec_long_nice},
    {"cpus", cpus_now, cpus_wanted, set_spec_cpus},
};

#define POOL_SETTINGS (sizeof(pool_settings) / sizeof(pool_settings[0]))

/* Writes how many shards suit the pool's present threads with shards = auto. */
static void
follow_threads(
    const struct pools *pools, struct pool *pool, char out[SETTING_TEXT_SIZE])
{
	unsigned min, max;

	if (!pools_autoscale(pools, pool, &min, &max))
		min = pools_own_threads(pools, pool);
	snprintf(out, SETTING_TEXT_SIZE, "%u", shards_auto(min));
}

/* Writes the value of the spec for the running pool. */
static void
write_wanted(const struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, size_t i, char out[SETTING_TEXT_SIZE])
{
	if (i == SETTING_SHARDS && spec->shards_auto)
		follow_threads(pools, pool, out);
	else
		pool_settings[i].wanted(spec, out);
}

static void
apply_setting(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, size_t i, struct changes *changes)
{
	const struct pool_setting *setting = &pool_settings[i];
	char from[SETTING_TEXT_SIZE], to[SETTING_TEXT_SIZE];
	struct err err;

	setting->now(pools, pool, from);
	write_wanted(pools, pool, spec, i, to);
	if (strcmp(from, to) == 0)
		return;
	if (setting->set(pools, pool, spec, &err))
		changes_add(changes, false, "pool %s: %s: %s -> %s",
		    pool_name(pool), setting->key, from, to);
	else
		changes_add(changes, true,
		    "pool %s: %s: %s -> %s was not possible, it stays %s: %s",
		    pool_name(pool), setting->key, from, to, from, err.text);
}

static unsigned
fewest_threads(const struct pool_spec *spec)
{
	return spec->threads_max > 0
	           ? spec->threads_min
	           : pool_class_threads(spec->classes, spec->classes_n);
}

/* Returns whether the file has another value for the setting than before, which
 * then replaces that of an operator.  before NULL: the pool is new. */
static bool
is_other(const struct pool_spec *before, const struct pool_spec *spec, size_t i)
{
	char from[SETTING_TEXT_SIZE], to[SETTING_TEXT_SIZE];

	if (!before)
		return true;
	if (i == SETTING_THREADS &&
	    (before->threads_auto || spec->threads_auto))
		return !before->threads_auto != !spec->threads_auto;
	if (i == SETTING_SHARDS && (before->shards_auto || spec->shards_auto))
		return before->shards_auto != spec->shards_auto;
	pool_settings[i].wanted(before, from);
	pool_settings[i].wanted(spec, to);
	return strcmp(from, to) != 0;
}

/* Reduces the shards before the threads: a pool never has more shards than
 * threads. */
static void
reduce_shards(struct pools *pools, struct pool *pool,
    const struct pool_spec *spec, struct changes *changes)
{
	unsigned before = pool_shards_wanted(pool);
	struct err err;

	if (pools_set_shards(pools, pool, spec->shards, &err))
		changes_add(changes, false, "pool %s: shards: %u -> %u",
		    pool_name(pool), before, spec->shards);
}

/* Gives the pool the settings that are others in the file than before. */
static void
apply_settings(struct pools *pools, struct pools_entry *e,
    const struct pool_spec *before, const struct pool_spec *spec,
    struct changes *changes)
{
	bool threads = is_other(before, spec, SETTING_THREADS) ||
	               (e->threads_auto > 0 && spec->threads_auto > 0);
	bool fewer =
	    threads && fewest_threads(spec) < pool_shards_wanted(e->pool);
	bool shards = fewer || is_other(before, spec, SETTING_SHARDS) ||
	              (e->shards_auto && spec->shards_auto);

	if (threads)
		e->threads_auto = spec->threads_auto;
	/* Let apply_setting report the number of shards by itself. */
	if (shards)
		e->shards_auto = false;
	if (fewer)
		reduce_shards(pools, e->pool, spec, changes);
	for (size_t i = 0; i < POOL_SETTINGS; i++)
		if (i == SETTING_THREADS  ? threads
		    : i == SETTING_SHARDS ? shards
		                          : is_other(before, spec, i))
			apply_setting(pools, e->pool, spec, i, changes);
	if (shards)
		e->shards_auto = spec->shards_auto;
}

bool
pools_setting_at(struct pools *pools, const struct pool_spec *spec, size_t i,
    struct pools_setting *ret_setting)
{
	struct pool *pool = pools_find(pools, spec->name, NULL);
	struct pools_setting *s = ret_setting;

	if (!pool || i >= POOL_SETTINGS)
		return false;
	s->key = pool_settings[i].key;
	pool_settings[i].now(pools, pool, s->now);
	write_wanted(pools, pool, spec, i, s->file);
	return true;
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

/* Calls the guard.  Runs on any pool thread. */
static void
call_guard(void *arg)
{
	const struct pools *p = arg;

	keeper_call(p->proxy->keeper, KEEPER_GUARD);
}

/* Starts the pool and appends its entry, which is marked as fresh.  Returns 0
 * or -errno. */
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
	    .spares = spare_threads(spec->threads_auto, spec->has_tls),
	    .cpus = spec->cpus_given ? &spec->cpus : NULL,
	    .cpus_quota = cpus_quota(""),
	    .first_index = p->next_index,
	    .wake_ns = p->wake_ns,
	    .awake_ns = POLICY_AWAKE_NS,
	    .grace = p->grace,
	    .new_set = new_set,
	    .thread_init = thread_init,
	    .thread_fini = proxy_thread_fini,
	    .call_guard = call_guard,
	    .alarms = true,
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
	if (!keeper_guard(p->proxy->keeper, p->entries[p->n].pool)) {
		pool_free(p->entries[p->n].pool);
		return -ENOMEM;
	}
	p->next_index += pool_threads(p->entries[p->n].pool);
	keeper_watch_alarms(p->proxy->keeper, p->entries[p->n++].pool);
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
		    strerror(-rc), thread_start_hint(-rc));
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
pools_apply(struct pools *pools, const struct spec *before,
    const struct spec *spec, struct changes *changes)
{
	size_t at;

	for (size_t i = 0; i < pools->n; i++)
		pools->entries[i].leaving = true;
	for (size_t i = 0; i < spec->pools_n; i++) {
		struct pools_entry *e =
		    pools_entry_find(pools, spec->pools[i].name);

		e->leaving = e->idle = e->fresh = false;
		e->has_tls = spec->pools[i].has_tls;
		apply_settings(pools, e,
		    before && name_table_find(INDEXED_TABLE(before, pools),
		                  spec->pools[i].name, &at)
		        ? &before->pools[at]
		        : NULL,
		    &spec->pools[i], changes);
	}
}

void
pools_follow(struct pools *pools, const struct spec *spec)
{
	for (size_t i = 0; i < spec->pools_n; i++) {
		struct pools_entry *e =
		    pools_entry_find(pools, spec->pools[i].name);
		struct err err;

		if (e->has_tls == spec->pools[i].has_tls)
			continue;
		e->has_tls = spec->pools[i].has_tls;
		if (e->threads_auto > 0 && !pools_set_threads_auto(pools,
		                               e->pool, e->threads_auto, &err))
			log_warning("pool %s: the threads stay as they are: %s",
			    pool_name(e->pool), err.text);
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
	if (fault_is_on(FAULT_NO_GUARD))
		keeper_set_guarding(proxy->keeper, false);
	p->wake_ns = policy_calibrate();
	pools_watch(p);
	if (!pools_prepare(p, spec, err)) {
		pools_free(p);
		return NULL;
	}
	changes_init(&none);
	pools_apply(p, NULL, spec, &none);
	changes_fini(&none);
	return p;
}
