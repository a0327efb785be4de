/* SPDX-License-Identifier: MIT
 * Lines about what commands do not tell: values of the file and places of
 * servers (commands/carry_over.h), ends of changes (commands/expiring.h),
 * drains (drains.h), ejections (ejections_later.h), events (events_later.h) and
 * the audit log (commands/audit.h), for the process that takes over in an
 * upgrade (net/handover.h) and for the state file (commands/state_file.h).
 *
 *   later KIND<TAB>NAME=VALUE<TAB>NAME=VALUE...
 *
 * A reader skips names that it does not know.  Times are those of
 * clock_wall_us, in ms, so that they mean the same after a restart.
 */
#ifndef HANDOVER_LATER_H
#define HANDOVER_LATER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/model.h"

#define LATER          "later "
#define LATER_LINE_MAX 4000

/* Returns whether the line has that KIND. */
bool later_is(const char *line, const char *kind);

/* Copies the value with that name to out, with a NUL.  Returns false if there
 * is none, or it does not fit. */
bool later_text(const char *line, const char *name, char *out, size_t size);

/* Returns the number with that name, or 0 if there is none. */
uint64_t later_number(const char *line, const char *name);

/* Returns the server with the name BACKEND/NAME, or NULL. */
struct server *later_find_server(const struct model *model, const char *name);

/* Returns the server that the line names, as `server=BACKEND/NAME`, or NULL. */
struct server *later_server(const char *line, const struct model *model);

/* Returns the present time of the wall clock. */
uint64_t later_wall_ms(void);

/* Returns the clock_now_ms at which the wall clock shows, or has shown,
 * wall_ms; 0 if that was before the machine's start. */
uint64_t later_from_wall_ms(uint64_t wall_ms);

/* Returns the time of the wall clock at the clock_now_ms at_ms. */
uint64_t later_to_wall_ms(uint64_t at_ms);

#endif
