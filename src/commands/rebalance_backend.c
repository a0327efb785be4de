/* SPDX-License-Identifier: MIT
 * `rebalance backend`, `cancel rebalance` and `show rebalances`, see
 * control/rebalance.h.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "commands/pool_json.h"
#include "base/text.h"
#include "control/rebalance.h"
#include "model/backend.h"

struct options {
	uint64_t over_ms;
	bool dry_run, json;
};

static bool
parse(struct call *call, struct options *ret)
{
	struct options o = {.over_ms = REBALANCE_OVER_DEFAULT};

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
		else if (!call_duration(call, option, call_arg(call, ++i),
		             REBALANCE_OVER_MIN_MS, REBALANCE_OVER_MAX_MS,
		             &o.over_ms))
			return false;
	}
	*ret = o;
	return true;
}

static struct backend *
backend_of(struct call *call)
{
	const char *name = call_arg(call, 0);
	struct backend *b =
	    model_find_backend(control_model(call->env->control), name);

	if (!b)
		err_set(call->err, "%s",
		    *name ? "No such backend." : "A backend name is expected.");
	return b;
}

static void
put_rows(FILE *out, const struct rebalance_status *s, bool progress)
{
	fputs(progress ? "# server sessions fair weight close closed\n"
	               : "# server sessions fair weight close\n",
	    out);
	for (size_t i = 0; i < s->rows_n; i++) {
		const struct rebalance_row *r = &s->rows[i];

		fprintf(out, "%s/%s %u %u %u %u", s->backend, r->server,
		    r->sessions, r->fair, r->weight, r->planned);
		if (progress)
			fprintf(out, " %u", r->closed);
		putc('\n', out);
	}
}

static json_t *
rows_json(const struct rebalance_status *s, bool progress)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < s->rows_n; i++) {
		const struct rebalance_row *r = &s->rows[i];
		json_t *row = json_pack("{s:s, s:I, s:I, s:I, s:I}", "server",
		    r->server, "sessions", (json_int_t)r->sessions, "fair",
		    (json_int_t)r->fair, "weight", (json_int_t)r->weight,
		    "close", (json_int_t)r->planned);

		if (progress)
			json_object_set_new(
			    row, "closed", json_integer((json_int_t)r->closed));
		if (json_array_append_new(rows, row) < 0) {
			json_decref(rows);
			return NULL;
		}
	}
	return rows;
}

static json_t *
plan_json(const struct rebalance_status *s, bool begun)
{
	return json_pack("{s:s, s:b, s:I, s:I, s:I, s:o}", "backend",
	    s->backend, "begun", begun, "over_ms", (json_int_t)s->over_ms,
	    "sessions", (json_int_t)s->sessions, "close",
	    (json_int_t)s->planned, "servers", rows_json(s, false));
}

static void
put_plan(FILE *out, const struct rebalance_status *s, bool dry_run)
{
	char over[TEXT_DURATION_SIZE];

	put_rows(out, s, false);
	if (s->planned == 0)
		fputs(
		    "Nothing to do: no server has more than its share.\n", out);
	else
		fprintf(out, "%u of %u session%s %s closed over %s.\n",
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
	struct control *control = call->env->control;
	const struct backend *b = backend_of(call);
	struct rebalance_status plan;
	struct options o = {.over_ms = 0};
	bool ok = true;

	if (!b || !parse(call, &o))
		return false;
	if (o.dry_run
	        ? !control_plan_rebalance(b, o.over_ms, &plan, call->err)
	        : !control_rebalance(control, b, o.over_ms, &plan, call->err))
		return false;
	if (!o.dry_run)
		audit_plan(call, &plan);
	if (o.json)
		ok =
		    json_print(plan_json(&plan, !o.dry_run && plan.planned > 0),
		        true, call->out, call->err);
	else
		put_plan(call->out, &plan, o.dry_run);
	rebalance_status_fini(&plan);
	return ok;
}

bool
run_cancel_rebalance(struct call *call)
{
	const struct backend *b = backend_of(call);

	if (!b)
		return false;
	if (!control_cancel_rebalance(call->env->control, b))
		return err_set(call->err,
		    "Backend is not being rebalanced (use 'show rebalances').");
	call_audit(call, NULL, NULL, "backend %s: rebalancing cancelled",
	    b->spec->name);
	return true;
}

static void
put_progress(FILE *out, const struct rebalance_status *s)
{
	char over[TEXT_DURATION_SIZE], left[LEFT_TEXT_SIZE];

	fprintf(out, "backend %s: %u of %u closed, over %s, left %s\n",
	    s->backend, s->closed, s->planned, text_duration(s->over_ms, over),
	    left_text(s->left_ms, left));
	put_rows(out, s, true);
}

static json_t *
progress_json(const struct rebalance_status *s)
{
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "backend",
	    s->backend, "over_ms", (json_int_t)s->over_ms, "left_ms",
	    (json_int_t)s->left_ms, "sessions", (json_int_t)s->sessions,
	    "close", (json_int_t)s->planned, "closed", (json_int_t)s->closed,
	    "servers", rows_json(s, true));
}

bool
run_show_rebalances(struct call *call)
{
	struct control *control = call->env->control;
	struct rebalance_status status;
	bool json, complete = true;
	json_t *all;

	if (!call_json(call, &json))
		return false;
	all = json ? json_array() : NULL;
	for (size_t i = 0; control_rebalance_at(control, i, &status); i++) {
		if (!json)
			put_progress(call->out, &status);
		else if (json_array_append_new(all, progress_json(&status)) < 0)
			complete = false;
		rebalance_status_fini(&status);
	}
	return !json || json_print(all, complete, call->out, call->err);
}
