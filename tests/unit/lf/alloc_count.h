/* SPDX-License-Identifier: MIT
 * Counts what chosen threads take from the heap.
 *
 * The linker sends every call of malloc and its kin in lfproxy's own code here
 * (--wrap in the Makefile), so it works under the sanitizers as well; what libc
 * allocates for itself is not seen.
 */
#ifndef UNIT_LF_ALLOC_COUNT_H
#define UNIT_LF_ALLOC_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* The calling thread: its allocations count from here on, or no longer. */
void alloc_count_thread(bool on);

/* Any thread: allocations counted so far. */
uint64_t alloc_count(void);

#endif
