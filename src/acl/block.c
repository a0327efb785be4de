/* SPDX-License-Identifier: MIT
 * See block.h.
 */
#include "acl/block.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define LINE      ((size_t)64)

void *
acl_block_alloc(size_t n, size_t size)
{
	size_t bytes, unit;
	void *block;

	if (n > (SIZE_MAX - HUGE_PAGE) / size)
		return NULL;
	bytes = n * size;
	unit = bytes < HUGE_PAGE ? LINE : HUGE_PAGE;
	bytes = (bytes + unit - 1) / unit * unit;
	block = aligned_alloc(unit, bytes);
	if (block && unit == HUGE_PAGE)
		(void)madvise(block, bytes, MADV_HUGEPAGE);
	return block;
}
