/* SPDX-License-Identifier: MIT
 * Values of one word: durations, numbers, choices, and the like.
 */
#include "config/values.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/hint.h"

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

	return text_parse_duration(
	           v->text, v->key->min, v->key->max, target(v), &err) ||
	       value_fail(v, "%s", err.text);
}

static bool
print_duration(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const uint64_t *ms = source(s);

	if (i > 0)
		return false;
	text_duration(*ms, out);
	return true;
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

	if (i > 0)
		return false;
	snprintf(out, VALUE_TEXT_SIZE, "%u", *number);
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

/* The index among the choices, or -1 after an error. */
static int
find_choice(const struct value *v)
{
	const char *const *choices = v->key->choices;
	struct hint hint;

	for (int i = 0; choices[i]; i++)
		if (strcmp(v->text, choices[i]) == 0)
			return i;
	hint_init(&hint, v->text);
	for (int i = 0; choices[i]; i++)
		hint_offer(&hint, choices[i]);
	value_fail(
	    v, "'%s' is unknown; %s", v->text, hint_text(&hint, "allowed"));
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
		    "'%s' is no path; write one that starts with /, as in "
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
		    "'%s' is no host; write a name or an address, with or "
		    "without :PORT",
		    v->text);
	return value_set_string(v, target(v), v->text);
}

/* `200` or `200-399`. */
static bool
parse_status(const struct value *v)
{
	unsigned *range = target(v); /* status_min, status_max */
	char low[8];
	const char *dash = strchr(v->text, '-');
	size_t len = dash ? (size_t)(dash - v->text) : strlen(v->text);
	uint64_t min, max;

	if (len >= sizeof(low))
		goto bad;
	memcpy(low, v->text, len);
	low[len] = '\0';
	if (!text_parse_number(low, v->key->min, v->key->max, &min, NULL) ||
	    !text_parse_number(
	        dash ? dash + 1 : low, min, v->key->max, &max, NULL))
		goto bad;
	range[0] = (unsigned)min;
	range[1] = (unsigned)max;
	return true;
bad:
	return value_fail(v,
	    "'%s' is no status; write one from %" PRIu64 " to %" PRIu64
	    " or a range, as in 200-399",
	    v->text, v->key->min, v->key->max);
}

static bool
print_status(const struct shown *s, size_t i, char out[VALUE_TEXT_SIZE])
{
	const unsigned *range = source(s);

	if (i > 0)
		return false;
	if (range[0] == range[1])
		snprintf(out, VALUE_TEXT_SIZE, "%u", range[0]);
	else
		snprintf(out, VALUE_TEXT_SIZE, "%u-%u", range[0], range[1]);
	return true;
}

const struct value_type type_duration = {parse_duration, print_duration};
const struct value_type type_number = {parse_number, print_number};
const struct value_type type_mode = {parse_mode, print_mode};
const struct value_type type_choice = {parse_choice, print_choice};
const struct value_type type_choice_text = {parse_choice_text, print_string};
const struct value_type type_url_path = {parse_url_path, print_string};
const struct value_type type_http_host = {parse_http_host, print_string};
const struct value_type type_status = {parse_status, print_status};
