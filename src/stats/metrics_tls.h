/* SPDX-License-Identifier: MIT
 * Metrics of the [tls] sections.  All functions run on the control thread.
 */
#ifndef STATS_METRICS_TLS_H
#define STATS_METRICS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/spec.h"

/* Returns the number of metrics of sections. */
size_t metrics_tls_count(void);

/* Writes the metric with that number, from 0, for all sections. */
void metrics_put_tls(FILE *out, const struct spec *spec, size_t number);

/* Writes when each certificate expires.  *section and *cert are the position
 * from which it goes on, 0 and 0 at first; it advances them.  Returns false if
 * it has stopped because `full` returned true. */
bool metrics_put_certificates(FILE *out, const struct spec *spec,
    size_t *section, size_t *cert, bool (*full)(void *arg, FILE *out),
    void *arg);

#endif
