/* SPDX-License-Identifier: MIT
 * See ctl_json.h.
 */
#include "main/ctl_json.h"

#include <stdio.h>
#include <string.h>

#include "main/ctl_help.h"

static bool
contains(const char *text, size_t n, const char *what)
{
	return memmem(text, n, what, strlen(what)) != NULL;
}

/* The given words begin with all of the command's. */
static bool
is_usage_of(const struct ctl_usage *usage, const struct ctl_text *given)
{
	return given->n >= usage->words_n &&
	       memcmp(given->data, usage->words, usage->words_n) == 0 &&
	       (given->n == usage->words_n ||
	           given->data[usage->words_n] == ' ');
}

static bool
fail(const struct ctl_usage *found, const struct ctl_reply *help,
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
	return err_set(err, "'%.*s' has no JSON form; these have: %s",
	    (int)found->words_n, found->words, n ? names : "none");
}

static bool
find_form(const struct ctl_reply *help, const struct ctl_text *given,
    bool *ret_add, struct err *err)
{
	const char *at = help->text, *end = at + help->n;
	struct ctl_usage usage, found = {.words = NULL};

	/* The longest name that fits: `show a b` may be one beside `show a`. */
	while (ctl_next_usage(&at, end, &usage))
		if (is_usage_of(&usage, given) && usage.words_n > found.words_n)
			found = usage;
	if (found.words && !found.has_json && !found.is_json)
		return fail(&found, help, err);
	*ret_add = found.words && found.has_json;
	return true;
}

/* Asked for twice is not wanted twice. */
static bool
says_json(const struct ctl_text *line)
{
	static const char last[] = " json";
	size_t n = sizeof(last) - 1;

	return contains(line->data, line->n, " json ") ||
	       (line->n >= n && memcmp(line->data + line->n - n, last, n) == 0);
}

enum ctl_exit
ctl_json_command(const char *where, const char *const *words,
    struct ctl_text *line, struct err *err)
{
	struct ctl_text help = {NULL, 0, 0}, answer = {NULL, 0, 0};
	struct ctl_reader reader;
	struct ctl_reply reply;
	enum ctl_exit code = CTL_FINE;
	bool add = false;

	if (!ctl_add_command(line, words)) {
		err_set(err, "a command is one line; leave the line end out");
		return CTL_USAGE;
	}
	ctl_text_add(&help, "help", 4);
	if (!ctl_ask(where, &help, CTL_TIMEOUT_MS, &answer, err)) {
		code = CTL_NO_ANSWER;
		goto out;
	}
	ctl_reader_init(&reader, &answer);
	ctl_reader_rest(&reader, &reply);
	if (reply.is_error) {
		err_set(err, "%s: %.*s", where, (int)reply.n, reply.text);
		code = CTL_ANSWER_IS_ERROR;
	} else if (!find_form(&reply, line, &add, err)) {
		code = CTL_USAGE;
	} else if (add && !says_json(line)) {
		ctl_text_add(line, " json", 5);
	}
out:
	ctl_text_fini(&help);
	ctl_text_fini(&answer);
	return code;
}
