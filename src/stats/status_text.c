/* SPDX-License-Identifier: MIT
 * See status_text.h.
 */
#include "stats/status_text.h"

#include <stdio.h>

#include "model/backend.h"

/* Whether checks are configured and not paused. */
static bool
is_checked(const struct server *server)
{
	return server->check.on && !server->state->overrides.check_paused;
}

static bool
has_agent(const struct server *server)
{
	return server->agent.on && !server->state->overrides.agent_paused;
}

static void
put_health(const struct server *server, bool drained, char *out, size_t size)
{
	const struct check_rules *check = &server->check;
	const struct server_state *state = server->state;

	if (state->agent_down)
		snprintf(out, size, "DOWN (agent)");
	else if (state->stopping && server_is_up(server))
		snprintf(out, size, "NOLB");
	else if (!is_checked(server))
		snprintf(out, size, server_is_up(server) ? "no check" : "DOWN");
	else if (!state->up && state->streak)
		snprintf(out, size, "DOWN %u/%u", state->streak, check->rise);
	else if (!state->up)
		snprintf(out, size, "DOWN");
	else if (state->streak)
		snprintf(out, size, "%s %u/%u", drained ? "DRAIN" : "UP",
		    check->fall - state->streak, check->fall);
	else
		snprintf(out, size, drained ? "DRAIN" : "UP");
}

void
server_status_text(const struct server *server, char *out, size_t size)
{
	const struct server *other = server->tracked;
	const struct server *ref = other ? other : server;
	enum server_admin admin = server_admin_of(server);
	bool drained = admin == SERVER_DRAIN && server_is_up(server);

	if (server_is_unresolved(server))
		snprintf(out, size, "MAINT (resolution)");
	else if (admin == SERVER_MAINT &&
	         server_own_admin(server) != SERVER_MAINT)
		snprintf(out, size, "MAINT (via %s/%s)",
		    other->backend->spec->name, other->spec->name);
	else if (admin == SERVER_MAINT)
		snprintf(out, size, "MAINT");
	else if (server_is_ejected(server) && server_is_up(server))
		snprintf(out, size, "DOWN (ejected)");
	else if (drained && has_agent(ref))
		snprintf(out, size, "DRAIN (agent)");
	else if (drained && !is_checked(ref))
		snprintf(out, size, "DRAIN");
	else
		put_health(ref, drained, out, size);
}
