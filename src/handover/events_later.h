/* SPDX-License-Identifier: MIT
 * The lines by which another process, or a later one, goes on with the events
 * (later.h) and their numbers.
 *
 * All functions run on the control thread.
 */
#ifndef HANDOVER_EVENTS_LATER_H
#define HANDOVER_EVENTS_LATER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "handover/later.h"

/* The beginning of each line. */
#define EVENTS_LINE LATER "event\t"

/* Writes a line for each event. */
void events_write(FILE *out);

/* Writes a line for each event with a number above after, but for those of this
 * process's end.  The reader gives these events the next numbers of its own. */
void events_write_after(uint64_t after, FILE *out);

/* Adds the event of a line, unlogged.  Ignores kinds that this process does not
 * know. */
void events_read(const char *line);

#endif
