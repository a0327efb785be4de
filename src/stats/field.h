/* SPDX-License-Identifier: MIT
 * A value of `show info` or `show stat`, and the forms in which HAProxy writes
 * one: plain, typed (`17.status.1:SGP:str:UP`) and JSON.
 *
 * The three letters say where it comes from, what kind of number it is, and
 * what it is about, after HAProxy's management guide, section 9.2:
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
	FIELD_DESC, /* plain, with a description if there is room for one */
	FIELD_TYPED,
	FIELD_TYPED_DESC,
	FIELD_JSON, /* HAProxy's, with the type of each value */
	FIELD_FLAT, /* JSON, an object of names and values */
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

/* Each makes the field present. */
void field_number(struct field *field, uint64_t number);
void field_text(struct field *field, const char *text);
/* As HAProxy writes them: six decimals at most, no zeros at the end. */
void field_float(struct field *field, double number);

/* `[desc|flat|typed|json]...` of a command's words; words that are none of
 * these are passed over, as in HAProxy. */
enum field_form field_form_parse(const char *const *words);

/* `17.status.1:SGP:str:UP`, and `:"description"`, with the line end. */
void field_put_typed(FILE *out, const struct field_name *name,
    const struct field *field, bool desc);

/* `"field":{...},"processNum":1,"tags":{...},"value":{...}}`: all but the
 * beginning of the object. */
void field_put_json(
    FILE *out, const struct field_name *name, const struct field *field);

/* `"status":"UP"`, `"scur":3`; null for a field that is not present. */
void field_put_flat(
    FILE *out, const struct field_name *name, const struct field *field);

#endif
