/* SPDX-License-Identifier: MIT
 * See text.h.
 */
#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A unit.  The last one of a table has the factor 1. */
struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit time_units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};
static const struct unit size_units[] = {
    {"g", 1u << 30}, {"m", 1u << 20}, {"k", 1024}, {"", 1}};
/* The units in which text_byte_rate writes a rate come first, up to B. */
static const struct unit rate_units[] = {{"GiB", 1u << 30}, {"MiB", 1u << 20},
    {"Gbit", 125000000}, {"KiB", 1024}, {"Mbit", 125000}, {"kbit", 125},
    {"B", 1}, {"GB", 1000000000}, {"MB", 1000000}, {"kB", 1000},
    {"g", 1u << 30}, {"m", 1u << 20}, {"k", 1024}, {"", 1}};

/* Parses the leading decimal digits; a number that does not fit becomes
 * UINT64_MAX.  Returns false if there are none. */
static bool
parse_digits(const char *s, const char **ret_rest, uint64_t *ret_number)
{
	if (!isdigit((unsigned char)*s))
		return false;
	*ret_number = strtoull(s, NULL, 10);
	*ret_rest = s + strspn(s, "0123456789");
	return true;
}

/* Writes the number with the largest unit that divides it, 0 with the smallest.
 */
static const char *
format_units(uint64_t n, const struct unit *unit, char *out, size_t size)
{
	while (unit->factor > 1 && (n == 0 || n % unit->factor != 0))
		unit++;
	snprintf(out, size, "%" PRIu64 "%s", n / unit->factor, unit->name);
	return out;
}

const char *
text_duration(uint64_t ms, char out[TEXT_DURATION_SIZE])
{
	return format_units(ms, time_units, out, TEXT_DURATION_SIZE);
}

const char *
text_size(uint64_t bytes, char out[TEXT_SIZE_SIZE])
{
	return format_units(bytes, size_units, out, TEXT_SIZE_SIZE);
}

/* Stores the product if it is in the range.  Returns whether it is. */
static bool
multiply(uint64_t n, const struct unit *unit, uint64_t min, uint64_t max,
    uint64_t *ret_product)
{
	uint64_t product;

	if (__builtin_mul_overflow(n, unit->factor, &product) ||
	    product < min || product > max)
		return false;
	*ret_product = product;
	return true;
}

/* Sets err to say that the number needs a unit.  The advice names s, ms or
 * both, if the number would be in range with them. */
static bool
ask_for_unit(const char *s, uint64_t n, uint64_t min_ms, uint64_t max_ms,
    struct err *err)
{
	char low[TEXT_DURATION_SIZE], high[TEXT_DURATION_SIZE];
	bool seconds = n >= (min_ms + 999) / 1000 && n <= max_ms / 1000;
	bool ms = n >= min_ms && n <= max_ms;

	if (!seconds && !ms)
		return err_set(err,
		    "'%s' has no unit (ms, s, m, h, d); allowed is %s to %s", s,
		    text_duration(min_ms, low), text_duration(max_ms, high));
	return err_set(err, "'%s' has no unit; write %s%s%s%s%s (%s)", s,
	    seconds ? s : "", seconds ? "s" : "", seconds && ms ? " or " : "",
	    ms ? s : "", ms ? "ms" : "", "ms, s, m, h, d");
}

bool
text_parse_duration(const char *s, uint64_t min_ms, uint64_t max_ms,
    uint64_t *ret_ms, struct err *err)
{
	char low[TEXT_DURATION_SIZE], high[TEXT_DURATION_SIZE];
	const struct unit *unit = time_units;
	const char *rest;
	uint64_t n;

	/* Report a fraction as a bad number, not as an unknown unit. */
	if (!parse_digits(s, &rest, &n) || *rest == '.' || *rest == ',')
		return err_set(err,
		    "'%s' is not a duration; write a whole number and a unit "
		    "(ms, s, m, h, d), as in 5s",
		    s);
	if (!*rest && n > 0)
		return ask_for_unit(s, n, min_ms, max_ms, err);
	while (unit->factor > 1 && strcmp(rest, unit->name) != 0)
		unit++;
	if (*rest && strcmp(rest, unit->name) != 0)
		return err_set(err,
		    "'%s' has the unknown unit '%s'; allowed are ms, s, m, h, "
		    "d",
		    s, rest);
	return multiply(n, unit, min_ms, max_ms, ret_ms) ||
	       err_set(err, "'%s' is out of range; allowed is %s to %s", s,
	           text_duration(min_ms, low), text_duration(max_ms, high));
}

/* Parses a whole number in the range, with the suffix or without it. */
static bool
parse_whole(const char *s, const char *suffix, uint64_t min, uint64_t max,
    uint64_t *ret_number)
{
	const char *rest;
	uint64_t n;

	if (!parse_digits(s, &rest, &n) ||
	    (*rest && strcmp(rest, suffix) != 0) || n < min || n > max)
		return false;
	*ret_number = n;
	return true;
}

bool
text_parse_number(const char *s, uint64_t min, uint64_t max,
    uint64_t *ret_number, struct err *err)
{
	return parse_whole(s, "", min, max, ret_number) ||
	       err_set(err,
	           "'%s' is not a whole number from %" PRIu64 " to %" PRIu64, s,
	           min, max);
}

bool
text_parse_percent(const char *s, uint64_t min, uint64_t max,
    uint64_t *ret_percent, struct err *err)
{
	return parse_whole(s, "%", min, max, ret_percent) ||
	       err_set(err,
	           "'%s' is not a percentage from %" PRIu64 "%% to %" PRIu64
	           "%%",
	           s, min, max);
}

bool
text_parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *ret_bytes,
    struct err *err)
{
	char low[TEXT_SIZE_SIZE], high[TEXT_SIZE_SIZE];
	const struct unit *unit = size_units;
	const char *rest;
	uint64_t n = 0;

	if (!parse_digits(s, &rest, &n))
		rest = "?";
	while (unit->factor > 1 && strcasecmp(rest, unit->name) != 0)
		unit++;
	if (strcasecmp(rest, unit->name) != 0)
		return err_set(err,
		    "'%s' is not a size; write a whole number of bytes, alone "
		    "or with k, m or g, as in 64k",
		    s);
	return multiply(n, unit, min, max, ret_bytes) ||
	       err_set(err, "'%s' is out of range; allowed is %s to %s", s,
	           text_size(min, low), text_size(max, high));
}

const char *
text_byte_rate(uint64_t rate, char out[TEXT_BYTE_RATE_SIZE])
{
	size_t len;

	(void)format_units(rate, rate_units, out, TEXT_BYTE_RATE_SIZE);
	len = strlen(out);
	snprintf(out + len, TEXT_BYTE_RATE_SIZE - len, "/s");
	return out;
}

/* Returns the unit that the text names, with `/s` or without; NULL: none. */
static const struct unit *
find_rate_unit(const char *text)
{
	size_t len = strlen(text);

	if (len >= 2 && strcasecmp(text + len - 2, "/s") == 0)
		len -= 2;
	for (size_t i = 0; i < sizeof(rate_units) / sizeof(rate_units[0]); i++)
		if (strlen(rate_units[i].name) == len &&
		    strncasecmp(rate_units[i].name, text, len) == 0)
			return &rate_units[i];
	return NULL;
}

bool
text_parse_byte_rate(const char *s, uint64_t min, uint64_t max,
    uint64_t *ret_rate, struct err *err)
{
	char low[TEXT_BYTE_RATE_SIZE], high[TEXT_BYTE_RATE_SIZE];
	const struct unit *unit = NULL;
	const char *rest;
	uint64_t n = 0;

	if (parse_digits(s, &rest, &n))
		unit = find_rate_unit(rest);
	if (!unit)
		return err_set(err,
		    "'%s' is not a bandwidth; write a whole number and KiB/s, "
		    "MiB/s, GiB/s, kbit/s, Mbit/s or Gbit/s, as in 10MiB/s",
		    s);
	return multiply(n, unit, min, max, ret_rate) ||
	       err_set(err, "'%s' is out of range; allowed is %s to %s", s,
	           text_byte_rate(min, low), text_byte_rate(max, high));
}

bool
text_parse_mode(const char *s, uint32_t *ret_mode, struct err *err)
{
	size_t len = strspn(s, "01234567");
	unsigned long mode = strtoul(s, NULL, 8);

	if (len == 0 || len > 4 || s[len] || mode > 0777)
		return err_set(err,
		    "'%s' is not a file mode; write it in octal, as in 0660",
		    s);
	*ret_mode = (uint32_t)mode;
	return true;
}
