/* SPDX-License-Identifier: MIT
 * `clear counters` and `clear loop`.
 */
#include "commands/commands.h"

#include <string.h>

/* Clears the peaks, or with `all` every counter.  An operator may clear peaks
 * alone. */
bool
run_clear_counters(struct call *call)
{
	bool all = strcmp(call_arg(call, 0), "all") == 0;

	if (all && call->mode->level < LEVEL_ADMIN)
		return err_set(call->err, "Permission denied");
	model_clear_counters(call->env->instance->model, all);
	call_audit(call, NULL, NULL,
	    all ? "all counters cleared" : "peak counters cleared");
	return true;
}

bool
run_clear_loop(struct call *call)
{
	control_loop_clear(call->env->control);
	return true;
}
