/* SPDX-License-Identifier: MIT
 * The step that chooses a server, and waits while none can be chosen.
 *
 * All functions run on the session's owner.  When one returns STEP_CONNECT, it
 * has taken a slot at s->server and has counted the attempt.  When one returns
 * STEP_WAIT, the session is QUEUED or PAUSING, but for choose_elsewhere.
 */
#ifndef PROXY_CHOOSE_H
#define PROXY_CHOOSE_H

#include "proxy/session_step.h"

/* Leaves s->server, if set, and chooses a server that was not tried before.
 * When retries or the retry budget are used up, the session goes over to the
 * next fallback that is usable, or else is closed.  Closes the session for this
 * cause when no server is available and it may not queue. */
struct verdict choose_step(
    struct session *s, enum close_cause cause, struct pool_thread *self);

/* Connects to the granted server, if there is one.  The state is QUEUED, and a
 * server was granted or the client has done something. */
struct verdict choose_queued(struct session *s, struct pool_thread *self);

/* Goes over to another backend that is usable now, a fallback or the one that
 * the session fell back from, if the session waits for a server.  Otherwise
 * returns STEP_WAIT and changes nothing.  The session has no server. */
struct verdict choose_elsewhere(struct session *s, struct pool_thread *self);

/* Connects to a server that was just granted, or else closes the session.  The
 * state is QUEUED, and timeout_queue has passed. */
struct verdict choose_queue_timeout(
    struct session *s, struct pool_thread *self);

/* Chooses again if a server has joined the lineup or got another address;
 * otherwise goes on waiting, unless the client has reset its connection.  The
 * state is PAUSING. */
struct verdict choose_pausing(struct session *s, struct pool_thread *self);

/* Chooses again, with the servers that were tried as well.  The state is
 * PAUSING without a server, and the pause is over. */
struct verdict choose_pause_over(struct session *s, struct pool_thread *self);

/* Chooses a server in place of s->server, which has reset or closed the
 * connection before a byte went either way.  The state is RELAYING.  Returns
 * STEP_KEEP when the session may not be retried (retry_on, retries, the retry
 * budget) or no other server is usable: s->server is kept then, and
 * s->was_reset tells whether its reset was counted against it.  When the reset
 * gets the server ejected and a backup will replace it, the session pauses
 * until the backup is published. */
struct verdict choose_replacement(struct session *s, struct pool_thread *self);

#endif
