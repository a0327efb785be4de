/* SPDX-License-Identifier: MIT
 * Lines of Prometheus' text format.
 */
#ifndef STATS_METRICS_TEXT_H
#define STATS_METRICS_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "base/histogram.h"

/* Label names and values, pairs, NULL-terminated; names are plain. */
#define METRIC_LABELS_MAX 4
struct metric_labels {
	const char *pairs[2 * METRIC_LABELS_MAX + 1];
};

/* `# HELP` and `# TYPE`. */
void metric_begin(
    FILE *out, const char *name, const char *type, const char *help);

void metric_number(FILE *out, const char *name,
    const struct metric_labels *labels, uint64_t value);

/* A number that is text already. */
void metric_text(FILE *out, const char *name,
    const struct metric_labels *labels, const char *value);

/* What is counted in parts of the unit: in thousandths, as milliseconds are of
 * seconds, or millionths. */
void metric_parts(FILE *out, const char *name,
    const struct metric_labels *labels, uint64_t value, unsigned parts);

/* NAME_bucket for each bound, NAME_sum and NAME_count; the times are
 * nanoseconds, and shown as seconds. */
void metric_histogram(FILE *out, const char *name,
    const struct metric_labels *labels, const struct histogram *histogram);

#endif
