/* SPDX-License-Identifier: MIT
 * `set maxconn frontend`, `set maxconn global` and `set maxconn server`.
 */
#include "commands/commands.h"

#include <stdlib.h>

#include "model/backend.h"
#include "model/server_operator.h"
#include "proxy/proxy.h"

static uint64_t
frontend_maxconn(const struct call *call, const struct frontend *f)
{
	uint32_t n = atomic_load_relaxed(&f->state->maxconn);

	return n == FRONTEND_NO_LIMIT
	           ? session_limits_maxconn(&call->env->orders->limits)
	           : n;
}

bool
run_set_maxconn_frontend(struct call *call)
{
	struct frontend *f = call_frontend(call, call_arg(call, 0));
	uint64_t n, before;
	uint32_t word;

	if (!f || !call_number(call, call_arg(call, 1),
	              "Integer value expected.", INT32_MAX, &n))
		return false;
	before = frontend_maxconn(call, f);
	word = atomic_load_relaxed(&f->state->maxconn);
	/* A number that reaches the session limit sets no limit. */
	session_limits_set_frontend_maxconn(&call->env->orders->limits, f,
	    n < (&call->env->orders->limits.budget)->sessions
	        ? (uint32_t)n
	        : FRONTEND_NO_LIMIT);
	/* Any number above the session limit is the same. */
	call_audit_number(call, before,
	    atomic_load_relaxed(&f->state->maxconn) == word ? before : n,
	    "frontend %s maxconn", f->spec->name);
	return true;
}

/* Sets the limit of the process; 0: as many as there is room for. */
bool
run_set_maxconn_global(struct call *call)
{
	const struct command_env *env = call->env;
	uint64_t before = session_limits_maxconn(&env->orders->limits), n;

	if (!call_number(call, call_arg(call, 0), "Expects an integer value.",
	        env->orders->limits.budget.sessions, &n))
		return false;
	session_limits_set_maxconn(&env->orders->limits, n);
	call_audit_number(call, before,
	    session_limits_maxconn(&env->orders->limits), "global maxconn");
	return true;
}

bool
run_set_maxconn_server(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));
	const char *text = call_arg(call, 1);
	unsigned before;
	char *end;
	long n;

	if (!s)
		return false;
	n = strtol(text, &end, 10);
	if (!*text)
		return err_set(call->err, "Require <maxconn>.");
	if (end == text)
		return err_set(
		    call->err, "maxconn string empty or preceded by garbage");
	if (*end)
		return err_set(call->err, "Trailing garbage in maxconn string");
	if (n < 0 || n > INT32_MAX)
		return err_set(call->err, "Value out of range.");
	before = server_maxconn(s);
	operator_set_maxconn(s, (unsigned)n);
	call_audit_number(call, before, (unsigned)n, "server %s/%s maxconn",
	    s->backend->spec->name, s->spec->name);
	return true;
}
