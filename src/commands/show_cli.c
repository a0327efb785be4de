/* SPDX-License-Identifier: MIT
 * `show cli level` and `show cli sockets`.
 */
#include "commands/commands.h"

#include "commands/rows.h"

static void
read_level(const void *row, struct row_value *v)
{
	const struct command_mode *mode = row;

	row_text(v, command_level_name(mode->level));
}

bool
run_show_cli_level(struct call *call)
{
	static const struct row_column columns[] = {
	    {"", "level", read_level, NULL}};
	static const struct row_table table = ROW_TABLE(NULL, columns);
	bool json = call_take_json(call);

	if (!json)
		call_severity(call, SEVERITY_INFO);
	rows_put_single(&table, call->mode, json, call->out);
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
