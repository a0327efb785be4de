/* SPDX-License-Identifier: MIT
 * See commands_show.h.
 */
#include "commands/commands_show.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/time_text.h"
#include "commands/call.h"
#include "commands/rows.h"
#include "commands/show_info.h"
#include "stats/info.h"

extern char **environ;

/* A row that is a text by itself. */
static void
read_text(const void *row, struct row_value *v)
{
	row_text(v, row);
}

bool
run_show_backend(struct call *call)
{
	static const struct row_column columns[] = {
	    {"", "name", read_text, NULL}};
	static const struct row_table table = ROW_TABLE("# name\n", columns);
	const struct spec *spec = control_model(call->env->control)->spec;
	struct rows rows;

	rows_begin(&rows, &table, call_take_json(call), call->out);
	for (size_t i = 0; i < spec->backends_n; i++)
		rows_put(&rows, spec->backends[i].name, call->out);
	rows_end(&rows, call->out);
	return true;
}

bool
run_show_cli_sockets(struct call *call)
{
	const struct command_env *env = call->env;

	if (env->admin_view)
		env->admin_view->list_sockets(
		    env->admin, call_take_json(call), call->out);
	return true;
}

static void
read_variable_name(const void *row, struct row_value *v)
{
	const char *variable = row;

	row_format(v, "%.*s", (int)strcspn(variable, "="), variable);
}

static void
read_variable_value(const void *row, struct row_value *v)
{
	const char *value = strchr(row, '=');

	row_text(v, value ? value + 1 : "");
}

static bool
is_variable(const char *variable, const char *name)
{
	size_t len = strlen(name);

	return strncmp(variable, name, len) == 0 && variable[len] == '=';
}

/* All, or the one that is named. */
bool
run_show_env(struct call *call)
{
	static const struct row_column columns[] = {
	    {"", NULL, read_text, NULL},
	    {NULL, "name", read_variable_name, NULL},
	    {NULL, "value", read_variable_value, NULL},
	};
	static const struct row_table table = ROW_TABLE(NULL, columns);
	/* As in HAProxy where there is one of that name. */
	bool json =
	    !(call->args[0] && !call->args[1] && getenv(call->args[0])) &&
	    call_take_json(call);
	const char *name = call->args[0];
	struct rows rows;

	if (name && !getenv(name))
		return err_set(call->err, "Variable not found");
	rows_begin(&rows, &table, json, call->out);
	for (char **var = environ; *var; var++)
		if (!name || is_variable(*var, name))
			rows_put(&rows, *var, call->out);
	rows_end(&rows, call->out);
	return true;
}

struct capture {
	char when[TIME_TEXT_SIZE];
};

static void
read_when(const void *row, struct row_value *v)
{
	row_text(v, ((const struct capture *)row)->when);
}

static void
read_no_events(const void *row, struct row_value *v)
{
	(void)row;
	row_number(v, 0);
}

static bool
is_proxy(const struct model *model, const char *name)
{
	return model_find_frontend(model, name) ||
	       model_find_backend(model, name);
}

/* HAProxy captures invalid HTTP; nothing looks at what is relayed here, so
 * there is none.  The number of no proxy is fine, as it is there. */
bool
run_show_errors(struct call *call)
{
	static const struct row_column columns[] = {
	    {"Total events captured on [", NULL, read_when, NULL},
	    {"] : ", "events", read_no_events, NULL},
	};
	static const struct row_table table = ROW_TABLE(NULL, columns);
	const struct model *model = control_model(call->env->control);
	bool json = !(call->args[0] && is_proxy(model, call->args[0])) &&
	            call_take_json(call);
	struct capture capture;

	if (call->args[0] && atoi(call->args[0]) == 0 &&
	    !is_proxy(model, call->args[0]))
		return err_set(call->err, "No such proxy.");
	time_text(TIME_HAPROXY, clock_wall_us(), 3, capture.when);
	rows_put_single(&table, &capture, json, call->out);
	return true;
}

/* There are no tables of clients to be shown. */
bool
run_show_table(struct call *call)
{
	static const struct row_table none = {NULL, NULL, 0};
	bool json = call_take_json(call);
	struct rows rows;

	if (call->args[0])
		return err_set(call->err, "No such table");
	rows_begin(&rows, &none, json, call->out);
	rows_end(&rows, call->out);
	return true;
}

static void
read_version(const void *row, struct row_value *v)
{
	(void)row;
	row_text(v, LFPROXY_VERSION);
}

bool
run_show_version(struct call *call)
{
	static const struct row_column columns[] = {
	    {"", "version", read_text, NULL},
	    {NULL, "lfproxy_version", read_version, NULL},
	};
	static const struct row_table table = ROW_TABLE(NULL, columns);

	rows_put_single(&table, API_VERSION, call_take_json(call), call->out);
	return true;
}
