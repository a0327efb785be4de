/* SPDX-License-Identifier: MIT
 * Bytes to send, or to look for in what a peer has sent, as an operator writes
 * them:
 *
 *   "PING\r\n"         these bytes; \r \n \t \\ \" \xHH as in C
 *   PONG               a word needs no quotes
 *   hex 00 1f          bytes in hexadecimal, blanks between them or not
 *   regex "^\+PONG"    a Perl-compatible regular expression (pcre2pattern(3))
 */
#ifndef BASE_PATTERN_H
#define BASE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum pattern_kind { PATTERN_BYTES, PATTERN_REGEX };

/* A pattern is immutable once it was parsed, so any thread may look for it. */
struct pattern {
	enum pattern_kind kind;
	char *text; /* as written */
	uint8_t *bytes;
	size_t n;
	void *code; /* pcre2_code of a regular expression */
};

/* Parses a pattern.  Returns false with err set; the pattern is then empty. */
bool pattern_parse(
    const char *text, struct pattern *ret_pattern, struct err *err) MUST_CHECK;
/* Copies the pattern.  Returns false when memory is short; *ret_copy is then
 * empty. */
bool pattern_copy(
    const struct pattern *pattern, struct pattern *ret_copy) MUST_CHECK;
/* Frees the pattern's memory. A pattern of all zeros is allowed. */
void pattern_fini(struct pattern *pattern);

/* Returns whether the data have the pattern.  A regular expression that takes
 * more than a bounded number of steps counts as not found, since the calling
 * loop has other work. */
bool pattern_found(const struct pattern *pattern, const void *data, size_t n);

#endif
