/* SPDX-License-Identifier: MIT
 * `show info`: the process, in HAProxy's keys and order, and behind them ours.
 */
#ifndef COMMANDS_SHOW_INFO_H
#define COMMANDS_SHOW_INFO_H

#include "commands/command.h"

bool run_show_info(struct call *call);

#endif
