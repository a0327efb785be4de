/* SPDX-License-Identifier: MIT
 * `show cli level` and `show cli sockets`.
 */
#include "commands/commands.h"

#include "commands/report.h"

bool
run_show_cli_level(struct call *call)
{
	struct report r;

	report_begin(&r, call_take_json(call), call->out);
	if (!r.json)
		call_severity(call, SEVERITY_INFO);
	report_row(&r);
	report_put(&r, "level", "%s", command_level_name(call->mode->level));
	report_row_end(&r);
	report_end(&r);
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
