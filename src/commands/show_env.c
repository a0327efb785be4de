/* SPDX-License-Identifier: MIT
 * `show env`.
 */
#include "commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "commands/rows.h"

extern char **environ;

ROW_READ(read_line, char, line, row_text(v, line))

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

/* Writes all variables, or the one that is named. */
bool
run_show_env(struct call *call)
{
	static const struct row_column columns[] = {
	    {"", NULL, read_line, NULL},
	    {NULL, "name", read_variable_name, NULL},
	    {NULL, "value", read_variable_value, NULL},
	};
	static const struct row_table table = ROW_TABLE(NULL, columns);
	/* A single argument that names a variable is that name, as in HAProxy,
	 * even if it is `json`. */
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
