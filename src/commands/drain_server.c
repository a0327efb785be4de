/* SPDX-License-Identifier: MIT
 * `drain server`, `cancel drain` and `show drains`, see orders/drains.h.
 */
#include "commands/commands.h"

#include <inttypes.h>
#include <string.h>

#include "commands/expiring.h"
#include "commands/report.h"
#include "model/backend.h"
#include "orders/drains.h"

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
	    "'then' needs 'kill', to end the remaining sessions, or "
	    "'maint', for maintenance after the last session.");
}

/* Reads `[over DURATION] [then kill|maint]`, in either order. */
static bool
parse_order(struct call *call, struct drain_order *ret_order)
{
	struct drain_order order = {.over_ms = 0};
	unsigned given = 0;

	for (unsigned i = 1; *call_arg(call, i); i += 2) {
		const char *option = call_arg(call, i);
		const char *value = call_arg(call, i + 1);

		if (strcmp(option, "over") == 0) {
			if (!call_once(call, option, &given, 1) ||
			    !call_duration(call, option, value,
			        DRAIN_OVER_MIN_MS, DRAIN_OVER_MAX_MS,
			        &order.over_ms))
				return false;
		} else if (strcmp(option, "then") == 0) {
			if (!call_once(call, option, &given, 2) ||
			    !parse_then(call, value, &order.then))
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

	if (drains_of(&call->env->orders->drains, s, &status))
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
	if (!drains_begin(&call->env->orders->drains, s, &order, call->err))
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
	if (!drains_of(&call->env->orders->drains, s, &status))
		return err_set(call->err,
		    "Server is not being drained (use 'show drains').");
	drain_order_text(&status.order, before);
	(void)drains_cancel(&call->env->orders->drains, s);
	call_audit_server(
	    call, s, "state", before, server_admin_name(server_own_admin(s)));
	return true;
}

static void
put_drain(struct report *r, const struct drain_status *d)
{
	char order[DRAIN_TEXT_SIZE], left[SPAN_TEXT_SIZE];
	const char *then = drain_then_name(d->order.then);
	bool begun = d->phase != DRAIN_WAITING;

	report_row(r);
	report_put(r, "backend", "%s", d->backend);
	report_put(r, "server", "/%s", d->server);
	report_put(r, "phase", " %s", drain_phase_name(d->phase));
	report_put(r, "weight", " weight %u", d->weight_now);
	report_put(r, "weight_was", "/%u", d->weight_was);
	report_put(r, "sessions", " sessions %u", d->sessions_now);
	report_put(r, "sessions_began", "/%u", d->sessions_began);
	report_text(r, " left %s", begun ? left_text(d->left_ms, left) : "-");
	report_json_known(r, "left_ms", begun, d->left_ms);
	report_text(r, ": %s", drain_order_text(&d->order, order));
	report_json(r, "over_ms", "%" PRIu64, d->order.over_ms);
	report_json_string(r, "then", *then ? then : NULL);
	report_row_end(r);
}

bool
run_show_drains(struct call *call)
{
	struct drain_status status;
	struct report r;

	report_begin(&r, call_take_json(call), call->out);
	report_head(&r, "");
	for (size_t i = 0; drains_at(&call->env->orders->drains, i, &status);
	     i++)
		put_drain(&r, &status);
	report_end(&r);
	return true;
}
