/* SPDX-License-Identifier: MIT
 * `set pool`: changes a pool while its traffic flows.
 */
#ifndef COMMANDS_SET_POOL_H
#define COMMANDS_SET_POOL_H

#include <stdbool.h>

#include "base/err.h"
#include "control/pools.h"

/* What was set, before and now; of a long list of CPUs its beginning. */
#define SET_POOL_TEXT_SIZE 96
struct set_pool_change {
	char before[SET_POOL_TEXT_SIZE], after[SET_POOL_TEXT_SIZE];
};

/* Control thread.  args: POOL, what to set, its value in one or more words,
 * NULL.  False with err set when nothing was changed. */
bool set_pool(struct pools *pools, char *const *args,
    struct set_pool_change *ret_change, struct err *err);

/* Control thread: the value of that setting of that pool, as set_pool takes it,
 * cut to fit.  False: there is no such pool or setting. */
bool set_pool_value(struct pools *pools, const char *pool, const char *what,
    char *ret_text, size_t size);

#endif
