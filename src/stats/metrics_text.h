/* SPDX-License-Identifier: MIT
 * Writes lines of Prometheus' text format, version 0.0.4.
 */
#ifndef STATS_METRICS_TEXT_H
#define STATS_METRICS_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "base/histogram.h"

/* Pairs of label names and values, NULL-terminated.  Values are escaped when
 * they are written; names must need no escapes. */
#define METRIC_LABELS_MAX 4
struct metric_labels {
	const char *pairs[2 * METRIC_LABELS_MAX + 1];
};

/* Returns the labels with one more label, for which there must be room. */
struct metric_labels metric_labels_with(
    const struct metric_labels *labels, const char *name, const char *value);

/* Writes the `# HELP` and `# TYPE` lines.  type is counter, gauge or histogram.
 */
void metric_begin(
    FILE *out, const char *name, const char *type, const char *help);

/* Writes a sample. */
void metric_number(FILE *out, const char *name,
    const struct metric_labels *labels, uint64_t value);

/* Writes a sample whose value is the number in the text, divided by parts:
 * 1000, as from milliseconds to seconds, or 1000000; with 0 or 1 the text as it
 * is. */
void metric_text(FILE *out, const char *name,
    const struct metric_labels *labels, const char *number, unsigned parts);

/* Writes NAME_bucket for each bound, NAME_sum and NAME_count.  The histogram is
 * in nanoseconds, the samples are in seconds. */
void metric_histogram(FILE *out, const char *name,
    const struct metric_labels *labels, const struct histogram *histogram);

#endif
