/* SPDX-License-Identifier: MIT
 * Commands that HAProxy does not have; see command.h.
 */
#ifndef COMMANDS_COMMANDS_OWN_H
#define COMMANDS_COMMANDS_OWN_H

#include "commands/command.h"

bool run_clear_loop(struct call *call);
bool run_reload(struct call *call);
bool run_set_pool(struct call *call);
bool run_show_pool(struct call *call);
bool run_show_threads(struct call *call);

#endif
