/* SPDX-License-Identifier: MIT
 * What may follow the words of a command line, for the shells' completion.
 *
 * The commands and what they take are those of the server's `help`, names are
 * those that it has now.  Only for values that help has no words for there is
 * a table here.
 */
#ifndef CTL_COMPLETE_H
#define CTL_COMPLETE_H

#include <stdio.h>

/* Prints the candidates for the word behind these (NULL at the end), a line
 * each; none when nobody answers there. */
void ctl_complete(const char *where, const char *const *words, FILE *out);

#endif
