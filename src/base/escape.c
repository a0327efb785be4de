/* SPDX-License-Identifier: MIT
 * See escape.h.
 */
#include "base/escape.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The length of the UTF-8 sequence at s, 0 if there is none: the shortest form,
 * no surrogates, up to U+10FFFF (RFC 3629 section 4).  The NUL at the end is no
 * continuation, so nothing behind it is read. */
static size_t
utf8_length(const unsigned char *s)
{
	size_t len;
	uint8_t low = 0x80, high = 0xbf; /* of the second byte */

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return len;
}

/* One character as it is to be written; its length in bytes of s is returned,
 * that of the text in ret_len. */
static size_t
escape_one(const unsigned char *s, char text[8], size_t *ret_len)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
	size_t len = utf8_length(s);
	const char *found = len == 1 ? strchr(plain, s[0]) : NULL;

	if (len == 0)
		*ret_len = (size_t)snprintf(text, 8, "\\ufffd");
	else if (found)
		*ret_len =
		    (size_t)snprintf(text, 8, "\\%c", letters[found - plain]);
	else if (s[0] < 0x20 || s[0] == 0x7f)
		*ret_len = (size_t)snprintf(text, 8, "\\u%04x", s[0]);
	else
		memcpy(text, s, *ret_len = len);
	return len > 0 ? len : 1;
}

size_t
escape_json(const char *s, char *out, size_t size)
{
	const unsigned char *p = (const unsigned char *)s;
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
	const unsigned char *p = (const unsigned char *)s;

	putc('"', out);
	while (*p) {
		char text[8];
		size_t len;

		p += escape_one(p, text, &len);
		fwrite(text, 1, len, out);
	}
	putc('"', out);
}
