/* SPDX-License-Identifier: MIT
 * See command.h.
 */
#include "commands/command.h"

#include <stdlib.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/expiring.h"
#include "base/ensure.h"
#include "config/hint.h"

#define WORD_SIZE    32
#define COMMANDS_MAX 256
#define SUGGESTIONS  5

static void
put_row(const struct command *command, FILE *out)
{
	int n = fprintf(out, "  %s%s%s", command->words,
	    command->usage[0] ? " " : "", command->usage);

	fprintf(out, "%*s: %s\n", n < 42 ? 42 - n : 0, "", command->help);
}

/* Returns how many of the command's words the given ones begin with. */
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

/* Writes word n of the command, counted from 0.  Returns out. */
static const char *
nth_word(const struct command *command, size_t n, char out[WORD_SIZE])
{
	const char *at = command->words;

	for (; n > 0 && *at; n--) {
		at += strcspn(at, " ");
		at += *at == ' ';
	}
	snprintf(out, WORD_SIZE, "%.*s", (int)strcspn(at, " "), at);
	return out;
}

/* Marks the SUGGESTIONS commands, of those that have the first n of the words,
 * whose next word is nearest to the one given. */
static void
mark_near(char **words, size_t n, bool *marked)
{
	for (unsigned found = 0; found < SUGGESTIONS; found++) {
		size_t nearest = commands_n;
		unsigned fewest = 0;

		for (size_t i = 0; i < commands_n - COMMANDS_ALWAYS; i++) {
			char word[WORD_SIZE];
			unsigned slips;

			if (marked[i] ||
			    words_in_common(&commands[i], words) != n)
				continue;
			slips = hint_slips(
			    words[n], nth_word(&commands[i], n, word));
			if (nearest == commands_n || slips < fewest) {
				nearest = i;
				fewest = slips;
			}
		}
		if (nearest == commands_n)
			return;
		marked[nearest] = true;
	}
}

/* Marks the commands that begin with the words, or that the words begin with.
 * Returns false if there are none, and marks those that come near instead. */
static bool
mark_likely(char **words, bool *marked)
{
	size_t most = 0, n = words_count(words);
	bool any = false;

	for (size_t i = 0; i < commands_n; i++) {
		size_t common = words_in_common(&commands[i], words);

		if (common > most)
			most = common;
	}
	for (size_t i = 0; i < commands_n; i++) {
		size_t common = words_in_common(&commands[i], words);

		marked[i] = common > 0 && common == most &&
		            (common == n || common == words_of(&commands[i]));
		any |= marked[i];
	}
	if (!any)
		mark_near(words, most, marked);
	return any;
}

/* Lists what the words may have meant; without words, everything.  Returns
 * false if no command begins with the words, nor they with one. */
static bool
put_commands(char **words, FILE *out)
{
	bool marked[COMMANDS_MAX] = {false};
	bool found;

	ENSURE(commands_n <= COMMANDS_MAX);
	found = !words[0] || mark_likely(words, marked);
	for (size_t i = 0; i < commands_n; i++)
		if (!words[0] || marked[i] || i >= commands_n - COMMANDS_ALWAYS)
			put_row(&commands[i], out);
	return found;
}

bool
run_help(struct call *call)
{
	call_severity(call, SEVERITY_INFO);
	fputs("The following commands are valid at this level:\n", call->out);
	if (!put_commands(call->args, call->out) && call_is_strict(call))
		call_fail(call);
	return true;
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

static bool
is_called(const struct command *command, char **words)
{
	return words_in_common(command, words) == words_of(command);
}

static const struct command *
find_command(char **words)
{
	const struct command *command;

	for (size_t i = 0; i < commands_n; i++)
		if (is_called(&commands[i], words))
			return &commands[i];
	for (size_t i = 0; (command = absent_command(i)); i++)
		if (is_called(command, words))
			return command;
	return NULL;
}

bool
command_takes_payload(const struct command_mode *mode, const char *line)
{
	static const char end[] = "<payload>";
	char *copy = strdup(line), *last = copy, *next;
	char *words[WORDS_MAX + 1];
	const struct command *command = NULL;
	size_t len;

	while (last && (next = command_split(last)))
		last = next;
	if (last && words_cut(last, words))
		command = find_command(words);
	free(copy);
	if (!command || command->level > mode->level)
		return false;
	len = strlen(command->usage);
	return len >= strlen(end) &&
	       strcmp(command->usage + len - strlen(end), end) == 0;
}

/* Checks the arguments, runs the command, and applies its changes of servers.
 * Unit tests have commands that need no control. */
static bool
run_checked(struct call *call, const struct command *command)
{
	bool check = command->args == ARGS_STRICT ||
	             (command->args == ARGS_USAGE && call_is_strict(call));
	bool ok = (!check || call_fits(call, command->usage, 0)) &&
	          command->run(call);

	if (call->env->instance)
		model_update(call->env->instance->model);
	return ok;
}

/* Runs the command, with `for DURATION` behind its arguments if that is
 * there. */
static bool
run(struct call *call, const struct command *command)
{
	struct expiring *expiring = call->env->expiring;
	struct expiring_call begun;

	if (!expiring)
		return run_checked(call, command);
	if (!expiring_begin(expiring, call, command, &begun) ||
	    !run_checked(call, command))
		return false;
	expiring_end(expiring, call, command, &begun);
	return true;
}

/* Returns whether the command changes something that another process takes
 * over.  Sessions are closed in the process that has them, and some commands
 * check themselves whether an upgrade is under way. */
static bool
changes_what_is_taken_along(const struct command *command)
{
	static const char *const others[] = {"clear counters", "clear loop",
	    "get ", "operator", "reload", "resolve now", "show ",
	    "shutdown session", "upgrade", "wait"};

	if (command->level == LEVEL_USER)
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strncmp(command->words, others[i], strlen(others[i])) == 0)
			return false;
	return true;
}

struct answer_rest *
command_run(const struct command_env *env, struct command_mode *mode,
    char *text, const char *payload, FILE *out)
{
	char *words[WORDS_MAX + 1];
	const struct command *command;
	struct err err;
	struct call call = {.env = env,
	    .mode = mode,
	    .payload = payload,
	    .out = out,
	    .err = &err};

	mode->failed = false;
	if (!words_cut(text, words)) {
		call_say(&call, SEVERITY_ERR, "Too many words: %d are allowed.",
		    WORDS_MAX);
		return NULL;
	}
	if (!words[0])
		return NULL;
	command = find_command(words);
	if (!command) {
		call_severity(&call, SEVERITY_ERR);
		fprintf(out,
		    "Unknown command: '%s', but maybe one of the following "
		    "ones is a better match:\n",
		    words[0]);
		(void)put_commands(words, out);
		return NULL;
	}
	if (command->level > mode->level) {
		call_say(&call, SEVERITY_ERR, "Permission denied");
		return NULL;
	}
	if (env->control && control_hands_over(env->control) &&
	    changes_what_is_taken_along(command)) {
		call_say(&call, SEVERITY_ERR,
		    "An upgrade is under way, and its successor would not get "
		    "the change; try again later.");
		return NULL;
	}
	call.command = command;
	call.args = words + words_of(command);
	if (!run(&call, command))
		call_say(&call, SEVERITY_ERR, "%s", err.text);
	return call.rest;
}

bool
command_describe(
    const struct command_env *env, char *text, struct setting *ret_setting)
{
	struct command_mode mode = {.level = LEVEL_ADMIN};
	char *words[WORDS_MAX + 1];
	struct err err;
	struct call call = {.env = env, .mode = &mode, .err = &err};
	const struct command *command =
	    words_cut(text, words) && words[0] ? find_command(words) : NULL;

	memset(ret_setting, 0, sizeof(*ret_setting));
	if (!command || !command->setting.describe)
		return false;
	call.args = words + words_of(command);
	return command->setting.describe(&call, ret_setting) !=
	           SETTING_INVALID &&
	       ret_setting->subject[0];
}

void
admin_list_commands(FILE *out)
{
	for (size_t i = 0; i < commands_n; i++)
		fprintf(out, "%s\t%s%s%s\t%s\n",
		    command_level_name(commands[i].level), commands[i].words,
		    commands[i].usage[0] ? " " : "", commands[i].usage,
		    commands[i].help);
}
