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
#include "pools/pools_internal.h"
#include "proxy/keeper.h"

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
pools_apply(
    struct pools *pools, const struct spec *spec, struct changes *changes)
{
	for (size_t i = 0; i < pools->n; i++) {
		pools->entries[i].leaving = true;
		pools->entries[i].spec = NULL;
	}
	for (size_t i = 0; i < spec->pools_n; i++) {
		struct pools_entry *e =
		    pools_entry_find(pools, spec->pools[i].name);

		e->leaving = e->idle = e->fresh = false;
		e->has_tls = spec->pools[i].has_tls;
		e->spec = &spec->pools[i];
		pools_apply_settings(pools, e, changes);
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
	pools_apply(p, spec, &none);
	changes_fini(&none);
	return p;
}
