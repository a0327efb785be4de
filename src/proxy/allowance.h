/* SPDX-License-Identifier: MIT
 * What the operator allows while lfproxy runs, beside what the system does:
 * sessions at a time, and new ones in a second.
 *
 * The rate is held by a virtual schedule (the generic cell rate algorithm,
 * ITU-T I.371): each connection moves the time at which the next one is due by
 * a second's share, and a connection is let in unless that time is further
 * ahead than ALLOWANCE_BURST_NS.  So a tenth of a second's worth may come at
 * once, and no second sees more than eleven tenths of the limit.
 */
#ifndef PROXY_ALLOWANCE_H
#define PROXY_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/atomics.h"

#define ALLOWANCE_BURST_NS (UINT64_C(100) * 1000 * 1000)

/* Written by the control thread, but for due_ns; all relaxed. */
struct allowance {
	uint32_t sessions;     /* at a time; 0: as many as there is room for */
	uint32_t connect_rate; /* connections per second, 0: no limit */
	uint32_t session_rate; /* the same, as HAProxy has both */
	uint64_t due_ns;       /* of the next connection; any thread */
};

/* The smaller of both rates, 0: there is none. */
static inline uint32_t
allowance_rate(const struct allowance *allowance)
{
	uint32_t a = atomic_load_relaxed(&allowance->connect_rate);
	uint32_t b = atomic_load_relaxed(&allowance->session_rate);

	return a == 0 || (b > 0 && b < a) ? b : a;
}

/* Whether a connection may be accepted now. */
static inline bool
allowance_is_due(
    const struct allowance *allowance, uint32_t rate, uint64_t now_ns)
{
	uint64_t share_ns = UINT64_C(1000000000) / rate;
	uint64_t ahead_ns =
	    ALLOWANCE_BURST_NS > share_ns ? ALLOWANCE_BURST_NS - share_ns : 0;

	return atomic_load_relaxed(&allowance->due_ns) <= now_ns + ahead_ns;
}

/* One was accepted. */
static inline void
allowance_count(struct allowance *allowance, uint32_t rate, uint64_t now_ns)
{
	uint64_t share_ns = UINT64_C(1000000000) / rate;
	uint64_t due_ns = atomic_load_relaxed(&allowance->due_ns), next_ns;

	do
		next_ns = (due_ns > now_ns ? due_ns : now_ns) + share_ns;
	while (!atomic_cas_relaxed(&allowance->due_ns, &due_ns, next_ns));
}

#endif
