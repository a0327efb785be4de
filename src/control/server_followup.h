/* SPDX-License-Identifier: MIT
 * Follow-up work of server state changes: the next step of a slow start, and
 * the end of a server's sessions.  Runs on the control thread.
 */
#ifndef CONTROL_SERVER_FOLLOWUP_H
#define CONTROL_SERVER_FOLLOWUP_H

#include <ev.h>
#include <stdint.h>

struct control;

struct server_followup {
	ev_prepare prepare; /* looks for new work before each wait */
	ev_timer timer;     /* expires at at_ms */
	uint64_t at_ms;
};

/* Watches the control loop until the loop ends. */
void server_followup_start(struct control *control);

#endif
