/* SPDX-License-Identifier: MIT
 * `show errors`.  HAProxy lists invalid HTTP requests; lfproxy parses no HTTP,
 * so there are none.
 */
#include "commands/commands.h"

#include <stdlib.h>

#include "commands/report.h"
#include "stats/stat_rows.h"
#include "base/clock.h"
#include "base/time_text.h"

/* Accepts the number of a proxy that does not exist, as HAProxy does. */
bool
run_show_errors(struct call *call)
{
	const struct model *model = call->env->instance->model;
	bool json =
	    !(call->args[0] && stat_proxy_exists(model, call->args[0])) &&
	    call_take_json(call);
	char when[TIME_TEXT_SIZE];
	struct report r;

	if (call->args[0] && atoi(call->args[0]) == 0 &&
	    !stat_proxy_exists(model, call->args[0]))
		return call_no_such_proxy(call, call->args[0]);
	report_begin(&r, json, call->out);
	report_row(&r);
	report_text(&r, "Total events captured on [%s] : ",
	    time_text(TIME_HAPROXY, clock_wall_us(), 3, when));
	report_put(&r, "events", "%d", 0);
	report_row_end(&r);
	report_end(&r);
	return true;
}
