/* SPDX-License-Identifier: MIT
 * Commands of HAProxy's that report and change nothing; see command.h.
 */
#ifndef COMMANDS_COMMANDS_SHOW_H
#define COMMANDS_COMMANDS_SHOW_H

#include "commands/command.h"

bool run_show_backend(struct call *call);
bool run_show_cli_sockets(struct call *call);
bool run_show_env(struct call *call);
bool run_show_errors(struct call *call);
bool run_show_schema(struct call *call);
bool run_show_table(struct call *call);
bool run_show_version(struct call *call);

#endif
