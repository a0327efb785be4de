/* SPDX-License-Identifier: MIT
 * Values of one word: durations, numbers, rates, choices, and the like.
 */
#include "config/values.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "balance/balance.h"
#include "base/text.h"

static bool
parse_duration(const struct value *v)
{
	uint64_t *ms = value_target(v);
	struct err err;

	if (text_parse_duration(v->text, v->key->min, v->key->max, ms, &err))
		return true;
	if (value_is_unset(v, v->text)) {
		*ms = 0;
		return true;
	}
	if (value_is_zero(v->text) && !v->key->default_text)
		return value_fail(v, "%s, or leave %s out (%s)", err.text,
		    v->key->name, v->key->default_note);
	return value_fail(v, "%s", err.text);
}

static bool
print_duration(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const uint64_t *ms = shown_source(s);

	/* 0, which cannot be written, means: not set. */
	return *ms != 0 && text_duration(*ms, out);
}

/* Reads a duration; 0 means not to wait at all. */
static bool
parse_wait(const struct value *v)
{
	if (!value_is_zero(v->text))
		return parse_duration(v);
	*(uint64_t *)value_target(v) = QUEUE_NEVER;
	return true;
}

static bool
print_wait(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const uint64_t *ms = shown_source(s);

	return *ms == QUEUE_NEVER ? value_write(out, "0")
	                          : print_duration(s, out);
}

static bool
parse_number(const struct value *v)
{
	unsigned *number = value_target(v);
	struct err err;
	uint64_t n;

	if (!text_parse_number(v->text, v->key->min, v->key->max, &n, &err))
		return value_fail(v, "%s", err.text);
	*number = (unsigned)n;
	return true;
}

static bool
print_number(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const unsigned *number = shown_source(s);

	/* A number below the allowed ones means: not set. */
	return *number >= s->key->min && value_write(out, "%u", *number);
}

static bool
parse_auto_number(const struct value *v)
{
	unsigned *number = value_target(v);
	uint64_t n = 0;

	if (strcmp(v->text, "auto") != 0 &&
	    !text_parse_number(v->text, v->key->min, v->key->max, &n, NULL))
		return value_fail(v,
		    "'%s' is neither auto nor a whole number from %" PRIu64
		    " to %" PRIu64,
		    v->text, v->key->min, v->key->max);
	*number = (unsigned)n;
	return true;
}

static bool
print_auto_number(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const unsigned *number = shown_source(s);

	return value_write(out, *number == 0 ? "auto" : "%u", *number);
}

static bool
parse_percent(const struct value *v)
{
	unsigned *percent = value_target(v);
	struct err err;
	uint64_t n;

	if (!text_parse_percent(v->text, v->key->min, v->key->max, &n, &err))
		return value_fail(v, "%s", err.text);
	*percent = (unsigned)n;
	return true;
}

static bool
print_percent(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const unsigned *percent = shown_source(s);

	return value_write(out, "%u%%", *percent);
}

/* Reads `500/s`, `500`, or `off`. */
static bool
parse_rate(const struct value *v)
{
	size_t len = strlen(v->text);
	bool has_unit = len > 2 && strcmp(v->text + len - 2, "/s") == 0;
	char digits[DRAFT_VALUE_MAX + 1];
	uint64_t n = 0;

	snprintf(
	    digits, sizeof(digits), "%.*s", (int)len - 2 * has_unit, v->text);
	if (strcmp(digits, "off") != 0 && strcmp(digits, "0") != 0 &&
	    !text_parse_number(digits, v->key->min, v->key->max, &n, NULL))
		return value_fail(v,
		    "'%s' is not a rate; write off, or a number per second "
		    "from %" PRIu64 "/s to %" PRIu64 "/s",
		    v->text, v->key->min, v->key->max);
	*(unsigned *)value_target(v) = (unsigned)n;
	return true;
}

static bool
print_rate(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const unsigned *rate = shown_source(s);

	return value_write(out, *rate == 0 ? "off" : "%u/s", *rate);
}

static bool
parse_mode(const struct value *v)
{
	struct err err;

	return text_parse_mode(v->text, value_target(v), &err) ||
	       value_fail(v, "%s", err.text);
}

static bool
print_mode(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const uint32_t *mode = shown_source(s);

	return value_write(out, "%04" PRIo32, *mode);
}

/* Reads a flag: `backup`, and `backup=on` as well. */
static bool
parse_flag(const struct value *v)
{
	return value_read_boolean(v->text, value_target(v)) ||
	       value_fail(v,
	           "'%s' is unknown; write the word alone, or leave it out",
	           v->text);
}

static bool
print_flag(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const bool *flag = shown_source(s);

	return *flag && value_write(out, "on");
}

/* Reads a duration or `off`.  `off` is 0 for a backend; for a server it is
 * SLOW_START_OFF, since 0 stands for the backend's value there. */
static bool
parse_slow_start(const struct value *v)
{
	uint64_t *ms = value_target(v);

	if (strcmp(v->text, "off") != 0 && !value_is_zero(v->text))
		return parse_duration(v);
	*ms = v->within ? SLOW_START_OFF : 0;
	return true;
}

static bool
print_slow_start(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const uint64_t *ms = shown_source(s);
	bool off = *ms == (s->key->default_text ? 0 : SLOW_START_OFF);

	return off ? value_write(out, "off") : print_duration(s, out);
}

/* Returns the index of the choice, or -1 after an error. */
static int
find_choice(const struct value *v)
{
	const char *const *choices = v->key->choices;
	size_t n = 0, choice;

	while (choices[n])
		n++;
	if (!value_choose(v, v->text, NAME_TABLE(choices, n), &choice))
		return -1;
	return (int)choice;
}

static bool
parse_choice(const struct value *v)
{
	int choice = find_choice(v);

	if (choice < 0)
		return false;
	/* All enums of the spec have the size of an int. */
	memcpy(value_target(v), &choice, sizeof(choice));
	return true;
}

static bool
print_choice(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	int choice;

	memcpy(&choice, shown_source(s), sizeof(choice));
	return value_write(out, "%s", s->key->choices[choice]);
}

static bool
parse_balance(const struct value *v)
{
	int choice = find_choice(v);

	if (choice < 0)
		return false;
	*(const struct balance_ops **)value_target(v) =
	    balance_algorithms[choice];
	return true;
}

static bool
print_balance(const struct shown *s, char out[VALUE_TEXT_SIZE])
{
	const struct balance_ops *const *balance = shown_source(s);

	return value_write(out, "%s", (*balance)->name);
}

static bool
parse_choice_text(const struct value *v)
{
	return find_choice(v) >= 0 && value_keep_text(v);
}

static bool
parse_url_path(const struct value *v)
{
	if (v->text[0] != '/')
		return value_fail(v,
		    "'%s' is not a path; write one that starts with /, as in "
		    "/healthz",
		    v->text);
	return value_keep_text(v);
}

static bool
parse_http_host(const struct value *v)
{
	const char *p = v->text;

	while (isalnum((unsigned char)*p) || (*p && strchr("-_.:[]", *p)))
		p++;
	if (*p || p == v->text)
		return value_fail(v,
		    "'%s' is not a host; write a name or an address, with or "
		    "without :PORT",
		    v->text);
	return value_keep_text(v);
}

PLAIN_TYPE(duration, print_duration, NULL, 0, uint64_t);
PLAIN_TYPE(wait, print_wait, "0 or a duration, 10ms to 30d", 0, uint64_t);
PLAIN_TYPE(number, print_number, NULL, 0, unsigned);
PLAIN_TYPE(auto_number, print_auto_number, NULL, 0, unsigned);
PLAIN_TYPE(percent, print_percent, NULL, 0, unsigned);
PLAIN_TYPE(rate, print_rate, "off, or 1/s to 1000000/s", 0, unsigned);
PLAIN_TYPE(mode, print_mode, "an octal file mode", 0, uint32_t);
PLAIN_TYPE(flag, print_flag, "the bare word", VALUE_BOOLEAN | VALUE_BARE, bool);
PLAIN_TYPE(slow_start, print_slow_start, "off or 0, or 1s to 1d", 0, uint64_t);
PLAIN_TYPE(choice, print_choice, NULL, 0, int);
const struct value_type type_own_number = {
    parse_number, print_number, NULL, VALUE_OPTIONAL, 0};
const struct value_type type_own_percent = {
    parse_percent, print_percent, NULL, VALUE_OPTIONAL, 0};
const struct value_type type_own_choice = {
    parse_choice, print_choice, NULL, VALUE_OPTIONAL, 0};
PLAIN_TYPE(balance, print_balance, NULL, 0, const struct balance_ops *);
VALUE_TYPE(choice_text, value_print_string, NULL, 0);
VALUE_TYPE(url_path, value_print_string, "a path that starts with /", 0);
VALUE_TYPE(
    http_host, value_print_string, "a host name, with or without a port", 0);
