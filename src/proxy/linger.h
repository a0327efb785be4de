/* SPDX-License-Identifier: MIT
 * The end of a client whose TLS handshake has failed.
 *
 *   HANDSHAKE --> LINGERING: the alert and a FIN are sent
 *             --> closed when the client has ended, or after LINGER_MS, or
 *                 LINGER_BYTES that it sent in spite of the alert
 *
 * A close with unread bytes, or before bytes that are under way, resets the
 * connection, and a client that finds the reset when it writes never reads the
 * alert.  So what the client sends is read, and discarded (RFC 9112, 9.6, has
 * the same for HTTP).
 */
#ifndef PROXY_LINGER_H
#define PROXY_LINGER_H

#include "proxy/session_step.h"

#define LINGER_MS    1000u
#define LINGER_BYTES (256u << 10)

/* The owner of a session in HANDSHAKE, whose alert is sent: enters LINGERING.
 * cause: why the session will close. */
struct verdict linger_begin(
    struct session *s, enum close_cause cause, struct pool_thread *self);

/* The owner of a session in LINGERING: reads, and acts on the deadline and on
 * the client's end. */
struct verdict linger_step(struct session *s, struct pool_thread *self);

#endif
