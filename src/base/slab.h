/* SPDX-License-Identifier: MIT
 * A slab: objects of one size that are used again and again.
 *
 * Memory comes in chunks, stays mapped and never holds anything else (it is
 * type-stable), so a stale index or pointer still points to an object of the
 * right type.  An object keeps its index forever.  Any thread may take and give
 * objects.  The free list is a stack without locks; only growing by a chunk
 * takes a lock.
 */
#ifndef BASE_SLAB_H
#define BASE_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/err.h"
#include "base/lock.h"

#define SLAB_CHUNK 64 /* objects in a chunk */

struct slab_options {
	size_t size;  /* of an object; rounded up to a cache line */
	uint32_t max; /* objects, at most 2^31 */
	bool pages;   /* each in pages of its own, for slab_forget */
	/* Called once for each object, before it is first taken, on the thread
	 * that made the slab grow.  Returns false when memory is short.  May be
	 * NULL. */
	bool (*construct)(void *object, uint32_t index, void *arg);
	void *arg;
};

struct slab {
	uint64_t free CACHE_LINE_ALIGNED; /* tag 32 | index + 1: the top */
	uint32_t used CACHE_LINE_ALIGNED; /* taken now */
	/* In chunks so far; [P5] released with a chunk. */
	uint32_t made CACHE_LINE_ALIGNED;
	struct slab_options options;
	void **chunks;
	/* The free list's links: index + 1.  Apart from the objects, whose
	 * chunks are whole pages then if 64 objects are. */
	uint32_t *next;
	struct lock grow;
};

/* Initializes an empty slab.  Returns 0 or -ENOMEM. */
int slab_init(struct slab *slab, const struct slab_options *options) MUST_CHECK;

/* Frees the memory of the slab; no thread may use an object any more.  A slab
 * of all zeros is allowed. */
void slab_fini(struct slab *slab);

/* Takes an object.  Returns NULL when max objects are taken or memory is short.
 * The contents are those when the object was given back; at first they are
 * zero, or as construct left them. */
void *slab_take(struct slab *slab, uint32_t *ret_index);
/* Returns the object to the free list. The caller must not use it any more. */
void slab_give(struct slab *slab, uint32_t index);

/* Gives the memory of an object in pages of its own back to the system; the
 * object is zero then.  Called by the thread that has taken the object. */
void slab_forget(struct slab *slab, uint32_t index);

/* Returns the object with that index, which is less than slab_made().  Any
 * thread. */
void *slab_at(const struct slab *slab, uint32_t index);

/* Returns the bytes mapped for all objects that were made.  Objects in pages of
 * their own count in full, including pages that were never touched or were
 * forgotten.  Any thread. */
uint64_t slab_mapped(const struct slab *slab);

/* Returns the number of objects that were ever made.  Indexes are less than
 * this.  Any thread. */
static inline uint32_t
slab_made(const struct slab *slab)
{
	return atomic_load_acquire(&slab->made); /* [P5] */
}

/* Returns the number of objects in use, in one total order with slab_give.  Any
 * thread. */
static inline uint32_t
slab_used(const struct slab *slab)
{
	return atomic_load_seq(&slab->used); /* [P12] */
}

#endif
