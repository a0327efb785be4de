/* SPDX-License-Identifier: MIT
 * See show_stat.h.
 */
#include "admin/show_stat.h"

#include <stdlib.h>
#include <string.h>

#include "admin/stat_columns.h"

static bool
wants_proxy(const struct stat_filter *filter, const char *name, unsigned iid)
{
	if (filter->proxy)
		return strcmp(filter->proxy, name) == 0;
	return filter->iid == -1 || filter->iid == (int)iid;
}

static void
put_frontend(FILE *out, const struct frontend *frontend,
    const struct stat_filter *filter, const struct stat_facts *facts)
{
	struct stat_row row = {
	    .frontend = frontend,
	    .facts = facts,
	    .kind = ROW_FRONTEND,
	    .iid = frontend->id,
	    .proxy = frontend->spec->name,
	    .counters = frontend->counters,
	    .sessions = &frontend->sessions,
	    .rate = &frontend->rate,
	};

	if (wants_proxy(filter, row.proxy, row.iid) &&
	    (filter->types & STAT_FRONTENDS) &&
	    (filter->sid == -1 || filter->sid == 0))
		stat_columns_put_row(out, &row);
}

static void
put_server(FILE *out, const struct server *server,
    const struct stat_filter *filter, const struct stat_facts *facts)
{
	const struct backend *backend = server->backend;
	struct stat_row row = {
	    .server = server,
	    .facts = facts,
	    .kind = ROW_SERVER,
	    .iid = backend->id,
	    .proxy = backend->spec->name,
	    .counters = server->counters,
	    .sessions = &server->sessions,
	    .rate = &server->rate,
	};

	if (backend->spec->check.kind != CHECK_OFF)
		row.kind |= ROW_CHECKED;
	if (filter->sid == -1 || filter->sid == (int)server->id)
		stat_columns_put_row(out, &row);
}

static void
put_backend(FILE *out, const struct backend *backend,
    const struct stat_filter *filter, const struct stat_facts *facts)
{
	struct stat_row row = {
	    .backend = backend,
	    .facts = facts,
	    .kind = ROW_BACKEND,
	    .iid = backend->id,
	    .proxy = backend->spec->name,
	    .counters = backend->counters,
	    .sessions = &backend->sessions,
	    .rate = &backend->rate,
	};

	if (!wants_proxy(filter, row.proxy, row.iid))
		return;
	if (filter->types & STAT_SERVERS) {
		for (size_t i = 0; i < backend->spec->servers_n; i++)
			put_server(out, backend->servers[i], filter, facts);
	}
	if ((filter->types & STAT_BACKENDS) &&
	    (filter->sid == -1 || filter->sid == 0))
		stat_columns_put_row(out, &row);
}

void
show_stat_render(FILE *out, const struct model *model,
    const struct stat_filter *filter, const struct stat_facts *facts)
{
	stat_columns_put_header(out);
	for (size_t i = 0; i < model->spec->frontends_n; i++)
		put_frontend(out, model->frontends[i], filter, facts);
	for (size_t i = 0; i < model->spec->backends_n; i++)
		put_backend(out, model->backends[i], filter, facts);
}

static bool
proxy_exists(const struct model *model, const char *name)
{
	const struct spec *spec = model->spec;

	for (size_t i = 0; i < spec->frontends_n; i++) {
		if (strcmp(spec->frontends[i].name, name) == 0)
			return true;
	}
	for (size_t i = 0; i < spec->backends_n; i++) {
		if (strcmp(spec->backends[i].name, name) == 0)
			return true;
	}
	return false;
}

static bool
parse_int(const char *text, int *ret_n)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < -1 || n > INT32_MAX)
		return false;
	*ret_n = (int)n;
	return true;
}

bool
stat_filter_parse(const struct model *model, const char *const *args,
    struct stat_filter *ret_filter, struct err *err)
{
	struct stat_filter filter = {.iid = -1, .types = -1, .sid = -1};

	if (args[0] && (!args[1] || !args[2] || args[3]))
		return err_set(err,
		    "Expects nothing or <iid|proxy> <type> <sid>, as in "
		    "'show stat -1 4 -1'.");
	if (args[0] && proxy_exists(model, args[0]))
		filter.proxy = args[0];
	else if (args[0] &&
	         (!parse_int(args[0], &filter.iid) || filter.iid == 0))
		return err_set(err, "No such proxy.");
	if (args[0] && (!parse_int(args[1], &filter.types) ||
	                   !parse_int(args[2], &filter.sid)))
		return err_set(err,
		    "Type and sid are numbers: a sum of 1 (frontends), 2 "
		    "(backends) and 4 (servers), and a server's sid, or -1 "
		    "for all.");
	*ret_filter = filter;
	return true;
}

bool
show_stat(struct control *control, const char *const *args, FILE *out,
    struct err *err)
{
	const struct model *model = control_model(control);
	struct stat_filter filter;
	struct stat_facts facts = {
	    .sessions_max = control_session_limit(control),
	    .stopping = control_draining(control),
	};

	if (!stat_filter_parse(model, args, &filter, err))
		return false;
	show_stat_render(out, model, &filter, &facts);
	return true;
}
