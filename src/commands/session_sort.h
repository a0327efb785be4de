/* SPDX-License-Identifier: MIT
 * `sort KEY` of `show sess` and `show closed`: collects the sessions that are
 * wanted, and gives them back with the largest key first, the oldest first
 * among equal ones.
 */
#ifndef COMMANDS_SESSION_SORT_H
#define COMMANDS_SESSION_SORT_H

#include "commands/call.h"

enum session_key {
	SESSION_UNSORTED,
	SESSION_BY_BYTES,
	SESSION_BY_BYTES_IN,
	SESSION_BY_BYTES_OUT,
	SESSION_BY_DURATION,
};

struct session_ranked {
	uint64_t key, id;
	void *record; /* from malloc, or NULL */
};

/* All zero to begin with. */
struct session_sort {
	enum session_key key;
	struct session_ranked *rows;
	size_t n, room;
	size_t next;    /* the row to give back next */
	bool collected; /* the rows are all there, and sorted */
};

/* Takes `sort KEY`; *ret_taken is false for other words.  Returns false with
 * call->err set. */
bool session_sort_take(struct call *call, struct session_sort *sort,
    const char *word, const char *value, bool *ret_taken);

/* Adds a session.  max: the rows beyond the max largest may be dropped.  Takes
 * ownership of record.  Returns false when memory is short. */
bool session_sort_add(struct session_sort *sort,
    const struct session_ranked *row, size_t max) MUST_CHECK;

/* Returns the key of a session. */
uint64_t session_sort_key(const struct session_sort *sort, uint64_t bytes_in,
    uint64_t bytes_out, uint64_t duration_ms);

/* Returns the next row, the largest first, or NULL.  No row is added from then
 * on. */
const struct session_ranked *session_sort_next(struct session_sort *sort);

void session_sort_fini(struct session_sort *sort);

#endif
