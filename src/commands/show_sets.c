/* SPDX-License-Identifier: MIT
 * `show sets`: the sets of servers that come and go, and their sources.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "commands/report.h"
#include "sets/sets.h"

static void
put_set(struct report *r, const struct set_facts *s)
{
	uint64_t age_s = (clock_now_ms() - s->reported_ms) / 1000;
	char age[SPAN_TEXT_SIZE];

	report_row(r);
	report_put(r, "backend", "%s", s->backend);
	report_put(r, "set", "/%s", s->prefix);
	report_put(r, "kind", " %s", s->kind);
	report_put(r, "source", "=%s", s->source);
	report_put(r, "members", ": %u", (unsigned)s->members);
	report_put(r, "max", " of at most %u servers", s->max);
	report_put(r, "left_out", ", %u left out", (unsigned)s->left_out);
	report_put(r, "updates", ", %" PRIu64 " updates", s->updates);
	report_put(r, "reports", "; %" PRIu64 " reports", s->reports);
	report_json_known(r, "report_age_s", s->is_known, age_s);
	report_text(r, ", the last %s%s",
	    s->is_known ? span_text(age_s, age) : "never",
	    s->is_known ? " ago" : "");
	report_json_bool(r, "awaits_confirmation", s->waits);
	report_text(
	    r, "%s", s->waits ? "; a change waits to be confirmed" : "");
	report_put(r, "errors", "; %" PRIu64 " errors", s->errors);
	report_json_string(r, "last_error", s->error);
	if (s->error)
		report_text(r, ", the last: %s", s->error);
	report_row_end(r);
}

bool
run_show_sets(struct call *call)
{
	const struct sets *sets = call->env->sets;
	const struct backend *only;
	struct set_facts facts;
	struct report r;

	report_begin(&r, call_take_json(call), call->out);
	if (!call_backend(call, call_arg(call, 0), &only))
		return false;
	report_head(&r, "");
	for (size_t i = 0; sets_facts(sets, i, &facts); i++)
		if (!only || strcmp(only->spec->name, facts.backend) == 0)
			put_set(&r, &facts);
	report_end(&r);
	return true;
}
