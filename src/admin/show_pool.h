/* SPDX-License-Identifier: MIT
 * `show pool`: the roles of a pool's threads and what happened to its events.
 */
#ifndef ADMIN_SHOW_POOL_H
#define ADMIN_SHOW_POOL_H

#include <stdbool.h>
#include <stdio.h>

#include "control/control.h"

/* The ledger's line has a `~` for the `=` while events move between the
 * counters that it reads; a quiet pool's always has the `=`. */
void show_pool_render(
    FILE *out, const char *name, const struct pool_status *status);

/* name NULL: all of them.  False with err set when there is no such pool. */
bool show_pool(
    struct control *control, const char *name, FILE *out, struct err *err);

#endif
