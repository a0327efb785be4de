/* SPDX-License-Identifier: MIT
 * Metrics that only lfproxy has: of thread pools and exhausted resources.  All
 * functions run on the control thread.
 */
#ifndef STATS_METRICS_POOL_H
#define STATS_METRICS_POOL_H

#include <stddef.h>
#include <stdio.h>

#include "pools/pools.h"
#include "proxy/exhaustion.h"

/* Returns the number of metrics of pools. */
size_t metrics_pools_count(void);

/* Writes the metric with that number, from 0 to metrics_pools_count() - 1, for
 * all pools. */
void metrics_put_pools(FILE *out, struct pools *pools, size_t number);

/* Writes a counter for each resource. */
void metrics_put_exhaustion(FILE *out, const struct exhaustion *exhaustion);

#endif
