/* SPDX-License-Identifier: MIT
 * See clock.h.
 */
#include "base/clock.h"

#include <stddef.h>
#include <time.h>

static uint64_t (*replacement)(void);

uint64_t
clock_now_ns(void)
{
	struct timespec ts;

	if (__builtin_expect(replacement != NULL, 0))
		return replacement();
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t
clock_wall_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

void
clock_replace(uint64_t (*now_ns)(void))
{
	replacement = now_ns;
}
