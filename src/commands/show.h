/* SPDX-License-Identifier: MIT
 * Reports of `show capacity`, `show memory`, `show pool` and `show threads`,
 * apart from the commands, which gather the facts.
 */
#ifndef COMMANDS_SHOW_H
#define COMMANDS_SHOW_H

#include "commands/call.h"
#include "commands/report.h"
#include "live/memory.h"
#include "orders/capacity.h"
#include "stats/pool_facts.h"

/* Writes a row: how much of a limited resource is in use, and when it will be
 * exhausted.  now_s is the time from which that is counted. */
void show_capacity_row(
    struct report *report, const struct capacity_row *row, int64_t now_s);

/* Writes the memory of the process.  The caller ends the report. */
void show_memory_put(struct report *report, const struct memory_facts *facts);

/* Runs a command with the arguments `[POOL] [json]`, which were checked: calls
 * put for the pool, or for all pools. */
bool show_each_pool(
    struct call *call, void (*put)(struct report *report,
                           const struct pools *pools, struct pool *pool));

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
