/* SPDX-License-Identifier: MIT
 * A limit on how many connections are accepted in a second.
 *
 * A virtual schedule (the generic cell rate algorithm, ITU-T I.371) holds the
 * rate: each connection moves the time at which the next one is due by 1/rate
 * seconds, and a connection is admitted unless that time is further ahead than
 * RATE_LIMIT_BURST_NS, less one such share.  So a tenth of a second's worth may
 * come at once, and no second sees more than eleven tenths of the limit.
 *
 * Any thread may call these functions.  due_ns is a shared word, accessed in
 * relaxed order; 0 before the first connection.
 */
#ifndef MODEL_RATE_LIMIT_H
#define MODEL_RATE_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"

#define RATE_LIMIT_BURST_NS (UINT64_C(100) * 1000 * 1000)
/* The most that a configuration may ask for: a share is then 1 us. */
#define RATE_LIMIT_MAX 1000000u

/* Returns whether a connection may be accepted now; rate: per second, above 0.
 */
static inline bool
rate_limit_is_due(const uint64_t *due_ns, uint32_t rate, uint64_t now_ns)
{
	uint64_t share_ns = UINT64_C(1000000000) / rate;
	uint64_t ahead_ns =
	    RATE_LIMIT_BURST_NS > share_ns ? RATE_LIMIT_BURST_NS - share_ns : 0;

	return atomic_load_relaxed(due_ns) <= now_ns + ahead_ns;
}

/* Counts a connection that was accepted. */
static inline void
rate_limit_count(uint64_t *due_ns, uint32_t rate, uint64_t now_ns)
{
	uint64_t share_ns = UINT64_C(1000000000) / rate;
	uint64_t due = atomic_load_relaxed(due_ns), next;

	do
		next = (due > now_ns ? due : now_ns) + share_ns;
	while (!atomic_cas_relaxed(due_ns, &due, next));
}

#endif
