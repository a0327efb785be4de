/* SPDX-License-Identifier: MIT
 * `show errors`.  HAProxy lists invalid HTTP requests; lfproxy parses no HTTP,
 * so there are none.
 */
#include "commands/commands.h"

#include <stdlib.h>

#include "commands/report.h"
#include "base/clock.h"
#include "base/time_text.h"

static bool
is_proxy(const struct model *model, const char *name)
{
	return model_find_frontend(model, name) ||
	       model_find_backend(model, name);
}

/* Accepts the number of a proxy that does not exist, as HAProxy does. */
bool
run_show_errors(struct call *call)
{
	const struct model *model = control_model(call->env->control);
	bool json = !(call->args[0] && is_proxy(model, call->args[0])) &&
	            call_take_json(call);
	char when[TIME_TEXT_SIZE];
	struct report r;

	if (call->args[0] && atoi(call->args[0]) == 0 &&
	    !is_proxy(model, call->args[0]))
		return err_set(call->err, "No such proxy.");
	report_begin(&r, json, call->out);
	report_row(&r);
	report_text(&r, "Total events captured on [%s] : ",
	    time_text(TIME_HAPROXY, clock_wall_us(), 3, when));
	report_put(&r, "events", "%d", 0);
	report_row_end(&r);
	report_end(&r);
	return true;
}
