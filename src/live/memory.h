/* SPDX-License-Identifier: MIT
 * The memory of lfproxy: the objects of its slabs and pools, and the totals of
 * malloc and of the kernel.
 */
#ifndef LIVE_MEMORY_H
#define LIVE_MEMORY_H

#include <stdint.h>

#include "process/system_facts.h"

struct control;

/* A kind of object. */
struct memory_row {
	const char *what;
	uint64_t count;
	uint64_t mapped; /* bytes mapped for all objects that were made */
	uint64_t kernel; /* bytes that the kernel keeps for them */
	const char *note;
};

#define MEMORY_ROWS 7

/* The totals that malloc and the kernel report; 0 where unknown. */
struct memory_totals {
	uint64_t heap;      /* allocated by malloc */
	uint64_t heap_idle; /* kept by malloc for later allocations */
	struct system_memory kernel;
};

struct memory_facts {
	struct memory_row rows[MEMORY_ROWS];
	struct memory_totals totals;
};

/* Reads the facts.  Runs on the control thread. */
void memory_facts_read(struct control *control, struct memory_facts *ret_facts);

#endif
