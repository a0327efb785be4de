/* SPDX-License-Identifier: MIT
 * Large blocks of memory for look-ups.
 */
#ifndef ACL_BLOCK_H
#define ACL_BLOCK_H

#include <stddef.h>

/* Returns a block for n elements of that size, in cache lines of its own, or
 * NULL when memory is short.  free(3) frees it.  A large block is in huge pages
 * if the kernel has some: with small pages, a random access often waits for the
 * page tables as well. */
void *acl_block_alloc(size_t n, size_t size);

#endif
