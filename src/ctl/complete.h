/* SPDX-License-Identifier: MIT
 * Completion of command lines for shells.
 *
 * Commands and their arguments come from the server's `help`, names of pools,
 * proxies and servers from the server itself.  Only values that `help` does not
 * list are in a table here.
 */
#ifndef CTL_COMPLETE_H
#define CTL_COMPLETE_H

#include <stdio.h>

/* Prints the candidates for the word that follows the given words, which are
 * NULL-terminated, one per line.  Prints none if the socket does not answer. */
void ctl_complete(const char *where, const char *const *words, FILE *out);

#endif
