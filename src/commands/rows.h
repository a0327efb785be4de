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

/* ROW_NONE to begin with; the setters below are what readers call. */
struct row_value {
	enum row_value_kind kind;
	int64_t number;
	const char *text; /* space, or what outlives the call */
	char space[ROW_SPACE];
};

/* text is not copied. */
void row_text(struct row_value *value, const char *text);
void row_number(struct row_value *value, int64_t number);
void row_bool(struct row_value *value, bool yes);
/* A text that is made up, cut to fit the space. */
void row_format(struct row_value *value, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The host alone, and with its port, as `show sess` has them. */
void row_host(struct row_value *value, const struct endpoint *endpoint);
void row_endpoint(struct row_value *value, const struct endpoint *endpoint);

/* RFC 3339 in UTC, to the millisecond. */
void row_time(struct row_value *value, uint64_t wall_us);

/* A reader that is one statement, in which the row, a pointer to the type, has
 * a name and the value is v. */
#define ROW_READ(reader, type, name, statement)                                \
	static void reader(const void *row, struct row_value *v)               \
	{                                                                      \
		const type *name = row;                                        \
                                                                               \
		statement;                                                     \
	}

struct row_column {
	const char *before; /* it, in the text; NULL: it is not there */
	const char *name;   /* in JSON; NULL: it is not there */
	/* NULL: nothing but what is before it. */
	void (*read)(const void *row, struct row_value *ret_value);
	const char *none; /* the text of ROW_NONE, "" if NULL; null in JSON */
};

struct row_table {
	const char *head; /* of the text, NULL: none */
	const struct row_column *columns;
	size_t columns_n;
};

#define ROW_TABLE(head, columns)                                               \
	{                                                                      \
		(head), (columns), sizeof(columns) / sizeof((columns)[0])      \
	}

/* An answer under way.  It holds no pointer to its stream, so a rest may keep
 * it from part to part. */
struct rows {
	const struct row_table *table;
	bool json;
	bool any;
};

void rows_begin(
    struct rows *rows, const struct row_table *table, bool json, FILE *out);
void rows_put(struct rows *rows, const void *row, FILE *out);
void rows_end(const struct rows *rows, FILE *out);

/* One row and no list: in JSON an object by itself. */
void rows_put_single(
    const struct row_table *table, const void *row, bool json, FILE *out);

#endif
