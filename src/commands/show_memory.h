/* SPDX-License-Identifier: MIT
 * `show memory`: the memory of the process by kind of object, and the part of
 * the heap that no kind accounts for.
 */
#ifndef COMMANDS_SHOW_MEMORY_H
#define COMMANDS_SHOW_MEMORY_H

#include "commands/report.h"
#include "control/memory.h"

struct memory_report {
	struct memory_rows rows;
	struct memory_totals totals;
};

/* Writes the memory; the caller ends the report. */
void show_memory_put(struct report *r, const struct memory_report *report);

#endif
