/* SPDX-License-Identifier: MIT
 * The forms in which a row of `show stat` is written, see stat_columns.h.
 */
#include "stats/stat_columns.h"

#include <string.h>

struct stat_row
stat_row_of_frontend(const struct frontend *frontend)
{
	return (struct stat_row){
	    .frontend = frontend,
	    .kind = ROW_FRONTEND,
	    .iid = frontend->id,
	    .proxy = frontend->spec->name,
	    .counters = frontend->counters,
	    .sessions = frontend->sessions,
	    .rate = &frontend->state->rate,
	};
}

struct stat_row
stat_row_of_backend(const struct backend *backend)
{
	return (struct stat_row){
	    .backend = backend,
	    .kind = ROW_BACKEND,
	    .iid = backend->id,
	    .proxy = backend->spec->name,
	    .counters = backend->counters,
	    .sessions = backend->sessions,
	    .rate = &backend->state->rate,
	};
}

struct stat_row
stat_row_of_server(const struct server *server)
{
	const struct backend *backend = server->backend;
	struct stat_row row = {
	    .server = server,
	    .kind = ROW_SERVER,
	    .iid = backend->id,
	    .proxy = backend->spec->name,
	    .counters = server->counters,
	    .sessions = server->sessions,
	    .rate = &server->state->rate,
	};

	/* Paused checks are not shown, as in HAProxy. */
	if (server->check.on && !server->state->overrides.check_paused)
		row.kind |= ROW_CHECKED;
	if (server->agent.on && !server->state->overrides.agent_paused)
		row.kind |= ROW_AGENT;
	if (server->tracked)
		row.kind |= ROW_TRACKING;
	return row;
}

/* Returns the name of the column in that row.  The position counts the columns
 * without `-`. */
static struct field_name
field_name_of(const struct stat_column *column, const struct stat_row *row)
{
	bool is_ours = strncmp(column->name, "lf_", 3) == 0;
	const char *tags = column->tags;

	if (row->backend && column->backend_tags)
		tags = column->backend_tags;
	return (struct field_name){
	    .pos = (unsigned)(column - stat_columns) - is_ours,
	    .name = column->name,
	    .tags = tags,
	    .desc = column->desc,
	};
}

void
stat_put_header(FILE *out)
{
	fputs("# ", out);
	for (size_t i = 0; i < stat_columns_n; i++)
		fprintf(out, "%s,", stat_columns[i].name);
	putc('\n', out);
}

/* Quotes where HAProxy does (RFC 4180). */
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
	for (size_t i = 0; i < stat_columns_n; i++) {
		put_csv(out, stat_column_read(&stat_columns[i], row).text);
		putc(',', out);
	}
	putc('\n', out);
}

static const char *
object_type(const struct stat_row *row)
{
	return row->frontend ? "Frontend" : row->backend ? "Backend" : "Server";
}

/* Writes a value in a form other than CSV. */
static void
put_stat_value(FILE *out, const struct stat_row *row,
    const struct stat_column *column, const struct field *field,
    enum field_form form)
{
	struct field_name name = field_name_of(column, row);
	unsigned sid = row->server ? row->server->id : 0;

	switch (form) {
	case FIELD_JSON:
		fprintf(out, "{\"objType\":\"%s\",\"proxyId\":%u,\"id\":%u,",
		    object_type(row), row->iid, sid);
		field_put_json(out, &name, field);
		break;
	case FIELD_FLAT:
	case FIELD_BRIEF:
		field_put_flat(out, &name, field);
		break;
	default:
		fprintf(out, "%c.%u.%u.", object_type(row)[0], row->iid, sid);
		field_put_typed(out, &name, field, form == FIELD_TYPED_DESC);
	}
}

/* Flat rows have absent values as null; the other forms omit them. */
static void
put_row_values(FILE *out, const struct stat_row *row, enum field_form form,
    const char *begin, const char *separator, const char *end)
{
	for (size_t i = 0; i < stat_columns_n; i++) {
		const struct stat_column *column = &stat_columns[i];
		struct field field = stat_column_read(column, row);

		if (column->name[0] == '-' ||
		    (!field.present && form != FIELD_FLAT))
			continue;
		fputs(begin, out);
		begin = separator;
		put_stat_value(out, row, column, &field, form);
	}
	fputs(end, out);
}

/* The columns of FIELD_BRIEF. */
static const char *const brief[] = {"pxname", "svname", "type", "status",
    "scur", "smax", "slim", "stot", "bin", "bout", "rate", "rate_lim",
    "rate_max", "qcur", "qmax", "qtime", "dreq", "ereq", "econ", "eresp",
    "wretr", "wredis", "cli_abrt", "srv_abrt", "weight", "uweight", "throttle",
    "act", "bck", "chkfail", "chkdown", "lastchg", "downtime", "lastsess",
    "ctime", "ttime", "tracked", "check_status", "check_code", "check_duration",
    "last_chk", "agent_status", "last_agt", "addr", "mode", "algo", "lf_admin",
    "lf_usable", "lf_ejections", "lf_bw_in", "lf_bw_out"};

static const struct stat_column *
find_column(const char *name)
{
	for (size_t i = 0; i < stat_columns_n; i++)
		if (strcmp(stat_columns[i].name, name) == 0)
			return &stat_columns[i];
	return NULL;
}

static void
put_row_brief(FILE *out, const struct stat_row *row)
{
	static const struct stat_column
	    *columns[sizeof(brief) / sizeof(brief[0])];
	char separator = '{';

	for (size_t i = 0; i < sizeof(brief) / sizeof(brief[0]); i++) {
		struct field field;

		if (!columns[i])
			columns[i] = find_column(brief[i]);
		if (!columns[i])
			continue;
		field = stat_column_read(columns[i], row);
		if (!field.present)
			continue;
		putc(separator, out);
		separator = ',';
		put_stat_value(out, row, columns[i], &field, FIELD_BRIEF);
	}
	putc('}', out);
}

void
stat_put_row(FILE *out, const struct stat_row *row, enum field_form form)
{
	switch (form) {
	case FIELD_PLAIN:
	case FIELD_DESC:
		put_row_csv(out, row);
		break;
	case FIELD_TYPED:
	case FIELD_TYPED_DESC:
		put_row_values(out, row, form, "", "", "");
		break;
	case FIELD_JSON:
		put_row_values(out, row, form, "[", ",", "]");
		break;
	case FIELD_FLAT:
		put_row_values(out, row, form, "{", ",", "}");
		break;
	case FIELD_BRIEF:
		put_row_brief(out, row);
		break;
	}
}
