/* SPDX-License-Identifier: MIT
 * Metrics of the process.  All functions run on the control thread.
 */
#ifndef STATS_METRICS_PROCESS_H
#define STATS_METRICS_PROCESS_H

#include <stdio.h>

#include "stats/env.h"

/* Writes whether lfproxy is ready, see ready.h. */
void metrics_put_ready(FILE *out, const struct command_env *env);

/* Writes whether and when reloads took effect or were refused. */
void metrics_put_reloads(FILE *out, const struct command_env *env);

/* Writes the metrics that Prometheus' client libraries have for any process
 * (process_cpu_seconds_total and so on).  Those that /proc has are left out
 * where it is not visible, as below a chroot. */
void metrics_put_client(FILE *out, const struct command_env *env);

#endif
