/* SPDX-License-Identifier: MIT
 * Running handlers' turns on a pool thread, and the thread's own books.
 */
#ifndef LF_TURNS_H
#define LF_TURNS_H

#include "lf/pool.h"

/* The owner: one run of the handler (event_handler_run) inside a grace section,
 * measured.  Afterwards the handler may be anybody's, unless TURN_MORE. */
enum turn turns_run(struct event_handler *handler, struct pool_thread *self);

/* The thread itself: books the time since the last change. */
void turns_set_role(struct pool_thread *self, enum thread_role role);

/* The owner of a handler that is bound to another thread: gives it to that
 * thread's mailbox.  False if the thread has retired; the handler is then bound
 * to self and still the caller's. */
bool turns_hand_off(struct event_handler *handler, struct pool_thread *self);

/* The thread itself: runs what its mailbox holds. */
void turns_work_mailbox(struct pool_thread *self);

/* A thread that retires, or the control thread for one that never ran: no more
 * is put into its mailbox, and what is there goes to any thread of the
 * handlers' shards. */
void turns_close_mailbox(struct pool_thread *self);

#endif
