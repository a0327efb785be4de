/* SPDX-License-Identifier: MIT
 * How an attempt to get a server fails.  Shared by the steps that choose a
 * server and that connect to it.
 *
 * All functions run on the session's owner.
 */
#ifndef PROXY_ATTEMPT_H
#define PROXY_ATTEMPT_H

#include "proxy/session_step.h"

/* Moves s->server, which was ejected because of this session, to the first
 * ejected_n entries of tried[]. */
void attempt_note_ejected(struct session *s);

/* Closes the session, which got no server.  Counts a connect error of the
 * backend, and of s->server if there is one and CAUSE_NO_RESOURCE does not
 * blame lfproxy.  An attempt that was followed by another one has been counted
 * as a retry instead. */
struct verdict attempt_give_up(
    struct session *s, enum close_cause cause, struct pool_thread *self);

/* Closes the session, which was connected before, without counting a connect
 * error.  cause CAUSE_SERVER_RESET: the client gets a reset as well. */
struct verdict attempt_end(struct session *s, enum close_cause cause);

#endif
