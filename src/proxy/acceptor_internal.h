/* SPDX-License-Identifier: MIT
 * Shared by the parts of an acceptor: its life (acceptor.c), the limits that
 * make it pause (accept_limits.c), and accepting (accept.c).
 */
#ifndef PROXY_ACCEPTOR_INTERNAL_H
#define PROXY_ACCEPTOR_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "proxy/acceptor.h"
#include "proxy/session.h"

struct acceptor {
	struct event_handler handler;
	struct proxy *proxy;
	/* [P14] The control thread stores it with release.  Its frontend is
	 * present, or will be freed after a grace period. */
	const struct frontend_listen *listen;
	struct shard *wanted; /* [P14] where to move, or NULL */
	int fd;
	/* A connection that the gate has admitted while there is no session for
	 * it; fd -1: none.  kept_for: the listen that has admitted it, whose
	 * model is pinned; NULL if no connection is kept between turns. */
	struct accepted kept;
	const struct frontend_listen *kept_for;
	/* Until then a place comes from the last eviction; clock_now_ms, 0: it
	 * has come. */
	uint64_t evicting_ms;
	uint32_t held;   /* accepts nothing; written by control, relaxed */
	uint32_t paused; /* linked, or about to be, in proxy->paused */
	struct acceptor *next_paused;
	uint32_t closed; /* [P9] */
};

/* -- accept_limits.c -- */

/* Returns the name of the frontend that the acceptor accepts for. */
const char *acceptor_frontend_name(const struct acceptor *a);

/* Takes a session for the next connection of the listen, and counts the
 * connection against the limits of its frontend.  Sets *ret_limit to the
 * frontend's present maxconn, or to FRONTEND_NO_LIMIT.  Returns NULL when a
 * limit is reached; the acceptor then pauses. */
struct session *acceptor_reserve_session(struct acceptor *a,
    const struct frontend_listen *listen, uint32_t *ret_index,
    uint32_t *ret_limit);

/* Undoes acceptor_reserve_session. */
void acceptor_unreserve_session(struct acceptor *a,
    const struct frontend_listen *listen, uint32_t index, uint32_t limit);

/* Counts an accepted connection in the rates if it is let in, and in the
 * frontend's sessions unless acceptor_reserve_session has done so.  limit: what
 * that function has returned in *ret_limit. */
void acceptor_count(
    struct acceptor *a, const struct frontend *f, uint32_t limit, bool let_in);

/* Pauses after accept has failed with this errno. */
void acceptor_pause_for_error(struct acceptor *a, int error);

/* Returns whether clients of the frontend wait for acceptors_begin. */
bool acceptor_waits_for_takeover(
    const struct acceptor *a, const struct frontend *frontend);
/* Pauses until acceptors_begin. */
void acceptor_pause_for_takeover(
    struct acceptor *a, const struct frontend *frontend);

/* -- accept.c -- */

/* Accepts up to a turn's budget of connections.  Returns whether the backlog
 * may hold more. */
bool acceptor_accept(struct acceptor *a, const struct frontend_listen *listen,
    struct pool_thread *self);

/* Resets the connection that waits for a session, if there is one. */
void acceptor_drop_kept(struct acceptor *a);

#endif
