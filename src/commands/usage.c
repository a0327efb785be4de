/* SPDX-License-Identifier: MIT
 * See usage.h.
 */
#include "commands/usage.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Whether the argument is one of the alternatives in the word, or there is a
 * `<` among them, which stands for any text. */
static bool
fits(const char *word, size_t word_len, const char *arg)
{
	size_t len = strlen(arg), n;

	if (memchr(word, '<', word_len))
		return true;
	for (size_t i = 0; i < word_len; i += n + 1) {
		const char *bar = memchr(word + i, '|', word_len - i);

		n = bar ? (size_t)(bar - word) - i : word_len - i;
		if (n == len && memcmp(word + i, arg, n) == 0)
			return true;
	}
	return false;
}

/* Takes off the arguments that fit the words up to end.  Returns false if one
 * does not fit; that is right for the first one of an optional group. */
static bool
take_group(const char *word, const char *end, bool optional, char *const **args)
{
	char *const *first = *args;

	while (**args) {
		size_t len;

		word += strspn(word, " ");
		if (word >= end)
			return true;
		len = strcspn(word, " ");
		if (len > (size_t)(end - word))
			len = (size_t)(end - word);
		if (!fits(word, len, **args))
			return optional && *args == first;
		(*args)++;
		word += len;
	}
	return true;
}

const char *
usage_unexpected(const char *usage, char *const *args)
{
	while (*args && *(usage += strspn(usage, " "))) {
		bool optional = *usage == '[';
		const char *end = usage + strcspn(usage, optional ? "]" : " ");
		bool repeated = optional && *end && end[1] == '*';
		char *const *before;

		do {
			before = args;
			if (!take_group(usage + optional, end, optional, &args))
				return *args;
		} while (repeated && args != before);
		usage = end + (optional && *end) + repeated;
	}
	return *args;
}
