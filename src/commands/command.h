/* SPDX-License-Identifier: MIT
 * The commands of the admin socket: dispatch, rights and `help`, driven by one
 * table (commands.h).
 *
 * Control thread.
 */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include "commands/setting_access.h"

/* Checks of arguments, see commands.h. */
enum command_args { ARGS_USAGE, ARGS_STRICT, ARGS_OWN };

/* A row of COMMANDS_TABLE. */
struct command {
	const char *words;
	enum admin_level level;
	bool (*run)(struct call *call);
	enum command_args args;
	const char *usage;
	const char *help;
	struct setting_access setting; /* .describe NULL: none */
};

extern const struct command commands[];
extern const size_t commands_n;

/* Returns command number i of HAProxy's about objects that lfproxy never has,
 * or NULL behind the last.  `help` does not show them. */
const struct command *absent_command(size_t i);

/* Ends the first command of a line at its `;`.  Returns the start of the next
 * one, or NULL.  Keeps backslashes. */
char *command_split(char *line);

/* Returns whether the last command of a line may be run in this mode and takes
 * a payload: its usage ends with `<payload>`. */
bool command_takes_payload(const struct command_mode *mode, const char *line);

/* Runs one command, cutting its text into words in place.  payload: the lines
 * that followed it; NULL: none.  Writes the answer to out, without the empty
 * line that ends it.  Returns the remaining parts of a long answer, or NULL:
 * the caller calls more until it returns false, and then free. */
struct answer_rest *command_run(const struct command_env *env,
    struct command_mode *mode, char *text, const char *payload, FILE *out);

/* Describes the setting that a command would change; the text is cut into
 * words.  Returns false if the command is not one of a setting, or its object
 * does not exist. */
bool command_describe(const struct command_env *env, char *text,
    struct setting *ret_setting) MUST_CHECK;

/* Writes the output of `lfproxy --list-commands`: level, usage and help of each
 * command, separated by tabs. */
void admin_list_commands(FILE *out);

#endif
