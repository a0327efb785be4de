/* SPDX-License-Identifier: MIT
 * `enable frontend`, `disable frontend` and `shutdown frontend`.
 */
#include "commands/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "commands/expiring.h"
#include "orders/frontend_orders.h"

static const char *
frontend_admin_name(enum frontend_admin admin)
{
	static const char *const names[] = {
	    [FRONTEND_OPEN] = "enabled",
	    [FRONTEND_PAUSED] = "disabled",
	    [FRONTEND_SHUT] = "shut down",
	};
	_Static_assert(FRONTEND_SHUT + 1 == sizeof(names) / sizeof(names[0]),
	    "a name each");

	return names[admin];
}

/* Returns whether nothing is to be changed, and says so with severity notice,
 * as HAProxy does. */
static bool
say_if_already(const struct call *call, const struct frontend *f,
    enum frontend_admin admin, const char *sentence)
{
	bool already = f->state->admin == admin;

	if (already)
		call_say(call, SEVERITY_NOTICE, "%s", sentence);
	return already;
}

static void
audit_admin(const struct call *call, const struct frontend *f,
    enum frontend_admin before)
{
	call_audit(call, frontend_admin_name(before),
	    frontend_admin_name(f->state->admin), "frontend %s", f->spec->name);
}

bool
run_enable_frontend(struct call *call)
{
	struct frontend *f = call_frontend(call, call_arg(call, 0));
	struct err why;

	if (!f)
		return false;
	if (f->state->admin == FRONTEND_SHUT)
		return err_set(call->err,
		    "Frontend was previously shut down, cannot enable.");
	if (say_if_already(
	        call, f, FRONTEND_OPEN, "All sockets are already enabled."))
		return true;
	if (!frontend_resume(call->env->listeners, f, &why)) {
		log_error(
		    "frontend %s stays disabled: %s", f->spec->name, why.text);
		return err_set(call->err,
		    "Failed to resume frontend, check logs for precise cause "
		    "(port conflict?).");
	}
	audit_admin(call, f, FRONTEND_PAUSED);
	return true;
}

bool
run_disable_frontend(struct call *call)
{
	struct frontend *f = call_frontend(call, call_arg(call, 0));

	if (!f)
		return false;
	if (say_if_already(call, f, FRONTEND_SHUT,
	        "Frontend was previously shut down, cannot disable.") ||
	    say_if_already(
	        call, f, FRONTEND_PAUSED, "All sockets are already disabled."))
		return true;
	frontend_pause(call->env->listeners, f);
	audit_admin(call, f, FRONTEND_OPEN);
	return true;
}

bool
run_shutdown_frontend(struct call *call)
{
	struct frontend *f = call_frontend(call, call_arg(call, 0));
	char what[sizeof(((struct setting *)NULL)->subject)];
	enum frontend_admin before;

	if (!f)
		return false;
	before = f->state->admin;
	if (say_if_already(
	        call, f, FRONTEND_SHUT, "Frontend was already shut down."))
		return true;
	frontend_shut(call->env->listeners, f);
	snprintf(what, sizeof(what), "frontend %s", f->spec->name);
	expiring_overrule(call->env->expiring, call, what);
	audit_admin(call, f, before);
	return true;
}

bool
restore_frontend(struct call *call)
{
	return strcmp(call_arg(call, 1), "enable") == 0
	           ? run_enable_frontend(call)
	           : run_disable_frontend(call);
}
