/* SPDX-License-Identifier: MIT
 * The step that finds the backend of a session, by the rules of its frontend or
 * by the shares of its backends, once enough is known of the client.
 */
#ifndef PROXY_ROUTE_H
#define PROXY_ROUTE_H

#include "proxy/session_step.h"

/* Returns whether the choice of the backend, or of the server there, depends on
 * the TLS hello.  To be called after a PROXY header that is expected has been
 * read.  Runs on the session's owner. */
bool route_needs_hello(const struct session *s);

/* Finds the backend by what is known of the client, and returns STEP_CHOOSE; or
 * STEP_CLOSE for this cause when there is none.  Runs on the session's owner.
 */
struct verdict route_step(
    struct session *s, enum close_cause otherwise, struct pool_thread *self);

#endif
