/* SPDX-License-Identifier: MIT
 * When a session has to be looked at: all its timeouts in one place.
 *
 * The functions run on the session's owner.  Times are clock_now_ms; UINT64_MAX
 * stands for never.
 */
#ifndef PROXY_SESSION_DEADLINE_H
#define PROXY_SESSION_DEADLINE_H

#include "proxy/session_step.h"

/* Sets the deadline that follows from state and activity; the reaper leaves
 * NOTE_TIMEOUT when it has passed.  Activity alone does not call this function:
 * at the old deadline the session finds that it was active, and sets a new one.
 */
void session_set_deadline(struct session *s, struct pool_thread *self);

/* Returns whether the deadline has passed and was not acted on so far. */
bool session_deadline_passed(
    const struct session *s, const struct pool_thread *self);

/* timeout_first_byte: returns when the client will have been silent for too
 * long.  The time begins when the connection is accepted, or when its PROXY
 * header is complete, and goes on through all states.  Never, once the client
 * has sent a byte or has finished sending, and while the PROXY header is still
 * to come.  Does not look for unread bytes in the socket. */
uint64_t session_first_byte_ends_ms(const struct session *s);

/* Returns whether that time is over and the client has sent nothing.  Looks for
 * unread bytes in the socket when the time is over, and remembers in s->spoke
 * that there were some: they are not read before a server is connected. */
bool session_first_byte_is_late(
    struct session *s, const struct pool_thread *self);

/* The owner of a session in HELD: returns when the hold is over, clock_now_ms;
 * that of a tarpit at once while lfproxy drains. */
uint64_t session_hold_ends_ms(
    const struct session *s, const struct proxy *proxy);

/* Returns when timeout_hello is over, clock_now_ms. */
uint64_t session_hello_ends_ms(const struct session *s);

/* timeout_handshake: returns when the TLS handshake with the client will have
 * taken too long. */
uint64_t session_handshake_ends_ms(const struct session *s);

/* The state is RELAYING or later, and the deadline has passed: closes the
 * session if one of its limits is reached, else sets the next deadline and
 * relays. */
struct verdict session_relay_timeout(
    struct session *s, struct pool_thread *self);

#endif
