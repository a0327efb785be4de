/* SPDX-License-Identifier: MIT
 * `show changes`: what the audit has kept.
 */
#include "commands/commands.h"

#include <inttypes.h>

#include "commands/report.h"
#include "base/text.h"
#include "base/time_text.h"

static void
put_audit_change(struct report *r, const struct audit_change *c)
{
	char time[TIME_TEXT_SIZE];

	report_row(r);
	report_put(r, "id", "%" PRIu64, c->id);
	report_put(r, "time", " %s",
	    time_text(TIME_RFC3339, c->wall_ms * 1000, 3, time));
	report_put(r, "who", " %s", c->who);
	report_put(r, "what", ": %s", c->what);
	report_json_string(r, "before", c->before);
	report_json_string(r, "after", c->after);
	if (c->before[0] || c->after[0])
		report_text(r, ": %s -> %s", c->before[0] ? c->before : "none",
		    c->after[0] ? c->after : "none");
	report_row_end(r);
}

/* Shows the latest changes, the oldest first. */
bool
run_show_changes(struct call *call)
{
	const struct audit *audit = call->env->audit;
	bool json = call_take_json(call);
	uint64_t max = AUDIT_KEPT;
	struct report r;

	if (call->args[0] && (call->args[1] || !text_parse_number(call->args[0],
	                                           1, AUDIT_KEPT, &max, NULL)))
		return err_set(call->err,
		    "Expects how many changes, 1 to %d, to show, and json; or "
		    "nothing.",
		    AUDIT_KEPT);
	if (max > audit_count(audit))
		max = audit_count(audit);
	report_begin(&r, json, call->out);
	report_head(&r, "");
	for (size_t i = audit_count(audit) - max; i < audit_count(audit); i++)
		put_audit_change(&r, audit_at(audit, i));
	report_end(&r);
	return true;
}
