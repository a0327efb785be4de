/* SPDX-License-Identifier: MIT
 * Failed and slow connects: their log messages, and what they count against
 * servers.
 */
#ifndef PROXY_CONNECT_FAILURE_H
#define PROXY_CONNECT_FAILURE_H

#include "proxy/session.h"
#include "proxy/session_step.h"

/* The owner: notes how long a connect to s->server took, for
 * balance = ewma. */
void connect_note_ewma(
    const struct session *s, uint64_t us, struct pool_thread *self);

/* The owner: the connect to the session's server has failed with this errno.
 * Logs it, and counts it against the server if the server is to blame. */
void connect_note_failure(
    struct session *s, int error, struct pool_thread *self);

/* The owner: the session's server has reset the established connection before a
 * byte of an answer.  Counts that against the server and sets
 * s->was_reset, so that the end of the session does not count it again.
 */
void connect_note_reset(struct session *s);

/* The owner: the session closes without having got a server; counts that, also
 * for s->server if there is one.  Attempts that were followed by another
 * are counted as retries instead. */
struct verdict connect_give_up(
    struct session *s, enum close_reason reason, struct pool_thread *self);

/* The owner: the same without counting, because the session was connected
 * before.  The client of a server that has reset the connection gets a reset as
 * well. */
struct verdict connect_end(struct session *s, enum close_reason reason);

#endif
