/* SPDX-License-Identifier: MIT
 * `show threads`: what each thread of a pool does and has done.  For people:
 * four tables of 80 columns.
 */
#ifndef COMMANDS_SHOW_THREADS_H
#define COMMANDS_SHOW_THREADS_H

#include <stdbool.h>
#include <stdio.h>

#include "stats/pool_facts.h"

void show_threads_render(
    FILE *out, const char *pool, const struct thread_status *threads, size_t n);

#endif
