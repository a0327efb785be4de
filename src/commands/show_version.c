/* SPDX-License-Identifier: MIT
 * `show version`.
 */
#include "commands/commands.h"

#include "commands/report.h"
#include "stats/info.h"

bool
run_show_version(struct call *call)
{
	struct report r;

	report_begin(&r, call_take_json(call), call->out);
	report_row(&r);
	report_put(&r, "version", "%s", API_VERSION);
	report_json_string(&r, "lfproxy_version", LFPROXY_VERSION);
	report_row_end(&r);
	report_end(&r);
	return true;
}
