/* SPDX-License-Identifier: MIT
 * An area of memory that core dumps leave out.
 *
 * The area is 512 MiB of addresses, reserved once.  Pages are used from its
 * beginning on, as needed, and kept.  Any thread; a lock is held for a moment.
 */
#ifndef TLS_MEMORY_AREA_H
#define TLS_MEMORY_AREA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/atomics.h"

#define TLS_MEMORY_AREA_SIZE ((size_t)512 << 20)

/* The start of the area; NULL: there is none yet.  Read by
 * tls_memory_area_has. */
extern char *tls_memory_area;

/* Returns whether the block is in the area. */
static inline bool
tls_memory_area_has(const void *block)
{
	const char *from = atomic_load_acquire(&tls_memory_area); /* [P30] */

	return from &&
	       (uintptr_t)block - (uintptr_t)from < TLS_MEMORY_AREA_SIZE;
}

/* Returns a block, or NULL if the area is full or cannot be reserved. */
void *tls_memory_area_malloc(size_t size);

/* Returns the size of a block of the area in bytes, at least the size asked
 * for. */
size_t tls_memory_area_size(const void *block);

/* Wipes and frees a block of the area. */
void tls_memory_area_free(void *block);

#endif
