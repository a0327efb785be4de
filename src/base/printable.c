/* SPDX-License-Identifier: MIT
 * See printable.h.
 */
#include "base/printable.h"

#include <string.h>

/* Returns the length of the character by its first byte, or 0 if the second
 * byte is out of the bounds that follow from the first: these exclude overlong
 * forms, surrogates, and what is above U+10FFFF (RFC 3629 section 4). */
static size_t
length_of(const unsigned char *s)
{
	uint8_t low = 0x80, high = 0xbf;
	size_t len;

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
	return s[1] >= low && s[1] <= high ? len : 0;
}

size_t
utf8_decode(const char *text, uint32_t *ret_character)
{
	static const uint8_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	const unsigned char *s = (const unsigned char *)text;
	size_t len = length_of(s);
	uint32_t c = s[0] & masks[len];

	/* The NUL at the end is not a continuation byte, so the loop never
	 * reads past it. */
	for (size_t i = 1; i < len; i++) {
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	*ret_character = c;
	return len;
}

bool
printable_character(uint32_t character)
{
	static const struct {
		uint32_t first, last;
	} bad[] = {{0, 0x1f}, {0x7f, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f},
	    {0x2028, 0x202e}, {0x2066, 0x206f}, {0xfeff, 0xfeff},
	    {0xfff9, 0xfffb}};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (character >= bad[i].first && character <= bad[i].last)
			return false;
	return true;
}

size_t
printable_length(const char *s)
{
	uint32_t character;
	size_t len;

	if (*s >= ' ' && *s < 0x7f)
		return 1;
	len = utf8_decode(s, &character);
	return len > 0 && printable_character(character) ? len : 0;
}

void
printable_clean(char *s, char instead)
{
	printable_copy(s, strlen(s) + 1, s, instead);
}

/* The position to read is never behind the one to write, so out may be s. */
void
printable_copy(char *out, size_t size, const char *s, char instead)
{
	size_t n = 0;

	while (*s) {
		uint32_t character;
		size_t from = utf8_decode(s, &character);
		bool good = from > 0 && printable_character(character);
		size_t to = good ? from : 1;

		if (n + to >= size)
			break;
		if (good)
			memmove(out + n, s, from);
		else
			out[n] = instead;
		n += to;
		s += from > 0 ? from : 1;
	}
	out[n] = '\0';
}
