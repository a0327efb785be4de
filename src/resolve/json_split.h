/* SPDX-License-Identifier: MIT
 * Finds the objects in a stream of JSON that arrives in pieces of any size.
 *
 * The text of an object is collected up to its closing brace, and then passed
 * on.  Only the nesting is checked here: a JSON parser reads the object.
 */
#ifndef RESOLVE_JSON_SPLIT_H
#define RESOLVE_JSON_SPLIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum json_split_kind {
	JSON_OBJECTS, /* objects one after another: `{...}{...}` */
	JSON_LIST,    /* the elements of one array: `[{...},{...}]` */
};

struct json_split {
	enum json_split_kind kind;
	size_t object_max; /* bytes of the longest object that is collected */
	/* Reads an object.  Returning false with err set ends the stream. */
	bool (*on_object)(
	    void *arg, const char *text, size_t n, struct err *err);
	void *arg;

	/* Private. */
	enum {
		SPLIT_START,
		SPLIT_FIRST,
		SPLIT_NEXT,
		SPLIT_COMMA,
		SPLIT_END
	} place;
	unsigned depth; /* of the object under way; 0: none */
	bool in_string, after_backslash;
	char *text;
	size_t n, room;
};

/* Begins a stream, also after another one.  The caller has set the members that
 * are not private; the others are zero, or as the stream before has left them.
 */
void json_split_begin(struct json_split *split);

/* Frees what was collected. */
void json_split_fini(struct json_split *split);

/* Takes the next bytes, and calls on_object for each object that they complete.
 * Returns false with err set when on_object does, when what arrives is not of
 * the kind, when an object is longer than object_max, or when memory is short.
 */
bool json_split_feed(struct json_split *split, const char *data, size_t n,
    struct err *err) MUST_CHECK;

/* Returns whether the stream may end here: no object is under way, and a list
 * has its closing bracket.  Otherwise err is set. */
bool json_split_ended(
    const struct json_split *split, struct err *err) MUST_CHECK;

#endif
