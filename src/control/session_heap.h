/* SPDX-License-Identifier: MIT
 * The oldest sessions of a scan, in a heap of bounded size.
 */
#ifndef CONTROL_SESSION_HEAP_H
#define CONTROL_SESSION_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct session_age {
	uint64_t born_ms;
	uint64_t id;
	uint64_t bytes; /* moved when the scan saw the session */
};

struct session_heap {
	struct session_age *all; /* a heap; the youngest session is all[0] */
	size_t n, max;
};

/* Empties the heap and makes room for max sessions.  Returns false when out of
 * memory. */
bool session_heap_reset(struct session_heap *heap, size_t max);
/* Frees the heap's memory. */
void session_heap_fini(struct session_heap *heap);

/* Adds the session.  A full heap drops its youngest session. */
void session_heap_offer(
    struct session_heap *heap, const struct session_age *session);

/* Sorts all[], the oldest session first.  No session may be offered after
 * that. */
void session_heap_sort(struct session_heap *heap);

#endif
