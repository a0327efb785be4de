/* SPDX-License-Identifier: MIT
 * See commands.h.
 */
#include "commands/commands.h"

#include "commands/command.h"

#define COMMAND_ROW(words, level, function, arguments, usage, help)            \
	{(words), (level), (function), (arguments), (usage), (help)},

const struct command commands[] = {COMMANDS_TABLE(COMMAND_ROW)};
const size_t commands_n = sizeof(commands) / sizeof(commands[0]);
