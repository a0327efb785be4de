/* SPDX-License-Identifier: MIT
 * `enable` and `disable` of a server, its health checks, and its agent.
 */
#include "commands/commands.h"

#include <string.h>

#include "model/server_operator.h"

static void
set_admin(struct call *call, struct server *server, enum server_admin admin)
{
	enum server_admin before = server_own_admin(server);

	operator_set_admin(server, admin);
	call_audit_server(call, server, "state", server_admin_name(before),
	    server_admin_name(admin));
}

/* Ends a drain as well. */
bool
run_enable_server(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));

	if (s)
		set_admin(call, s, SERVER_READY);
	return s != NULL;
}

bool
run_disable_server(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));

	if (s)
		set_admin(call, s, SERVER_MAINT);
	return s != NULL;
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

enum setting_answer
describe_state(struct call *call, struct setting *ret_setting)
{
	struct server *s = setting_of_server(call, "state", ret_setting);

	if (!s)
		return SETTING_INVALID;
	SETTING_PRINT(ret_setting->configured, "%s",
	    server_admin_name(s->spec->disabled ? SERVER_MAINT : SERVER_READY));
	ret_setting->server = s;
	ret_setting->of_server = "state";
	return setting_known(
	    ret_setting, "%s", server_admin_name(server_own_admin(s)));
}

bool
restore_state(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));

	if (!s)
		return false;
	for (enum server_admin a = SERVER_READY; a <= SERVER_MAINT; a++) {
		if (strcmp(call_arg(call, 1), server_admin_name(a)) != 0)
			continue;
		set_admin(call, s, a);
		return true;
	}
	return err_set(call->err,
	    "'set server <srv> state' expects 'ready', 'drain' and 'maint'.");
}

static enum setting_answer
describe_pause(struct setting *ret_setting, bool paused)
{
	return setting_known(ret_setting, "%s", paused ? "disable" : "enable");
}

enum setting_answer
describe_checks(struct call *call, struct setting *ret_setting)
{
	struct server *s =
	    setting_of_server(call, "health checks", ret_setting);

	return s ? describe_pause(ret_setting, s->state->overrides.check_paused)
	         : SETTING_INVALID;
}

bool
restore_checks(struct call *call)
{
	return pause_check(
	    call, false, strcmp(call_arg(call, 1), "disable") == 0);
}

enum setting_answer
describe_agent(struct call *call, struct setting *ret_setting)
{
	struct server *s = setting_of_server(call, "agent", ret_setting);

	return s ? describe_pause(ret_setting, s->state->overrides.agent_paused)
	         : SETTING_INVALID;
}

bool
restore_agent(struct call *call)
{
	return pause_check(
	    call, true, strcmp(call_arg(call, 1), "disable") == 0);
}
