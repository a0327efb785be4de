/* SPDX-License-Identifier: MIT
 * `enable` and `disable` of a server, its health checks, and its agent.
 */
#include "commands/commands.h"

#include <string.h>

#include "model/backend.h"
#include "model/server_operator.h"

static void
set_admin(struct call *call, struct server *server, enum server_admin admin)
{
	enum server_admin before = server_own_admin(server);

	operator_set_admin(server, admin);
	call_audit(call, server_admin_name(before), server_admin_name(admin),
	    "server %s/%s state", server->backend->spec->name,
	    server->spec->name);
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

static bool
pause_check(struct call *call, bool paused)
{
	struct server *s = call_server(call, call_arg(call, 0));
	bool before;

	if (!s)
		return false;
	if (!s->check.on && !paused)
		return err_set(call->err,
		    "Health check was not configured on this server, cannot "
		    "enable.");
	if (!s->check.on)
		return true;
	before = s->state->overrides.check_paused;
	operator_pause_check(s, paused);
	call_audit(call, pause_name(before), pause_name(paused),
	    "server %s/%s health checks", s->backend->spec->name,
	    s->spec->name);
	return true;
}

bool
run_enable_health(struct call *call)
{
	return pause_check(call, false);
}

bool
run_disable_health(struct call *call)
{
	return pause_check(call, true);
}

static bool
pause_agent(struct call *call, bool paused)
{
	struct server *s = call_server(call, call_arg(call, 0));
	bool before;

	if (!s)
		return false;
	if (!s->agent.on && !paused)
		return err_set(call->err,
		    "Agent was not configured on this server, cannot enable.");
	if (!s->agent.on)
		return true;
	before = s->state->overrides.agent_paused;
	operator_pause_agent(s, paused);
	call_audit(call, pause_name(before), pause_name(paused),
	    "server %s/%s agent", s->backend->spec->name, s->spec->name);
	return true;
}

bool
run_enable_agent(struct call *call)
{
	return pause_agent(call, false);
}

bool
run_disable_agent(struct call *call)
{
	return pause_agent(call, true);
}

/* -- changes that expire -- */

enum setting_answer
describe_state(struct call *call, struct setting *ret_setting)
{
	struct server *s = setting_of_server(call, "state", ret_setting);

	if (!s)
		return SETTING_INVALID;
	SETTING_PRINT(
	    ret_setting->value, "%s", server_admin_name(server_own_admin(s)));
	SETTING_PRINT(ret_setting->configured, "%s",
	    server_admin_name(s->spec->disabled ? SERVER_MAINT : SERVER_READY));
	ret_setting->server = s;
	ret_setting->of_server = "state";
	return SETTING_KNOWN;
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

enum setting_answer
describe_checks(struct call *call, struct setting *ret_setting)
{
	struct server *s =
	    setting_of_server(call, "health checks", ret_setting);

	if (!s)
		return SETTING_INVALID;
	SETTING_PRINT(ret_setting->value, "%s",
	    s->state->overrides.check_paused ? "disable" : "enable");
	return SETTING_KNOWN;
}

bool
restore_checks(struct call *call)
{
	return pause_check(call, strcmp(call_arg(call, 1), "disable") == 0);
}

enum setting_answer
describe_agent(struct call *call, struct setting *ret_setting)
{
	struct server *s = setting_of_server(call, "agent", ret_setting);

	if (!s)
		return SETTING_INVALID;
	SETTING_PRINT(ret_setting->value, "%s",
	    s->state->overrides.agent_paused ? "disable" : "enable");
	return SETTING_KNOWN;
}

bool
restore_agent(struct call *call)
{
	return pause_agent(call, strcmp(call_arg(call, 1), "disable") == 0);
}
