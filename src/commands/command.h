/* SPDX-License-Identifier: MIT
 * The commands of the admin socket: one table (command_table.c) that drives
 * dispatch, rights, `help` and the list that the man page is checked against.
 *
 * Errors and wording follow HAProxy 2.6.  How a command is written:
 *
 *	bool
 *	run_set_weight(struct call *call)
 *	{
 *		...
 *		if (!server)
 *			return err_set(call->err, "No such server.");
 *		server_set_weight(server, weight, "admin");
 *		call_audit(call, before, after, "server %s/%s weight", ...);
 *		return true;
 *	}
 *
 * and a row of the table says from which level on it may be called; below that
 * it is answered `Permission denied`, whatever its arguments.
 */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

#include "commands/audit.h"
#include "commands/peer.h"
#include "stats/answer.h"

/* As in HAProxy: look; see what may be confidential, and put counters back;
 * change. */
enum command_level { LEVEL_USER, LEVEL_OPERATOR, LEVEL_ADMIN };

/* Whether messages start with `[3]: ` (number) or `[err]: ` (string).  With
 * status, which is lfproxyctl's, they do not; but the last line of each answer
 * is COMMAND_STATUS, with 0, or with 1 after an error. */
enum severity_output {
	SEVERITY_NONE,
	SEVERITY_NUMBER,
	SEVERITY_STRING,
	SEVERITY_STATUS,
};
#define COMMAND_STATUS "[status %u]\n"

/* syslog's, as in HAProxy. */
enum severity {
	SEVERITY_ERR = 3,
	SEVERITY_WARNING = 4,
	SEVERITY_NOTICE = 5,
	SEVERITY_INFO = 6,
};

/* What a connection has set for itself, and who it is. */
struct command_mode {
	enum command_level level;
	enum severity_output severity;
	bool prompt;
	bool failed; /* the present command's answer is an error */
	bool quit;   /* nothing more is to be read or answered */
	double timeout_s;
	struct peer peer;
};

/* One call of a command. */
struct call {
	const struct command_env *env;
	struct command_mode *mode;
	char **words; /* all of them, NULL-terminated */
	char **args;  /* those after the command's own */
	FILE *out;
	struct err *err;
	/* What run leaves here goes out after what it wrote; it becomes the
	 * caller's.  Not with an error. */
	struct answer_rest *rest;
	/* Before and behind what is audited; NULL: nothing. */
	const char *audit_prefix, *audit_suffix;
};

struct command {
	const char *words;
	enum command_level level;
	/* False: err is the answer. */
	bool (*run)(struct call *call);
	const char *args; /* the usage, see usage.h */
	const char *help;
};

/* The message's severity, if the connection has asked for it.  SEVERITY_ERR
 * makes the answer an error. */
void call_severity(const struct call *call, enum severity severity);

/* A message with its severity, and a newline. */
void call_say(const struct call *call, enum severity severity, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

/* Makes the answer an error whose message has a lesser severity in HAProxy. */
void call_fail(const struct call *call);

/* Whether arguments that HAProxy ignores are errors: lfproxyctl asks. */
bool call_is_strict(const struct call *call);

/* Whether the arguments from there on fit the usage (usage.h); else an error,
 * if call_is_strict. */
bool call_fits(struct call *call, const char *usage, unsigned from);

/* Whether there are no arguments; else an error. */
bool call_takes_none(struct call *call);

/* To be called by every command that has changed something: what it was, and
 * what it is now.  See audit_note. */
void call_audit(const struct call *call, const char *before, const char *after,
    const char *what, ...) __attribute__((format(printf, 4, 5)));

/* "user", "operator", "admin". */
const char *command_level_name(enum command_level level);

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

/* Errors of the floors below begin in lower case and have no full stop.
 * Always false. */
bool err_as_sentence(struct err *err);

/* `lfproxy --list-commands`: level, usage and help of each, tab between. */
void admin_list_commands(FILE *out);

#endif
