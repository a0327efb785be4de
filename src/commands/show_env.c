/* SPDX-License-Identifier: MIT
 * `show env`.
 */
#include "commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "commands/report.h"

extern char **environ;

static void
put_variable(struct report *r, const char *variable)
{
	size_t len = strcspn(variable, "=");
	char *name = strndup(variable, len);

	report_row(r);
	report_text(r, "%s", variable);
	report_json_string(r, "name", name);
	report_json_string(r, "value", variable + len + (variable[len] == '='));
	report_row_end(r);
	free(name);
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
	/* A single argument that names a variable is that name, as in HAProxy,
	 * even if it is `json`. */
	bool json =
	    !(call->args[0] && !call->args[1] && getenv(call->args[0])) &&
	    call_take_json(call);
	const char *name = call->args[0];
	struct report r;

	if (name && !getenv(name))
		return err_set(call->err, "Variable not found");
	report_begin(&r, json, call->out);
	report_head(&r, "");
	for (char **var = environ; *var; var++)
		if (!name || is_variable(*var, name))
			put_variable(&r, *var);
	report_end(&r);
	return true;
}
