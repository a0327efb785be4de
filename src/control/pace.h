/* SPDX-License-Identifier: MIT
 * The pacer's part of the control loop: when it looks, and the limits on
 * bandwidth of the configuration.  See proxy/pacer.h.
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

/* Starts to watch for sessions that wait for bandwidth.  Before pools start. */
void pace_start(struct control *control);

/* Applies the limits of the present model.  When they have changed, sessions
 * that wait take a new portion, and those that had no limit look for one. */
void pace_follow(struct control *control);

#endif
