/* SPDX-License-Identifier: MIT
 * Pending data: what a side could not take at once.
 *
 * A direction has at most the bytes of one read pending, because it does not
 * read while it has any: the sender waits, and memory is bounded.  Any thread
 * may take and give buffers.  The memory of idle buffers goes back to the
 * system.
 */
#ifndef PROXY_PENDING_H
#define PROXY_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/slab.h"
#include "tls/conn.h"

/* The size of a read, and so the most that one direction has pending. */
#define RELAY_BUFFER (64u * 1024)

/* The room for the bytes of one read, as they are or in TLS records. */
#define PENDING_SIZE TLS_RECORDS_MAX(RELAY_BUFFER)
_Static_assert(
    PENDING_SIZE >= TLS_FLIGHT_MAX, "answers to a read would not fit");

struct pending {
	uint32_t index;    /* in the slab */
	uint32_t from, to; /* the unsent bytes of data */
	bool used;         /* since its memory was given back */
	uint8_t data[PENDING_SIZE];
};

struct pending_pool {
	struct slab slab;
	uint32_t used; /* buffers with memory, taken or not */
	uint32_t
	    idle; /* with memory, not taken at the last trim; control thread */
};

/* The most buffers that one trim looks at: this takes some 20 ms, for some 256
 * MiB. */
#define PENDING_TRIM_MAX 4096u

/* Initializes the pool.  max: how many buffers may exist at a time, including
 * those that a trim takes for a moment.  Returns 0 or -ENOMEM. */
int pending_pool_init(struct pending_pool *pool, uint32_t max) MUST_CHECK;
/* Frees all buffers.  To be called after the pools have ended. */
void pending_pool_fini(struct pending_pool *pool);

/* Takes a buffer.  Returns NULL when out of memory.  Any thread. */
struct pending *pending_take(struct pending_pool *pool);

/* Returns a buffer to the pool.  Any thread. */
void pending_give(struct pending_pool *pool, struct pending *pending);

/* Gives back the memory of as many buffers as have been idle since the last
 * call.  Runs on the control thread, about once a second. */
void pending_trim(struct pending_pool *pool);

#endif
