/* SPDX-License-Identifier: MIT
 * The commands of the admin socket: one table that drives dispatch, `help`
 * and the list that the man page is checked against.
 *
 * Errors and wording follow HAProxy 2.6, with one exception: an unknown
 * command has the severity of an error (HAProxy: info), so that a program can
 * tell.
 */
#ifndef ADMIN_COMMAND_H
#define ADMIN_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "control/control.h"

enum command_level { LEVEL_USER, LEVEL_OPERATOR, LEVEL_ADMIN };

/* Whether messages start with `[3]: ` (number) or `[err]: ` (string). */
enum severity_output { SEVERITY_NONE, SEVERITY_NUMBER, SEVERITY_STRING };

/* What a connection has set for itself. */
struct command_mode {
	enum command_level level;
	enum severity_output severity;
	bool prompt;
	bool quit; /* nothing more is to be read or answered */
	double timeout_s;
};

/* What commands work on. */
struct command_env {
	struct control *control; /* borrowed */
};

/* Ends the first command of a line at its `;` and returns where the next one
 * starts, NULL when there is none.  Backslashes are kept. */
char *command_split(char *line);

/* Runs one command, whose text is cut up in place.  The answer goes to out
 * without the empty line that ends it. */
void command_run(const struct command_env *env, struct command_mode *mode,
    char *text, FILE *out);

/* `lfproxy --list-commands`: level, usage and help of each, tab between. */
void admin_list_commands(FILE *out);

#endif
