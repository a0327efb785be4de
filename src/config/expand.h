/* SPDX-License-Identifier: MIT
 * Variables of the environment, and contents of files, in values.
 *
 *   ${NAME}         the variable's text; an error if it is not set
 *   ${NAME:-TEXT}   TEXT, up to the next `}`, if it is not set, or empty
 *   ${file:/PATH}   the contents of the file without a final line end: a secret
 *   $${             the two characters ${
 *
 * Any other `$` stands for itself, as regular expressions need it.  Inserted
 * text is not searched for variables.  Text that no line of a file could hold
 * (a line end, a `;` that would begin a comment) is refused, so that the value
 * can be written to a file and read again.
 *
 * The contents of a file are a secret (base/secrets.h), and so is a variable in
 * a value that holds a password: see expand_value.
 *
 * The environment is the process's own, and does not change.
 */
#ifndef CONFIG_EXPAND_H
#define CONFIG_EXPAND_H

#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "config/draft.h"

#define EXPAND_SIZE (DRAFT_VALUE_MAX + 1)

/* Returns the text with its variables filled in, without blanks around it: in
 * out, or the text itself if there is nothing to fill in.  Returns NULL after
 * an error, also for more than DRAFT_VALUE_MAX characters as expand_length
 * counts them.  key: the key of the value, since check_step and the option
 * agent_send of server may have passwords.  Blocks on the disk for
 * ${file:...}. */
const char *expand_value(const char *key, const char *text,
    char out[EXPAND_SIZE], struct err *err) MUST_CHECK;

/* Returns the length of a value as it is written into a file, each ${ as
 * $${. */
size_t expand_length(const char *value);

/* Writes a value as it is written into a file, with a secret as the ${...} that
 * it came from. */
void expand_print(const char *value, FILE *out);

#endif
