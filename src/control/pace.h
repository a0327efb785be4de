/* SPDX-License-Identifier: MIT
 * The control loop's part of pacing: calls the pacer (proxy/pacer.h) when
 * sessions that wait for bandwidth are due, and gives it the limits of the
 * configuration.
 *
 * All functions run on the control thread.
 */
#ifndef CONTROL_PACE_H
#define CONTROL_PACE_H

#include <ev.h>

struct control;

struct pace_loop {
	ev_timer look;
	ev_async called; /* by data threads */
};

/* Begins to watch for sessions that wait for bandwidth.  Called before the
 * pools start. */
void pace_start(struct control *control);

/* Applies the bandwidth limits of the present model.  If they have changed,
 * sessions that wait take a new portion, and sessions that had no limit check
 * whether they have one now. */
void pace_follow(struct control *control);

#endif
