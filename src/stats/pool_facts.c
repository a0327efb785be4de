/* SPDX-License-Identifier: MIT
 * See pool_facts.h.
 */
#include "stats/pool_facts.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

void
pool_facts_read(
    const struct pools *pools, struct pool *pool, struct pool_facts *ret_facts)
{
	struct pool_facts *f = ret_facts;

	memset(f, 0, sizeof(*f));
	f->name = pool_name(pool);
	f->threads = pool_threads(pool);
	f->classes_n = pool_classes(pool, f->classes);
	pools_autoscale(pools, pool, &f->autoscale_min, &f->autoscale_max);
	f->shards_closing = pool_shards(pool) - pool_shards_wanted(pool);
	f->key_rate = pools_key_rate(pools, pool);
	pool_cpus(pool, &f->cpus);
	pool_status(pool, &f->status);
}

/* Replaces the nice value that the pool asked for by the one that the kernel
 * granted. */
static void
read_nice(struct thread_status *thread)
{
	int nice;

	errno = 0;
	nice = getpriority(PRIO_PROCESS, (id_t)thread->tid);
	if (errno == 0)
		thread->nice = nice;
}

size_t
pool_facts_threads(
    struct pool *pool, struct thread_status *ret_threads, size_t n)
{
	unsigned at = 0;
	size_t i = 0;

	while (i < n && pool_thread_status(pool, at, &ret_threads[i])) {
		read_nice(&ret_threads[i]);
		at = ret_threads[i++].place + 1;
	}
	return i;
}

/* Computes all figures from one copy, so that they fit each other. */
struct times
times_of(const struct histogram *histogram)
{
	struct histogram h = {.max_ns = 0};

	histogram_merge(&h, histogram);
	return (struct times){
	    .count = histogram_count(&h),
	    .p50_us = (double)histogram_quantile_ns(&h, 0.5) / 1e3,
	    .p90_us = (double)histogram_quantile_ns(&h, 0.9) / 1e3,
	    .p99_us = (double)histogram_quantile_ns(&h, 0.99) / 1e3,
	    .max_us = (double)h.max_ns / 1e3,
	};
}
