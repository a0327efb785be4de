/* SPDX-License-Identifier: MIT
 * The phases from the first SIGTERM to the end, see control.h.  Control thread.
 */
#ifndef LIVE_STOP_H
#define LIVE_STOP_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "loop/task_timer.h"

struct control;

/* See control.h; in this order. */
enum phase { RUNNING, LEAVING, DRAINING, KILLING };

struct stop {
	enum phase phase;
	uint64_t phase_ends_ms; /* in all phases but RUNNING */
	uint64_t status_ms;     /* when to report the progress */
	uint64_t linger_ms;     /* while draining: do not stop before this */
	bool has_left;          /* the successor has the listening sockets */
	struct timed_task step;
};

/* Enters the next phase on SIGTERM or SIGINT.  This is a watcher's callback
 * whose data is the control. */
void stop_on_signal(struct ev_loop *loop, ev_signal *signal, int events);

/* Closes the listening sockets, which the successor has now, and stops when no
 * session is left.  Ends no session before stop_when_settled, which follows. */
void stop_for_successor(struct control *control);

/* Drains the sessions that the successor has not taken over. */
void stop_when_settled(struct control *control);

#endif
