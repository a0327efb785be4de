/* SPDX-License-Identifier: MIT
 * Counts the heap's use by the pool's threads: malloc and its kin of the whole
 * process, libraries included, in front of the C library's.
 */
#include "base/atomics.h"
#include "lab.h"
#include "tools/heap_hooks.h"

static uint64_t count;
static __thread bool exempt;

static void
heap_note(void)
{
	if (!exempt)
		(void)atomic_add_relaxed(&count, 1u);
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
