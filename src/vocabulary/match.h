/* SPDX-License-Identifier: MIT
 * Lists of alternative words, as in `a, b c, d`.
 */
#ifndef VOCABULARY_MATCH_H
#define VOCABULARY_MATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the length of the longest alternative with which the line begins,
 * however many blanks are between its words; 0 if there is none.  A blank, the
 * end, or one of ":=;(" follows the alternative. */
size_t match_longest(const char *line, const char *words);

/* Returns whether the word is an alternative of the list. */
bool match_word(const char *word, const char *list);

#endif
