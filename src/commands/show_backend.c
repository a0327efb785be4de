/* SPDX-License-Identifier: MIT
 * `show backend`.
 */
#include "commands/commands.h"

#include "commands/rows.h"

ROW_READ(read_name, char, name, row_text(v, name))

bool
run_show_backend(struct call *call)
{
	static const struct row_column columns[] = {
	    {"", "name", read_name, NULL}};
	static const struct row_table table = ROW_TABLE("# name\n", columns);
	const struct spec *spec = control_model(call->env->control)->spec;
	struct rows rows;

	rows_begin(&rows, &table, call_take_json(call), call->out);
	for (size_t i = 0; i < spec->backends_n; i++)
		rows_put(&rows, spec->backends[i].name, call->out);
	rows_end(&rows, call->out);
	return true;
}
