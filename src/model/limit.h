/* SPDX-License-Identifier: MIT
 * A frontend's limits by source: how many sessions, and how many connections or
 * bytes in a time, each client address or range of addresses may have.
 *
 * Each limit has a table of its own (source_table.h).  All limits of a frontend
 * apply, in the order of the file.  The first limit that has no room for a
 * client refuses it, and the client then counts in no limit, except that with
 * count=all its connection counts for the rate.  A limit with
 * only= or except= does not apply to the other clients.
 *
 * A bandwidth per=client is a further limit, the last one.  That limit refuses
 * nothing: its table has the buckets of each source (model/bandwidth.h).  The
 * bandwidth per=client of a backend is the only limit of that backend.
 *
 * The sticky choices of a backend (sticky.h) are a limit as well, apart from
 * the others, which counts no sessions.
 */
#ifndef MODEL_LIMIT_H
#define MODEL_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/source_table.h"
#include "model/spec.h"

struct acl_list;
struct backend;
struct model;

struct limit {
	const struct limit_spec *spec; /* borrowed */
	enum limit_for clients;
	struct acl_list *list; /* unless LIMIT_FOR_ALL; the model's */
	struct source_bounds bounds;
	struct source_table *table;
	const struct backend *backend; /* of SOURCE_WITH_CHOICE, else NULL */
	bool shared; /* a frontend before this one has the table as well */
	/* The name of the table: `web`, `web/2` or `web/bandwidth` of frontend
	 * web; `app/backend/bandwidth` or `app/sticky` of backend app; or that
	 * of the spec. */
	char *name;
};

struct limits {
	size_t n;            /* 1 to LIMITS_MAX, and 1 more for the bandwidth */
	uint16_t with_bytes; /* bit n: limit n counts bytes */
	/* The bandwidth per=client, or the sticky choices, as a limit. */
	struct limit_spec implied;
	struct limit all[];
};

/* The answer of limits about a client. */
struct limit_answer {
	const struct limit *by;  /* the limit that refuses it; NULL: none */
	enum source_answer what; /* why, if a limit refuses it */
	uint16_t counted;        /* bit n: it counts in limit n */
	uint32_t wait_ms;        /* how long it is delayed */
};

/* Returns whether the frontend has a limit, or a bandwidth per=client. */
bool limits_are_needed(const struct frontend_spec *spec);

/* The origin of lists and tables; each may be NULL. */
struct limit_origin {
	const struct model *model;   /* its lists, and the frontends so far */
	const struct limits *before; /* the former limits of the frontend */
	const struct model *former;
};

/* Makes the limits of a frontend.  A limit takes over a table of from->before:
 * the first one that counts alike (limit_spec_counts_alike) and that no other
 * limit has taken over.  If the limit names its table, it shares the one of
 * that name in from->model, or else takes over that of from->former.  Borrows
 * the spec.  Runs on the control thread.  Returns NULL when memory is short. */
struct limits *limits_new(
    const struct frontend_spec *spec, const struct limit_origin *from);

/* Makes the limits of a backend, which has a bandwidth per=client.  The table
 * of `before`, which may be NULL, is taken over if it has the same key.  Runs
 * on the control thread.  Returns NULL when memory is short. */
struct limits *limits_new_of_backend(
    const struct backend_spec *spec, const struct limits *before);

/* Makes the limit of the backend's sticky choices.  The table of `before`,
 * which may be NULL, is taken over if it has the same key and size.  Runs on
 * the control thread.  Returns NULL when memory is short. */
struct limits *limits_new_of_sticky(
    const struct backend *backend, const struct limits *before);

/* Frees the limits.  Runs on the control thread.  NULL is allowed. */
void limits_free(struct limits *limits);

/* Asks the limits to admit a session of the client, and counts the session if
 * they do.  Any thread, in a grace section. */
struct limit_answer limits_enter(const struct limits *limits,
    const struct endpoint *client, uint64_t now_ns);

/* Returns what limits_enter would answer, and counts nothing. */
struct limit_answer limits_peek(const struct limits *limits,
    const struct endpoint *client, uint64_t now_ns);

/* Counts a session of the client that another process has admitted, even beyond
 * the limits.  Returns the limits in which it counts, as `counted` of an
 * answer.  Any thread, in a grace section; the control thread. */
uint16_t limits_rejoin(const struct limits *limits,
    const struct endpoint *client, uint64_t now_ns);

/* Ends the count of a session of the client.  counted: that of its answer. */
void limits_leave(const struct limits *limits, uint16_t counted,
    const struct endpoint *client);

/* Charges the bytes that a session of the client has used, by direction.
 * counted: that of its answer. */
void limits_charge(const struct limits *limits, uint16_t counted,
    const struct endpoint *client, const uint64_t bytes[BAND_DIRECTIONS],
    uint64_t now_ns);

/* Returns the buckets of the client's source, which stay until limits_leave or
 * limits_cancel; NULL: the bandwidth is not per=client, or the client does not
 * count there.  counted: that of its answer. */
struct bucket *limits_buckets(const struct limits *limits, uint16_t counted,
    const struct endpoint *client);

/* Returns what a client has too much of: `sessions`, `rate` or `bytes`. */
const char *limit_what(enum source_answer answer);

/* Takes back a limits_enter with that answer, as if the client had not come. */
void limits_cancel(const struct limits *limits, uint16_t counted,
    const struct endpoint *client);

/* Returns the action for a client that the limit refuses: a reset if the action
 * is a delay, which is for admitted clients. */
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
