/* SPDX-License-Identifier: MIT
 * A frontend's limits by source: how many sessions, and how many connections in
 * a time, each client address or range of addresses may have.
 *
 * Each limit has a table of its own (source_table.h).  All limits of a frontend
 * apply, in the order of the file: a client is refused by the first one that
 * has no room for it, and then counts in none.
 */
#ifndef MODEL_LIMIT_H
#define MODEL_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/source_table.h"
#include "model/spec.h"

struct limit {
	const struct limit_spec *spec; /* borrowed */
	struct source_bounds bounds;
	struct source_table *table;
	char *name; /* of the table: `web`, `web/2` */
};

struct limits {
	size_t n; /* 1 to LIMITS_MAX */
	struct limit all[];
};

/* The answer of a frontend's limits about a client. */
struct limit_answer {
	const struct limit *by; /* which refuses it; NULL: none */
	bool too_often;         /* if so, for its rate */
	uint8_t counted;        /* bit n: it counts in limit n */
	uint32_t wait_ms;       /* until its time has come */
};

/* Makes the limits of a frontend.  A limit takes over the table of one in
 * `before`, which may be NULL, with the same key (per, prefixes and size), the
 * first of these that is not taken.  Borrows the spec.  Runs on the control
 * thread.  Returns NULL when memory is short. */
struct limits *limits_new(
    const struct frontend_spec *spec, const struct limits *before);

/* Runs on the control thread.  NULL is allowed. */
void limits_free(struct limits *limits);

/* Asks for a session of the client.  Any thread, in a grace section. */
struct limit_answer limits_enter(const struct limits *limits,
    const struct endpoint *client, uint64_t now_ns);

/* Returns what limits_enter would answer, and counts nothing. */
struct limit_answer limits_peek(const struct limits *limits,
    const struct endpoint *client, uint64_t now_ns);

/* A session of the client has ended; counted: as it was answered. */
void limits_leave(const struct limits *limits, uint8_t counted,
    const struct endpoint *client);

/* Takes back a limits_enter with that answer, as if the client had not come. */
void limits_cancel(const struct limits *limits, uint8_t counted,
    const struct endpoint *client);

/* Returns the action for a client that the limit refuses: a delay is for those
 * that are admitted. */
static inline struct gate_reply
limit_reply(const struct limit_spec *spec)
{
	struct gate_reply reply = {.action = GATE_RESET};

	return spec->action.action == GATE_DELAY ? reply : spec->action;
}

/* Returns the key of the client in the limit's table. */
struct source_key limit_key(
    const struct limit *limit, const struct endpoint *client);

#endif
