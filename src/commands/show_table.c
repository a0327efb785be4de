/* SPDX-License-Identifier: MIT
 * `show table`.  lfproxy has no stick tables, so there are none to show.
 */
#include "commands/commands.h"

#include "commands/report.h"

bool
run_show_table(struct call *call)
{
	struct report r;

	report_begin(&r, call_take_json(call), call->out);
	if (call->args[0])
		return err_set(call->err, "No such table");
	report_head(&r, "");
	report_end(&r);
	return true;
}
