/* SPDX-License-Identifier: MIT
 * The records of ended sessions that another process goes on to show: collected
 * the latest first, in steps, and sent the oldest first.
 *
 * All functions run on the control thread.
 */
#ifndef CONTROL_CLOSED_SENT_H
#define CONTROL_CLOSED_SENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy/closed.h"

/* Records that a step reads or sends. */
#define CLOSED_SENT_STEP 200

struct closed_sent {
	struct closed_walk *walk; /* NULL: all of this round are collected */
	uint8_t *images;          /* each followed by its size, a size_t */
	size_t size, room;        /* those that are left to send */
	uint64_t sent_ns;   /* the latest record of all rounds before this */
	uint64_t latest_ns; /* and of this one */
};

/* Begins a round with what has ended since the last one.  Does nothing while a
 * round is under way. */
void closed_sent_begin(
    struct closed_sent *sent, const struct closed_rings *rings);

/* Does a part of the round.  Returns -EAGAIN while some is left: the caller
 * calls again, *ret_full: when the channel can be written; else 0. */
int closed_sent_step(struct closed_sent *sent, int channel, bool *ret_full);

/* Frees the members, not the struct. */
void closed_sent_fini(struct closed_sent *sent);

#endif
