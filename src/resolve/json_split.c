/* SPDX-License-Identifier: MIT
 * See json_split.h.
 */
#include "resolve/json_split.h"

#include <stdlib.h>
#include <string.h>

#include "base/printable.h"

void
json_split_begin(struct json_split *split)
{
	split->place = split->kind == JSON_LIST ? SPLIT_START : SPLIT_NEXT;
	split->depth = 0;
	split->in_string = split->after_backslash = false;
	split->n = 0;
}

void
json_split_fini(struct json_split *split)
{
	free(split->text);
	split->text = NULL;
	split->n = split->room = 0;
}

/* Appends bytes to the object under way, and a NUL.  Returns false with err
 * set. */
static bool
split_collect(
    struct json_split *split, const char *data, size_t n, struct err *err)
{
	size_t need = split->n + n + 1, room = split->room;

	if (split->n + n > split->object_max)
		return err_set(err,
		    "an object in the answer has more than %zu "
		    "bytes",
		    split->object_max);
	if (need > room) {
		char *text;

		room = need > 2 * room ? need : 2 * room;
		text = realloc(split->text, room);
		if (!text)
			return err_oom(err);
		split->text = text;
		split->room = room;
	}
	memcpy(split->text + split->n, data, n);
	split->n += n;
	split->text[split->n] = '\0';
	return true;
}

/* Follows the nesting by one character of an object.  Returns whether the
 * character closes the object. */
static bool
split_nest(struct json_split *split, char c)
{
	if (split->in_string) {
		if (split->after_backslash)
			split->after_backslash = false;
		else if (c == '\\')
			split->after_backslash = true;
		else if (c == '"')
			split->in_string = false;
		return false;
	}
	if (c == '"')
		split->in_string = true;
	else if (c == '{' || c == '[')
		split->depth++;
	else if (c == '}' || c == ']')
		return --split->depth == 0;
	return false;
}

/* Takes bytes up to the end of the object under way, or all.  Returns how many
 * bytes were taken, 0 with err set. */
static size_t
split_inside(
    struct json_split *split, const char *data, size_t n, struct err *err)
{
	bool closed = false;
	size_t i = 0;

	while (i < n && !closed)
		closed = split_nest(split, data[i++]);
	if (!split_collect(split, data, i, err) ||
	    (closed &&
	        !split->on_object(split->arg, split->text, split->n, err)))
		return 0;
	if (closed) {
		split->n = 0;
		if (split->kind == JSON_LIST)
			split->place = SPLIT_COMMA;
	}
	return i;
}

static bool
split_refuse(
    struct json_split *split, const char *data, size_t n, struct err *err)
{
	char start[33], shown[33];
	size_t len = n < sizeof(start) - 1 ? n : sizeof(start) - 1;

	memcpy(start, data, len);
	start[len] = '\0';
	printable_copy(shown, sizeof(shown), start, '?');
	return err_set(err, "the answer is not %s, at '%s'",
	    split->kind == JSON_LIST ? "a list of JSON objects"
	                             : "JSON objects",
	    shown);
}

/* Takes one character outside of objects.  Returns false if it is not allowed
 * there. */
static bool
split_between(struct json_split *split, char c)
{
	switch (split->place) {
	case SPLIT_START:
		split->place = SPLIT_FIRST;
		return c == '[';
	case SPLIT_COMMA:
		split->place = c == ',' ? SPLIT_NEXT : SPLIT_END;
		return c == ',' || c == ']';
	case SPLIT_FIRST:
		split->place = SPLIT_END;
		return c == ']';
	case SPLIT_NEXT:
	case SPLIT_END:
		break;
	}
	return false;
}

static bool
split_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool
json_split_feed(
    struct json_split *split, const char *data, size_t n, struct err *err)
{
	size_t took;

	for (size_t i = 0; i < n; i += took) {
		took = 1;
		if (split->depth > 0 ||
		    (data[i] == '{' && (split->place == SPLIT_FIRST ||
		                           split->place == SPLIT_NEXT))) {
			took = split_inside(split, data + i, n - i, err);
			if (took == 0)
				return false;
		} else if (!split_is_blank(data[i]) &&
		           !split_between(split, data[i])) {
			return split_refuse(split, data + i, n - i, err);
		}
	}
	return true;
}

bool
json_split_ended(const struct json_split *split, struct err *err)
{
	if (split->depth > 0 ||
	    (split->kind == JSON_LIST && split->place != SPLIT_END))
		return err_set(err, "the answer ends too early");
	return true;
}
