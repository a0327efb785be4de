/* SPDX-License-Identifier: MIT
 * Metrics of the [list] sections.  All functions run on the control thread.
 */
#ifndef STATS_METRICS_LISTS_H
#define STATS_METRICS_LISTS_H

#include <stddef.h>
#include <stdio.h>

#include "model/model.h"

/* Returns the number of metrics of lists. */
size_t metrics_lists_count(void);

/* Writes the metric with that number, from 0, for all lists. */
void metrics_put_lists(FILE *out, const struct model *model, size_t number);

#endif
