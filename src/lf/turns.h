/* SPDX-License-Identifier: MIT
 * Running turns of handlers on a pool thread, and the thread's statistics.
 */
#ifndef LF_TURNS_H
#define LF_TURNS_H

#include "lf/pool.h"

/* Runs the handler (event_handler_run) inside a grace section and measures the
 * time.  Caller owns the handler, and afterwards only if this returns
 * TURN_MORE.
 */
enum turn turns_run(struct event_handler *handler, struct pool_thread *self);

/* Changes the role, and counts the time spent in the former one. */
void turns_set_role(struct pool_thread *self, enum thread_role role);

/* Passes a handler to the mailbox of the thread that it is bound to.  Returns
 * false if that thread has retired: then the handler is bound to self, and the
 * caller still owns it.  Caller owns the handler. */
bool turns_hand_off(struct event_handler *handler, struct pool_thread *self);

/* Runs the handlers in the calling thread's mailbox. */
void turns_work_mailbox(struct pool_thread *self);

/* Closes the mailbox and submits its handlers to their shards.  Called by a
 * thread that retires, or by the control thread for one that never ran. */
void turns_close_mailbox(struct pool_thread *self);

#endif
