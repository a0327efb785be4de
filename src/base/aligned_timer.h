/* SPDX-License-Identifier: MIT
 * Repeating timers that wake an idle process together.
 */
#ifndef BASE_ALIGNED_TIMER_H
#define BASE_ALIGNED_TIMER_H

#include <ev.h>
#include <stdint.h>

#include "base/clock.h"

/* Starts a timer that was initialized.  Its callback runs whenever clock_now_ms
 * is a multiple of every_ms.  Runs on the loop's thread. */
static inline void
aligned_timer_start(struct ev_loop *loop, ev_timer *timer, uint64_t every_ms)
{
	uint64_t first_ms;

	ev_now_update(loop);
	first_ms = every_ms - clock_now_ms() % every_ms;
	ev_timer_set(timer, (double)first_ms / 1e3, (double)every_ms / 1e3);
	ev_timer_start(loop, timer);
}

#endif
