/* SPDX-License-Identifier: MIT
 * `show capacity`: how much of each limited resource is in use, and when it
 * will be exhausted.
 */
#ifndef COMMANDS_SHOW_CAPACITY_H
#define COMMANDS_SHOW_CAPACITY_H

#include "commands/report.h"
#include "control/capacity.h"

/* Writes a row; now_s is the time from which the time of exhaustion is
 * counted. */
void capacity_put_row(
    struct report *report, const struct capacity_row *row, int64_t now_s);

#endif
