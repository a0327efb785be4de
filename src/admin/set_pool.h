/* SPDX-License-Identifier: MIT
 * `set pool`: changes a pool while its traffic flows.
 */
#ifndef ADMIN_SET_POOL_H
#define ADMIN_SET_POOL_H

#include <stdbool.h>

#include "base/err.h"
#include "control/pools.h"

/* Control thread.  args: POOL, what to set, its value in one or more words,
 * NULL.  False with err set when nothing was changed. */
bool set_pool(struct pools *pools, char *const *args, struct err *err);

#endif
