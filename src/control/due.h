/* SPDX-License-Identifier: MIT
 * What a change of a server's state leaves to be done a little later: the next
 * step of its slow start, the end of its sessions.  Control thread.
 */
#ifndef CONTROL_DUE_H
#define CONTROL_DUE_H

#include <ev.h>
#include <stdint.h>

struct control;

struct due {
	ev_prepare prepare; /* before each wait: is there something? */
	ev_timer timer;     /* at at_ms */
	uint64_t at_ms;
};

/* Watches the control's loop from now on, until that ends. */
void due_start(struct control *control);

#endif
