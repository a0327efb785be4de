/* SPDX-License-Identifier: MIT
 * The memory of lfproxy by kind of object, and the totals of malloc, with which
 * the sum can be compared.
 */
#ifndef LIVE_MEMORY_H
#define LIVE_MEMORY_H

#include <stddef.h>

#include "base/memory_use.h"

struct control;

/* A kind of object. */
struct memory_row {
	const char *what;
	struct memory_use use;
	uint64_t kernel; /* bytes that the kernel keeps for these objects */
	const char *note;
};

#define MEMORY_ROWS_MAX 40
struct memory_rows {
	struct memory_row rows[MEMORY_ROWS_MAX];
	size_t n;
};

/* Adds a row.  The caller adds at most MEMORY_ROWS_MAX rows. */
void memory_rows_add(struct memory_rows *rows, const char *what,
    struct memory_use use, uint64_t kernel, const char *note);

/* Adds rows for the memory of this layer and of those below.  Looks at ten
 * blocks for each server, so 500 servers take 0.1 ms.  Runs on the control
 * thread. */
void memory_rows_fill(struct memory_rows *rows, struct control *control);

/* The totals that malloc and the kernel report; 0 where unknown. */
struct memory_totals {
	uint64_t heap;      /* allocated by malloc */
	uint64_t heap_idle; /* kept by malloc for later allocations */
	uint64_t resident;
};
/* Fills the totals. */
void memory_totals_read(struct memory_totals *ret_totals);

#endif
