/* SPDX-License-Identifier: MIT
 * The duration of the control loop's turns.  A turn lasts from the end of a
 * wait to the start of the next one.
 *
 * While a turn lasts, no check starts or ends, no deadline is looked at, and no
 * request on the admin socket is answered.
 */
#ifndef CONTROL_LOOP_TURNS_H
#define CONTROL_LOOP_TURNS_H

#include <ev.h>
#include <stdint.h>

struct loop_turns {
	ev_check begin; /* before all that is due */
	ev_prepare end; /* after it */
	uint64_t began_ns, began_cpu_ns;
	uint64_t count;
	uint64_t
	    longest_ns; /* of the wall's time: others may have had the CPU */
	uint64_t longest_cpu_ns; /* of this thread's */
};

/* Watches the loop, without keeping it alive, until it ends. */
void loop_turns_watch(struct ev_loop *loop, struct loop_turns *turns);

/* Resets the statistics. */
void loop_turns_clear(struct loop_turns *turns);

#endif
