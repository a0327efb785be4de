/* SPDX-License-Identifier: MIT
 * `show threads` as text: the state and the counters of each thread of a pool,
 * in four tables of 80 columns.
 */
#ifndef COMMANDS_SHOW_THREADS_H
#define COMMANDS_SHOW_THREADS_H

#include <stdbool.h>
#include <stdio.h>

#include "stats/pool_facts.h"

/* Writes the tables of a pool. */
void show_threads_render(
    FILE *out, const char *pool, const struct thread_status *threads, size_t n);

#endif
