/* SPDX-License-Identifier: MIT
 * How rows of `show stat` are written, see stat_columns.h.
 */
#include "stats/stat_columns.h"

#include <string.h>

static const struct field_name names[STAT_NAMES] = {
#define X(id, tags, desc) {STAT_##id, #id, tags, desc},
    STAT_COLUMNS_TABLE(X)
#undef X
};

static struct field_name
name_of(enum stat_name i, const struct stat_row *row)
{
	struct field_name name = names[i];

	if (i == STAT_dash)
		name.name = "-";
	if (i > STAT_dash)
		name.pos--; /* it has no place of its own */
	if (row && row->backend &&
	    (i == STAT_act || i == STAT_bck || i == STAT_rate ||
	        i == STAT_rate_max))
		name.tags = "MGP:u32"; /* as HAProxy has it */
	return name;
}

const char *
stat_columns_description(enum stat_name which)
{
	return name_of(which, NULL).desc;
}

void
stat_columns_put_header(FILE *out)
{
	fputs("# ", out);
	for (enum stat_name i = 0; i < STAT_NAMES; i++)
		fprintf(out, "%s,", name_of(i, NULL).name);
	putc('\n', out);
}

/* Quoted where HAProxy quotes (RFC 4180). */
static void
put_csv(FILE *out, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

static void
put_row_csv(FILE *out, const struct stat_row *row)
{
	for (enum stat_name i = 0; i < STAT_NAMES; i++) {
		put_csv(out, stat_columns_read(i, row).text);
		putc(',', out);
	}
	putc('\n', out);
}

/* Not the column `-`, which says nothing here. */
static void
put_row_typed(FILE *out, const struct stat_row *row, bool desc)
{
	for (enum stat_name i = 0; i < STAT_NAMES; i++) {
		struct field_name name = name_of(i, row);
		struct field field = stat_columns_read(i, row);

		if (!field.present || i == STAT_dash)
			continue;
		fprintf(out, "%c.%u.%u.",
		    row->frontend  ? 'F'
		    : row->backend ? 'B'
		                   : 'S',
		    row->iid, row->server ? row->server->id : 0);
		field_put_typed(out, &name, &field, desc);
	}
}

static void
put_row_json(FILE *out, const struct stat_row *row)
{
	const char *separator = "[";

	for (enum stat_name i = 0; i < STAT_NAMES; i++) {
		struct field_name name = name_of(i, row);
		struct field field = stat_columns_read(i, row);

		if (!field.present || i == STAT_dash)
			continue;
		fprintf(out, "%s{\"objType\":\"%s\",\"proxyId\":%u,\"id\":%u,",
		    separator,
		    row->frontend  ? "Frontend"
		    : row->backend ? "Backend"
		                   : "Server",
		    row->iid, row->server ? row->server->id : 0);
		field_put_json(out, &name, &field);
		separator = ",";
	}
	putc(']', out);
}

static void
put_row_flat(FILE *out, const struct stat_row *row)
{
	const char *separator = "{";

	for (enum stat_name i = 0; i < STAT_NAMES; i++) {
		struct field_name name = name_of(i, row);
		struct field field = stat_columns_read(i, row);

		if (i == STAT_dash)
			continue;
		fputs(separator, out);
		field_put_flat(out, &name, &field);
		separator = ",";
	}
	putc('}', out);
}

void
stat_columns_put_row(
    FILE *out, const struct stat_row *row, enum field_form form)
{
	switch (form) {
	case FIELD_PLAIN:
	case FIELD_DESC:
		put_row_csv(out, row);
		break;
	case FIELD_TYPED:
	case FIELD_TYPED_DESC:
		put_row_typed(out, row, form == FIELD_TYPED_DESC);
		break;
	case FIELD_JSON:
		put_row_json(out, row);
		break;
	case FIELD_FLAT:
		put_row_flat(out, row);
		break;
	}
}
