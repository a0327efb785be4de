/* SPDX-License-Identifier: MIT
 * See help.h.
 */
#include "ctl/help.h"

#include <stdio.h>
#include <string.h>

#define NAMES_SIZE 800

static bool
parse_usage(char *row, struct ctl_usage *ret_usage)
{
	char *end = strstr(row, ": "), *words = row + 2, *args;

	if (strncmp(row, "  ", 2) != 0 || !end)
		return false;
	while (end > words && end[-1] == ' ')
		end--;
	*end = '\0';
	args = words + strcspn(words, "[<@");
	if (args > words && *args)
		args[-1] = '\0';
	*ret_usage = (struct ctl_usage){
	    .words = words,
	    .args = args,
	    .has_json = strstr(args, "json") != NULL,
	    .is_json = strstr(words, "json") != NULL,
	    .has_flat = strstr(args, "|flat|") != NULL,
	};
	return true;
}

bool
ctl_next_usage(char **at, struct ctl_usage *ret_usage)
{
	char *row;

	while ((row = strsep(at, "\n")))
		if (parse_usage(row, ret_usage))
			return true;
	return false;
}

/* -- JSON forms -- */

/* Returns whether the line begins with all words of the command. */
static bool
begins_with_words(const char *line, const char *words)
{
	size_t n = strlen(words);

	return strncmp(line, words, n) == 0 &&
	       (line[n] == '\0' || line[n] == ' ');
}

/* Returns whether the line contains the word, which begins with a blank. */
static bool
contains_word(const char *line, const char *word)
{
	while ((line = strstr(line, word))) {
		line += strlen(word);
		if (*line == '\0' || *line == ' ')
			return true;
	}
	return false;
}

/* Finds the usage of the command in the line, by the longest match: `show a b`
 * may exist beside `show a`.  .words is NULL if there is none.  Writes the
 * commands that have a JSON form into names. */
static struct ctl_usage
find_usage(char *help, const char *line, char names[NAMES_SIZE])
{
	struct ctl_usage usage, found = {.words = NULL};
	size_t n = 0;

	while (ctl_next_usage(&help, &usage)) {
		if (begins_with_words(line, usage.words) &&
		    (!found.words || strlen(usage.words) > strlen(found.words)))
			found = usage;
		if ((usage.has_json || usage.is_json) && n < NAMES_SIZE)
			n += (size_t)snprintf(names + n, NAMES_SIZE - n, "%s%s",
			    n ? ", " : "", usage.words);
	}
	return found;
}

/* Appends the word that selects the JSON form, unless the line has it.  The
 * word is `flat` for commands whose `json` is HAProxy's typed form, unless the
 * line has `typed`. */
static bool
add_form(char *help, struct ctl_text *line, struct err *err)
{
	char names[NAMES_SIZE] = "none";
	struct ctl_usage usage = find_usage(help, line->data, names);
	const char *form = " json";

	if (!usage.words || usage.is_json)
		return true;
	if (!usage.has_json)
		return err_set(err,
		    "'%s' has no JSON form; commands that have one: %s",
		    usage.words, names);
	if (contains_word(line->data, " json") ||
	    contains_word(line->data, " flat"))
		return true;
	if (usage.has_flat && !contains_word(line->data, " typed"))
		form = " flat";
	ctl_text_add(line, form, strlen(form));
	return true;
}

enum ctl_exit
ctl_json_command(const char *where, struct ctl_text *line, struct err *err)
{
	enum ctl_exit code = CTL_OK;
	struct ctl_answer help;

	if (!ctl_ask_one(where, "help", ctl_timeout_ms(), &help, err))
		return CTL_NO_ANSWER;
	if (help.is_error) {
		err_set(err, "%s: %s", where, help.text.data);
		code = CTL_ANSWER_IS_ERROR;
	} else if (!add_form(help.text.data, line, err)) {
		code = CTL_USAGE;
	}
	ctl_text_fini(&help.text);
	return code;
}
