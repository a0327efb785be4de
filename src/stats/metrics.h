/* SPDX-License-Identifier: MIT
 * /metrics: Prometheus' text format, version 0.0.4.
 *
 * What HAProxy 2.6's exporter has as well goes by its names
 * (haproxy_server_...) and means the same, so dashboards and alerts made for it
 * work; a sample whose column of `show stat` is empty is left out.  What only
 * lfproxy has is called lfproxy_...: its pools of threads, and histograms of
 * the times of backends and of the Leader/Followers core, with the powers of
 * two (in nanoseconds) as their bounds, at which the histograms of the process
 * are exact.
 */
#ifndef STATS_METRICS_H
#define STATS_METRICS_H

#include "stats/answer.h"
#include "stats/stat_names.h"

/* Control thread.  All metrics, in parts; the model of the first part is kept
 * for the last, so that no sample is there twice.  NULL when memory is short.
 */
struct answer_rest *metrics_new(const struct command_env *env);

/* Whether the column, of rows of that kind (ROW_SERVER and so on), is a metric:
 * what is none has a reason in metrics_table.c. */
bool metrics_have_column(enum stat_name column, unsigned kind);

#endif
