/* SPDX-License-Identifier: MIT
 * See stat_rows.h.
 */
#include "stats/stat_rows.h"

#include <stdlib.h>
#include <string.h>

#include "stats/stat_columns.h"

static bool
wants_server(const struct stat_filter *filter, const struct server *server)
{
	if ((filter->no_maint || filter->up) &&
	    server_admin_of(server) == SERVER_MAINT)
		return false;
	return !filter->up || server_is_up(server);
}

static bool
wants_row(const struct stat_filter *filter, const struct stat_row *row)
{
	int type = row->server     ? STAT_SERVERS
	           : row->frontend ? STAT_FRONTENDS
	                           : STAT_BACKENDS;
	int sid = row->server ? (int)row->server->id : 0;

	if (filter->proxy[0]
	        ? strcmp(filter->proxy, row->proxy) != 0
	        : filter->iid != -1 && filter->iid != (int)row->iid)
		return false;
	return (filter->types & type) &&
	       (filter->sid == -1 || filter->sid == sid) &&
	       (!row->server || wants_server(filter, row->server));
}

/* The arguments of stat_rows_render. */
struct output {
	FILE *out;
	const struct stat_filter *filter;
	const struct stat_facts *facts;
	struct stat_cursor *cursor;
};

static bool
is_json(enum field_form form)
{
	return form == FIELD_JSON || form == FIELD_FLAT || form == FIELD_BRIEF;
}

static void
put_if_wanted(const struct output *to, struct stat_row row)
{
	if (!wants_row(to->filter, &row))
		return;
	row.facts = to->facts;
	row.addresses_hidden = to->filter->addresses_hidden;
	row.servers_hidden = to->filter->no_maint || to->filter->up;
	if (is_json(to->filter->form) && to->cursor->any)
		putc(',', to->out);
	to->cursor->any = true;
	stat_put_row(to->out, &row, to->filter->form);
}

bool
stat_rows_next(const struct model *model, struct stat_cursor *cursor,
    struct stat_row *ret_row)
{
	struct stat_cursor *c = cursor;
	const struct backend *backend;
	struct server *server;

	if (c->frontend < model->spec->frontends_n) {
		*ret_row =
		    stat_row_of_frontend(model->frontends[c->frontend++]);
		return true;
	}
	if (c->backend >= model->spec->backends_n)
		return false;
	backend = model->backends[c->backend];
	server = server_cursor_get(&c->server, backend);
	if (server) {
		server_cursor_pass(&c->server, server);
		*ret_row = stat_row_of_server(server);
		return true;
	}
	*ret_row = stat_row_of_backend(backend);
	c->backend++;
	c->server = (struct server_cursor){.at = 0};
	return true;
}

static void
put_stat_begin(const struct output *to)
{
	enum field_form form = to->filter->form;

	to->cursor->begun = true;
	if (is_json(form))
		putc('[', to->out);
	else if (form == FIELD_PLAIN || form == FIELD_DESC)
		stat_put_header(to->out);
}

bool
stat_rows_render(FILE *out, size_t size, const struct model *model,
    const struct stat_filter *filter, const struct stat_facts *facts,
    struct stat_cursor *cursor)
{
	const struct output to = {out, filter, facts, cursor};
	long start = ftell(out);
	struct stat_row row;

	if (!cursor->begun)
		put_stat_begin(&to);
	while (stat_rows_next(model, cursor, &row)) {
		put_if_wanted(&to, row);
		if (ftell(out) - start >= (long)size)
			return true;
	}
	if (is_json(filter->form))
		fputs("]\n", out);
	return false;
}

bool
stat_proxy_exists(const struct model *model, const char *name)
{
	return model_find_frontend(model, name) ||
	       model_find_backend(model, name);
}

/* Follows HAProxy: numbers are parsed by atoi(3), unknown words ignored. */
bool
stat_filter_parse(const struct model *model, const char *const *args,
    struct stat_filter *ret_filter, struct err *err)
{
	struct stat_filter filter = {.iid = -1, .types = -1, .sid = -1};

	if (args[0] && args[1] && args[2]) {
		if (stat_proxy_exists(model, args[0]) &&
		    strlen(args[0]) < sizeof(filter.proxy))
			strcpy(filter.proxy, args[0]);
		else if ((filter.iid = atoi(args[0])) == 0)
			return err_set(err, "No such proxy.");
		filter.types = atoi(args[1]);
		filter.sid = atoi(args[2]);
		args += 3;
	}
	filter.form = field_form_parse(args);
	for (; *args; args++) {
		filter.no_maint |= strcmp(*args, "no-maint") == 0;
		filter.up |= strcmp(*args, "up") == 0;
	}
	*ret_filter = filter;
	return true;
}

struct stat_facts
stat_facts_read(const struct command_env *env)
{
	return (struct stat_facts){
	    .sessions_max = session_limits_maxconn(&env->orders->limits),
	    .stopping = control_draining(env->control),
	};
}

struct stat_rest {
	struct answer_rest rest;
	struct stat_filter filter;
	struct stat_cursor cursor;
};

static bool
more_stat(struct answer_rest *rest, const struct command_env *env, FILE *out)
{
	struct stat_rest *stat = container_of(rest, struct stat_rest, rest);
	struct stat_facts facts = stat_facts_read(env);

	return stat_rows_render(out, ANSWER_PART_SIZE, env->instance->model,
	    &stat->filter, &facts, &stat->cursor);
}

static void
free_stat(struct answer_rest *rest)
{
	free(container_of(rest, struct stat_rest, rest));
}

struct answer_rest *
stat_rows_new(const struct stat_filter *filter)
{
	struct stat_rest *stat = calloc(1, sizeof(*stat));

	if (!stat)
		return NULL;
	stat->filter = *filter;
	stat->rest = (struct answer_rest){.more = more_stat, .free = free_stat};
	return &stat->rest;
}

struct answer_rest *
stat_rows_all(enum field_form form)
{
	const struct stat_filter filter = {
	    .iid = -1, .types = -1, .sid = -1, .form = form};

	return stat_rows_new(&filter);
}
