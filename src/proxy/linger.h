/* SPDX-License-Identifier: MIT
 * The end of a client whose TLS handshake has failed.
 *
 *   HANDSHAKE --> LINGERING: the alert and a FIN are sent
 *             --> closed when the client has ended, or after LINGER_MS, or
 *                 LINGER_BYTES that it sent in spite of the alert
 *
 * Closing a socket resets the connection if bytes are unread or still arrive,
 * and a client that finds the reset when it writes never reads the alert.  So
 * what the client sends is read and discarded, as RFC 9112, 9.6, describes for
 * HTTP.
 */
#ifndef PROXY_LINGER_H
#define PROXY_LINGER_H

#include "proxy/session_step.h"

#define LINGER_MS    1000u
#define LINGER_BYTES (256u << 10)

/* Enters LINGERING.  The session is in HANDSHAKE, and its alert is sent.
 * cause: why the session will close.  Runs on the session's owner. */
struct verdict linger_begin(
    struct session *s, enum close_cause cause, struct pool_thread *self);

/* Reads and discards, and acts on the deadline and on the client's end.  The
 * session is in LINGERING.  Runs on the session's owner. */
struct verdict linger_step(struct session *s, struct pool_thread *self);

#endif
