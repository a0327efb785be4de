/* SPDX-License-Identifier: MIT
 * HAProxy's commands that change a frontend or the whole process; see
 * command.h.
 */
#ifndef COMMANDS_COMMANDS_FRONTEND_H
#define COMMANDS_COMMANDS_FRONTEND_H

#include "commands/command.h"

bool run_enable_frontend(struct call *call);
bool run_disable_frontend(struct call *call);
bool run_shutdown_frontend(struct call *call);
bool run_set_maxconn_frontend(struct call *call);
bool run_set_maxconn_global(struct call *call);
bool run_set_rate_limit(struct call *call);
bool run_clear_counters(struct call *call);

#endif
