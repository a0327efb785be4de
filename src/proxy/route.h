/* SPDX-License-Identifier: MIT
 * The step that finds the backend of a session, by the rules of its frontend or
 * by the shares of its backends, once enough is known of the client.
 */
#ifndef PROXY_ROUTE_H
#define PROXY_ROUTE_H

#include "proxy/session_step.h"

/* The owner, once a PROXY header that is expected has been read: returns
 * whether the backend, or the server there, depends on the TLS hello. */
bool route_needs_hello(const struct session *s);

/* The owner: finds the backend by what is known, and returns STEP_CHOOSE, or
 * STEP_CLOSE for this cause where there is none. */
struct verdict route_step(
    struct session *s, enum close_cause otherwise, struct pool_thread *self);

#endif
