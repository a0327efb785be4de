/* SPDX-License-Identifier: MIT
 * `drain server`, `cancel drain` and `show drains`, see control/drains.h.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "commands/expiring.h"
#include "commands/pool_json.h"
#include "base/text.h"
#include "control/drains.h"
#include "model/backend.h"

static bool
parse_then(struct call *call, const char *text, enum drain_then *ret_then)
{
	for (enum drain_then t = DRAIN_THEN_KILL; t <= DRAIN_THEN_MAINT; t++) {
		if (strcmp(text, drain_then_name(t)) != 0)
			continue;
		*ret_then = t;
		return true;
	}
	return err_set(call->err,
	    "'then' needs 'kill', to end the sessions that are left, or "
	    "'maint', for maintenance when none is.");
}

/* `[over DURATION] [then kill|maint]`, in this order or the other. */
static bool
parse_order(struct call *call, struct drain_order *ret_order)
{
	struct drain_order order = {.over_ms = 0};

	for (unsigned i = 1; *call_arg(call, i); i += 2) {
		const char *option = call_arg(call, i);
		const char *value = call_arg(call, i + 1);

		if (strcmp(option, "over") == 0) {
			if (!call_duration(call, option, value,
			        DRAIN_OVER_MIN_MS, DRAIN_OVER_MAX_MS,
			        &order.over_ms))
				return false;
		} else if (strcmp(option, "then") == 0) {
			if (!parse_then(call, value, &order.then))
				return false;
		} else {
			return err_set(call->err,
			    "Unexpected argument '%s'; allowed are 'over "
			    "<duration>', 'then kill' and 'then maint'.",
			    option);
		}
		if (!*value)
			break;
	}
	*ret_order = order;
	return true;
}

/* Returns the former drain, which is replaced, or else the state. */
static const char *
drain_or_state(
    const struct call *call, const struct server *s, char out[DRAIN_TEXT_SIZE])
{
	struct drain_status status;

	if (control_drain_of(call->env->control, s, &status))
		return drain_order_text(&status.order, out);
	return server_admin_name(server_own_admin(s));
}

bool
run_drain_server(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));
	char text[DRAIN_TEXT_SIZE], after[DRAIN_TEXT_SIZE];
	char what[sizeof(((struct setting *)NULL)->subject)];
	struct drain_order order;
	const char *before;

	if (!s || !parse_order(call, &order))
		return false;
	before = drain_or_state(call, s, text);
	if (!control_drain(call->env->control, s, &order, call->err))
		return false;
	snprintf(what, sizeof(what), "server %s/%s state",
	    s->backend->spec->name, s->spec->name);
	expiring_overrule(call->env->expiring, call, what);
	call_audit(call, before, drain_order_text(&order, after), "%s", what);
	return true;
}

bool
run_cancel_drain(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));
	char before[DRAIN_TEXT_SIZE];
	struct drain_status status;

	if (!s)
		return false;
	if (!control_drain_of(call->env->control, s, &status))
		return err_set(call->err,
		    "Server is not being drained (use 'show drains').");
	drain_order_text(&status.order, before);
	(void)control_cancel_drain(call->env->control, s);
	call_audit(call, before, server_admin_name(server_own_admin(s)),
	    "server %s/%s state", s->backend->spec->name, s->spec->name);
	return true;
}

static void
put_drain(FILE *out, const struct drain_status *d)
{
	char order[DRAIN_TEXT_SIZE], left[LEFT_TEXT_SIZE];

	fprintf(out, "%s/%s %s weight %u/%u sessions %u/%u", d->backend,
	    d->server, drain_phase_name(d->phase), d->weight_now, d->weight_was,
	    d->sessions_now, d->sessions_began);
	fprintf(out, " left %s: %s\n",
	    d->phase == DRAIN_WAITING ? "-" : left_text(d->left_ms, left),
	    drain_order_text(&d->order, order));
}

static json_t *
drain_json(const struct drain_status *d)
{
	const char *then = drain_then_name(d->order.then);

	return json_pack("{s:s, s:s, s:s, s:I, s:s?, s:I, s:I, s:I, s:I, s:o}",
	    "backend", d->backend, "server", d->server, "phase",
	    drain_phase_name(d->phase), "over_ms", (json_int_t)d->order.over_ms,
	    "then", *then ? then : NULL, "weight", (json_int_t)d->weight_now,
	    "weight_was", (json_int_t)d->weight_was, "sessions",
	    (json_int_t)d->sessions_now, "sessions_began",
	    (json_int_t)d->sessions_began, "left_ms",
	    d->phase == DRAIN_WAITING ? json_null()
	                              : json_integer((json_int_t)d->left_ms));
}

bool
run_show_drains(struct call *call)
{
	struct control *control = call->env->control;
	struct drain_status status;
	bool json, complete = true;
	json_t *all;

	if (!call_json(call, &json))
		return false;
	all = json ? json_array() : NULL;
	for (size_t i = 0; control_drain_at(control, i, &status); i++) {
		if (!json)
			put_drain(call->out, &status);
		else if (json_array_append_new(all, drain_json(&status)) < 0)
			complete = false;
	}
	return !json || json_print(all, complete, call->out, call->err);
}
