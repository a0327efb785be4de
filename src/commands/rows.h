/* SPDX-License-Identifier: MIT
 * Answers that are rows of values: the text and the JSON form out of one table.
 *
 *	static const struct row_column columns[] = {
 *	    {"", "name", read_name, "-"},
 *	    {" ", "id", read_id, NULL},
 *	    {NULL, "since", read_since, NULL},	only in JSON
 *	    {" 0 0", NULL, NULL, NULL},		only in the text
 *	};
 *	static const struct row_table table = ROW_TABLE("# name id\n", columns);
 *
 *	# name id			[{"name":"a","id":1,"since":7},
 *	a 1 0 0				{"name":"b","id":2,"since":7}]
 *	b 2 0 0
 *
 * The text is HAProxy's where HAProxy has the command, to the byte.  A name,
 * once published, keeps its meaning; it has the unit of its number.
 */
#ifndef COMMANDS_ROWS_H
#define COMMANDS_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "net/addr.h"

/* An address fits, and what a change has changed. */
#define ROW_SPACE 224

enum row_value_kind { ROW_NONE, ROW_TEXT, ROW_NUMBER, ROW_BOOL };

/* The value of a column: ROW_NONE until the reader calls one of the setters
 * below. */
struct row_value {
	enum row_value_kind kind;
	int64_t number;
	const char *text; /* space, or a string that outlives the call */
	char space[ROW_SPACE];
};

/* Sets a text, without copying it. */
void row_text(struct row_value *value, const char *text);

/* Sets a number. */
void row_number(struct row_value *value, int64_t number);

/* Sets true or false. */
void row_bool(struct row_value *value, bool yes);

/* Sets a formatted text, cut to fit the space. */
void row_format(struct row_value *value, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets the host of the endpoint, as in `show sess`. */
void row_host(struct row_value *value, const struct endpoint *endpoint);

/* Sets the host and the port of the endpoint, as in `show sess`. */
void row_endpoint(struct row_value *value, const struct endpoint *endpoint);

/* Sets a time in RFC 3339 form, in UTC, with milliseconds. */
void row_time(struct row_value *value, uint64_t wall_us);

/* Defines a reader as one statement, in which `name` is the row, a pointer to
 * the type, and v the value. */
#define ROW_READ(reader, type, name, statement)                                \
	static void reader(const void *row, struct row_value *v)               \
	{                                                                      \
		const type *name = row;                                        \
                                                                               \
		statement;                                                     \
	}

struct row_column {
	const char *before; /* printed before the text; NULL: JSON only */
	const char *name;   /* in JSON; NULL: text only */
	/* NULL: only `before` is printed. */
	void (*read)(const void *row, struct row_value *ret_value);
	const char *none; /* the text of ROW_NONE, "" if NULL; null in JSON */
};

struct row_table {
	const char *head; /* the first line of the text; NULL: none */
	const struct row_column *columns;
	size_t columns_n;
};

#define ROW_TABLE(head, columns)                                               \
	{                                                                      \
		(head), (columns), sizeof(columns) / sizeof((columns)[0])      \
	}

/* An answer in progress.  Holds no pointer to the stream, so it can be kept
 * from one part of an answer to the next. */
struct rows {
	const struct row_table *table;
	bool json;
	bool any;
};

/* Begins a list of rows. */
void rows_begin(
    struct rows *rows, const struct row_table *table, bool json, FILE *out);

/* Writes a row. */
void rows_put(struct rows *rows, const void *row, FILE *out);

/* Ends the list. */
void rows_end(const struct rows *rows, FILE *out);

/* Writes a single row, in JSON an object without a list. */
void rows_put_single(
    const struct row_table *table, const void *row, bool json, FILE *out);

#endif
