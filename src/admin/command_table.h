/* SPDX-License-Identifier: MIT
 * All commands, a row each.
 */
#ifndef ADMIN_COMMAND_TABLE_H
#define ADMIN_COMMAND_TABLE_H

#include <stddef.h>

#include "admin/command.h"

/* By their words, as `help` lists them; the last COMMANDS_ALWAYS end every
 * list. */
extern const struct command commands[];
extern const size_t commands_n;
#define COMMANDS_ALWAYS 3

/* command.c */
bool run_help(struct call *call);

#endif
