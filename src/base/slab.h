/* SPDX-License-Identifier: MIT
 * A slab: objects of one size that are used again and again.
 *
 * Memory comes in chunks, stays mapped and never holds anything else (it is
 * type-stable), so a stale index or pointer still points to an object of the
 * right type.  An object keeps its index forever.  Any thread may take and
 * give; the free list is a stack without locks, only growing by a chunk locks.
 */
#ifndef BASE_SLAB_H
#define BASE_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"
#include "base/err.h"
#include "base/lock.h"
#include "base/memory_use.h"

#define SLAB_CHUNK 64 /* objects in a chunk */

struct slab_chunk;

struct slab_options {
	size_t size;  /* of an object; rounded up to a cache line */
	uint32_t max; /* objects, at most 2^31 */
	bool pages;   /* each in pages of its own, for slab_forget */
	/* Called once for each object, before it is first taken, on the thread
	 * that made the chunk grow.  May be NULL. */
	bool (*construct)(void *object, uint32_t index, void *arg);
	void *arg;
};

struct slab {
	uint64_t free CACHE_LINE_ALIGNED; /* tag 32 | index + 1: the top */
	uint32_t used CACHE_LINE_ALIGNED; /* taken now */
	/* In chunks so far; [P5] released with a chunk. */
	uint32_t made CACHE_LINE_ALIGNED;
	struct slab_options options;
	size_t offset; /* of the first object in a chunk */
	struct slab_chunk **chunks;
	struct lock grow;
};

/* Returns 0 or -ENOMEM. */
int slab_init(struct slab *slab, const struct slab_options *options) MUST_CHECK;

/* No object may be in use by another thread.  NULL-safe for a zeroed slab. */
void slab_fini(struct slab *slab);

/* Returns NULL when max are taken or memory is short.  The contents are what
 * they were when the object was given back (zero at first). */
void *slab_take(struct slab *slab, uint32_t *ret_index);
/* Returns the object to the free list. The caller must not use it any more. */
void slab_give(struct slab *slab, uint32_t index);

/* The taker, of an object in pages of its own: its memory goes back to the
 * system, and the object is zero again. */
void slab_forget(struct slab *slab, uint32_t index);

/* index < slab_made().  Any thread. */
void *slab_at(const struct slab *slab, uint32_t index);

/* Returns the number of objects in use, and the bytes mapped for all objects
 * that were made.  Objects in pages of their own count in full, including pages
 * that were never touched or were forgotten. */
struct memory_use slab_memory(const struct slab *slab);

/* Objects that were ever made: indexes run from 0 to this. */
static inline uint32_t
slab_made(const struct slab *slab)
{
	return atomic_load_acquire(&slab->made); /* [P5] */
}

static inline uint32_t
slab_used(const struct slab *slab)
{
	return atomic_load_relaxed(&slab->used);
}

#endif
