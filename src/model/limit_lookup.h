/* SPDX-License-Identifier: MIT
 * The limits of a model, by number and by name.  All functions run on the
 * control thread.
 */
#ifndef MODEL_LIMIT_LOOKUP_H
#define MODEL_LIMIT_LOOKUP_H

#include <stddef.h>

#include "model/limit.h"

struct model;

/* Returns the limit of that number, or NULL behind the last one.  Numbers start
 * at 0 and run over all frontends, then over all backends; of limits that share
 * a table only the first has one. */
const struct limit *model_limit_at(const struct model *model, size_t number);

/* Returns the limit whose table has the name, or NULL. */
const struct limit *model_find_limit(
    const struct model *model, const char *name);

#endif
