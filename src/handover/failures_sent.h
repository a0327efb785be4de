/* SPDX-License-Identifier: MIT
 * The table of failures for another process, which goes on counting: a round
 * moves out all cells that have counted something since the last one.
 *
 * All functions run on the control thread.
 */
#ifndef HANDOVER_FAILURES_SENT_H
#define HANDOVER_FAILURES_SENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy/failures.h"

/* How many cells a step sends. */
#define FAILURES_SENT_STEP 100

struct failures_sent {
	bool begun;
	uint32_t at;    /* see failures_take */
	size_t size;    /* of an image that the channel had no room for */
	uint8_t *image; /* FAILURES_IMAGE_MAX bytes, or NULL */
};

/* Begins a round.  Does nothing while a round is under way. */
void failures_sent_begin(struct failures_sent *sent);

/* Does a part of the round.  Returns 0 when the round is complete.  Returns
 * -EAGAIN while there is more to do: the caller calls again; if *ret_full, when
 * the channel can be written. */
int failures_sent_step(struct failures_sent *sent, struct failures *failures,
    int channel, bool *ret_full);

/* Frees the members, not the struct. */
void failures_sent_fini(struct failures_sent *sent);

#endif
