/* SPDX-License-Identifier: MIT
 * timeout_first_byte: how long a client may take to send its first byte.
 *
 * The time begins when the connection is accepted, or when its PROXY header is
 * complete, and goes on through all states.  A session has a deadline for it
 * until its client has sent a byte or has finished sending, and none after
 * that.  s->spoke is set where a passed deadline shows that bytes wait in
 * the socket, which are not read before a server is connected.
 */
#ifndef PROXY_FIRST_BYTE_H
#define PROXY_FIRST_BYTE_H

#include "proxy/session.h"

/* Returns when the time is over, clock_now_ms.  Returns UINT64_MAX when the
 * client has sent something, when the time is not limited, or while the PROXY
 * header is still to come.  Does not look for unread bytes in the socket.
 * Called by the session's owner. */
uint64_t first_byte_ends_ms(const struct session *s);

/* The owner: returns whether the time is over and the client has sent nothing.
 * Looks for unread bytes in the socket, once, when the time is over. */
bool first_byte_is_late(struct session *s, const struct pool_thread *self);

#endif
