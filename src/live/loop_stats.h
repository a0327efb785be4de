/* SPDX-License-Identifier: MIT
 * The number and duration of the control loop's iterations.  An iteration lasts
 * from the end of a wait to the start of the next one.  Control thread.
 */
#ifndef LIVE_LOOP_STATS_H
#define LIVE_LOOP_STATS_H

#include <ev.h>
#include <stdint.h>

struct loop_stats {
	ev_check begin; /* runs before the handlers of an iteration */
	ev_prepare end; /* runs after them */
	uint64_t began_ns, began_cpu_ns;
	uint64_t iterations;
	uint64_t longest_ns;     /* of wall time */
	uint64_t longest_cpu_ns; /* of this thread's CPU time */
};

/* Measures the loop until it ends, without keeping it alive. */
void loop_stats_watch(struct ev_loop *loop, struct loop_stats *stats);

/* Resets the statistics.  The present iteration is measured from here on. */
void loop_stats_clear(struct loop_stats *stats);

#endif
