/* SPDX-License-Identifier: MIT
 * The counter of failed sessions by cause, frontend, backend and server.  All
 * functions run on the control thread.
 */
#ifndef STATS_METRICS_FAILURES_H
#define STATS_METRICS_FAILURES_H

#include <stddef.h>
#include <stdio.h>

#include "proxy/failures.h"

/* Returns the number of samples. */
size_t metrics_failures_count(const struct failures *failures);

/* Writes the sample with that number, from 0; the head with the first one,
 * which is of the failures that have no cell. */
void metrics_put_failures(FILE *out, struct failures *failures, size_t number);

#endif
