/* SPDX-License-Identifier: MIT
 * `show pool` and `show threads`.
 */
#ifndef COMMANDS_SHOW_POOL_H
#define COMMANDS_SHOW_POOL_H

#include "commands/report.h"
#include "stats/pool_facts.h"

/* Writes the threads and settings of a pool and what happened to its events, in
 * text a line for each group of facts.  The line with the balance of events has
 * `~` instead of `=` while events move between the counters; that of an idle
 * pool has `=`. */
void show_pool_put(struct report *report, const struct pool_facts *facts);

/* Writes the state and the counters of each thread of a pool, in text in four
 * tables of 80 columns. */
void show_threads_put(struct report *report, const char *pool,
    const struct thread_status *threads, size_t n);

#endif
