/* SPDX-License-Identifier: MIT
 * Text of any bytes inside quotes, as JSON wants it.
 */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* The most that escape_json makes of one byte. */
#define ESCAPE_JSON_MAX 6

/* Writes s (any bytes up to the NUL) as the inside of a JSON string (RFC 8259
 * section 7): what is UTF-8 stays, each byte that is not becomes U+FFFD,
 * quotes, backslashes and what is not printable (printable.h) are escaped.
 * Stops before an escape that would not fit; no NUL is added.  Returns
 * the number of bytes written. */
size_t escape_json(const char *s, char *out, size_t size);

/* The same to a stream, with the quotes around it. */
void escape_json_put(const char *s, FILE *out);

#endif
