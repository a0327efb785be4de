/* SPDX-License-Identifier: MIT
 * The end of a session.
 */
#ifndef PROXY_SESSION_CLOSE_H
#define PROXY_SESSION_CLOSE_H

#include "proxy/session.h"

/* Runs on the session's owner: counts and logs the end, closes the descriptors
 * and gives the slot back.  The caller must not touch the session afterwards,
 * and returns TURN_RETIRED from its turn. */
void session_close(
    struct session *s, enum close_reason reason, struct pool_thread *self);

#endif
