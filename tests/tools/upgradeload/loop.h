/* SPDX-License-Identifier: MIT
 * The loop of events, timers and SIGUSR1, which lets all sessions end.
 */
#ifndef TOOLS_UPGRADELOAD_LOOP_H
#define TOOLS_UPGRADELOAD_LOOP_H

#include "tools/upgradeload/conn.h"

/* Makes the loop; before all else, with the limit of descriptors raised. */
void loop_init(void);

/* Calls listener->accept when connections wait. */
void loop_listen(struct conn *listener);

/* Waits for bytes, and before it is connected for that. */
void loop_add(struct conn *c);

/* Waits for these epoll events instead. */
void loop_set_events(struct conn *c, uint32_t events);

/* Before c->fd is closed. */
void loop_remove(struct conn *c);

/* Calls kind_on_timer once after that time; replaces an earlier timer.  A
 * session without a socket is opened again instead. */
void loop_set_timer(struct conn *c, uint64_t after_ms);

/* Runs the timers that are due.  Returns for how many ms there is none, up to
 * 100. */
int loop_run_timers(void);

/* Waits for events, for up to that many ms, with these signals blocked, and
 * serves them. */
void loop_serve_events(const sigset_t *mask, int timeout);

/* Returns whether SIGUSR1 has come. */
bool loop_is_to_end(void);

/* Lets all sessions end. */
void loop_end_all(void);

#endif
