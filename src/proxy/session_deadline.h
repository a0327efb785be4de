/* SPDX-License-Identifier: MIT
 * All timeouts of a session: when it has to be looked at, and what has timed
 * out then.
 *
 * The functions run on the session's owner.  Times are clock_now_ms; UINT64_MAX
 * stands for never.
 */
#ifndef PROXY_SESSION_DEADLINE_H
#define PROXY_SESSION_DEADLINE_H

#include "proxy/session_step.h"

/* Sets the deadline that follows from state and activity; the reaper leaves
 * NOTE_TIMEOUT when it has passed.  Activity alone does not move the deadline:
 * at the old deadline the session's owner finds that the session was active,
 * and calls this function again. */
void session_set_deadline(struct session *s, struct pool_thread *self);

/* Returns whether the deadline has passed and was not acted on so far. */
bool session_deadline_passed(
    const struct session *s, const struct pool_thread *self);

/* Returns when the client will have been silent for timeout_first_byte.  The
 * time begins when the connection is accepted, or when its PROXY header is
 * complete, and after the delay if the client is delayed; it goes on through
 * all states.  Returns UINT64_MAX once the client has sent a byte or has
 * finished sending, while the PROXY header is still to come, in HELD and in
 * FLUSHING.  Does not look for unread bytes in the socket. */
uint64_t session_first_byte_ends_ms(const struct session *s);

/* Returns whether timeout_first_byte is over and the client has sent nothing.
 * When it is over, looks for unread bytes in the socket, because no bytes are
 * read before a server is connected, and remembers in s->spoke that there were
 * some. */
bool session_first_byte_is_late(
    struct session *s, const struct pool_thread *self);

/* Returns when the hold of a session in HELD is over.  While lfproxy drains, a
 * tarpit is over at once. */
uint64_t session_hold_ends_ms(
    const struct session *s, const struct proxy *proxy);

/* Returns when timeout_hello is over. */
uint64_t session_hello_ends_ms(const struct session *s);

/* Returns when timeout_handshake, for the TLS handshake with the client, is
 * over. */
uint64_t session_handshake_ends_ms(const struct session *s);

/* Closes the session if one of its limits is reached; otherwise sets the next
 * deadline and relays.  The state is RELAYING or later, and the deadline has
 * passed. */
struct verdict session_relay_timeout(
    struct session *s, struct pool_thread *self);

#endif
