/* SPDX-License-Identifier: MIT
 * Counts what the pools' threads take from the heap of a program that this is
 * preloaded into: calls of malloc and its kin, libraries included.  The count
 * is in the file that ALLOC_COUNT names (tools/pool_count.h).
 */
#include "tools/heap_hooks.h"
#include "tools/pool_count.h"

__attribute__((constructor)) static void
open_alloc_count(void)
{
	pool_count_open("ALLOC_COUNT");
}

static void
heap_note(void)
{
	pool_count_note();
}
