/* SPDX-License-Identifier: MIT
 * The step of a session that the gate holds.
 *
 *   ACCEPTED, INSPECTING --> HELD: for s->hold_ms, without reading a byte
 *                        --> a tarpit: closed
 *                            a delay: on as from ACCEPTED, or to the next part
 *                            of the inspection
 *
 * The times that a client has begin after a delay.  A tarpit ends early when
 * the client leaves, and when lfproxy stops.
 */
#ifndef PROXY_HELD_H
#define PROXY_HELD_H

#include "proxy/session_step.h"

/* The owner of a session in ACCEPTED or INSPECTING with a hold_ms: enters HELD.
 */
struct verdict held_begin(struct session *s, struct pool_thread *self);

/* The owner of a session in HELD: acts on its deadline and on the client's end.
 * Returns STEP_RESUME when a delay is over.  pending: the claim's bits. */
struct verdict held_step(
    struct session *s, uint32_t pending, struct pool_thread *self);

#endif
