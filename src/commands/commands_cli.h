/* SPDX-License-Identifier: MIT
 * Commands about the connection itself; see command.h.
 */
#ifndef COMMANDS_COMMANDS_CLI_H
#define COMMANDS_COMMANDS_CLI_H

#include "commands/command.h"

bool run_operator(struct call *call);
bool run_user(struct call *call);
bool run_prompt(struct call *call);
bool run_quit(struct call *call);
bool run_set_severity(struct call *call);
bool run_set_timeout(struct call *call);
bool run_show_cli_level(struct call *call);
bool run_show_changes(struct call *call);

#endif
