/* SPDX-License-Identifier: MIT
 * A value of `show info` or `show stat`, and the forms in which HAProxy writes
 * it: plain, typed (`17.status.1:SGP:str:UP`) and JSON.
 *
 * The three letters of a typed value are its origin, nature and scope (HAProxy
 * Management Guide, section 9.2):
 *
 *	origin  M metric, S status, K key, C configuration, P product
 *	nature  A age, a average, C counter, D duration, G gauge, L limit,
 *	        M maximum, m minimum, N name, O free text, R rate, T time
 *	scope   C cluster, P process, S service, s system
 */
#ifndef STATS_FIELD_H
#define STATS_FIELD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum field_form {
	FIELD_PLAIN,
	FIELD_DESC, /* plain, with a description where the form permits */
	FIELD_TYPED,
	FIELD_TYPED_DESC,
	FIELD_JSON, /* HAProxy's JSON, with the type of each value */
	FIELD_FLAT, /* a JSON object of names and values */
	/* FIELD_FLAT with the columns of `show stat` that the status page uses,
	 * without absent values. */
	FIELD_BRIEF,
};

struct field_name {
	unsigned pos;
	const char *name;
	const char *tags; /* "MGP:u32"; u32, s32, u64, flt or str */
	const char *desc;
};

struct field {
	bool present;
	char text[256];
};

/* Sets a number.  Like the next two functions, makes the field present. */
void field_number(struct field *field, uint64_t number);
/* Sets a text.  Characters that are not printable become blanks. */
void field_text(struct field *field, const char *text);
/* Sets a fraction as HAProxy writes it: at most six decimals, no trailing
 * zeros. */
void field_float(struct field *field, double number);

/* Parses `[desc|flat|typed|json]...` among the words of a command.  Ignores all
 * other words, as HAProxy does.  words is NULL-terminated. */
enum field_form field_form_parse(const char *const *words);

/* Writes the line `17.status.1:SGP:str:UP`, with desc followed by
 * `:"description"`. */
void field_put_typed(FILE *out, const struct field_name *name,
    const struct field *field, bool desc);

/* Writes `"field":{...},"processNum":1,"tags":{...},"value":{...}}`, the end of
 * an object that the caller has begun. */
void field_put_json(
    FILE *out, const struct field_name *name, const struct field *field);

/* Writes `"status":"UP"` or `"scur":3`, or null if the field is absent. */
void field_put_flat(
    FILE *out, const struct field_name *name, const struct field *field);

#endif
