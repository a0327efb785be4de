/* SPDX-License-Identifier: MIT
 * The words that a line of a section of HAProxy's or nginx's configuration
 * begins with: the advice for a user who writes such a line in a file of
 * lfproxy, and what the import says of a line that it cannot convert.
 */
#ifndef VOCABULARY_KEYWORDS_H
#define VOCABULARY_KEYWORDS_H

/* Whether clients notice that a line is missing. */
enum noticed {
	NOTICED_CONVERTED, /* the import converts the line */
	NOTICED_NEVER,
	NOTICED_IN_HTTP, /* in mode http; mode tcp ignores the line as well */
	NOTICED_ALWAYS,
};

struct keyword {
	const char *words; /* alternatives, `a, b c, d` */
	enum noticed noticed;
	const char *reason; /* why the import leaves it out; or NULL */
	const char *advice; /* to be put behind a semicolon; or NULL */
};

/* Returns the row with the longest words that the line begins with, or NULL. */
const struct keyword *keyword_find(const char *line);

#endif
