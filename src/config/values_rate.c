/* SPDX-License-Identifier: MIT
 * Rates: `500/s`, `500`, or `off`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "config/values.h"

static bool
parse_rate(const struct value *v)
{
	size_t len = strlen(v->text);
	char digits[16] = "";
	uint64_t n = 0;

	if (strcmp(v->text, "off") == 0 || strcmp(v->text, "0") == 0 ||
	    strcmp(v->text, "0/s") == 0) {
		*(unsigned *)value_target(v) = 0;
		return true;
	}
	if (len > 2 && strcmp(v->text + len - 2, "/s") == 0)
		len -= 2;
	if (len < sizeof(digits)) {
		memcpy(digits, v->text, len);
		digits[len] = '\0';
	}
	if (!text_parse_number(digits, v->key->min, v->key->max, &n, NULL))
		return value_fail(v,
		    "'%s' is not a rate; write off, or a number per second "
		    "from "
		    "%" PRIu64 "/s to %" PRIu64 "/s",
		    v->text, v->key->min, v->key->max);
	*(unsigned *)value_target(v) = (unsigned)n;
	return true;
}

static bool
print_rate(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const unsigned *rate = shown_source(s);

	if (i > 0)
		return false;
	if (*rate == 0)
		strcpy(out, "off");
	else
		snprintf(out, VALUE_TEXT_SIZE, "%u/s", *rate);
	return true;
}

VALUE_TYPE(rate, print_rate, "off, or 1/s to 1000000/s", 0);
