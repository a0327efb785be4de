/* SPDX-License-Identifier: MIT
 * Limits on the sessions of the whole process, from the configuration or the
 * admin socket: sessions at a time, and new sessions per second.  For the
 * method see model/rate_limit.h.
 */
#ifndef PROXY_PROXY_LIMITS_H
#define PROXY_PROXY_LIMITS_H

#include <stdint.h>

#include "base/atomics.h"

/* Written by the control thread, but for due_ns; all relaxed. */
struct proxy_limits {
	uint32_t sessions;     /* at a time; 0: as many as there is room for */
	uint32_t connect_rate; /* connections per second, 0: no limit */
	uint32_t session_rate; /* the same, as HAProxy has both */
	uint64_t due_ns;       /* of the next connection; any thread */
};

/* Returns the smaller of both rates, 0: no limit. */
static inline uint32_t
proxy_limits_rate(const struct proxy_limits *limits)
{
	uint32_t a = atomic_load_relaxed(&limits->connect_rate);
	uint32_t b = atomic_load_relaxed(&limits->session_rate);

	return a == 0 || (b > 0 && b < a) ? b : a;
}

#endif
