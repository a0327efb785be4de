/* SPDX-License-Identifier: MIT
 * Metrics that no other proxy has: of the pools and their threads, and of what
 * the system was short of.
 */
#ifndef STATS_METRICS_POOL_H
#define STATS_METRICS_POOL_H

#include <stddef.h>
#include <stdio.h>

#include "control/pools.h"
#include "proxy/exhaustion.h"

/* Control thread.  How many metrics there are, and the one with that number, of
 * all pools. */
size_t metrics_pools_count(void);
void metrics_put_pools(FILE *out, struct pools *pools, size_t number);

void metrics_put_exhaustion(FILE *out, const struct exhaustion *exhaustion);

#endif
