/* SPDX-License-Identifier: MIT
 * See side.h.
 */
#include "proxy/side.h"

#include "base/ensure.h"

/* The next end for each event; 0, which is SIDE_OPEN: no row, because no event
 * leads back to SIDE_OPEN. */
static const uint8_t next_ends[SIDE_GONE + 1][EVENT_SENT_FIN + 1] = {
#define X(end, event, next, why) [SIDE_##end][EVENT_##event] = SIDE_##next,
    SIDE_ENDS_TABLE(X)
#undef X
};

void
side_note(struct side *side, enum side_event event)
{
	uint8_t next = next_ends[side->end][event];

	ENSURE(next != SIDE_OPEN);
	side->end = next;
}
