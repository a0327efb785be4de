/* SPDX-License-Identifier: MIT
 * `enable` and `disable` of a server, its health checks, and its agent.
 */
#include "commands/commands.h"

#include "model/backend.h"
#include "model/server_operator.h"

void
call_set_admin(
    struct call *call, struct server *server, enum server_admin admin)
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
		call_set_admin(call, s, SERVER_READY);
	return s != NULL;
}

bool
run_disable_server(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));

	if (s)
		call_set_admin(call, s, SERVER_MAINT);
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
	before = s->state->operator.check_paused;
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
	before = s->state->operator.agent_paused;
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
