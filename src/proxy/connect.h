/* SPDX-License-Identifier: MIT
 * The step that connects to the chosen server and sends it the PROXY header.
 *
 * All functions run on the session's owner.
 */
#ifndef PROXY_CONNECT_H
#define PROXY_CONNECT_H

#include "proxy/session_step.h"

/* Starts a connect to s->server.  Returns STEP_WAIT while the connect, or
 * a pause before the next attempt at a full backlog, is under way; STEP_RELAY
 * once it is complete; STEP_CHOOSE or STEP_CLOSE when it has failed. */
struct verdict connect_start(struct session *s, struct pool_thread *self);

/* Goes on with the connect.  The state is CONNECTING, and a side has events.
 * Returns as connect_start. */
struct verdict connect_step(struct session *s, struct pool_thread *self);

/* Fails the connect, and returns STEP_CHOOSE.  The state is CONNECTING, and
 * timeout_connect has passed. */
struct verdict connect_timeout(struct session *s, struct pool_thread *self);

#endif
