/* SPDX-License-Identifier: MIT
 * Metrics of the sets of servers.  All functions run on the control thread.
 */
#ifndef STATS_METRICS_SETS_H
#define STATS_METRICS_SETS_H

#include <stddef.h>
#include <stdio.h>

#include "sets/sets.h"

/* Returns the number of metrics of sets; 0 if there are no sets. */
size_t metrics_sets_count(const struct sets *sets);

/* Writes the metric with that number, from 0, for all sets. */
void metrics_put_sets(FILE *out, const struct sets *sets, size_t number);

#endif
