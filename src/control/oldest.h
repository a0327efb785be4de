/* SPDX-License-Identifier: MIT
 * The oldest of many sessions that go by: a heap of bounded size.
 */
#ifndef CONTROL_OLDEST_H
#define CONTROL_OLDEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aged {
	uint64_t born_ms;
	uint64_t id;
	uint64_t bytes; /* that it had moved when it went by */
};

struct oldest {
	struct aged *all; /* the youngest first, as in a heap */
	size_t n, max;
};

/* Room for so many, without any.  False when memory is short; it is empty then.
 */
bool oldest_reset(struct oldest *oldest, size_t max);
void oldest_fini(struct oldest *oldest);

/* Keeps it, if it is among the oldest so far. */
void oldest_offer(struct oldest *oldest, const struct aged *aged);

/* The oldest first; nothing may be offered afterwards. */
void oldest_sort(struct oldest *oldest);

#endif
