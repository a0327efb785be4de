/* SPDX-License-Identifier: MIT
 * See commands_server.h.
 */
#include "commands/commands_server.h"

#include <stdlib.h>

#include "commands/call.h"
#include "model/backend.h"
#include "model/server_operator.h"

#define NUMBER_SIZE 24

static void
audit_number(const struct call *call, const struct server *server,
    const char *what, unsigned before, unsigned after)
{
	char from[NUMBER_SIZE], to[NUMBER_SIZE];

	snprintf(from, sizeof(from), "%u", before);
	snprintf(to, sizeof(to), "%u", after);
	call_audit(call, from, to, "server %s/%s %s",
	    server->backend->spec->name, server->spec->name, what);
}

/* `N`, or `N%` of the weight in the file. */
static bool
parse_weight(
    struct call *call, const char *text, unsigned base, unsigned *ret_weight)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (!*text)
		return err_set(call->err, "Require <weight> or <weight%%>.");
	if (end == text)
		return err_set(call->err,
		    "Empty weight string empty or preceded by garbage");
	if (end[0] == '%' && !end[1]) {
		if (n < 0)
			return err_set(
			    call->err, "Relative weight must be positive.");
		n = n < 100L * WEIGHT_MAX ? (long)base * n / 100 : WEIGHT_MAX;
		n = base == 0 ? 0 : n < WEIGHT_MAX ? n : WEIGHT_MAX;
	} else if (n < 0 || n > WEIGHT_MAX) {
		return err_set(call->err,
		    "Absolute weight can only be between 0 and 256 inclusive.");
	} else if (*end) {
		return err_set(call->err, "Trailing garbage in weight string");
	}
	*ret_weight = (unsigned)n;
	return true;
}

bool
set_weight_of(struct call *call, struct server *server, const char *text)
{
	unsigned before = server_weight(server), weight = 0;

	if (!parse_weight(call, text, server->spec->weight, &weight))
		return false;
	operator_set_weight(server, weight);
	audit_number(call, server, "weight", before, weight);
	return true;
}

bool
run_set_weight(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));

	return s && set_weight_of(call, s, call_arg(call, 1));
}

bool
run_get_weight(struct call *call)
{
	const struct server *s = call_server(call, call_arg(call, 0));

	if (!s)
		return false;
	fprintf(
	    call->out, "%u (initial %u)\n", server_weight(s), s->spec->weight);
	return true;
}

bool
set_maxconn_of(struct call *call, struct server *server, const char *text)
{
	unsigned before = server_maxconn(server);
	char *end;
	long n = strtol(text, &end, 10);

	if (!*text)
		return err_set(call->err, "Require <maxconn>.");
	if (end == text)
		return err_set(
		    call->err, "maxconn string empty or preceded by garbage");
	if (*end)
		return err_set(call->err, "Trailing garbage in maxconn string");
	if (n < 0 || n > INT32_MAX)
		return err_set(call->err, "Value out of range.");
	operator_set_maxconn(server, (unsigned)n);
	audit_number(call, server, "maxconn", before, (unsigned)n);
	return true;
}

bool
run_set_maxconn_server(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));

	return s && set_maxconn_of(call, s, call_arg(call, 1));
}

void
set_admin_of(struct call *call, struct server *server, enum server_admin admin)
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
		set_admin_of(call, s, SERVER_READY);
	return s != NULL;
}

bool
run_disable_server(struct call *call)
{
	struct server *s = call_server(call, call_arg(call, 0));

	if (s)
		set_admin_of(call, s, SERVER_MAINT);
	return s != NULL;
}

static const char *
on_off(bool paused)
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
	call_audit(call, on_off(before), on_off(paused),
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
	call_audit(call, on_off(before), on_off(paused), "server %s/%s agent",
	    s->backend->spec->name, s->spec->name);
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
