/* SPDX-License-Identifier: MIT
 * The step that inspects the client's first bytes, before a server is chosen.
 *
 *   ACCEPTED --> INSPECTING: the PROXY header, then a request for TLS
 *                (starttls.h), then the TLS hello, as far as this session's
 *                inspection has these parts
 *            --> the frontend's backend for that (proxy/route.h), connect
 *
 * timeout_hello bounds the whole inspection.  A hello is peeked at: its bytes
 * stay unread, for the server and for retries.  A hello that comes in pieces
 * over a unix socket is read, and becomes pending data for the server.  While a
 * part is incomplete, SO_RCVLOWAT is the number of bytes that it needs at
 * least, so a client that sends single bytes causes few wake-ups.
 *
 * The results are in a struct inspection (inspection.h), which only inspected
 * sessions have, until they end.  Other sessions call nothing here.
 */
#ifndef PROXY_INSPECT_H
#define PROXY_INSPECT_H

#include "proxy/inspection.h"
#include "proxy/session_step.h"

/* Reads on, acts on the deadline, and at the end of the inspection finds the
 * backend as route_step does, or returns STEP_HANDSHAKE if TLS ends here.  The
 * session has an inspection and is in ACCEPTED, HELD or INSPECTING.  pending:
 * the claim's bits.  Runs on the session's owner. */
struct verdict inspect_step(
    struct session *s, uint32_t pending, struct pool_thread *self);

/* Goes on with the inspection after a delay, and returns what inspect_step
 * does.  Runs on the session's owner. */
struct verdict inspect_resume(
    struct session *s, uint32_t pending, struct pool_thread *self);

/* Notes the protocol that the TLS handshake with the client has agreed on;
 * NULL: none.  Runs on the session's owner. */
void inspect_note_protocol(
    struct session *s, const uint8_t *protocol, unsigned size);

#endif
