/* SPDX-License-Identifier: MIT
 * Pending data: what a side could not take at once.
 *
 * At most the bytes of one read, because a direction with pending data does not
 * read: the sender waits, and memory is bounded.  Any thread may take and give
 * buffers; the memory of idle buffers goes back to the system.
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

/* A read's bytes, as they are or in TLS records. */
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
	    idle; /* of these, not taken at the last trim; control thread */
};

/* The most buffers that one trim looks at: some 20 ms, and 256 MiB. */
#define PENDING_TRIM_MAX 4096u

/* Makes room for max buffers at a time, including those that a trim takes for a
 * moment.  Returns 0 or -ENOMEM. */
int pending_pool_init(struct pending_pool *pool, uint32_t max) MUST_CHECK;
/* Frees all buffers.  Called after the pools have ended. */
void pending_pool_fini(struct pending_pool *pool);

/* Takes a buffer.  Returns NULL when out of memory.  May be called by any
 * thread. */
struct pending *pending_take(struct pending_pool *pool);

/* Returns a buffer to the pool.  May be called by any thread. */
void pending_give(struct pending_pool *pool, struct pending *pending);

/* Control thread, about once a second: gives back the memory of as many buffers
 * as were idle since the last call. */
void pending_trim(struct pending_pool *pool);

#endif
