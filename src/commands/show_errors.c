/* SPDX-License-Identifier: MIT
 * `show errors`.  HAProxy lists invalid HTTP requests; lfproxy parses no HTTP,
 * so there are none.
 */
#include "commands/commands.h"

#include <stdlib.h>

#include "commands/rows.h"
#include "base/clock.h"
#include "base/time_text.h"

static void
read_no_events(const void *row, struct row_value *v)
{
	(void)row;
	row_number(v, 0);
}

ROW_READ(read_when, char, when, row_text(v, when))

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
	static const struct row_column columns[] = {
	    {"Total events captured on [", NULL, read_when, NULL},
	    {"] : ", "events", read_no_events, NULL},
	};
	static const struct row_table table = ROW_TABLE(NULL, columns);
	const struct model *model = control_model(call->env->control);
	bool json = !(call->args[0] && is_proxy(model, call->args[0])) &&
	            call_take_json(call);
	char when[TIME_TEXT_SIZE];

	if (call->args[0] && atoi(call->args[0]) == 0 &&
	    !is_proxy(model, call->args[0]))
		return err_set(call->err, "No such proxy.");
	rows_put_single(&table,
	    time_text(TIME_HAPROXY, clock_wall_us(), 3, when), json, call->out);
	return true;
}
