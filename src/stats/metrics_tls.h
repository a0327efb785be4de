/* SPDX-License-Identifier: MIT
 * Metrics of the [tls] sections.  Functions run on the control thread.
 */
#ifndef STATS_METRICS_TLS_H
#define STATS_METRICS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "model/spec.h"

/* The number of metrics that sections have. */
size_t metrics_tls_count(void);

/* Writes metric number, from 0, of all sections. */
void metrics_put_tls(FILE *out, const struct spec *spec, size_t number);

/* Writes when each certificate expires, from the position on, which is 0, 0 at
 * first and is advanced.  Stops when `full` says so, and returns false. */
bool metrics_put_certificates(FILE *out, const struct spec *spec,
    size_t *section, size_t *cert, bool (*full)(void *arg, FILE *out),
    void *arg);

#endif
