/* SPDX-License-Identifier: MIT
 * See rows.h.
 */
#include "commands/rows.h"

#include <inttypes.h>
#include <stdarg.h>

#include "base/escape.h"
#include "base/printable.h"
#include "base/time_text.h"

void
row_text(struct row_value *value, const char *text)
{
	value->kind = ROW_TEXT;
	value->text = text;
}

void
row_number(struct row_value *value, int64_t number)
{
	value->kind = ROW_NUMBER;
	value->number = number;
}

void
row_bool(struct row_value *value, bool yes)
{
	value->kind = ROW_BOOL;
	value->number = yes;
}

void
row_format(struct row_value *value, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value->space, sizeof(value->space), fmt, ap);
	va_end(ap);
	row_text(value, value->space);
}

void
row_time(struct row_value *value, uint64_t wall_us)
{
	char text[TIME_TEXT_SIZE];

	row_format(value, "%s", time_text(TIME_RFC3339, wall_us, 3, text));
}

void
row_host(struct row_value *value, const struct endpoint *endpoint)
{
	char host[INET6_ADDRSTRLEN];

	row_format(value, "%s", endpoint_host(endpoint, host));
}

void
row_endpoint(struct row_value *value, const struct endpoint *endpoint)
{
	char host[INET6_ADDRSTRLEN];

	row_format(
	    value, "%s:%u", endpoint_host(endpoint, host), endpoint->port);
}

/* Replaces what is not printable, so that a value cannot end the line. */
static void
put_printable(const char *text, FILE *out)
{
	while (*text) {
		size_t len = printable_length(text);

		if (len > 0)
			fwrite(text, 1, len, out);
		else
			putc('?', out);
		text += len > 0 ? len : 1;
	}
}

/* `put` and `none` are what differs between text and JSON. */
static void
put_value(const struct row_value *value, const char *none,
    void (*put)(const char *text, FILE *out), FILE *out)
{
	switch (value->kind) {
	case ROW_NONE:
		fputs(none ? none : "", out);
		break;
	case ROW_TEXT:
		put(value->text, out);
		break;
	case ROW_NUMBER:
		fprintf(out, "%" PRId64, value->number);
		break;
	case ROW_BOOL:
		fputs(value->number ? "true" : "false", out);
		break;
	}
}

static void
put_text_row(const struct row_table *table, const void *row, FILE *out)
{
	for (size_t i = 0; i < table->columns_n; i++) {
		const struct row_column *column = &table->columns[i];
		struct row_value value;

		if (!column->before)
			continue;
		fputs(column->before, out);
		value.kind = ROW_NONE;
		if (column->read) {
			column->read(row, &value);
			put_value(&value, column->none, put_printable, out);
		}
	}
	putc('\n', out);
}

static void
put_object(const struct row_table *table, const void *row, FILE *out)
{
	char separator = '{';

	for (size_t i = 0; i < table->columns_n; i++) {
		const struct row_column *column = &table->columns[i];
		struct row_value value;

		if (!column->name)
			continue;
		fprintf(out, "%c\"%s\":", separator, column->name);
		value.kind = ROW_NONE;
		column->read(row, &value);
		put_value(&value, "null", escape_json_put, out);
		separator = ',';
	}
	putc('}', out);
}

void
rows_begin(
    struct rows *rows, const struct row_table *table, bool json, FILE *out)
{
	*rows = (struct rows){.table = table, .json = json};
	if (json)
		putc('[', out);
	else if (table->head)
		fputs(table->head, out);
}

void
rows_put(struct rows *rows, const void *row, FILE *out)
{
	if (!rows->json) {
		put_text_row(rows->table, row, out);
		return;
	}
	if (rows->any)
		fputs(",\n", out);
	rows->any = true;
	put_object(rows->table, row, out);
}

void
rows_end(const struct rows *rows, FILE *out)
{
	if (rows->json)
		fputs("]\n", out);
}

void
rows_put_single(
    const struct row_table *table, const void *row, bool json, FILE *out)
{
	if (!json) {
		if (table->head)
			fputs(table->head, out);
		put_text_row(table, row, out);
		return;
	}
	put_object(table, row, out);
	putc('\n', out);
}
