/* SPDX-License-Identifier: MIT
 * The record of an ended session as a row of a report, for `show closed` and
 * `show failures`.
 */
#ifndef COMMANDS_CLOSED_ROW_H
#define COMMANDS_CLOSED_ROW_H

#include "commands/report.h"
#include "proxy/closed.h"

/* Writes the session.  Members that the access log has as well have its names.
 */
void closed_row_put(struct report *report, const struct closed_session *closed);

#endif
