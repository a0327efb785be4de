/* SPDX-License-Identifier: MIT
 * The commands of the admin socket: dispatch, rights and `help`, driven by one
 * table (commands.h).
 *
 * Control thread.
 */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include "commands/call.h"

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

/* Runs a command that sets a value again, for whoever had set another one; its
 * answer is dropped.  Cuts the text up.  False with an error. */
bool command_put_back(const struct command_env *env, const struct peer *who,
    char *text, struct err *err);

/* What that command would change, see undo.h; false: there is no such thing any
 * more. */
struct undo;
bool command_undo(
    const struct command_env *env, char *text, struct undo *ret_undo);

/* `lfproxy --list-commands`: level, usage and help of each, tab between. */
void admin_list_commands(FILE *out);

#endif
