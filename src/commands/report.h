/* SPDX-License-Identifier: MIT
 * Reports: the answers of commands that show something, as text or as JSON.  A
 * command writes each fact once, with its text and its JSON name:
 *
 *	report_begin(&r, json, out);
 *	report_head(&r, "# name id\n");
 *	for (...) {
 *		report_row(&r);
 *		report_put(&r, "name", "%s", item->name);
 *		report_put(&r, "id", " %u", item->id);
 *		report_json(&r, "since_s", "%u", item->since_s);
 *		report_text(&r, " 0 0");
 *		report_row_end(&r);
 *	}
 *	report_end(&r);
 *
 *	# name id			[{"name":"a","id":1,"since_s":7},
 *	a 1 0 0				{"name":"b","id":2,"since_s":7}]
 *	b 2 0 0
 *
 * The text is HAProxy's where HAProxy has the command, to the byte.  A name,
 * once published, keeps its meaning; it ends in the unit of its number.
 *
 * Formats are those of printf(3), with the conversions s, d, u, f and g, the
 * flag `-`, a width, and the precision of f and g.  In JSON, the value of the
 * first conversion is the member.  NULL and numbers that are not finite are
 * `none` in text and null in JSON.  Characters of strings that cannot be
 * printed are replaced, so that a value cannot end a line.
 */
#ifndef COMMANDS_REPORT_H
#define COMMANDS_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "net/addr.h"

/* The most lists and objects within one another. */
#define REPORT_DEPTH_MAX 6

/* A report in progress.  A report in parts gets another stream for each
 * part. */
struct report {
	FILE *out;
	bool json;
	const char *none; /* the text of NULL; "-" by default */
	bool any;         /* the innermost list or object has a member */
	unsigned depth;
	char closers[REPORT_DEPTH_MAX]; /* of the open lists and objects */
};

/* Begins a report; writes nothing. */
void report_begin(struct report *report, bool json, FILE *out);

/* Opens a list of rows: in text, writes the head, which may be "". */
void report_head(struct report *report, const char *head);

/* Closes all that is open. */
void report_end(struct report *report);

/* Begins a row: a line in text; in JSON an object, which report_end closes if
 * it is the whole report. */
void report_row(struct report *report);

/* Ends a row. */
void report_row_end(struct report *report);

/* Opens a list in JSON, as a member of that name or, with NULL, as an element.
 * report_close ends it. */
void report_list(struct report *report, const char *name);

/* Opens an object in JSON, like report_list. */
void report_object(struct report *report, const char *name);

/* Closes the innermost list or object in JSON. */
void report_close(struct report *report);

/* Writes a fact. */
void report_put(struct report *report, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes to a report in text. */
void report_text(struct report *report, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Writes a fact to a report in JSON. */
void report_json(struct report *report, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Writes a string, or null if it is NULL, to a report in JSON. */
void report_json_string(
    struct report *report, const char *name, const char *text);

/* Writes true or false to a report in JSON. */
void report_json_bool(struct report *report, const char *name, bool yes);

/* Writes null to a report in JSON. */
void report_json_null(struct report *report, const char *name);

/* Writes a number to a report in JSON, null if it is not known. */
void report_json_known(
    struct report *report, const char *name, bool known, uint64_t n);

/* -- texts of values -- */

#define SPAN_TEXT_SIZE 40

/* Writes a duration in its two largest units: `1m32s`, `2d3h`.  Returns out. */
const char *span_text(uint64_t s, char out[SPAN_TEXT_SIZE]);

/* Writes the time that is left, below 10 s with a decimal: `1.5s`, `9m58s`.
 * Returns out. */
const char *left_text(uint64_t ms, char out[SPAN_TEXT_SIZE]);

#define ENDPOINT_TEXT_SIZE (INET6_ADDRSTRLEN + 6)

/* Writes `10.0.0.1:80` or `::1:80`.  Returns out, or NULL for no endpoint. */
const char *endpoint_text(
    const struct endpoint *endpoint, char out[ENDPOINT_TEXT_SIZE]);

#endif
