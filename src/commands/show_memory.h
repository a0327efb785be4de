/* SPDX-License-Identifier: MIT
 * `show memory`: what the process's memory goes to.
 */
#ifndef COMMANDS_SHOW_MEMORY_H
#define COMMANDS_SHOW_MEMORY_H

#include <stdio.h>

#include "base/err.h"
#include "control/memory.h"
#include "control/pss.h"

/* All there is to tell. */
struct memory_report {
	struct memory_rows rows;
	struct memory_totals totals;
	struct pss pss;
};

void memory_put_text(FILE *out, const struct memory_report *report);
/* False with err set when memory is short. */
bool memory_put_json(
    FILE *out, const struct memory_report *report, struct err *err);

#endif
