/* SPDX-License-Identifier: MIT
 * `show pool` as text: the threads and settings of a pool and what happened to
 * its events, a line for each group of facts.
 */
#ifndef COMMANDS_SHOW_POOL_H
#define COMMANDS_SHOW_POOL_H

#include <stdbool.h>
#include <stdio.h>

#include "stats/pool_facts.h"

/* Writes a pool.  The line with the balance of events has `~` instead of `=`
 * while events move between the counters; that of an idle pool has `=`. */
void show_pool_render(FILE *out, const struct pool_facts *facts);

#endif
