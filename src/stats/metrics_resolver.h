/* SPDX-License-Identifier: MIT
 * Metrics of name servers and of names that are looked up.  All functions run
 * on the control thread.
 */
#ifndef STATS_METRICS_RESOLVER_H
#define STATS_METRICS_RESOLVER_H

#include <stddef.h>
#include <stdio.h>

#include "servers/server_names.h"

/* Returns the number of metrics; 0 if no name is looked up. */
size_t metrics_resolver_count(const struct server_names *names);

/* Writes the metric with that number, from 0, for all name servers or names. */
void metrics_put_resolver(
    FILE *out, const struct server_names *names, size_t number);

#endif
