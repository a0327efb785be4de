/* SPDX-License-Identifier: MIT
 * `show memory`: the memory of the process by kind of object, and the part of
 * the heap that no kind accounts for.
 */
#ifndef COMMANDS_SHOW_MEMORY_H
#define COMMANDS_SHOW_MEMORY_H

#include <stdio.h>

#include "base/err.h"
#include "control/memory.h"

struct memory_report {
	struct memory_rows rows;
	struct memory_totals totals;
};

/* Writes the report as a table. */
void memory_put_text(FILE *out, const struct memory_report *report);

/* Writes the report as a JSON object.  Returns false with err set when memory
 * is exhausted. */
bool memory_put_json(
    FILE *out, const struct memory_report *report, struct err *err);

#endif
