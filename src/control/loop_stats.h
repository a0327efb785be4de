/* SPDX-License-Identifier: MIT
 * The number and duration of the control loop's iterations: from the end of a
 * wait to the start of the next one.
 *
 * During an iteration no check starts or ends, no deadline is looked at, and no
 * request on the admin socket is answered.
 */
#ifndef CONTROL_LOOP_STATS_H
#define CONTROL_LOOP_STATS_H

#include <ev.h>
#include <stdint.h>

struct loop_stats {
	ev_check begin; /* before all that is due */
	ev_prepare end; /* after it */
	uint64_t began_ns, began_cpu_ns;
	uint64_t count;
	uint64_t longest_ns;     /* of wall time */
	uint64_t longest_cpu_ns; /* of this thread's CPU time */
};

/* Watches the loop, without keeping it alive, until it ends. */
void loop_stats_watch(struct ev_loop *loop, struct loop_stats *stats);

/* Resets the statistics. */
void loop_stats_clear(struct loop_stats *stats);

#endif
