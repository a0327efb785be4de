/* SPDX-License-Identifier: MIT
 * `enable` and `disable` of a server, its health checks, and its agent.
 */
#include "commands/commands.h"

#include <string.h>

#include "model/server_operator.h"

static bool
set_admin(struct call *call, enum server_admin admin)
{
	struct server *s = call_server(call, call_arg(call, 0));
	enum server_admin before;

	if (!s)
		return false;
	before = server_own_admin(s);
	operator_set_admin(s, admin);
	call_audit_server(call, s, "state", server_admin_name(before),
	    server_admin_name(admin));
	return true;
}

/* Makes the server ready, which ends a drain as well. */
bool
run_enable_server(struct call *call)
{
	return set_admin(call, SERVER_READY);
}

bool
run_disable_server(struct call *call)
{
	return set_admin(call, SERVER_MAINT);
}

static const char *
pause_name(bool paused)
{
	return paused ? "disabled" : "enabled";
}

/* Pauses or resumes the health checks, or the agent. */
static bool
pause_check(struct call *call, bool agent, bool paused)
{
	struct server *s = call_server(call, call_arg(call, 0));
	bool before;

	if (!s)
		return false;
	if (agent ? !s->agent.on : !s->check.on)
		return paused ||
		       err_set(call->err,
		           "%s was not configured on this server, cannot "
		           "enable.",
		           agent ? "Agent" : "Health check");
	if (agent) {
		before = s->state->overrides.agent_paused;
		operator_pause_agent(s, paused);
	} else {
		before = s->state->overrides.check_paused;
		operator_pause_check(s, paused);
	}
	call_audit_server(call, s, agent ? "agent" : "health checks",
	    pause_name(before), pause_name(paused));
	return true;
}

bool
run_enable_health(struct call *call)
{
	return pause_check(call, false, false);
}

bool
run_disable_health(struct call *call)
{
	return pause_check(call, false, true);
}

bool
run_enable_agent(struct call *call)
{
	return pause_check(call, true, false);
}

bool
run_disable_agent(struct call *call)
{
	return pause_check(call, true, true);
}

/* -- changes that expire -- */

bool
restore_state(struct call *call)
{
	for (enum server_admin a = SERVER_READY; a <= SERVER_MAINT; a++)
		if (strcmp(call_arg(call, 1), server_admin_name(a)) == 0)
			return set_admin(call, a);
	return err_set(call->err,
	    "'set server <srv> state' expects 'ready', 'drain' and 'maint'.");
}

bool
restore_checks(struct call *call)
{
	return pause_check(
	    call, false, strcmp(call_arg(call, 1), "disable") == 0);
}

bool
restore_agent(struct call *call)
{
	return pause_check(
	    call, true, strcmp(call_arg(call, 1), "disable") == 0);
}
