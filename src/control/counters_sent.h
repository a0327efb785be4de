/* SPDX-License-Identifier: MIT
 * The sums of the counters for another process, which continues them: they are
 * written as differences to what it has got so far.
 *
 * All functions run on the control thread.
 */
#ifndef CONTROL_COUNTERS_SENT_H
#define CONTROL_COUNTERS_SENT_H

#include <stdio.h>

#include "model/model.h"
#include "proxy/successor.h"

struct counters_sent {
	uint64_t
	    *sums; /* in the order of the model's objects; NULL: none yet */
};

/* Writes `NUMBER COUNTER N` lines (net/handover.h) for what was counted since
 * the last call, for the objects that the other process knows.  The model has
 * to be the same in all calls.  Returns false when memory is short. */
bool counters_sent_write(struct counters_sent *sent, const struct model *model,
    const struct successor *to, FILE *out) MUST_CHECK;

/* Frees the members, not the struct. */
void counters_sent_fini(struct counters_sent *sent);

#endif
