/* SPDX-License-Identifier: MIT
 * `show pool`: what a pool is made of, what its threads do, and what happened
 * to its events.  For people: a fact group a line.
 */
#ifndef COMMANDS_SHOW_POOL_H
#define COMMANDS_SHOW_POOL_H

#include <stdbool.h>
#include <stdio.h>

#include "stats/pool_facts.h"

/* The ledger's line has a `~` for the `=` while events move between the
 * counters that it reads; a quiet pool's always has the `=`. */
void show_pool_render(FILE *out, const struct pool_facts *facts);

#endif
