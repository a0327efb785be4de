/* SPDX-License-Identifier: MIT
 * The spec of access rules and of limits by source. See spec.h.
 */
#ifndef MODEL_SPEC_ACCESS_H
#define MODEL_SPEC_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/access.h"
#include "model/spec_list.h"
#include "model/spec_place.h"
#include "net/cidr.h"

/* A word of `allow =` or `deny =`. */
struct access_spec {
	struct spec_place place;
	bool allow;
	enum access_kind kind;
	struct cidr range; /* ACCESS_RANGE */
	size_t list;       /* ACCESS_LIST: index into spec.lists */
	char *list_name;   /* likewise: its name */
};

#define ACCESS_TEXT_SIZE (CIDR_TEXT_SIZE + 64)

/* Writes the rule as `allow 10.0.0.0/8`.  Returns out. */
const char *access_spec_text(
    const struct access_spec *rule, char out[ACCESS_TEXT_SIZE]);

/* A limit counts each source separately, all clients together, or the clients
 * of a list together.  Sticky choices are by source, or by the key of a hash.
 */
enum limit_per {
	LIMIT_PER_SOURCE,
	LIMIT_PER_FRONTEND,
	LIMIT_PER_LIST,
	LIMIT_PER_KEY,
};

/* The clients that a limit is for. */
enum limit_for { LIMIT_FOR_ALL, LIMIT_FOR_LIST, LIMIT_FOR_OTHERS };

/* Connections in a time. */
struct limit_rate {
	unsigned count; /* 0: any number */
	char unit;      /* s, m or h */
};

/* The connections that a rate counts: those that were let in, or refused ones
 * as well. */
enum limit_count { LIMIT_COUNT_ACCEPTED, LIMIT_COUNT_ALL };

/* Bytes in a time, in both directions. */
struct limit_bytes {
	uint64_t count; /* 0: any number */
	char unit;      /* s, m or h */
};

/* `limit = sessions=20 rate=10/s`: see model/limit.h. */
struct limit_spec {
	struct spec_place place;
	unsigned sessions; /* at a time, 0: any number */
	struct limit_rate rate;
	unsigned burst; /* as written, 0: see limit_spec_burst */
	enum limit_count count;
	struct limit_bytes bytes;
	enum limit_per per;
	/* per=list:NAME, only=list:NAME and except=list:NAME; at most one of
	 * them is set. */
	struct list_use together, only, except;
	unsigned prefix4, prefix6; /* bits of an address that make a source */
	/* Applied to clients beyond the limit.  GATE_DELAY: hold_ms is
	 * the longest delay; a client that would have to wait longer, or that
	 * has too many sessions, is reset. */
	struct gate_reply action;
	uint64_t size; /* entries of the table */
	/* The table's name, if limits of several frontends share it; or NULL.
	 * These limits pass limit_spec_counts_alike. */
	char *table;
};

/* Returns whether both limits can count in the same table. */
bool limit_spec_counts_alike(
    const struct limit_spec *a, const struct limit_spec *b);

/* The most limits of a frontend.  A session notes in 16 bits in which limits it
 * counts; the bandwidth of sources takes a bit as well. */
#define LIMITS_MAX 8

/* Returns how many connections may come at once: by default as many as the rate
 * allows in one unit of time. */
static inline unsigned
limit_spec_burst(const struct limit_spec *limit)
{
	return limit->burst > 0        ? limit->burst
	       : limit->rate.count > 0 ? limit->rate.count
	                               : 1;
}

/* Returns the list of the limit, or NULL.  *ret_for: which clients the limit is
 * for. */
const struct list_use *limit_spec_list(
    const struct limit_spec *limit, enum limit_for *ret_for);

#define LIMIT_TEXT_SIZE 192

/* Writes the bounds as `sessions=20 rate=10/s burst=30 per=client`.  Returns
 * out. */
const char *limit_spec_text(
    const struct limit_spec *limit, char out[LIMIT_TEXT_SIZE]);

#endif
