/* SPDX-License-Identifier: MIT
 * See text.h.
 */
#include "base/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Largest first: text_duration takes the first that divides. */
static const struct {
	const char *name;
	uint64_t ms;
} units[] = {
    {"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

#define UNITS (sizeof(units) / sizeof(units[0]))

/* Leading decimal digits, UINT64_MAX when they are more than fit; false when
 * there are none. */
static bool
parse_digits(const char *s, const char **ret_rest, uint64_t *ret_number)
{
	const char *p = s;
	uint64_t n = 0;

	for (; isdigit((unsigned char)*p); p++) {
		unsigned digit = (unsigned)(*p - '0');

		n = n > (UINT64_MAX - digit) / 10 ? UINT64_MAX : n * 10 + digit;
	}
	if (p == s)
		return false;
	*ret_rest = p;
	*ret_number = n;
	return true;
}

const char *
text_duration(uint64_t ms, char out[TEXT_DURATION_SIZE])
{
	size_t i = 0;

	while (i < UNITS - 1 && (ms == 0 || ms % units[i].ms != 0))
		i++;
	snprintf(out, TEXT_DURATION_SIZE, "%" PRIu64 "%s", ms / units[i].ms,
	    units[i].name);
	return out;
}

/* The number needs a unit.  The advice names those units of s and ms with
 * which it would be in range. */
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
	const char *unit;
	uint64_t n, ms;
	size_t i = 0;

	/* Report a fraction as a bad number, not as an unknown unit. */
	if (!parse_digits(s, &unit, &n) || *unit == '.' || *unit == ',')
		return err_set(err,
		    "'%s' is not a duration; write a whole number and a unit "
		    "(ms, s, m, h, d), as in 5s",
		    s);
	if (!*unit && n > 0)
		return ask_for_unit(s, n, min_ms, max_ms, err);
	while (*unit && i < UNITS && strcmp(unit, units[i].name) != 0)
		i++;
	if (i == UNITS)
		return err_set(err,
		    "'%s' has the unknown unit '%s'; allowed are ms, s, m, h, "
		    "d",
		    s, unit);
	if (__builtin_mul_overflow(n, units[i].ms, &ms) || ms < min_ms ||
	    ms > max_ms)
		return err_set(err, "'%s' is out of range; allowed is %s to %s",
		    s, text_duration(min_ms, low), text_duration(max_ms, high));
	*ret_ms = ms;
	return true;
}

bool
text_parse_number(const char *s, uint64_t min, uint64_t max,
    uint64_t *ret_number, struct err *err)
{
	const char *rest;
	uint64_t n;

	if (!parse_digits(s, &rest, &n) || *rest || n < min || n > max)
		return err_set(err,
		    "'%s' is not a whole number from %" PRIu64 " to %" PRIu64,
		    s, min, max);
	*ret_number = n;
	return true;
}

bool
text_parse_percent(const char *s, uint64_t min, uint64_t max,
    uint64_t *ret_percent, struct err *err)
{
	const char *rest;
	uint64_t n;

	if (!parse_digits(s, &rest, &n) || (*rest && strcmp(rest, "%") != 0) ||
	    n < min || n > max)
		return err_set(err,
		    "'%s' is not a percentage from %" PRIu64 "%% to %" PRIu64
		    "%%",
		    s, min, max);
	*ret_percent = n;
	return true;
}

static const struct {
	const char *name;
	uint64_t bytes;
} size_units[] = {{"g", 1ull << 30}, {"m", 1ull << 20}, {"k", 1024}, {"", 1}};

#define SIZE_UNITS (sizeof(size_units) / sizeof(size_units[0]))

const char *
text_size(uint64_t bytes, char out[TEXT_SIZE_SIZE])
{
	size_t i = 0;

	while (i < SIZE_UNITS - 1 &&
	       (bytes == 0 || bytes % size_units[i].bytes != 0))
		i++;
	snprintf(out, TEXT_SIZE_SIZE, "%" PRIu64 "%s",
	    bytes / size_units[i].bytes, size_units[i].name);
	return out;
}

bool
text_parse_size(const char *s, uint64_t min, uint64_t max, uint64_t *ret_bytes,
    struct err *err)
{
	char low[TEXT_SIZE_SIZE], high[TEXT_SIZE_SIZE];
	const char *unit;
	uint64_t n, bytes;
	size_t i = 0;

	if (!parse_digits(s, &unit, &n))
		i = SIZE_UNITS;
	while (i < SIZE_UNITS && strcasecmp(unit, size_units[i].name) != 0)
		i++;
	if (i == SIZE_UNITS)
		return err_set(err,
		    "'%s' is not a size; write a whole number of bytes, alone "
		    "or "
		    "with k, m or g, as in 64k",
		    s);
	if (__builtin_mul_overflow(n, size_units[i].bytes, &bytes) ||
	    bytes < min || bytes > max)
		return err_set(err, "'%s' is out of range; allowed is %s to %s",
		    s, text_size(min, low), text_size(max, high));
	*ret_bytes = bytes;
	return true;
}

bool
text_parse_mode(const char *s, uint32_t *ret_mode, struct err *err)
{
	uint32_t mode = 0;
	size_t len = strlen(s);

	if (len == 0 || len > 4 || strspn(s, "01234567") != len)
		goto bad;
	for (size_t i = 0; i < len; i++)
		mode = mode * 8 + (uint32_t)(s[i] - '0');
	if (mode > 0777)
		goto bad;
	*ret_mode = mode;
	return true;
bad:
	return err_set(
	    err, "'%s' is not a file mode; write it in octal, as in 0660", s);
}
