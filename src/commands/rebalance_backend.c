/* SPDX-License-Identifier: MIT
 * `rebalance backend`, `cancel rebalance` and `show rebalances`, see
 * orders/rebalance.h.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "commands/report.h"
#include "model/backend.h"
#include "orders/rebalance.h"

struct options {
	uint64_t over_ms;
	bool dry_run, json;
};

static bool
parse_rebalance(struct call *call, struct options *ret)
{
	struct options o = {.over_ms = REBALANCE_OVER_DEFAULT};
	unsigned given = 0;

	for (unsigned i = 1; *call_arg(call, i); i++) {
		const char *option = call_arg(call, i);

		if (strcmp(option, "dry-run") == 0)
			o.dry_run = true;
		else if (strcmp(option, "json") == 0)
			o.json = true;
		else if (strcmp(option, "over") != 0)
			return err_set(call->err,
			    "Unexpected argument '%s'; allowed are 'over "
			    "<duration>', dry-run and json.",
			    option);
		else if (!call_once(call, option, &given, 1) ||
		         !call_duration(call, option, call_arg(call, ++i),
		             REBALANCE_OVER_MIN_MS, REBALANCE_OVER_MAX_MS,
		             &o.over_ms))
			return false;
	}
	*ret = o;
	return true;
}

static struct backend *
named_backend(struct call *call)
{
	const char *name = call_arg(call, 0);
	const struct model *m = call->env->instance->model;
	struct backend *b = model_find_backend(m, name);

	if (!*name)
		err_set(call->err, "A backend name is expected.");
	else if (!b)
		call_no_such_of(
		    call, "No such backend.", name, BACKEND_NAMES(m->spec));
	return b;
}

static void
put_servers_of_plan(
    struct report *r, const struct rebalance_status *s, bool progress)
{
	report_text(r, "# server sessions fair weight close%s\n",
	    progress ? " closed" : "");
	report_list(r, "servers");
	for (size_t i = 0; i < s->rows_n; i++) {
		const struct rebalance_row *row = &s->rows[i];

		report_row(r);
		report_text(r, "%s/", s->backend);
		report_put(r, "server", "%s", row->server);
		report_put(r, "sessions", " %u", row->sessions);
		report_put(r, "fair", " %u", row->fair);
		report_put(r, "weight", " %u", row->weight);
		report_put(r, "close", " %u", row->planned);
		if (progress)
			report_put(r, "closed", " %u", row->closed);
		report_row_end(r);
	}
	report_close(r);
}

static void
put_plan(struct report *r, const struct rebalance_status *s, bool dry_run)
{
	char over[TEXT_DURATION_SIZE];

	report_object(r, NULL);
	report_json_string(r, "backend", s->backend);
	report_json_bool(r, "begun", !dry_run && s->planned > 0);
	report_json(r, "over_ms", "%" PRIu64, s->over_ms);
	report_json(r, "sessions", "%u", s->sessions);
	report_json(r, "close", "%u", s->planned);
	put_servers_of_plan(r, s, false);
	if (s->planned == 0)
		report_text(r, "Nothing to do: no server has more than its "
		               "share.\n");
	else
		report_text(r, "%u of %u session%s %s closed over %s.\n",
		    s->planned, s->sessions, text_s(s->sessions),
		    dry_run ? "would be" : "will be",
		    text_duration(s->over_ms, over));
}

static void
audit_plan(const struct call *call, const struct rebalance_status *s)
{
	char over[TEXT_DURATION_SIZE];

	if (s->planned > 0)
		call_audit(call, NULL, NULL,
		    "backend %s: rebalanced over %s, %u of %u session%s to be "
		    "closed",
		    s->backend, text_duration(s->over_ms, over), s->planned,
		    s->sessions, text_s(s->sessions));
}

bool
run_rebalance(struct call *call)
{
	const struct command_env *env = call->env;
	const struct backend *b = named_backend(call);
	struct rebalance_status plan;
	struct options o = {.over_ms = 0};
	struct report r;

	if (!b || !parse_rebalance(call, &o))
		return false;
	if (o.dry_run ? !rebalance_plan(b, o.over_ms, &plan, call->err)
	              : !rebalance_begin(&env->orders->rebalances, b, o.over_ms,
	                    &plan, call->err))
		return false;
	if (!o.dry_run)
		audit_plan(call, &plan);
	report_begin(&r, o.json, call->out);
	put_plan(&r, &plan, o.dry_run);
	report_end(&r);
	rebalance_status_fini(&plan);
	return true;
}

bool
run_cancel_rebalance(struct call *call)
{
	const struct backend *b = named_backend(call);

	if (!b)
		return false;
	if (!rebalance_cancel(&call->env->orders->rebalances, b))
		return err_set(call->err,
		    "Backend is not being rebalanced (use 'show rebalances').");
	call_audit(call, NULL, NULL, "backend %s: rebalancing cancelled",
	    b->spec->name);
	return true;
}

static void
put_progress(struct report *r, const struct rebalance_status *s)
{
	char over[TEXT_DURATION_SIZE], left[SPAN_TEXT_SIZE];

	report_object(r, NULL);
	report_put(r, "backend", "backend %s", s->backend);
	report_put(r, "closed", ": %u", s->closed);
	report_put(r, "close", " of %u closed", s->planned);
	report_json(r, "sessions", "%u", s->sessions);
	report_json(r, "over_ms", "%" PRIu64, s->over_ms);
	report_json(r, "left_ms", "%" PRIu64, s->left_ms);
	report_text(r, ", over %s, left %s\n", text_duration(s->over_ms, over),
	    left_text(s->left_ms, left));
	put_servers_of_plan(r, s, true);
	report_close(r);
}

bool
run_show_rebalances(struct call *call)
{
	struct rebalance_status status;
	struct report r;

	report_begin(&r, call_take_json(call), call->out);
	report_head(&r, "");
	for (size_t i = 0;
	     rebalance_status_at(&call->env->orders->rebalances, i, &status);
	     i++) {
		put_progress(&r, &status);
		rebalance_status_fini(&status);
	}
	report_end(&r);
	return true;
}
