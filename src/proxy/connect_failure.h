/* SPDX-License-Identifier: MIT
 * What the connects of sessions tell about servers.
 */
#ifndef PROXY_CONNECT_FAILURE_H
#define PROXY_CONNECT_FAILURE_H

#include "proxy/session.h"

/* The owner: a connect to the session's server took so long, for balance =
 * ewma. */
void connect_note_ewma(
    const struct session *session, uint64_t us, struct pool_thread *self);

/* The owner: the connect to the session's server has failed with this errno.
 * Logs it, and counts it against the server if the server is to blame. */
void connect_note_failure(
    struct session *session, int error, struct pool_thread *self);

/* The owner: the session's server has reset the established connection before a
 * byte of an answer.  Counts that against the server and sets
 * session->was_reset, so that the end of the session does not count it again.
 */
void connect_note_reset(struct session *session);

#endif
