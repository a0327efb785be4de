/* SPDX-License-Identifier: MIT
 * Text of any bytes as a JSON string.
 */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* The most that escape_json makes of one byte. */
#define ESCAPE_JSON_MAX 6

/* Writes s (any bytes up to the NUL) as the inside of a JSON string (RFC 8259
 * section 7): valid UTF-8 stays, and each byte that is not UTF-8 becomes
 * U+FFFD.  Quotes, backslashes and characters that are not printable
 * (printable.h) are escaped.  Stops before a character that would not fit; adds
 * no NUL.  Returns the number of bytes written. */
size_t escape_json(const char *s, char *out, size_t size);

/* Writes the whole of s to a stream as a JSON string, with the quotes around
 * it. */
void escape_json_put(const char *s, FILE *out);

#endif
