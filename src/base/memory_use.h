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

struct memory_use {
	uint64_t count;
	uint64_t heap;   /* from malloc */
	uint64_t mapped; /* by mmap, or static: what was touched */
};

/* Returns the bytes of a block from malloc, its head included; 0 for NULL. */
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

#endif
