/* SPDX-License-Identifier: MIT
 * See base64.h.
 */
#include "base/base64.h"

#include <stdint.h>

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t
base64_encode(const void *data, size_t n, char *out)
{
	const unsigned char *in = data;
	char *at = out;

	for (size_t i = 0; i < n; i += 3) {
		size_t have = n - i < 3 ? n - i : 3;
		uint32_t bits = (uint32_t)in[i] << 16;

		if (have > 1)
			bits |= (uint32_t)in[i + 1] << 8;
		if (have > 2)
			bits |= in[i + 2];
		*at++ = base64_digits[bits >> 18];
		*at++ = base64_digits[bits >> 12 & 63];
		*at++ = have > 1 ? base64_digits[bits >> 6 & 63] : '=';
		*at++ = have > 2 ? base64_digits[bits & 63] : '=';
	}
	*at = '\0';
	return (size_t)(at - out);
}

/* Returns the value of a digit, or 64. */
static uint32_t
base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (uint32_t)(c - 'A');
	if (c >= 'a' && c <= 'z')
		return (uint32_t)(c - 'a') + 26;
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0') + 52;
	return c == '+' ? 62 : c == '/' ? 63 : 64;
}

bool
base64_decode(const char *text, size_t len, void *out, size_t *ret_n)
{
	unsigned char *at = out;
	size_t pads = 0;

	if (len % 4 != 0)
		return false;
	while (pads < 2 && pads < len && text[len - 1 - pads] == '=')
		pads++;
	for (size_t i = 0; i < len; i += 4) {
		size_t digits = i + 4 == len ? 4 - pads : 4;
		uint32_t bits = 0;

		for (size_t k = 0; k < 4; k++) {
			uint32_t v = k < digits ? base64_value(text[i + k]) : 0;

			if (v > 63)
				return false;
			bits = bits << 6 | v;
		}
		for (size_t k = 0; k + 1 < digits; k++)
			*at++ = (unsigned char)(bits >> (16 - 8 * k));
	}
	*ret_n = (size_t)(at - (unsigned char *)out);
	return true;
}
