/* SPDX-License-Identifier: MIT
 * Time: the monotonic clock for intervals and deadlines, wall time for logs and
 * for times that are shown.
 *
 * A test may replace the monotonic clock before threads start.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

/* Returns CLOCK_MONOTONIC in nanoseconds.  Takes about 25 ns through the vDSO.
 * Any thread, like all functions here but clock_replace. */
uint64_t clock_now_ns(void);

static inline uint64_t
clock_now_ms(void)
{
	return clock_now_ns() / NS_PER_MS;
}

/* Returns the CPU time of the calling thread in nanoseconds.  Takes a system
 * call. */
uint64_t clock_thread_ns(void);

/* Returns CLOCK_REALTIME in microseconds since 1970. */
uint64_t clock_wall_us(void);

/* Replaces the monotonic clock, for tests.  NULL puts the real one back. */
void clock_replace(uint64_t (*now_ns)(void));

#endif
