/* SPDX-License-Identifier: MIT
 * `show table`.  lfproxy has no stick tables, so there are none to show.
 */
#include "commands/commands.h"

#include "commands/rows.h"

/* Writes nothing: lfproxy has no tables of clients. */
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
