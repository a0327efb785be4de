/* SPDX-License-Identifier: MIT
 * The lines by which another process, or a later one, goes on with ejections of
 * servers (later.h): when they end, and the next one of which length follows.
 *
 * All functions run on the control thread.
 */
#ifndef SERVERS_EJECTIONS_LATER_H
#define SERVERS_EJECTIONS_LATER_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "handover/later.h"

/* The beginning of each line. */
#define EJECTIONS_LINE LATER "ejected\t"

struct server_followup;

/* Writes a line for each server that is ejected, or was so that its next
 * ejection lasts longer (model/ejection.h). */
void ejections_write(struct server_followup *f, FILE *out);

/* Ejects the server of a line until the time that the line has.  Returns false
 * with err set if the server is gone or has another address. */
bool ejections_read(
    struct server_followup *f, const char *line, struct err *err) MUST_CHECK;

#endif
