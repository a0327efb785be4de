/* SPDX-License-Identifier: MIT
 * All there is to tell of a pool, and of a time histogram, gathered for the
 * renderers.
 */
#ifndef STATS_POOL_FACTS_H
#define STATS_POOL_FACTS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/pools.h"

struct pool_facts {
	const char *name; /* borrowed */
	/* As asked for; status has what is there. */
	unsigned threads;
	struct pool_class classes[POOL_CLASSES_MAX];
	unsigned classes_n;
	unsigned autoscale_min, autoscale_max; /* both 0: off */
	unsigned shards_closing;               /* on top of status.shards */
	cpu_set_t cpus; /* where the kernel lets its threads run */
	struct pool_status status;
};

/* Control thread, as all of these. */
void pool_facts_read(
    const struct pools *pools, struct pool *pool, struct pool_facts *ret_facts);

/* Of the first of its threads that the kernel knows; empty without any. */
void pool_cpus(struct pool *pool, cpu_set_t *ret_cpus);

/* The threads that are there, up to n of them; the number. */
size_t pool_facts_threads(
    struct pool *pool, struct thread_status *ret_threads, size_t n);

struct times {
	uint64_t count;
	double p50_us, p90_us, p99_us, max_us;
};

/* Its owner may be adding to it. */
struct times times_of(const struct histogram *histogram);

#endif
