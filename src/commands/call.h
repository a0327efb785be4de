/* SPDX-License-Identifier: MIT
 * The call of a command: its environment, and functions by which commands read
 * arguments, answer, and record changes.
 *
 *	bool
 *	run_set_weight(struct call *call)
 *	{
 *		struct server *server = call_server(call, call_arg(call, 0));
 *
 *		if (!server)
 *			return false;
 *		...
 *		call_audit(call, before, after, "server %s/%s weight", ...);
 *		return true;
 *	}
 *
 * A command returns false after setting call->err, which becomes the answer.
 * Errors and wording follow HAProxy 3.0 where HAProxy has the command.
 *
 * Commands run on the control thread.
 */
#ifndef COMMANDS_CALL_H
#define COMMANDS_CALL_H

#include <stdbool.h>
#include <stdio.h>

#include "commands/audit.h"
#include "commands/peer.h"
#include "config/hint.h"
#include "model/spec.h"
#include "stats/answer.h"

/* How a connection marks messages.  NUMBER: messages start with `[3]: `.
 * STRING: messages start with `[err]: `.  STATUS, used by lfproxyctl: the last
 * line of each answer is COMMAND_STATUS, with 0 for success, 1 for an error. */
enum severity_output {
	SEVERITY_NONE,
	SEVERITY_NUMBER,
	SEVERITY_STRING,
	SEVERITY_STATUS,
};
#define COMMAND_STATUS "[status %u]\n"

/* The severities of syslog, as in HAProxy. */
enum severity {
	SEVERITY_ERR = 3,
	SEVERITY_WARNING = 4,
	SEVERITY_NOTICE = 5,
	SEVERITY_INFO = 6,
};

/* The settings and the peer of one connection. */
struct command_mode {
	enum admin_level level;
	enum severity_output severity;
	bool prompt;
	bool timed;  /* the prompt has the time since the start */
	bool failed; /* the answer to the present command is an error */
	bool quit;   /* close without reading or answering anything more */
	double timeout_s;
	struct peer peer;
};

struct command;

struct call {
	const struct command_env *env;
	struct command_mode *mode;
	const struct command *command;
	char **args; /* the words after the command's own, NULL-terminated */
	/* The lines that followed the command's, as text; NULL: none.  Only
	 * for a command whose usage ends with `<payload>`. */
	const char *payload;
	FILE *out;
	struct err *err;
	/* The remaining parts of a long answer, set by the command and owned
	 * by the caller afterwards.  NULL after an error. */
	struct answer_rest *rest;
	/* Put around the text of audit lines; NULL: nothing. */
	const char *audit_prefix, *audit_suffix;
};

/* Names in the configuration are shorter than this. */
#define CALL_NAME_SIZE 64

/* Returns "user", "operator" or "admin". */
const char *command_level_name(enum admin_level level);

/* The most words of one command, as in HAProxy. */
#define WORDS_MAX 64

/* Returns the number of words; the array ends with NULL. */
size_t words_count(char *const *words);

/* Cuts text into words at blanks, resolving backslashes in place.  words ends
 * with NULL.  Returns false when there are more than WORDS_MAX words. */
bool words_cut(char *text, char *words[WORDS_MAX + 1]);

/* -- answers -- */

/* Writes the severity if the connection has asked for it.  SEVERITY_ERR makes
 * the answer an error. */
void call_severity(const struct call *call, enum severity severity);

/* Writes a message with its severity, and a newline. */
void call_say(const struct call *call, enum severity severity, const char *fmt,
    ...) __attribute__((format(printf, 3, 4)));

/* Marks the answer as an error, though HAProxy gives its message a lesser
 * severity. */
void call_fail(const struct call *call);

/* Records a change in the audit log, see audit_note.  Every command that has
 * changed something calls it. */
void call_audit(const struct call *call, const char *before, const char *after,
    const char *what, ...) __attribute__((format(printf, 4, 5)));

/* Records the change of a number. */
void call_audit_number(const struct call *call, uint64_t before, uint64_t after,
    const char *what, ...) __attribute__((format(printf, 4, 5)));

/* Records a change of the server: `server BACKEND/NAME what`. */
void call_audit_server(const struct call *call, const struct server *server,
    const char *what, const char *before, const char *after);

/* Turns an error text of the layers below, which begins in lower case and has
 * no full stop, into a sentence.  Always returns false. */
bool err_as_sentence(struct err *err);

/* Adds to call->err, if a predecessor has handed over to this process, that
 * what it had not committed has ended with it, and that the command `again`
 * begins another one.  Always returns false. */
bool call_ended_before(struct call *call, const char *again);

/* -- arguments -- */

/* Returns argument number i, "" if there is none. */
const char *call_arg(const struct call *call, unsigned i);

/* Returns whether arguments that HAProxy ignores are errors, which lfproxyctl
 * asks for. */
bool call_is_strict(const struct call *call);

/* Returns the first argument that does not fit the usage, or NULL.  HAProxy
 * ignores such arguments; lfproxyctl notices `show stat jsno` by them.  A usage
 * consists of words, each any text (`<name>`) or one of several (`a|b`), and of
 * groups in brackets, which are optional, and may be repeated where a `*`
 * follows.  Missing arguments are not detected.  args ends with NULL. */
const char *usage_unexpected(const char *usage, char *const *args);

/* Returns whether the arguments from number `from` on fit the usage.
 * Sets call->err otherwise. */
bool call_fits(struct call *call, const char *usage, unsigned from);

/* Removes the word `json` if it is the last argument, and returns whether it
 * was there. */
bool call_take_json(struct call *call);

/* Sets call->err to HAProxy's words for a name that does not exist.  For
 * lfproxyctl, adds the name that hint has found near, or all that were offered.
 * Always returns false. */
bool call_no_such(
    struct call *call, const char *words, const struct hint *hint);

#define FRONTEND_NAMES(spec) NAME_TABLE((spec)->frontends, (spec)->frontends_n)
#define BACKEND_NAMES(spec)  NAME_TABLE((spec)->backends, (spec)->backends_n)

/* Does the same with the names of a table. */
bool call_no_such_of(struct call *call, const char *words, const char *name,
    const struct name_table *names);

/* Does the same with the names of frontends and backends. */
bool call_no_such_proxy(struct call *call, const char *name);

/* Returns the length of the backend's name in `BACKEND/SERVER`, or 0 with
 * call->err set if one of the names is missing. */
size_t call_backend_len(struct call *call, const char *name);

/* Looks up the backend of `BACKEND/SERVER`, where there need not be such a
 * server.  Returns NULL with call->err set. */
struct backend *call_server_backend(
    struct call *call, const char *name, const char **ret_server);

/* Looks up `BACKEND/SERVER`.  Returns NULL with call->err set. */
struct server *call_server(struct call *call, const char *name);

/* Looks up a frontend.  Returns NULL with call->err set. */
struct frontend *call_frontend(struct call *call, const char *name);

/* Looks up a backend; *ret_backend is NULL, for all of them, if the name is
 * "".  Returns false with call->err set. */
bool call_backend(
    struct call *call, const char *name, const struct backend **ret_backend);

/* Parses a whole number from 0 to max.  Returns false with call->err set, to
 * `missing` if the text is not a number. */
bool call_number(struct call *call, const char *text, const char *missing,
    uint64_t max, uint64_t *ret_n);

/* Parses a duration, or a bare number of units of unit_ms, that is within the
 * range.  Returns false without an error text. */
bool call_time(const char *text, uint64_t unit_ms, uint64_t min_ms,
    uint64_t max_ms, uint64_t *ret_ms) MUST_CHECK;

/* Returns whether an option is not given a second time: the bit is not in
 * *given, and is added.  Sets call->err otherwise. */
bool call_once(
    struct call *call, const char *option, unsigned *given, unsigned bit);

/* Parses the value of an option like `older`, an age: a duration, or a number
 * of seconds.  Returns false with call->err set. */
bool call_age(
    struct call *call, const char *option, const char *text, uint64_t *ret_ms);

/* Parses the value of an option like `over`, a duration within the range.
 * Returns false with call->err set, also for "". */
bool call_duration(struct call *call, const char *option, const char *text,
    uint64_t min_ms, uint64_t max_ms, uint64_t *ret_ms);

#endif
