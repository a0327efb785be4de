/* SPDX-License-Identifier: MIT
 * Hints for an unknown word: the words that are allowed, and the nearest one.
 */
#ifndef CONFIG_HINT_H
#define CONFIG_HINT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/name_table.h"

struct hint {
	const char *word;  /* what was found; borrowed */
	const char *near;  /* the nearest candidate, or NULL; borrowed */
	unsigned distance; /* hint_slips of word and near */
	size_t offered;    /* how many candidates there were */
	size_t listed_len;
	char listed[2000]; /* `a, b, c` */
	char text[2200];
};

/* Returns the number of typing errors between the two words: insertions,
 * deletions, replacements and swaps of neighbours.  Returns a large number for
 * words of more than 40 letters. */
unsigned hint_slips(const char *a, const char *b);

/* Begins the search for candidates that resemble word. */
void hint_init(struct hint *hint, const char *word);

/* Offers a candidate.  An empty one is ignored: a name that could not be
 * read. */
void hint_offer(struct hint *hint, const char *candidate);

/* Returns `did you mean 'x'? allowed are a, x, z`, without the question if no
 * candidate is near, without the list if one is near and the list is long, and
 * with `is` if there is only one candidate.  `what` replaces `allowed`.  The
 * text belongs to hint. */
const char *hint_text(struct hint *hint, const char *what);

/* Does these three steps, with all names as candidates. */
const char *hint_table(struct hint *hint, const char *word,
    const struct name_table *names, const char *what);

/* The following functions return advice for words of HAProxy's and nginx's
 * configurations, to be put behind a semicolon: `write listen = ...`.  They
 * return NULL for a word that is not known. */

/* Returns advice for a line of a section, or for the name of its key alone. */
const char *hint_words_key(const char *line);

/* Returns advice for an option of the value of `key`. */
const char *hint_words_option(const char *key, const char *option);

/* Returns advice for a value that must be one of several words, as for
 * balance. */
const char *hint_words_value(const char *key, const char *value);

/* Returns advice for the head of a section, as in `listen web`. */
const char *hint_words_section(const char *head);

#endif
