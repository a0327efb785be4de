/* SPDX-License-Identifier: MIT
 * Hints for an unknown word: the words that are allowed, and the nearest one.
 */
#ifndef CONFIG_HINT_H
#define CONFIG_HINT_H

#include <stddef.h>

struct hint {
	const char *word;  /* what was found; borrowed */
	const char *near;  /* the nearest candidate, or NULL; borrowed */
	unsigned distance; /* its number of slips of the pen */
	size_t offered;    /* how many candidates there were */
	size_t listed_len;
	char listed[2000]; /* `a, b, c` */
	char text[2200];
};

/* Returns the number of insertions, deletions, replacements and swaps of
 * neighbours between the two: the usual typing errors.  Returns a great number
 * for words of more than 40 letters. */
unsigned hint_slips(const char *a, const char *b);

/* Begins the search for candidates that resemble word. */
void hint_init(struct hint *hint, const char *word);

/* Offers a candidate.  An empty one is ignored: some name could not be read. */
void hint_offer(struct hint *hint, const char *candidate);

/* Returns `did you mean 'x'? allowed are a, x, z`, without the question if no
 * candidate is near, and with `is` for a single one.  `what` takes the place of
 * `allowed`.  The text belongs to hint. */
const char *hint_text(struct hint *hint, const char *what);

#endif
