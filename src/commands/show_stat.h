/* SPDX-License-Identifier: MIT
 * `show stat`: the rows of stats/stat_rows.h.
 */
#ifndef COMMANDS_SHOW_STAT_H
#define COMMANDS_SHOW_STAT_H

#include "commands/command.h"

bool run_show_stat(struct call *call);

#endif
