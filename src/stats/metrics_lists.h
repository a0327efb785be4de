/* SPDX-License-Identifier: MIT
 * Metrics of the [list] sections.  Functions run on the control thread.
 */
#ifndef STATS_METRICS_LISTS_H
#define STATS_METRICS_LISTS_H

#include <stddef.h>
#include <stdio.h>

#include "model/model.h"

/* The number of metrics that lists have. */
size_t metrics_lists_count(void);

/* Writes metric number, from 0, of all lists. */
void metrics_put_lists(FILE *out, const struct model *model, size_t number);

#endif
