/* SPDX-License-Identifier: MIT
 * The step that moves bytes between the two sides of a session.
 *
 * All functions run on the session's owner, from state RELAYING on.
 */
#ifndef PROXY_RELAY_H
#define PROXY_RELAY_H

#include "proxy/session_step.h"

/* Moves what can be moved within the turn's budget, and passes on ends and
 * resets. */
struct verdict relay_step(struct session *s, struct pool_thread *self);

/* Passes the end of this server on to the client, because the session gets no
 * other server. */
struct verdict relay_keep_server(struct session *s, struct pool_thread *self);

/* Drops the pending data of both sides. */
void relay_drop_pending(struct session *s, struct proxy *proxy);

#endif
