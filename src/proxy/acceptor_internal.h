/* SPDX-License-Identifier: MIT
 * Shared by accepting (acceptor.c) and its limits (accept_limits.c).
 */
#ifndef PROXY_ACCEPTOR_INTERNAL_H
#define PROXY_ACCEPTOR_INTERNAL_H

#include "proxy/acceptor.h"

struct session;

struct acceptor {
	struct event_handler handler;
	struct proxy *proxy;
	struct frontend *frontend; /* [P14] control releases */
	uint32_t number;           /* [P14] before the frontend */
	struct shard *wanted;      /* [P14] where to move, or NULL */
	int fd;
	uint32_t proxied; /* accept_proxy; written by control, relaxed */
	uint32_t held;    /* accepts nothing; written by control, relaxed */
	uint32_t paused;  /* linked, or about to be, in proxy->paused */
	struct acceptor *next_paused;
	uint32_t closed; /* [P9] */
};

/* The functions below run in the acceptor's turn. */

/* Returns whether the limits leave room for a connection.  If so, and if the
 * frontend has a maxconn, returns it in *ret_limit and counts a session of the
 * frontend in advance; else *ret_limit is FRONTEND_NO_LIMIT.  If not, the
 * acceptor pauses. */
bool acceptor_reserve(
    struct acceptor *a, const struct frontend *f, uint32_t *ret_limit);

/* Counts an accepted connection.  limit is that of acceptor_reserve. */
void acceptor_count(
    struct acceptor *a, const struct frontend *f, uint32_t limit);

/* Returns a free session, or NULL when the limit on all sessions is reached or
 * memory is short. */
struct session *acceptor_take_session(struct acceptor *a, uint32_t *ret_index);

/* acceptor_take_session has returned NULL: logs why and pauses. */
void acceptor_pause_for_sessions(struct acceptor *a);

/* accept has failed with this errno: logs it and pauses. */
void acceptor_pause_for_error(struct acceptor *a, int error);

#endif
