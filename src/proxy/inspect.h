/* SPDX-License-Identifier: MIT
 * The step that inspects the client's first bytes, before a server is chosen.
 *
 *   ACCEPTED --> INSPECTING: the PROXY header, then a request for TLS
 *                (starttls.h), then the TLS hello; whichever of them this
 *                session's steps have
 *            --> the frontend's backend for that (proxy/route.h), connect
 *
 * timeout_hello bounds the whole inspection.  A hello is peeked at: its bytes
 * stay unread, for the server and for retries.  A hello that comes in pieces
 * over a unix socket is read, and becomes pending data for the server.  While
 * the hello is incomplete SO_RCVLOWAT is the number of bytes that are missing,
 * so a client that sends single bytes causes no wake-ups.
 *
 * The results are in a struct inspection (inspection.h), which only inspected
 * sessions have, until they end.  Other sessions call nothing here.
 */
#ifndef PROXY_INSPECT_H
#define PROXY_INSPECT_H

#include "proxy/inspection.h"
#include "proxy/session_step.h"

/* The owner of a session with an inspection, in ACCEPTED or INSPECTING: reads
 * on and acts on the deadline; then returns what route_step does.  pending: the
 * claim's bits. */
struct verdict inspect_step(
    struct session *s, uint32_t pending, struct pool_thread *self);

/* The owner, after a delay: goes on where the inspection stood, and returns
 * what inspect_step does; STEP_HANDSHAKE where TLS follows. */
struct verdict inspect_resume(
    struct session *s, uint32_t pending, struct pool_thread *self);

/* The owner, when the handshake is done: notes the protocol that was agreed on,
 * NULL for none. */
void inspect_note_protocol(
    struct session *s, const uint8_t *protocol, unsigned size);

#endif
