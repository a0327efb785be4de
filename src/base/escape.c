/* SPDX-License-Identifier: MIT
 * See escape.h.
 */
#include "base/escape.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/printable.h"

/* Writes one character of s to text as it must be escaped, and its length there
 * to ret_len.  Returns the length of the character in s, in bytes. */
static size_t
escape_one(const char *s, char text[8], size_t *ret_len)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	uint32_t character;
	size_t len = utf8_decode(s, &character);
	const char *found = len == 1 ? strchr(plain, *s) : NULL;

	if (len == 0)
		*ret_len = (size_t)snprintf(text, 8, "\\ufffd");
	else if (found)
		*ret_len =
		    (size_t)snprintf(text, 8, "\\%c", letters[found - plain]);
	else if (!printable_character(character))
		*ret_len = (size_t)snprintf(
		    text, 8, "\\u%04x", (unsigned)(character & 0xffff));
	else
		memcpy(text, s, *ret_len = len);
	return len > 0 ? len : 1;
}

size_t
escape_json(const char *s, char *out, size_t size)
{
	const char *p = s;
	size_t done = 0, len;
	char text[8];

	while (*p) {
		size_t from = escape_one(p, text, &len);

		if (len > size - done)
			break;
		memcpy(out + done, text, len);
		done += len;
		p += from;
	}
	return done;
}

void
escape_json_put(const char *s, FILE *out)
{
	const char *p = s;

	putc('"', out);
	while (*p) {
		char text[8];
		size_t len;

		p += escape_one(p, text, &len);
		fwrite(text, 1, len, out);
	}
	putc('"', out);
}
