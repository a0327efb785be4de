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

/* Objects; NULL when memory is short. */
json_t *pool_json(const struct pool_facts *facts);
json_t *thread_json(const char *pool, const struct thread_status *thread);

/* Writes the value over several lines, none of them empty, and lets go of it.
 * False with err set when memory is short, or has been (not complete); then
 * nothing was written. */
bool json_print(json_t *value, bool complete, FILE *out, struct err *err);

#endif
