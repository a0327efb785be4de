/* SPDX-License-Identifier: MIT
 * The end of a session in this process when another process goes on with it.
 */
#ifndef PROXY_SESSION_LEAVE_H
#define PROXY_SESSION_LEAVE_H

#include <stdbool.h>

#include "proxy/session.h"

/* A session whose connect has taken longer than this may leave; the
 * successor begins the connect again. */
#define LEAVE_CONNECT_MS 100u

/* Hands the session over to proxy.successor.  Returns true when the
 * successor has it; the caller then does not touch the descriptors any more and
 * calls session_forget.  Returns false when the session stays: it has TLS, its
 * frontend, route or server is not known to the successor, its state does
 * not allow it, its connect has just begun, or the channel is full.  A session
 * that stays may be told again.  Runs on the session's owner at the beginning
 * of its turn, on NOTE_LEAVE. */
bool session_leave(struct session *s, struct pool_thread *self) MUST_CHECK;

#endif
