/* SPDX-License-Identifier: MIT
 * A configuration file as logical lines: joined where a line ends in a
 * backslash, without comments and the blanks around them.
 *
 * A backslash continues a line, and indentation does not: many people indent
 * the keys of a section.  The parts are joined by a blank.  A comment line
 * among the parts is skipped, and a comment behind a part ends the line.
 */
#ifndef CONFIG_INI_LINES_H
#define CONFIG_INI_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The longest logical line; longer ones are refused. */
#define INI_LINE_MAX 8192

#define INI_BLANKS " \t"

struct ini_lines {
	const char *at, *end; /* what is left of the file */
	const char *file;
	struct err_list *errors;
	unsigned read; /* physical lines so far */

	/* The logical line. */
	unsigned number; /* of its first physical line */
	bool damaged;    /* an error was added: the text may be wrong */
	size_t len;
	char text[INI_LINE_MAX + 1];
};

/* Begins to read text, which must stay valid.  file is for the errors.  Skips a
 * byte-order mark. */
void ini_lines_init(struct ini_lines *lines, const char *file, const char *text,
    size_t len, struct err_list *errors);

/* Reads the next logical line that is not empty.  Returns false at the end.
 * Adds an error for each physical line with characters that are not allowed,
 * and for a logical line that is too long, whose beginning is kept. */
bool ini_lines_next(struct ini_lines *lines) MUST_CHECK;

#endif
