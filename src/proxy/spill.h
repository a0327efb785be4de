/* SPDX-License-Identifier: MIT
 * Spills: what a side could not take at once.
 *
 * One read's worth at most, because a direction with a spill does not read: the
 * sender waits, and memory is bounded.  Any thread takes and gives; the memory
 * of those that nobody needs goes back to the system.
 */
#ifndef PROXY_SPILL_H
#define PROXY_SPILL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"

/* One read at most, and so what one blocked direction may have to keep. */
#define RELAY_BUFFER (64u * 1024)

struct spill {
	uint32_t index;    /* in the slab */
	uint32_t from, to; /* the unsent bytes of data */
	bool used;         /* since its memory was given back */
	uint8_t data[RELAY_BUFFER];
};

struct spills {
	struct slab slab;
	uint32_t used; /* that have memory, taken or not */
	uint32_t idle; /* control thread: not taken, at the last trim */
};

/* So many are looked at by one trim: some 20 ms, and 256 MiB. */
#define SPILLS_TRIM_MAX 4096u

/* max: at a time, those included that a trim has taken for a moment.
 * 0 or -ENOMEM. */
int spills_init(struct spills *spills, uint32_t max);
void spills_fini(struct spills *spills);

/* NULL when memory is short. */
struct spill *spills_take(struct spills *spills);
void spills_give(struct spills *spills, struct spill *spill);

/* Control thread, about once a second: gives back the memory of as many spills
 * as nobody needed since the last call. */
void spills_trim(struct spills *spills);

#endif
