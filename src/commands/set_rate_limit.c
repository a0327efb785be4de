/* SPDX-License-Identifier: MIT
 * `set rate-limit`.
 */
#include "commands/commands.h"

#include <string.h>

#include "proxy/proxy.h"

/* Sets the rate of connections or of sessions, the rates of HAProxy that
 * lfproxy has. */
bool
run_set_rate_limit(struct call *call)
{
	const struct command_env *env = call->env;
	const struct proxy_limits *now = &env->instance->proxy.limits;
	bool connections = strcmp(call_arg(call, 0), "connections") == 0;
	uint64_t n, before;

	if ((!connections && strcmp(call_arg(call, 0), "sessions") != 0) ||
	    strcmp(call_arg(call, 1), "global") != 0)
		return err_set(call->err,
		    "'set rate-limit' only supports :\n"
		    "   - 'connections global' to set the per-process maximum "
		    "connection rate\n"
		    "   - 'sessions global' to set the per-process maximum "
		    "session rate");
	if (!call_number(call, call_arg(call, 2), "Expects an integer value.",
	        INT32_MAX, &n))
		return false;
	before = connections ? atomic_load_relaxed(&now->connect_rate)
	                     : atomic_load_relaxed(&now->session_rate);
	if (connections)
		session_limits_set_rate(&env->orders->limits, (uint32_t)n);
	else
		session_limits_set_session_rate(
		    &env->orders->limits, (uint32_t)n);
	call_audit_number(call, before, n, "%s per second", call_arg(call, 0));
	return true;
}
