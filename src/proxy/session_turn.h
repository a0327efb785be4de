/* SPDX-License-Identifier: MIT
 * The dispatcher: runs the steps of a session, from accept to close.
 */
#ifndef PROXY_SESSION_TURN_H
#define PROXY_SESSION_TURN_H

#include "proxy/session.h"

/* slab_options.construct: initializes a session's slot once. */
bool session_construct(void *object, uint32_t index, void *arg);

/* Runs on an acceptor's thread, in the acceptor's turn: starts a session for an
 * accepted connection.  Takes ownership of fd.  The caller has counted the
 * connection in the frontend's sessions.  at: the acceptor's shard.  The first
 * turn runs here if the session was placed on that shard, else on a thread of
 * its own shard.  with_header: the connection begins with a PROXY header.  The
 * session may have ended when this returns. */
void session_start(struct session *s, const struct shard *at,
    struct frontend *frontend, int fd, const struct endpoint *client,
    bool with_header, struct pool_thread *self);

#endif
