/* SPDX-License-Identifier: MIT
 * The sums of the counters for another process, which continues them: a line
 * `OBJECT COUNTER N` for each frontend, backend and server and each of its
 * counters, in two forms.
 *
 *   NUMBER COUNTER N                 in an upgrade: the successor's number
 *                                    for the object (net/handover.h), and how
 *                                    much was counted since the last such line
 *   counter KIND NAME... COUNTER N   in the state file: the sum
 *
 * All functions run on the control thread.
 */
#ifndef HANDOVER_COUNTERS_LINES_H
#define HANDOVER_COUNTERS_LINES_H

#include <stdio.h>

#include "handover/names_known.h"
#include "model/model.h"
#include "proxy/successor.h"

/* The beginning of each line of the state file. */
#define COUNTERS_LINE "counter "

/* The sums that the successor has, in the order of the model's objects.
 * Starts zeroed. */
struct counters_sent {
	uint64_t *sums; /* NULL: none yet */
};

/* Writes what was counted since the last call, for the objects that the
 * successor knows.  The model has to be the same in all calls.  Returns false
 * when memory is short. */
bool counters_write_numbered(struct counters_sent *sent,
    const struct model *model, const struct successor *to,
    FILE *out) MUST_CHECK;

/* Adds what the lines have to the counters of these objects.  Changes the
 * text. */
void counters_read_numbered(const struct names_known *names, char *lines);

/* Writes all sums that are not 0. */
void counters_write_named(const struct model *model, FILE *out);

/* Adds the sum of a line to the counter in the model.  Ignores objects and
 * counters that are not there.  Changes the line. */
void counters_read_named(const struct model *model, char *line);

/* Frees the members, not the struct. */
void counters_sent_fini(struct counters_sent *sent);

#endif
