/* SPDX-License-Identifier: MIT
 * See alloc_count.h.
 */
#include "lf/alloc_count.h"

#include <stddef.h>

#include "base/atomics.h"

/* What --wrap calls the two sides. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

static __thread bool counted;
static uint64_t allocations;

static void
count(void)
{
	if (counted)
		atomic_add_relaxed(&allocations, 1u);
}

void *
__wrap_malloc(size_t size)
{
	count();
	return __real_malloc(size);
}

void *
__wrap_calloc(size_t n, size_t size)
{
	count();
	return __real_calloc(n, size);
}

void *
__wrap_realloc(void *old, size_t size)
{
	count();
	return __real_realloc(old, size);
}

void *
__wrap_aligned_alloc(size_t alignment, size_t size)
{
	count();
	return __real_aligned_alloc(alignment, size);
}

void
alloc_count_thread(bool on)
{
	counted = on;
}

uint64_t
alloc_count(void)
{
	return atomic_load_relaxed(&allocations);
}
