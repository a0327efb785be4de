/* SPDX-License-Identifier: MIT
 * The step that chooses a server, and waits where there is none to choose.
 *
 * All functions run on the session's owner.  Those that return STEP_CONNECT
 * have taken a slot at s->server and have counted the attempt.  Those
 * that return STEP_WAIT have left the session QUEUED or PAUSING.
 */
#ifndef PROXY_CHOOSE_H
#define PROXY_CHOOSE_H

#include "proxy/session_step.h"

/* Leaves s->server, if set, and chooses a server that was not tried
 * before.  Closes the session when retries or the retry budget are used up.
 * Closes it for this cause when no server is available and it may not queue. */
struct verdict choose_step(
    struct session *s, enum close_cause cause, struct pool_thread *self);

/* The state is QUEUED: a server was granted, or the client has done something.
 */
struct verdict choose_queued(struct session *s, struct pool_thread *self);

/* The session has no server: if it waits for one and another backend is usable
 * now, a fallback or the one that it fell back from, goes over to that; else
 * returns STEP_WAIT. */
struct verdict choose_elsewhere(struct session *s, struct pool_thread *self);

/* The state is QUEUED, and its time is over. */
struct verdict choose_queue_timeout(
    struct session *s, struct pool_thread *self);

/* The state is PAUSING: a server has joined the lineup or got another address,
 * or the client has done something. */
struct verdict choose_pausing(struct session *s, struct pool_thread *self);

/* The state is PAUSING without a server, and the pause is over. */
struct verdict choose_pause_over(struct session *s, struct pool_thread *self);

/* The state is RELAYING: s->server has reset or closed the
 * connection before a byte went either way.  Returns STEP_KEEP when the session
 * may not be retried (retry_on, retries, the budget) or no other server is
 * usable; a reset is then counted against the server and nothing else has
 * changed.  When the reset gets the server ejected and a backup will replace
 * it, the session pauses until the backup is published. */
struct verdict choose_replacement(struct session *s, struct pool_thread *self);

#endif
