/* SPDX-License-Identifier: MIT
 * Pools and their threads as JSON, for programs: `show pool json` and
 * `show threads json`.
 *
 * A name, once published, keeps its meaning.  Times are in microseconds, with
 * the unit in the name.
 */
#ifndef COMMANDS_POOL_JSON_H
#define COMMANDS_POOL_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "stats/pool_facts.h"
#include "base/err.h"

/* Returns the pool as an object, NULL when memory is exhausted. */
json_t *pool_json(const struct pool_facts *facts);

/* Returns a thread of the pool as an object, NULL when memory is exhausted. */
json_t *thread_json(const char *pool, const struct thread_status *thread);

/* Writes the value on several lines, none of them empty, and takes ownership of
 * it.  Returns false with err set and nothing written when memory is exhausted,
 * or if the caller's value is not complete for that reason. */
bool json_print(json_t *value, bool complete, FILE *out, struct err *err);

#endif
