/* SPDX-License-Identifier: MIT
 * malloc and its kin in front of the C library's: each calls heap_note() first,
 * which the one file that includes this defines.
 */
#ifndef TOOLS_HEAP_HOOKS_H
#define TOOLS_HEAP_HOOKS_H

#include <errno.h>
#include <stdlib.h>

static void heap_note(void);

/* glibc's own names for what it would call malloc, and so on. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *
malloc(size_t size)
{
	heap_note();
	return __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	heap_note();
	return __libc_calloc(n, size);
}

void *
realloc(void *old, size_t size)
{
	heap_note();
	return __libc_realloc(old, size);
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	heap_note();
	return __libc_memalign(alignment, size);
}

int
posix_memalign(void **ret_p, size_t alignment, size_t size)
{
	void *p;

	heap_note();
	p = __libc_memalign(alignment, size);
	if (!p)
		return ENOMEM;
	*ret_p = p;
	return 0;
}

#endif
