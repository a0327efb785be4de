/* SPDX-License-Identifier: MIT
 * The step of a session that the gate holds.
 *
 *   ACCEPTED, INSPECTING --> HELD: for s->hold_ms, without reading a byte
 *                        --> a tarpit: closed
 *                            a delay: on as from ACCEPTED, or to the next part
 *                            of the inspection
 *
 * The timeouts of the client begin after a delay.  A tarpit ends early when the
 * client leaves, and when lfproxy drains.
 */
#ifndef PROXY_HELD_H
#define PROXY_HELD_H

#include "proxy/session_step.h"

/* Enters HELD.  The session is in ACCEPTED or INSPECTING and has a hold_ms.
 * Runs on the session's owner. */
struct verdict held_begin(struct session *s, struct pool_thread *self);

/* Acts on the deadline of a session in HELD and on the client's end.  Returns
 * STEP_RESUME when a delay is over.  pending: the claim's bits.  Runs on the
 * session's owner. */
struct verdict held_step(
    struct session *s, uint32_t pending, struct pool_thread *self);

#endif
