/* SPDX-License-Identifier: MIT
 * A clock that stands still but where a test adds to now_ms.
 *
 * What a test wants to be past is made so by going on, never by taking from a
 * time: a machine that has just booted has no half an hour behind it.
 */
#ifndef UNIT_MODEL_STOPPED_CLOCK_H
#define UNIT_MODEL_STOPPED_CLOCK_H

#include "base/clock.h"

static uint64_t now_ms;

static inline uint64_t
stopped_clock_ns(void)
{
	return now_ms * NS_PER_MS;
}

static inline void
stop_clock(void)
{
	now_ms = 1000000;
	clock_replace(stopped_clock_ns);
}

static inline void
let_clock_go(void)
{
	clock_replace(NULL);
}

#endif
