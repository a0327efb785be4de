/* SPDX-License-Identifier: MIT
 * See match.h.
 */
#include "vocabulary/match.h"

#include <string.h>

#define BLANKS " \t"

/* Returns the length of the beginning of the line that equals the n characters
 * of words, or 0.  nginx's ';' at the end is not counted. */
static size_t
match(const char *line, const char *words, size_t n)
{
	const char *at = line;

	for (const char *end = words + n; words < end; words++) {
		if (*words == ' ') {
			if (*at == '\0' || !strchr(BLANKS, *at))
				return 0;
			at += strspn(at, BLANKS);
		} else if (*at++ != *words) {
			return 0;
		}
	}
	return *at == '\0' || strchr(BLANKS ":=;(", *at) ? (size_t)(at - line)
	                                                 : 0;
}

size_t
match_longest(const char *line, const char *words)
{
	size_t longest = 0, n;

	for (;; words += n + strlen(", ")) {
		size_t len = match(line, words, n = strcspn(words, ","));

		longest = len > longest ? len : longest;
		if (!words[n])
			return longest;
	}
}

bool
match_word(const char *word, const char *list)
{
	return *word && match_longest(word, list) == strlen(word);
}
