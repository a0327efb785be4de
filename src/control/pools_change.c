/* SPDX-License-Identifier: MIT
 * See pools.h: what the operator, a reload or the load changes of a pool.
 */
#include "control/pools.h"

#include "base/events.h"
#include "base/text.h"
#include "control/pools_internal.h"
#include "proxy/reaper.h"

bool
pools_set_threads(struct pools *pools, struct pool *pool,
    const struct pool_class *classes, unsigned classes_n, struct err *err)
{
	unsigned before = pool_threads(pool);

	if (!pool_set_threads(pool, classes, classes_n, err))
		return false;
	pools_entry_of(pools, pool)->autoscaled = false;
	event_add(EVENT_POOL, LOG_LEVEL_INFO, pool_name(pool), NULL,
	    "pool %s: %u thread%s now, %u before", pool_name(pool),
	    pool_threads(pool), text_s(pool_threads(pool)), before);
	pools_changed(pools);
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
	event_add(EVENT_POOL, LOG_LEVEL_INFO, pool_name(pool), NULL,
	    "pool %s: %u shard%s now, %u before", pool_name(pool), shards,
	    text_s(shards), before);
	pools_changed(pools);
	return true;
}

bool
pools_set_policy(struct pools *pools, struct pool *pool,
    enum policy_kind policy, struct err *err)
{
	if (policy == POLICY_KERNEL && pools_entry_of(pools, pool)->bindable)
		return err_set(err,
		    "a frontend of pool %s has association = bound, which "
		    "needs a leader; allowed are adaptive and always",
		    pool_name(pool));
	pool_set_policy(pool, policy);
	event_add(EVENT_POOL, LOG_LEVEL_INFO, pool_name(pool), NULL,
	    "pool %s: promotion is %s now", pool_name(pool),
	    policy_name(policy));
	return true;
}

void
pools_set_order(
    struct pools *pools, struct pool *pool, enum promotion_order order)
{
	(void)pools;
	pool_set_order(pool, order);
	event_add(EVENT_POOL, LOG_LEVEL_INFO, pool_name(pool), NULL,
	    "pool %s: order is %s now", pool_name(pool),
	    promotion_order_name(order));
}

bool
pools_set_cpus(struct pools *pools, struct pool *pool, const cpu_set_t *cpus,
    struct err *err)
{
	(void)pools;
	if (!pool_set_cpus(pool, cpus, err))
		return false;
	event_add(EVENT_POOL, LOG_LEVEL_INFO, pool_name(pool), NULL,
	    "pool %s: runs on %d CPU%s now", pool_name(pool), CPU_COUNT(cpus),
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

	if (min < 1 || max > POOL_THREADS_LIMIT || min > max)
		return err_set(err,
		    "%u..%u threads are not possible; allowed is 1..%u, the "
		    "smaller number first",
		    min, max, POOL_THREADS_LIMIT);
	if (min < pool_shards_wanted(pool))
		return err_set(err,
		    "%u thread%s cannot serve %u shards; use at least as many "
		    "threads, or fewer shards first",
		    min, text_s(min), pool_shards_wanted(pool));
	/* A range of threads has a single class, whose nice value is 0, as in
	 * the file. */
	class = (struct pool_class){.threads = threads < min   ? min
	                                       : threads > max ? max
	                                                       : threads};
	if (!pool_set_threads(pool, &class, 1, err))
		return false;
	event_add(EVENT_POOL, LOG_LEVEL_INFO, pool_name(pool), NULL,
	    "pool %s: %u to %u thread%s now, by load", pool_name(pool), min,
	    max, text_s(max));
	autoscale_init(&e->autoscale, min, max);
	e->autoscaled = min < max;
	if (e->autoscaled && !ev_is_active(&pools->scale))
		ev_timer_again(pools->loop, &pools->scale);
	pools_changed(pools);
	return true;
}
