/* SPDX-License-Identifier: MIT
 * Pending data: what a side could not take at once.
 *
 * One read's worth at most, because a direction with pending data does not
 * read: the sender waits, and memory is bounded.  Any thread takes and gives;
 * the memory of those that nobody needs goes back to the system.
 */
#ifndef PROXY_PENDING_H
#define PROXY_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/slab.h"

/* One read at most, and so what one blocked direction may have to keep. */
#define RELAY_BUFFER (64u * 1024)

struct pending {
	uint32_t index;    /* in the slab */
	uint32_t from, to; /* the unsent bytes of data */
	bool used;         /* since its memory was given back */
	uint8_t data[RELAY_BUFFER];
};

struct pending_pool {
	struct slab slab;
	uint32_t used; /* that have memory, taken or not */
	uint32_t idle; /* control thread: not taken, at the last trim */
};

/* So many are looked at by one trim: some 20 ms, and 256 MiB. */
#define PENDING_TRIM_MAX 4096u

/* max: at a time, those included that a trim has taken for a moment.
 * 0 or -ENOMEM. */
int pending_pool_init(struct pending_pool *pool, uint32_t max);
void pending_pool_fini(struct pending_pool *pool);

/* NULL when memory is short. */
struct pending *pending_take(struct pending_pool *pool);
void pending_give(struct pending_pool *pool, struct pending *pending);

/* Control thread, about once a second: gives back the memory of as many
 * pending_pool as nobody needed since the last call. */
void pending_trim(struct pending_pool *pool);

#endif
