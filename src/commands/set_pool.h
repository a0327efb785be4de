/* SPDX-License-Identifier: MIT
 * `set pool`: changes a pool while it serves traffic.
 */
#ifndef COMMANDS_SET_POOL_H
#define COMMANDS_SET_POOL_H

#include <stdbool.h>

#include "base/err.h"
#include "control/pools.h"

/* The value before and after the change; long lists of CPUs are cut. */
#define SET_POOL_TEXT_SIZE 96
struct set_pool_change {
	char before[SET_POOL_TEXT_SIZE], after[SET_POOL_TEXT_SIZE];
};

/* Changes a pool.  args: POOL, the setting, its value in one or more words,
 * NULL.  Returns false with err set and the pool unchanged.  Runs on the
 * control thread. */
bool set_pool(struct pools *pools, char *const *args,
    struct set_pool_change *ret_change, struct err *err);

#endif
