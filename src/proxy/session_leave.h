/* SPDX-License-Identifier: MIT
 * The end of a session in this process that goes on in another one.
 */
#ifndef PROXY_SESSION_LEAVE_H
#define PROXY_SESSION_LEAVE_H

#include <stdbool.h>

#include "proxy/session.h"

/* A connect that takes longer than this is begun again by the other process. */
#define LEAVE_CONNECT_MS 100u

/* NOTE_LEAVE, the owner at the beginning of its turn: hands the session over to
 * proxy.successor.  Returns true when the other process has it: the caller
 * touches its descriptors no more and calls session_forget.  Returns false when
 * the session stays: it has TLS, it is at a server
 * that the other process does not know, its connect has just begun, or the
 * channel is full; it may be told again. */
bool session_leave(struct session *s, struct pool_thread *self) MUST_CHECK;

#endif
