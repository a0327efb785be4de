/* SPDX-License-Identifier: MIT
 * See help.h.
 */
#include "ctl/help.h"

#include <string.h>

static bool
contains(const char *text, size_t n, const char *what)
{
	return memmem(text, n, what, strlen(what)) != NULL;
}

static bool
parse_usage(const char *row, size_t n, struct ctl_usage *ret_usage)
{
	const char *end = memmem(row, n, ": ", 2);
	size_t usage_n, words_n;

	if (n < 3 || row[0] != ' ' || row[1] != ' ' || !end)
		return false;
	row += 2;
	usage_n = (size_t)(end - row);
	for (words_n = 0; words_n < usage_n; words_n++)
		if (row[words_n] == '[' || row[words_n] == '<')
			break;
	ret_usage->has_json =
	    contains(row + words_n, usage_n - words_n, "json");
	ret_usage->has_flat =
	    contains(row + words_n, usage_n - words_n, "|flat|");
	while (usage_n > words_n && row[usage_n - 1] == ' ')
		usage_n--;
	ret_usage->args = row + words_n;
	ret_usage->args_n = usage_n - words_n;
	while (words_n > 0 && row[words_n - 1] == ' ')
		words_n--;
	ret_usage->words = row;
	ret_usage->words_n = words_n;
	ret_usage->is_json = contains(row, words_n, "json");
	return true;
}

bool
ctl_next_usage(const char **at, const char *end, struct ctl_usage *ret_usage)
{
	while (*at < end) {
		const char *row = *at;
		const char *eol = memchr(row, '\n', (size_t)(end - row));

		if (!eol)
			eol = end;
		*at = eol < end ? eol + 1 : end;
		if (parse_usage(row, (size_t)(eol - row), ret_usage))
			return true;
	}
	return false;
}
