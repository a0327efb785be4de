/* SPDX-License-Identifier: MIT
 * The JSON API of the HTTP port: everything that `show ... json` has, and any
 * command.
 *
 *   GET  /api/v1/                  the list of what there is
 *   GET  /api/v1/openapi.json      the same as an OpenAPI 3 description
 *   GET  /api/v1/NAME[/WORD]...    the answer of `show NAME WORD... json`
 *   GET  /api/v1/NAME?WORD=VALUE&...    of `show NAME WORD VALUE... json`
 *   POST /api/v1/command           runs a command (command_run.h)
 *   GET, POST, DELETE /api/v1/session    who one is; signs in and out
 *
 * NAME is that of a `show` command of the admin socket, its words joined by
 * `-`: the table of the commands is the table of the API, and the level that a
 * command needs is needed here.  Names of members keep their meaning within a
 * version of the API.
 *
 * All functions run on the control thread.
 */
#ifndef HTTP_API_H
#define HTTP_API_H

#include <stdbool.h>
#include <stdio.h>

#include "model/spec.h"
#include "stats/answer.h"

#define API_PREFIX "/api/v1/"
/* The size of a command line.  libmicrohttpd limits that of a request more. */
#define API_LINE_SIZE 1024

/* The words behind the name of a command, each with a blank before it. */
struct api_words {
	char text[API_LINE_SIZE];
	bool refused; /* a word was not plain, or they were too long */
};

/* Returns whether the path is one of the API, even if nothing is there. */
bool api_has(const char *path);

/* Adds the n bytes of the text, in which `%2F` is a `/` and `%25` a `%`, as a
 * word, or nothing if n is 0. */
void api_add_word(struct api_words *words, const char *text, size_t n);

/* Writes the answer to GET for a path of the API, or its first part and sets
 * *ret_rest, which the caller frees.  arguments: the words of the query, which
 * follow those of the path.  Returns the HTTP status.  The answer for a path
 * where nothing is, or which the level does not allow, is {"error": "..."}. */
unsigned api_answer(const char *path, const struct api_words *arguments,
    const struct command_env *env, enum admin_level level, FILE *out,
    struct answer_rest **ret_rest);

#endif
