/* SPDX-License-Identifier: MIT
 * A bounded ring of records: many threads put records, one thread takes them,
 * and none waits.
 *
 * Vyukov's bounded queue: every cell has a sequence number that says whose turn
 * it is.  A full ring refuses.
 */
#ifndef BASE_RING_H
#define BASE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring;

/* Makes a ring.  cells: a power of two, 2 or more.  size: that of a record.
 * Returns NULL when memory is short. */
struct ring *ring_new(size_t cells, size_t size);
/* Frees the ring. No thread may use it any more. */
void ring_free(struct ring *ring);

/* Copies the record into the ring.  Returns false when the ring is full.  Any
 * thread.  A put is a sequentially consistent write, so a load_seq that follows
 * it may look whether the taker sleeps. */
bool ring_put(struct ring *ring, const void *record);

/* Takes the oldest entry.  Only one thread may call this at a time.  Returns
 * false when the ring is empty. */
bool ring_take(struct ring *ring, void *ret_record);

#endif
