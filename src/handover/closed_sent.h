/* SPDX-License-Identifier: MIT
 * The records of ended sessions for another process, which goes on showing
 * them.  They are collected in steps, the latest first, and sent the oldest
 * first.
 *
 * All functions run on the control thread.
 */
#ifndef HANDOVER_CLOSED_SENT_H
#define HANDOVER_CLOSED_SENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy/closed.h"

/* How many records a step reads or sends. */
#define CLOSED_SENT_STEP 200

struct closed_sent {
	struct closed_walk *walk; /* NULL: this round has collected all */
	uint8_t *images;          /* each is followed by its size, a size_t */
	size_t size, room;        /* those that are left to send */
	uint64_t sent_ns;   /* the latest record of all rounds before this */
	uint64_t latest_ns; /* and of this one */
};

/* Begins a round, which sends the sessions that have ended since the last one.
 * Does nothing while a round is under way. */
void closed_sent_begin(
    struct closed_sent *sent, const struct closed_rings *rings);

/* Does a part of the round.  Returns 0 when the round is complete.  Returns
 * -EAGAIN while there is more to do: the caller calls again; if *ret_full, when
 * the channel can be written. */
int closed_sent_step(struct closed_sent *sent, int channel, bool *ret_full);

/* Frees the members, not the struct. */
void closed_sent_fini(struct closed_sent *sent);

#endif
