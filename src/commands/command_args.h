/* SPDX-License-Identifier: MIT
 * What commands take, found and read as HAProxy does; its words where that
 * fails.
 */
#ifndef COMMANDS_COMMAND_ARGS_H
#define COMMANDS_COMMAND_ARGS_H

#include "commands/command.h"

/* The argument at i, "" where there is none. */
const char *call_arg(const struct call *call, unsigned i);

/* Of `BACKEND/SERVER`; NULL with an error. */
struct server *call_server(struct call *call, const char *name);

/* By name; NULL with an error. */
struct frontend *call_frontend(struct call *call, const char *name);
/* "": *ret_backend is NULL, for all of them.  False with an error. */
bool call_backend(
    struct call *call, const char *name, const struct backend **ret_backend);

/* A whole number of 0 and more; an error that is `missing` when there is none,
 * and `Value out of range.` below 0 or above max. */
bool call_number(struct call *call, const char *text, const char *missing,
    uint64_t max, uint64_t *ret_n);

/* An age: a duration, or a number of seconds. */
bool call_age(struct call *call, const char *text, uint64_t *ret_ms);

/* Takes the word `json` away if it is the last one: the answer is to be JSON.
 * A name that is asked for comes before it. */
bool call_take_json(struct call *call);

#endif
