/* SPDX-License-Identifier: MIT
 * See json.h.
 */
#include "ctl/json.h"

#include <stdio.h>
#include <string.h>

#include "ctl/help.h"

/* Whether the given words begin with all words of the command. */
static bool
is_usage_of(const struct ctl_usage *usage, const struct ctl_text *given)
{
	return given->n >= usage->words_n &&
	       memcmp(given->data, usage->words, usage->words_n) == 0 &&
	       (given->n == usage->words_n ||
	           given->data[usage->words_n] == ' ');
}

static bool
err_no_json(const struct ctl_usage *found, const struct ctl_reply *help,
    struct err *err)
{
	const char *at = help->text, *end = at + help->n;
	char names[800] = "";
	struct ctl_usage usage;
	size_t n = 0;

	while (ctl_next_usage(&at, end, &usage) && n < sizeof(names))
		if (usage.has_json || usage.is_json)
			n += (size_t)snprintf(names + n, sizeof(names) - n,
			    "%s%.*s", n ? ", " : "", (int)usage.words_n,
			    usage.words);
	return err_set(err,
	    "'%.*s' has no JSON form; commands that have one: %s",
	    (int)found->words_n, found->words, n ? names : "none");
}

/* Whether the line contains the word, which begins with a blank. */
static bool
contains_word(const struct ctl_text *line, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= line->n; i++)
		if (memcmp(line->data + i, word, n) == 0 &&
		    (i + n == line->n || line->data[i + n] == ' '))
			return true;
	return false;
}

/* Sets *ret_add to the word that selects the JSON form, unless the given words
 * have it.  That is `flat` for commands whose `json` is HAProxy's typed form,
 * unless `typed` is given. */
static bool
find_form(const struct ctl_reply *help, const struct ctl_text *given,
    const char **ret_add, struct err *err)
{
	const char *at = help->text, *end = at + help->n;
	struct ctl_usage usage, found = {.words = NULL};

	/* The longest match: `show a b` may exist beside `show a`. */
	while (ctl_next_usage(&at, end, &usage))
		if (is_usage_of(&usage, given) && usage.words_n > found.words_n)
			found = usage;
	if (found.words && !found.has_json && !found.is_json)
		return err_no_json(&found, help, err);
	if (found.words && found.has_json && !contains_word(given, " json") &&
	    !contains_word(given, " flat"))
		*ret_add = found.has_flat && !contains_word(given, " typed")
		               ? " flat"
		               : " json";
	return true;
}

enum ctl_exit
ctl_json_command(const char *where, struct ctl_text *line, struct err *err)
{
	struct ctl_text answer = {NULL, 0, 0};
	enum ctl_exit code = CTL_OK;
	struct ctl_reply help;
	const char *add = "";

	if (!ctl_ask_one(where, "help", CTL_TIMEOUT_MS, &answer, &help, err))
		return CTL_NO_ANSWER;
	if (help.is_error) {
		err_set(err, "%s: %.*s", where, (int)help.n, help.text);
		code = CTL_ANSWER_IS_ERROR;
	} else if (!find_form(&help, line, &add, err)) {
		code = CTL_USAGE;
	} else {
		ctl_text_add(line, add, strlen(add));
	}
	ctl_text_fini(&answer);
	return code;
}
