/* SPDX-License-Identifier: MIT
 * Moving bytes between the two sides of a session.
 */
#ifndef PROXY_RELAY_H
#define PROXY_RELAY_H

#include "proxy/session.h"

/* The owner, from RELAYING on: moves what can be moved within the budget,
 * passes on ends and resets. */
enum turn relay_step(struct session *session, struct pool_thread *self);

/* The owner, from RELAYING on: a deadline has passed; ends the session if one
 * really has. */
enum turn relay_timeout(struct session *session, struct pool_thread *self);

/* When that side's silence ends the session, clock_now_ms; UINT64_MAX when it
 * is not its turn. */
uint64_t relay_side_deadline(
    const struct session *session, enum handle_side side);

/* The owner, at the end: what still waits to be written is lost. */
void relay_drop_pending(struct session *session, struct pool_thread *self);

#endif
