/* SPDX-License-Identifier: MIT
 * See memory_area.h.
 *
 * The area is divided into slices.  A slice has blocks of one size, a power of
 * two; a block larger than a slice takes several.  Freed blocks are listed by
 * size for the next of that size; slices never change their size again.
 */
#include "tls/memory_area.h"

#include <openssl/crypto.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/atomics.h"
#include "base/lock.h"

#define SLICE_BITS 16
#define SLICE_SIZE ((size_t)1 << SLICE_BITS)
#define SLICES     (TLS_MEMORY_AREA_SIZE / SLICE_SIZE)

/* The smallest block has 32 bytes, the largest 32 MiB. */
#define CLASS_BITS_MIN 5
#define CLASS_BITS_MAX 25
#define CLASSES        (CLASS_BITS_MAX + 1)

struct free_block {
	struct free_block *next;
};

static struct lock area_lock = LOCK_INITIALIZER;
char *tls_memory_area; /* written once */
static bool area_failed;
/* Under the lock, except for bits, which is written before a block is
 * returned. */
static size_t slices_used;
static uint8_t bits[SLICES]; /* of the size of a slice's blocks */
static struct free_block *free_blocks[CLASSES];

/* Reserves the area.  Caller holds the lock. */
static bool
area_reserve(void)
{
	void *at;

	if (tls_memory_area || area_failed)
		return tls_memory_area != NULL;
	at = mmap(NULL, TLS_MEMORY_AREA_SIZE, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at != MAP_FAILED &&
	    madvise(at, TLS_MEMORY_AREA_SIZE, MADV_DONTDUMP) == 0)
		atomic_store_release(&tls_memory_area, (char *)at); /* [P30] */
	else
		area_failed = true;
	return tls_memory_area != NULL;
}

static unsigned
class_of(size_t size)
{
	unsigned class = CLASS_BITS_MIN;

	while (class < CLASS_BITS_MAX && ((size_t)1 << class) < size)
		class ++;
	return class;
}

/* Takes slices for blocks of a class, and adds these to the free list.  Caller
 * holds the lock. */
static bool
slices_take(unsigned class)
{
	size_t block_size = (size_t)1 << class;
	size_t n = block_size > SLICE_SIZE ? block_size >> SLICE_BITS : 1;
	char *from = tls_memory_area + (slices_used << SLICE_BITS);

	if (n > SLICES - slices_used ||
	    mprotect(from, n << SLICE_BITS, PROT_READ | PROT_WRITE) < 0)
		return false;
	for (size_t i = 0; i < n; i++)
		bits[slices_used + i] = (uint8_t) class;
	slices_used += n;
	for (size_t at = n << SLICE_BITS; at > 0; at -= block_size) {
		struct free_block *block =
		    (struct free_block *)(void *)(from + at - block_size);

		block->next = free_blocks[class];
		free_blocks[class] = block;
	}
	return true;
}

void *
tls_memory_area_malloc(size_t size)
{
	unsigned class = class_of(size);
	struct free_block *block = NULL;

	if (size > (size_t)1 << CLASS_BITS_MAX)
		return NULL;
	lock_acquire_leaf(&area_lock);
	if (area_reserve() && (free_blocks[class] || slices_take(class))) {
		block = free_blocks[class];
		free_blocks[class] = block->next;
	}
	lock_release(&area_lock);
	return block;
}

size_t
tls_memory_area_size(const void *block)
{
	size_t at = (size_t)((uintptr_t)block - (uintptr_t)tls_memory_area);

	return (size_t)1 << bits[at >> SLICE_BITS];
}

void
tls_memory_area_free(void *block)
{
	size_t size = tls_memory_area_size(block);
	struct free_block *freed = block;
	unsigned class = class_of(size);

	OPENSSL_cleanse(block, size);
	lock_acquire_leaf(&area_lock);
	freed->next = free_blocks[class];
	free_blocks[class] = freed;
	lock_release(&area_lock);
}
