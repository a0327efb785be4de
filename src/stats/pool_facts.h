/* SPDX-License-Identifier: MIT
 * Snapshots of a pool, its threads and its histograms, for commands that show
 * them.  All functions run on the control thread.
 */
#ifndef STATS_POOL_FACTS_H
#define STATS_POOL_FACTS_H

#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "pools/pools.h"

struct pool_facts {
	const char *name; /* borrowed */
	/* Configured values; status has the present numbers. */
	unsigned threads;
	struct pool_class classes[POOL_CLASSES_MAX];
	unsigned classes_n;
	unsigned autoscale_min, autoscale_max; /* both 0: off */
	unsigned shards_closing; /* not counted in status.shards */
	uint64_t key_rate;       /* signatures in the last second */
	cpu_set_t cpus;          /* on which the kernel lets its threads run */
	struct pool_status status;
};

/* Reads everything about a pool. */
void pool_facts_read(
    const struct pools *pools, struct pool *pool, struct pool_facts *ret_facts);

/* Reads the status of at most n threads.  Returns how many it has read. */
size_t pool_facts_threads(
    struct pool *pool, struct thread_status *ret_threads, size_t n);

/* Percentiles of a histogram. */
struct times {
	uint64_t count;
	double p50_us, p90_us, p99_us, max_us;
};

/* Returns the percentiles.  The owner of the histogram may add to it during the
 * call. */
struct times times_of(const struct histogram *histogram);

#endif
