/* SPDX-License-Identifier: MIT
 * Values of one word: durations, numbers, choices, and the like.
 */
#include "config/values.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "base/text.h"
#include "config/hint.h"
#include "config/hint_words.h"

static void *
target(const struct value *v)
{
	return (char *)v->object + v->key->offset;
}

static const void *
source(const struct shown *s)
{
	return (const char *)s->object + s->key->offset;
}

static bool
parse_duration(const struct value *v)
{
	struct err err;

	if (text_parse_duration(
	        v->text, v->key->min, v->key->max, target(v), &err))
		return true;
	if (value_is_unset(v, v->text)) {
		*(uint64_t *)target(v) = 0;
		return true;
	}
	if (value_is_zero(v->text) && !v->key->default_text)
		return value_fail(v, "%s, or leave %s out (%s)", err.text,
		    v->key->name, v->key->default_note);
	return value_fail(v, "%s", err.text);
}

static bool
print_duration(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const uint64_t *ms = source(s);

	/* 0 is refused when it is read, and means: not set. */
	if (i > 0 || *ms == 0)
		return false;
	text_duration(*ms, out);
	return true;
}

/* A duration, or 0 for not to wait at all. */
static bool
parse_wait(const struct value *v)
{
	if (!value_is_zero(v->text))
		return parse_duration(v);
	*(uint64_t *)target(v) = QUEUE_NEVER;
	return true;
}

static bool
print_wait(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const uint64_t *ms = source(s);

	if (*ms != QUEUE_NEVER)
		return print_duration(s, i, out);
	strcpy(out, "0");
	return i == 0;
}

static bool
parse_number(const struct value *v)
{
	unsigned *number = target(v);
	struct err err;
	uint64_t n;

	if (!text_parse_number(v->text, v->key->min, v->key->max, &n, &err))
		return value_fail(v, "%s", err.text);
	*number = (unsigned)n;
	return true;
}

static bool
print_number(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const unsigned *number = source(s);

	/* Less than anybody can write: not set. */
	if (i > 0 || *number < s->key->min)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%u", *number);
	return true;
}

static bool
parse_auto_number(const struct value *v)
{
	unsigned *number = target(v);
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
print_auto_number(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const unsigned *number = source(s);

	if (i > 0)
		return false;
	if (*number == 0)
		strcpy(out, "auto");
	else
		snprintf(out, VALUE_TEXT_SIZE, "%u", *number);
	return true;
}

static bool
parse_percent(const struct value *v)
{
	unsigned *percent = target(v);
	struct err err;
	uint64_t n;

	if (!text_parse_percent(v->text, v->key->min, v->key->max, &n, &err))
		return value_fail(v, "%s", err.text);
	*percent = (unsigned)n;
	return true;
}

static bool
print_percent(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const unsigned *percent = source(s);

	if (i > 0)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%u%%", *percent);
	return true;
}

static bool
parse_mode(const struct value *v)
{
	struct err err;

	return text_parse_mode(v->text, target(v), &err) ||
	       value_fail(v, "%s", err.text);
}

static bool
print_mode(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const uint32_t *mode = source(s);

	if (i > 0)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%04" PRIo32, *mode);
	return true;
}

/* `backup`, and `backup=on` as well. */
static bool
parse_flag(const struct value *v)
{
	return value_read_boolean(v->text, target(v)) ||
	       value_fail(v,
	           "'%s' is unknown; write the word alone, or leave it out",
	           v->text);
}

static bool
print_flag(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const bool *flag = source(s);

	if (i > 0 || !*flag)
		return false;
	strcpy(out, "on");
	return true;
}

/* `off` is 0 for a backend.  For a server it is SLOW_START_OFF, since 0 stands
 * for the backend's value there. */
static bool
parse_slow_start(const struct value *v)
{
	uint64_t *ms = target(v);

	if (strcmp(v->text, "off") != 0 && !value_is_zero(v->text))
		return parse_duration(v);
	*ms = v->within ? SLOW_START_OFF : 0;
	return true;
}

static bool
print_slow_start(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const uint64_t *ms = source(s);
	bool off = *ms == (s->key->default_text ? 0 : SLOW_START_OFF);

	if (i > 0 || !off)
		return print_duration(s, i, out);
	strcpy(out, "off");
	return true;
}

/* The index among the choices, or -1 after an error. */
static int
find_choice(const struct value *v)
{
	const char *const *choices = v->key->choices;
	const char *text = v->text, *advice;
	struct hint hint;
	bool on;

	if (value_is_boolean(v->key) && value_read_boolean(text, &on))
		text = on ? "on" : "off";
	for (int i = 0; choices[i]; i++)
		if (strcmp(text, choices[i]) == 0)
			return i;
	hint_init(&hint, v->text);
	for (int i = 0; choices[i]; i++)
		hint_offer(&hint, choices[i]);
	advice = hint_words_value(v->key->name, v->text);
	value_fail(v, "'%s' is unknown; %s", v->text,
	    advice ? advice : hint_text(&hint, "allowed"));
	return -1;
}

static bool
parse_choice(const struct value *v)
{
	int choice = find_choice(v);

	if (choice < 0)
		return false;
	/* All enums of the spec are int-sized: plain, small, not packed. */
	memcpy(target(v), &choice, sizeof(choice));
	return true;
}

static bool
print_choice(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	int choice;

	if (i > 0)
		return false;
	memcpy(&choice, source(s), sizeof(choice));
	snprintf(out, VALUE_TEXT_SIZE, "%s", s->key->choices[choice]);
	return true;
}

static bool
parse_balance(const struct value *v)
{
	int choice = find_choice(v);

	if (choice < 0)
		return false;
	*(const struct balance_ops **)target(v) = balance_algorithms[choice];
	return true;
}

static bool
print_balance(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const struct balance_ops *const *balance = source(s);

	if (i > 0)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%s", (*balance)->name);
	return true;
}

static bool
parse_own_percent(const struct value *v)
{
	struct optional *percent = target(v);

	/* parse_percent writes the value, the first member of struct
	 * optional. */
	percent->is_set = parse_percent(v);
	return percent->is_set;
}

static bool
print_own_percent(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const struct optional *percent = source(s);

	if (i > 0 || !percent->is_set)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%u%%", percent->value);
	return true;
}

static bool
parse_own_choice(const struct value *v)
{
	int choice = find_choice(v);

	if (choice < 0)
		return false;
	*(struct optional *)target(v) = optional_of((unsigned)choice);
	return true;
}

static bool
print_own_choice(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const struct optional *choice = source(s);

	if (i > 0 || !choice->is_set)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%s", s->key->choices[choice->value]);
	return true;
}

static bool
parse_choice_text(const struct value *v)
{
	return find_choice(v) >= 0 && value_set_string(v, target(v), v->text);
}

static bool
print_string(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	char *const *string = source(s);

	if (i > 0 || !*string)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%s", *string);
	return true;
}

static bool
parse_url_path(const struct value *v)
{
	if (v->text[0] != '/')
		return value_fail(v,
		    "'%s' is not a path; write one that starts with /, as in "
		    "/healthz",
		    v->text);
	return value_set_string(v, target(v), v->text);
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
	return value_set_string(v, target(v), v->text);
}

VALUE_TYPE(duration, print_duration, NULL, 0);
VALUE_TYPE(wait, print_wait, "0 or a duration, 10ms to 30d", 0);
VALUE_TYPE(number, print_number, NULL, 0);
VALUE_TYPE(auto_number, print_auto_number, NULL, 0);
VALUE_TYPE(percent, print_percent, NULL, 0);
VALUE_TYPE(mode, print_mode, "an octal file mode", 0);
VALUE_TYPE(flag, print_flag, "the bare word", VALUE_BOOLEAN | VALUE_BARE);
VALUE_TYPE(slow_start, print_slow_start, "off or 0, or 1s to 1d", 0);
VALUE_TYPE(choice, print_choice, NULL, 0);
VALUE_TYPE(own_percent, print_own_percent, NULL, 0);
VALUE_TYPE(own_choice, print_own_choice, NULL, 0);
VALUE_TYPE(balance, print_balance, NULL, 0);
VALUE_TYPE(choice_text, print_string, NULL, 0);
VALUE_TYPE(url_path, print_string, "a path that starts with /", 0);
VALUE_TYPE(http_host, print_string, "a host name, with or without a port", 0);
