/* SPDX-License-Identifier: MIT
 * How a command that sets a value is undone: by the same command, with the
 * value that there is before it is run.
 *
 * A command that can end in `for DURATION` has a row here (undo.c) and needs
 * nothing else; see expiring.h.
 */
#ifndef COMMANDS_UNDO_H
#define COMMANDS_UNDO_H

#include "commands/command.h"

#define UNDO_VALUE_SIZE 512
#define UNDO_NAME_SIZE  80

struct undo {
	/* What is set, as the audit calls it: `server app/a weight`. */
	char subject[2 * UNDO_NAME_SIZE + 48];
	/* Around the value: `set server app/a state `, and what is behind. */
	char command[2 * UNDO_NAME_SIZE + 48], tail[2 * UNDO_NAME_SIZE];
	/* At present, and in the file; the latter "" where the file says
	 * nothing of it, or what it says does not undo what was ordered. */
	char value[UNDO_VALUE_SIZE], file[UNDO_VALUE_SIZE];
	/* A reload puts the file's value in force, whatever it was. */
	bool reload_resets;
	/* The command may answer that it changes nothing, and not fail. */
	bool may_refuse;
	/* Whom it is about, for the events; "" for nobody. */
	char proxy[UNDO_NAME_SIZE], part[UNDO_NAME_SIZE];
	/* Its state or weight: the operator decides anew about a drain. */
	struct server *server;
	const char *of_server; /* "state" or "weight" */
};

enum undo_answer {
	UNDO_IS_KNOWN,
	UNDO_IS_WRONG,     /* the command is: it will say why itself */
	UNDO_IS_IMPOSSIBLE /* there is no former value; err says so */
};

/* With the command's own arguments, before or after it is run. */
enum undo_answer undo_of(
    struct call *call, const struct command *command, struct undo *ret_undo);

/* How many arguments such a command has at least, 0: it is none of them; and
 * which these are. */
unsigned undo_args(const struct command *command);
#define UNDO_COMMANDS                                                          \
	"set server, set weight, set maxconn, set rate-limit, set pool, and "  \
	"enable or disable server, health, agent, frontend"

#endif
