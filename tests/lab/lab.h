/* SPDX-License-Identifier: MIT
 * What the files of the laboratory's proxy share.
 *
 * The lab links the library layers as they are.  Where an experiment changes
 * what they do, the linker puts a function of the lab before theirs (--wrap),
 * so that src knows nothing of experiments.
 */
#ifndef LAB_LAB_H
#define LAB_LAB_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lf/pool.h"

/* Set before the pool starts, not changed afterwards. */
struct lab_faults {
	unsigned slow_percent;  /* of all sessions, by their slot */
	unsigned slow_permille; /* of all sessions' turns, at random */
	unsigned slow_ms;       /* such a turn blocks for so long */
	unsigned busy_permille; /* of all sessions' turns, at random */
	unsigned busy_us;       /* such a turn computes for so long */
	uint64_t wake_ns;  /* in the place of what was measured; 0: measure */
	uint64_t awake_ns; /* in the place of POLICY_AWAKE_NS; 0: that one */
	bool mutex;        /* promotion_mutex instead of promotion_futex */
	bool no_copy;      /* hshr.c: hand over handlers, not requests */
};

extern struct lab_faults lab_faults;

/* Calls of malloc and its kin by the pool's threads so far. */
uint64_t lab_allocations(void);
/* The calling thread is not a pool's: its allocations do not count. */
void lab_allocations_exempt(void);

/* One JSON object in one line: what the process and its pool have used and
 * counted since the start. */
void lab_status_print(FILE *out, struct pool *pool);

#endif
