/* SPDX-License-Identifier: MIT
 * Counts the heap's use by the pool's threads: malloc and its kin of the whole
 * process, libraries included, in front of the C library's.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/atomics.h"
#include "lab.h"

/* glibc's own names for what it would call malloc, and so on. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static uint64_t count;
static __thread bool exempt;

static void
note(void)
{
	if (!exempt)
		(void)atomic_add_relaxed(&count, 1u);
}

void *
malloc(size_t size)
{
	note();
	return __libc_malloc(size);
}

void *
calloc(size_t n, size_t size)
{
	note();
	return __libc_calloc(n, size);
}

void *
realloc(void *old, size_t size)
{
	note();
	return __libc_realloc(old, size);
}

void *
aligned_alloc(size_t alignment, size_t size)
{
	note();
	return __libc_memalign(alignment, size);
}

int
posix_memalign(void **ret_p, size_t alignment, size_t size)
{
	void *p;

	note();
	p = __libc_memalign(alignment, size);
	if (!p)
		return ENOMEM;
	*ret_p = p;
	return 0;
}

uint64_t
lab_allocations(void)
{
	return atomic_load_relaxed(&count);
}

void
lab_allocations_exempt(void)
{
	exempt = true;
}
