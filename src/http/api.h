/* SPDX-License-Identifier: MIT
 * The JSON API of the HTTP port: everything that `show ... json` has.
 *
 *   /api/v1/                  the list of what there is
 *   /api/v1/openapi.json      the same as an OpenAPI 3 description
 *   /api/v1/NAME[/WORD]...    the answer of `show NAME WORD... json`
 *
 * NAME is that of a `show` command of the admin socket that a user may run, its
 * words joined by `-`: the table of the commands is the table of the API.
 * Names of members keep their meaning within a version of the API.
 *
 * All functions run on the control thread.
 */
#ifndef HTTP_API_H
#define HTTP_API_H

#include <stdbool.h>
#include <stdio.h>

#include "stats/answer.h"

#define API_PREFIX "/api/v1/"

/* Returns whether the path is one of the API, be there something or not. */
bool api_has(const char *path);

/* Writes the answer for such a path, or its first part and sets *ret_rest,
 * which the caller frees.  Returns the HTTP status; the answer to what there is
 * not, or is not allowed, is {"error": "..."}. */
unsigned api_answer(const char *path, const struct command_env *env, FILE *out,
    struct answer_rest **ret_rest);

#endif
