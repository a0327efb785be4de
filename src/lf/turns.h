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

#endif
