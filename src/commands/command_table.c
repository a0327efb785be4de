/* SPDX-License-Identifier: MIT
 * See commands.h.
 */
#include "commands/command.h"
#include "commands/commands.h"

#define COMMAND_ROW(words, level, function, arguments, usage, help)            \
	{(words), LEVEL_##level, (function), ARGS_##arguments, (usage),        \
	    (help), {NULL, NULL, 0, 0}},
#define SETTING_ROW(words, level, function, arguments, describe, restore,      \
    names, args_min, usage, help)                                              \
	{(words), LEVEL_##level, (function), ARGS_##arguments,                 \
	    usage " [for <duration>]", (help),                                 \
	    {(describe), (restore), (names), (args_min)}},

const struct command commands[] = {COMMANDS_TABLE(COMMAND_ROW, SETTING_ROW)};
const size_t commands_n = sizeof(commands) / sizeof(commands[0]);
