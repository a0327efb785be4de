/* SPDX-License-Identifier: MIT
 * See clock.h.
 */
#include "base/clock.h"

#include <stddef.h>
#include <time.h>

static uint64_t (*replacement)(void);

static uint64_t
read_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

uint64_t
clock_now_ns(void)
{
	if (__builtin_expect(replacement != NULL, 0))
		return replacement();
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t
clock_thread_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
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
