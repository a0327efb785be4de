/* SPDX-License-Identifier: MIT
 * See command.h.
 */
#include "admin/command.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "admin/set_pool.h"
#include "admin/show_info.h"
#include "admin/show_pool.h"
#include "admin/show_stat.h"
#include "admin/show_threads.h"
#include "base/text.h"

#define WORDS_MAX 64 /* as in HAProxy */

/* syslog's, as in HAProxy. */
enum severity { SEVERITY_ERR = 3, SEVERITY_INFO = 6 };

/* One call of a command.  words holds all of them, NULL-terminated; args
 * those after the command's own. */
struct call {
	const struct command_env *env;
	struct command_mode *mode;
	char **words;
	char **args;
	FILE *out;
	struct err *err;
};

struct command {
	const char *words;
	enum command_level level;
	bool (*run)(struct call *call); /* false: err is the answer */
	const char *args;
	const char *help;
};

static void
put_severity(const struct command_mode *mode, enum severity severity, FILE *out)
{
	if (mode->severity == SEVERITY_NUMBER)
		fprintf(out, "[%d]: ", severity);
	else if (mode->severity == SEVERITY_STRING)
		fprintf(
		    out, "[%s]: ", severity == SEVERITY_ERR ? "err" : "info");
}

static bool
no_args(struct call *call)
{
	if (!call->args[0])
		return true;
	return err_set(call->err,
	    "Unexpected argument '%s'; this command takes none.",
	    call->args[0]);
}

static bool run_help(struct call *call);

static bool
run_prompt(struct call *call)
{
	call->mode->prompt = !call->mode->prompt;
	return true;
}

static bool
run_quit(struct call *call)
{
	call->mode->quit = true;
	return true;
}

static bool
run_operator(struct call *call)
{
	if (call->mode->level > LEVEL_OPERATOR)
		call->mode->level = LEVEL_OPERATOR;
	return true;
}

static bool
run_user(struct call *call)
{
	call->mode->level = LEVEL_USER;
	return true;
}

static bool
run_set_severity(struct call *call)
{
	const char *how = call->args[0] ? call->args[0] : "";

	if (strcmp(how, "none") == 0)
		call->mode->severity = SEVERITY_NONE;
	else if (strcmp(how, "number") == 0)
		call->mode->severity = SEVERITY_NUMBER;
	else if (strcmp(how, "string") == 0)
		call->mode->severity = SEVERITY_STRING;
	else
		return err_set(call->err,
		    "one of 'none', 'number', 'string' is a required argument");
	return true;
}

/* A bare number is seconds here, because it is in HAProxy and hatop sends
 * one. */
static bool
run_set_timeout(struct call *call)
{
	const char *text = call->args[0];
	uint64_t seconds, ms;
	struct err why;

	if (!text)
		return err_set(call->err, "Expects an integer value.");
	if (text_parse_number(text, 1, 86400, &seconds, &why))
		ms = seconds * 1000;
	else if (!text_parse_duration(text, 1000, 86400000, &ms, &why))
		return err_set(call->err,
		    "Invalid timeout value: 1 to 86400 seconds, or with a "
		    "unit, as in 5m.");
	call->mode->timeout_s = (double)ms / 1e3;
	return true;
}

static const char *
level_name(enum command_level level)
{
	static const char *const names[] = {
	    [LEVEL_USER] = "user",
	    [LEVEL_OPERATOR] = "operator",
	    [LEVEL_ADMIN] = "admin",
	};

	return names[level];
}

static bool
run_show_cli_level(struct call *call)
{
	if (!no_args(call))
		return false;
	put_severity(call->mode, SEVERITY_INFO, call->out);
	fprintf(call->out, "%s\n", level_name(call->mode->level));
	return true;
}

static bool
run_show_info(struct call *call)
{
	if (!no_args(call))
		return false;
	show_info(call->env->control, call->out);
	return true;
}

/* Errors of the floors below begin in lower case and have no full stop. */
static bool
as_sentence(struct err *err)
{
	size_t len = strlen(err->text);

	err->text[0] = (char)toupper((unsigned char)err->text[0]);
	if (len + 1 < sizeof(err->text))
		strcpy(err->text + len, ".");
	return false;
}

/* `[POOL] [json]`; the pool is NULL when all are meant. */
static bool
take_pool(struct call *call, struct pool **ret_pool, bool *ret_json)
{
	char **args = call->args;
	size_t n = 0;

	while (args[n])
		n++;
	*ret_json = n > 0 && strcmp(args[n - 1], "json") == 0;
	n -= *ret_json;
	*ret_pool = NULL;
	if (n > 1)
		return err_set(call->err,
		    "Unexpected argument '%s'; give one pool's name or none, "
		    "and json or nothing.",
		    args[1]);
	if (n == 0)
		return true;
	*ret_pool =
	    pools_find(control_pools(call->env->control), args[0], call->err);
	return *ret_pool || as_sentence(call->err);
}

static bool
run_show_pool(struct call *call)
{
	struct pool *pool;
	bool json;

	return take_pool(call, &pool, &json) &&
	       (show_pool(control_pools(call->env->control), pool, json,
	            call->out, call->err) ||
	           as_sentence(call->err));
}

static bool
run_show_threads(struct call *call)
{
	struct pool *pool;
	bool json;

	return take_pool(call, &pool, &json) &&
	       (show_threads(control_pools(call->env->control), pool, json,
	            call->out, call->err) ||
	           as_sentence(call->err));
}

static bool
run_set_pool(struct call *call)
{
	return set_pool(
	           control_pools(call->env->control), call->args, call->err) ||
	       as_sentence(call->err);
}

static bool
run_show_stat(struct call *call)
{
	return show_stat(call->env->control, (const char *const *)call->args,
	    call->out, call->err);
}

static const struct command commands[] = {
    {"operator", LEVEL_OPERATOR, run_operator, "",
        "lower the level of the current CLI session to operator"},
    {"set pool", LEVEL_ADMIN, run_set_pool, "<pool> <what> <value>",
        "change threads, shards, promotion, order, or cpus of a pool"},
    {"set severity-output", LEVEL_USER, run_set_severity,
        "[none|number|string]",
        "set presence of severity level in feedback information"},
    {"set timeout cli", LEVEL_USER, run_set_timeout, "<delay>",
        "close this connection when idle for so long"},
    {"show cli level", LEVEL_USER, run_show_cli_level, "",
        "display the level of the current CLI session"},
    {"show info", LEVEL_USER, run_show_info, "",
        "report information about the running process"},
    {"show pool", LEVEL_USER, run_show_pool, "[<pool>] [json]",
        "report the Leader/Followers counters of all pools or one"},
    {"show stat", LEVEL_USER, run_show_stat, "[<iid|proxy> <type> <sid>]",
        "report counters for each proxy and server"},
    {"show threads", LEVEL_USER, run_show_threads, "[<pool>] [json]",
        "report what each thread of all pools or of one does"},
    {"user", LEVEL_USER, run_user, "",
        "lower the level of the current CLI session to user"},
    {"help", LEVEL_USER, run_help, "[<command>]",
        "list matching or all commands"},
    {"prompt", LEVEL_USER, run_prompt, "",
        "toggle interactive mode with prompt"},
    {"quit", LEVEL_USER, run_quit, "", "disconnect"},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))
/* help, prompt and quit end every list of commands. */
#define COMMANDS_ALWAYS 3

static void
put_row(const struct command *command, FILE *out)
{
	char usage[80];

	snprintf(usage, sizeof(usage), "%s%s%s", command->words,
	    command->args[0] ? " " : "", command->args);
	fprintf(out, "  %-40s: %s\n", usage, command->help);
}

/* The number of the command's words that the given ones begin with. */
static size_t
words_in_common(const struct command *command, char **words)
{
	const char *at = command->words;
	size_t n = 0;

	while (*at && words[n]) {
		size_t len = strcspn(at, " ");

		if (strlen(words[n]) != len || memcmp(at, words[n], len) != 0)
			break;
		n++;
		at += len;
		at += *at == ' ';
	}
	return n;
}

static size_t
words_of(const struct command *command)
{
	size_t n = 1;

	for (const char *p = command->words; *p; p++)
		n += *p == ' ';
	return n;
}

/* Lists what begins like the words, under the heading `some`, or everything
 * under the heading `all` when nothing does. */
static void
put_commands(const struct command_mode *mode, char **words, const char *some,
    const char *all, FILE *out)
{
	size_t likely = 0;

	for (size_t i = 0; i < COMMANDS - COMMANDS_ALWAYS; i++)
		likely += commands[i].level <= mode->level &&
		          words_in_common(&commands[i], words) > 0;
	fprintf(out, "%s\n", likely ? some : all);
	for (size_t i = 0; i < COMMANDS; i++) {
		const struct command *c = &commands[i];

		if (c->level > mode->level)
			continue;
		if (!likely || i >= COMMANDS - COMMANDS_ALWAYS ||
		    words_in_common(c, words) > 0)
			put_row(c, out);
	}
}

static bool
run_help(struct call *call)
{
	static const char heading[] =
	    "The following commands are valid at this level:";

	put_severity(call->mode, SEVERITY_INFO, call->out);
	put_commands(call->mode, call->args, heading, heading, call->out);
	return true;
}

static void
put_unknown(const struct command_mode *mode, char **words, FILE *out)
{
	put_severity(mode, SEVERITY_ERR, out);
	put_commands(mode, words,
	    "Unknown command, but maybe one of the following ones is a better "
	    "match:",
	    "Unknown command. Please enter one of the following commands only:",
	    out);
}

char *
command_split(char *line)
{
	for (char *p = line; *p; p++) {
		if (*p == '\\' && p[1])
			p++;
		else if (*p == ';') {
			*p = '\0';
			return p + 1;
		}
	}
	return NULL;
}

/* Cuts the text into words at blanks, resolving backslashes in place.  False
 * when there are more than WORDS_MAX. */
static bool
cut_words(char *text, char *words[WORDS_MAX + 1])
{
	size_t n = 0;
	char *to = text;

	for (;;) {
		char last;

		text += strspn(text, " \t");
		if (!*text)
			break;
		if (n == WORDS_MAX)
			return false;
		words[n++] = to;
		for (; *text && *text != ' ' && *text != '\t'; text++) {
			if (*text == '\\' && text[1])
				text++;
			*to++ = *text;
		}
		last = *text;
		*to++ = '\0';
		if (!last)
			break;
		text++;
	}
	words[n] = NULL;
	return true;
}

static const struct command *
find_command(char **words)
{
	for (size_t i = 0; i < COMMANDS; i++) {
		if (words_in_common(&commands[i], words) ==
		    words_of(&commands[i]))
			return &commands[i];
	}
	return NULL;
}

static void
put_error(const struct command_mode *mode, const char *text, FILE *out)
{
	put_severity(mode, SEVERITY_ERR, out);
	fprintf(out, "%s\n", text);
}

void
command_run(const struct command_env *env, struct command_mode *mode,
    char *text, FILE *out)
{
	char *words[WORDS_MAX + 1];
	const struct command *command;
	struct err err;
	struct call call = {
	    .env = env, .mode = mode, .words = words, .out = out, .err = &err};

	if (!cut_words(text, words)) {
		put_error(mode, "Too many words: 64 are allowed.", out);
		return;
	}
	command = find_command(words);
	if (!command) {
		put_unknown(mode, words, out);
		return;
	}
	if (command->level > mode->level) {
		put_error(mode, "Permission denied", out);
		return;
	}
	call.args = words + words_of(command);
	if (!command->run(&call))
		put_error(mode, err.text, out);
}

void
admin_list_commands(FILE *out)
{
	for (size_t i = 0; i < COMMANDS; i++)
		fprintf(out, "%s\t%s%s%s\t%s\n", level_name(commands[i].level),
		    commands[i].words, commands[i].args[0] ? " " : "",
		    commands[i].args, commands[i].help);
}
