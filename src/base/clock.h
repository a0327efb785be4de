/* SPDX-License-Identifier: MIT
 * Time: monotonic for every interval and deadline, wall only for the log.
 *
 * The monotonic clock can be replaced by a test, before threads start.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S  1000000000ull

/* CLOCK_MONOTONIC, about 25 ns through the vDSO. */
uint64_t clock_now_ns(void);

static inline uint64_t
clock_now_ms(void)
{
	return clock_now_ns() / NS_PER_MS;
}

/* CLOCK_REALTIME in microseconds since 1970. */
uint64_t clock_wall_us(void);

/* NULL puts the real clock back. */
void clock_replace(uint64_t (*now_ns)(void));

#endif
