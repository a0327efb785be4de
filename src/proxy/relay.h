/* SPDX-License-Identifier: MIT
 * Moving bytes between the two sides of a session.
 */
#ifndef PROXY_RELAY_H
#define PROXY_RELAY_H

#include "proxy/session.h"

/* One turn moves at most about this much: some 100 us of copying. */
#define RELAY_BUDGET (256u * 1024)

/* What a side could not take at once.  One read's worth at most: a direction
 * with a spill does not read. */
struct spill {
	uint32_t index;    /* in the slab, fixed */
	uint32_t from, to; /* the unsent bytes of data */
	uint8_t data[RELAY_BUFFER];
};

/* The owner, from RELAYING on: moves what can be moved within the budget,
 * passes on ends and resets. */
enum turn relay_step(struct session *session, struct pool_thread *self);

/* The owner, from RELAYING on: a deadline has passed; ends the session if one
 * really has. */
enum turn relay_timeout(struct session *session, struct pool_thread *self);

/* When that side's silence ends the session, clock_now_ms; UINT64_MAX when it
 * is not its turn. */
uint64_t relay_side_deadline(
    const struct session *session, enum handle_side side);

bool spill_construct(void *object, uint32_t index, void *arg);

#endif
