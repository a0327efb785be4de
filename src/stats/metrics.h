/* SPDX-License-Identifier: MIT
 * /metrics in Prometheus' text format, version 0.0.4.
 *
 * Metrics that HAProxy's exporter has keep its names (haproxy_server_...)
 * and meanings, so dashboards and alerts made for HAProxy work.  Samples whose
 * column of `show stat` is empty are left out.  Metrics that only lfproxy has
 * are called lfproxy_...: those of its thread pools, exhausted resources, and
 * histograms of times.  The bounds of histograms are powers of two in
 * nanoseconds, at which lfproxy's own histograms are exact.
 */
#ifndef STATS_METRICS_H
#define STATS_METRICS_H

#include "stats/answer.h"
#include "stats/metrics_filter.h"

/* Returns the metrics that the filter admits, in parts, or NULL if memory is
 * short.  Pins the present model until the last part, so no sample appears
 * twice.  Runs on the control thread. */
struct answer_rest *metrics_new(
    const struct command_env *env, const struct metrics_filter *filter);

#endif
