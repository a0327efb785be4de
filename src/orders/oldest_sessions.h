/* SPDX-License-Identifier: MIT
 * The oldest sessions of a scan, at most a given number.
 */
#ifndef ORDERS_OLDEST_SESSIONS_H
#define ORDERS_OLDEST_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct session_age {
	uint64_t born_ms;
	uint64_t id;
	uint32_t index; /* index of its slot */
	uint64_t bytes; /* bytes moved when the scan saw it */
};

struct oldest_sessions {
	struct session_age *all; /* room for 2 * max */
	size_t n, max;
	uint64_t before_ms; /* only sessions born before are kept */
};

/* Empties the set and makes room for max sessions.  Returns false when out of
 * memory. */
bool oldest_sessions_reset(
    struct oldest_sessions *oldest, size_t max) MUST_CHECK;
/* Frees the set's memory. */
void oldest_sessions_fini(struct oldest_sessions *oldest);

/* Adds the session if it may be one of the oldest. */
void oldest_sessions_offer(
    struct oldest_sessions *oldest, const struct session_age *session);

/* Sorts all[], the oldest session first, and drops those beyond max. */
void oldest_sessions_sort(struct oldest_sessions *oldest);

#endif
