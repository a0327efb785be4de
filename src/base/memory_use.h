/* SPDX-License-Identifier: MIT
 * Memory use: the number of objects of a kind, and their bytes.
 *
 * A heap block counts with all bytes that the allocator has set aside for it,
 * so that the sums can be compared with the allocator's own statistics.
 */
#ifndef BASE_MEMORY_USE_H
#define BASE_MEMORY_USE_H

#include <malloc.h>
#include <stdint.h>

#include "base/atomics.h"

struct memory_use {
	uint64_t count;
	uint64_t heap;   /* from malloc */
	uint64_t mapped; /* from the system: mmap, static; what was touched */
};

/* A block of malloc's with its head; NULL is none. */
static inline uint64_t
memory_of_block(const void *block)
{
	union {
		const void *from;
		void *to;
	} it = {.from = block};

	return block ? malloc_usable_size(it.to) + sizeof(size_t) : 0;
}

static inline void
memory_add_block(struct memory_use *use, const void *block)
{
	use->heap += memory_of_block(block);
}

static inline void
memory_add(struct memory_use *use, const struct memory_use *more)
{
	use->count += more->count;
	use->heap += more->heap;
	use->mapped += more->mapped;
}

/* Counts the memory of a library whose allocations go through these functions;
 * relaxed. */
struct memory_count {
	uint64_t blocks, bytes;
};

static inline void *
memory_count_taken(struct memory_count *count, void *block)
{
	if (block) {
		atomic_add_relaxed(&count->blocks, UINT64_C(1));
		atomic_add_relaxed(&count->bytes, memory_of_block(block));
	}
	return block;
}

static inline void
memory_count_given(struct memory_count *count, const void *block)
{
	if (!block)
		return;
	atomic_sub_relaxed(&count->blocks, UINT64_C(1));
	atomic_sub_relaxed(&count->bytes, memory_of_block(block));
}

static inline struct memory_use
memory_count_read(const struct memory_count *count)
{
	return (struct memory_use){.count = atomic_load_relaxed(&count->blocks),
	    .heap = atomic_load_relaxed(&count->bytes)};
}

#endif
