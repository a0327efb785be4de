/* SPDX-License-Identifier: MIT
 * The oldest sessions of a scan: at most max of them are kept.
 */
#ifndef CONTROL_OLDEST_SESSIONS_H
#define CONTROL_OLDEST_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct session_age {
	uint64_t born_ms;
	uint64_t id;
	uint32_t index; /* of its slot */
	uint64_t bytes; /* moved when the scan saw the session */
};

struct oldest_sessions {
	struct session_age *all; /* room for 2 * max */
	size_t n, max;
	uint64_t before_ms; /* when a session must be born to be kept */
};

/* Empties the set and makes room for max sessions.  Returns false when out of
 * memory. */
bool oldest_sessions_reset(
    struct oldest_sessions *oldest, size_t max) MUST_CHECK;
/* Frees the set's memory. */
void oldest_sessions_fini(struct oldest_sessions *oldest);

/* Adds the session, if it may be among the oldest. */
void oldest_sessions_offer(
    struct oldest_sessions *oldest, const struct session_age *session);

/* Sorts all[], the oldest session first, and drops those above max. */
void oldest_sessions_sort(struct oldest_sessions *oldest);

#endif
