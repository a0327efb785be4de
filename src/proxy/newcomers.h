/* SPDX-License-Identifier: MIT
 * Newcomers: sessions that wait for their client before a server is chosen, in
 * INSPECTING or HANDSHAKE.
 *
 * A newcomer has a place of maxconn, and its client may never do its part.  So
 * while a connection waits for a place, the newcomer whose client has let
 * lfproxy wait longest is evicted, if it has waited for NEWCOMER_GRACE_MS.  The
 * wait is measured from the accept, or from the end of a delay, and begins
 * again when the client has completed a part: a PROXY header that TLS follows,
 * or a message of the handshake.  Single bytes do not count, so a client has as
 * many graces as there are parts.
 *
 * Each frontend has a list of its newcomers, in the order in which their waits
 * began.
 */
#ifndef PROXY_NEWCOMERS_H
#define PROXY_NEWCOMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

struct frontend;
struct model;
struct session;

/* How long the client of a newcomer may let lfproxy wait in any case. */
#define NEWCOMER_GRACE_MS 1000

/* A session's part of its frontend's list, which the list's lock guards. */
struct newcomer {
	struct list node;  /* empty: it is in no list */
	uint64_t since_ms; /* when its wait began, clock_now_ms */
	bool handshake;    /* counted among the frontend's handshakes */
};

/* The newcomers from which one is evicted. */
struct newcomers {
	const struct model *model;       /* those of all its frontends, or */
	const struct frontend *frontend; /* those of this one, if not NULL */
	bool handshakes; /* only those that count among the handshakes */
};

enum eviction {
	EVICTION_NONE,  /* there are no newcomers */
	EVICTION_LATER, /* all of them have waited for too short a time */
	EVICTION_BEGUN, /* one of them was told by NOTE_EVICT */
};

/* Evicts the newcomer that has waited longest, if it has waited for the grace.
 * The end of its session resumes paused acceptors, and so does a client that
 * has done its part by then and is not evicted.  Runs on data threads, in a
 * grace section, without a lock. */
enum eviction newcomers_evict(const struct newcomers *from, uint64_t now_ms);

/* The functions below run on the session's owner, without a lock. */

/* Begins the wait for the client; if it has begun, begins it again. */
void newcomers_enter(struct session *s, uint64_t now_ms);

/* Ends the wait, if it has begun. */
void newcomers_leave(struct session *s);

/* Returns whether the session was told to end by NOTE_EVICT and has nothing
 * from its client to work on.  To be called after the turn's steps. */
bool newcomers_is_evicted(const struct session *s);

#endif
