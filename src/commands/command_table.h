/* SPDX-License-Identifier: MIT
 * All commands, a row each.
 */
#ifndef COMMANDS_COMMAND_TABLE_H
#define COMMANDS_COMMAND_TABLE_H

#include <stddef.h>

#include "commands/command.h"

/* By their words, as `help` lists them; the last COMMANDS_ALWAYS end every
 * list. */
extern const struct command commands[];
extern const size_t commands_n;
#define COMMANDS_ALWAYS 3

/* command.c */
bool run_help(struct call *call);

/* Whether the command itself refuses arguments that it does not know, for every
 * client.  Those of the others are held against the usage, for lfproxyctl alone
 * (usage.h). */
bool command_checks_args(const struct command *command);

#endif
