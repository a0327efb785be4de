/* SPDX-License-Identifier: MIT
 * Resolves `auto` in a pool, once all of its keys are known.
 */
#ifndef CONFIG_BUILD_POOL_H
#define CONFIG_BUILD_POOL_H

#include "base/err.h"
#include "config/draft.h"
#include "model/spec.h"

/* Sets threads and shards that are automatic, or adds an error when there are
 * more shards than threads.  section NULL: all keys have their defaults. */
void build_pool(struct pool_spec *pool, const struct draft_section *section,
    struct err_list *errors);

#endif
