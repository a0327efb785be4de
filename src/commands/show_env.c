/* SPDX-License-Identifier: MIT
 * `show env`.
 */
#include "commands/commands.h"

#include <stdlib.h>
#include <string.h>

#include "base/secrets.h"
#include "commands/report.h"

extern char **environ;

static void
put_variable(struct report *r, const char *name, const char *value)
{
	char *masked;

	report_row(r);
	report_put(r, "name", "%s", name);
	report_put(
	    r, "value", "=%s", secrets_mask_variable(name, value, &masked));
	report_row_end(r);
	free(masked);
}

/* Writes all variables, or the named one, without secrets. */
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
	if (name)
		put_variable(&r, name, getenv(name));
	for (char **var = environ; !name && *var; var++) {
		size_t len = strcspn(*var, "=");
		char *copy = strndup(*var, len);

		put_variable(&r, copy, *var + len + ((*var)[len] == '='));
		free(copy);
	}
	report_end(&r);
	return true;
}
