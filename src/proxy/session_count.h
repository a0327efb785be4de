/* SPDX-License-Identifier: MIT
 * Adds the events of sessions to the counters.
 *
 * All functions run on the session's owner.
 */
#ifndef PROXY_SESSION_COUNT_H
#define PROXY_SESSION_COUNT_H

#include "proxy/session.h"
#include "proxy/session_record.h"

/* The counters that a session adds to.  A session without a backend or a server
 * adds nothing to theirs. */
#define COUNT_FRONTEND 1u
#define COUNT_BACKEND  2u
#define COUNT_SERVER   4u
#define COUNT_ALL      (COUNT_FRONTEND | COUNT_BACKEND | COUNT_SERVER)

/* Adds n to a counter of each of the scopes, a set of COUNT_ bits.  server: the
 * server for COUNT_SERVER; NULL: none. */
void session_count_at(const struct session *s, unsigned scopes,
    const struct server *server, enum counter which, uint64_t n,
    const struct pool_thread *self);

/* Calls session_count_at for the session's present server. */
static inline void
session_count(const struct session *s, unsigned scopes, enum counter which,
    uint64_t n, const struct pool_thread *self)
{
	session_count_at(s, scopes, s->server, which, n, self);
}

/* Adds the bytes received since the last call to the counters, and charges them
 * to the limits of the client's source. */
void session_count_bytes(struct session *s, struct pool_thread *self);

/* Counts a session for its client, whose address is known by now. */
void session_count_client(const struct session *s, struct pool_thread *self);

/* Counts the end of a session: its last bytes, aborts and errors by the
 * reason's blame, its times, and what the end tells about the server.  record:
 * the record of its end. */
void session_count_end(struct session *s, const struct session_record *record,
    struct pool_thread *self);

#endif
