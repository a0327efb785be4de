/* SPDX-License-Identifier: MIT
 * The commands of the admin socket: dispatch, rights and `help`, driven by one
 * table (commands.h).
 *
 * Control thread.
 */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include "commands/setting.h"

/* Who checks the arguments, see commands.h. */
enum command_args { ARGS_USAGE, ARGS_OWN };

/* A row of COMMANDS_TABLE. */
struct command {
	const char *words;
	enum command_level level;
	bool (*run)(struct call *call);
	enum command_args args;
	const char *usage;
	const char *help;
	struct setting_access setting; /* .describe NULL: none */
};

extern const struct command commands[];
extern const size_t commands_n;

/* Ends the first command of a line at its `;` and returns where the next one
 * starts, NULL when there is none.  Backslashes are kept. */
char *command_split(char *line);

/* Runs one command, whose text is cut up in place.  The answer goes to out
 * without the empty line that ends it.  What is left of it, or NULL: the
 * caller calls more until it is false, and then free. */
struct answer_rest *command_run(const struct command_env *env,
    struct command_mode *mode, char *text, FILE *out);

/* `lfproxy --list-commands`: level, usage and help of each, tab between. */
void admin_list_commands(FILE *out);

#endif
