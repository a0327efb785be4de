/* SPDX-License-Identifier: MIT
 * Text that others wrote, and that is shown on a terminal, in a log, or in a
 * line of an answer: the answer of a server to a check or an agent, an
 * operator's words, names.
 *
 * A character is printable when its bytes are valid UTF-8 (RFC 3629) and it is
 * none of the following, which move a cursor, begin a line, or change the order
 * or the looks of the text around them:
 *
 *	U+0000-001F, 007F, 0080-009F   control characters
 *	U+061C, 200E, 200F             marks of direction
 *	U+2028, 2029                   separators of lines and paragraphs
 *	U+202A-202E, 2066-2069         embeddings, overrides and isolates
 *	U+206A-206F, FFF9-FFFB         deprecated formats, annotations
 *	U+FEFF                         byte order mark
 */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes the character at s, which ends with a NUL. Returns its length in
 * bytes, or 0 if the bytes are not valid UTF-8. The NUL itself has length 1. */
size_t utf8_decode(const char *s, uint32_t *ret_character);

/* Returns whether that character is printable. */
bool printable_character(uint32_t character);

/* Returns the length in bytes of the printable character at s.  Returns 0 at
 * the end of s, and for a character that is not printable or not valid UTF-8.
 */
size_t printable_length(const char *s);

/* Replaces each character of s that is not printable, and each byte that is not
 * valid UTF-8, by the ASCII character instead.  The text never grows. */
void printable_clean(char *s, char instead);

/* Copies s to out and replaces characters as printable_clean does.  Copies as
 * many whole characters as fit, and a NUL.  out may be s. */
void printable_copy(char *out, size_t size, const char *s, char instead);

#endif
