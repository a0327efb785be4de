/* SPDX-License-Identifier: MIT
 * See hint.h.
 */
#include "config/hint.h"

#include <stdio.h>
#include <string.h>

/* Longer words get no guess. */
#define WORD_MAX 40

/* A longer list is left out beside a near candidate. */
#define LIST_MAX 100

static unsigned
min2(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Computes the optimal string alignment distance. */
unsigned
hint_slips(const char *a, const char *b)
{
	unsigned d[WORD_MAX + 1][WORD_MAX + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > WORD_MAX || lb > WORD_MAX)
		return WORD_MAX;
	for (unsigned i = 0; i <= la; i++)
		d[i][0] = i;
	for (unsigned j = 0; j <= lb; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= la; i++) {
		for (size_t j = 1; j <= lb; j++) {
			unsigned n = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);

			n = min2(n, d[i - 1][j] + 1);
			n = min2(n, d[i][j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				n = min2(n, d[i - 2][j - 2] + 1);
			d[i][j] = n;
		}
	}
	return d[la][lb];
}

void
hint_init(struct hint *hint, const char *word)
{
	hint->word = word;
	hint->near = NULL;
	/* Up to one wrong letter in three counts as a slip; with more,
	 * another word was meant. */
	hint->distance = min2((unsigned)(strlen(word) + 2) / 3, 3) + 1;
	hint->offered = 0;
	hint->listed_len = 0;
	hint->listed[0] = '\0';
}

void
hint_offer(struct hint *hint, const char *candidate)
{
	unsigned slips = hint_slips(hint->word, candidate);
	size_t room = sizeof(hint->listed) - hint->listed_len;
	const char *comma = hint->listed_len > 0 ? ", " : "";

	if (!*candidate)
		return;
	hint->offered++;
	/* A word all of whose letters would be replaced was not meant. */
	if (slips < hint->distance && slips < strlen(candidate)) {
		hint->near = candidate;
		hint->distance = slips;
	}
	if (strlen(candidate) + sizeof(", , ...") > room) {
		if (room >= sizeof(", ..."))
			strcpy(hint->listed + hint->listed_len, ", ...");
		hint->listed_len = sizeof(hint->listed) - 1;
		return;
	}
	hint->listed_len += (size_t)snprintf(
	    hint->listed + hint->listed_len, room, "%s%s", comma, candidate);
}

const char *
hint_text(struct hint *hint, const char *what)
{
	bool list = !hint->near || hint->listed_len <= LIST_MAX;
	int n = 0;

	if (hint->near)
		n = snprintf(hint->text, sizeof(hint->text),
		    "did you mean '%s'?%s", hint->near, list ? " " : "");
	if (!list)
		return hint->text;
	snprintf(hint->text + n, sizeof(hint->text) - (size_t)n, "%s %s %s",
	    what, hint->offered == 1 ? "is" : "are",
	    hint->offered > 0 ? hint->listed : "none");
	return hint->text;
}

const char *
hint_table(struct hint *hint, const char *word, const struct name_table *names,
    const char *what)
{
	hint_init(hint, word);
	for (size_t i = 0; i < names->n; i++)
		hint_offer(hint, name_table_at(names, i));
	return hint_text(hint, what);
}
