/* SPDX-License-Identifier: MIT
 * The status of a server, derived from its spec and its state: see server.h.
 * Nothing here changes anything.
 */
#include "model/backend.h"
#include "model/model.h"
#include "model/server.h"

const char *
server_admin_name(enum server_admin admin)
{
	static const char *const names[] = {
	    [SERVER_READY] = "ready",
	    [SERVER_DRAIN] = "drain",
	    [SERVER_MAINT] = "maint",
	};
	_Static_assert(SERVER_MAINT + 1 == sizeof(names) / sizeof(names[0]),
	    "a name each");

	return names[admin];
}

/* Returns whether the agent's settings hold.  Those of an agent that is not
 * asked any more do not.  A reload makes the lineup before it settles the
 * servers. */
static bool
agent_holds(const struct server *server)
{
	return server->agent.on || !server->state->agent_heard;
}

bool
server_is_up(const struct server *server)
{
	const struct server_state *s = server->state;
	bool up;

	if (server->tracked)
		return server_is_up(server->tracked);
	up = server->check.on ? atomic_load_relaxed(&s->up) : !s->forced_down;
	return up && !(s->agent_down && agent_holds(server));
}

/* Returns the settings in force: the agent's and the operator's, whichever came
 * later, or the operator's alone. */
static const struct server_settings *
settings_of(const struct server *server)
{
	return agent_holds(server) ? &server->state->set
	                           : &server->state->overrides.set;
}

unsigned
server_weight(const struct server *server)
{
	return override_or(&settings_of(server)->weight, server->spec->weight);
}

unsigned
server_maxconn(const struct server *server)
{
	return override_or(
	    &settings_of(server)->maxconn, server->spec->maxconn);
}

enum server_admin
server_file_admin(const struct server *server)
{
	return server->spec->disabled ? SERVER_MAINT : SERVER_READY;
}

enum server_admin
server_ordered_admin(const struct server *server)
{
	return (enum server_admin)override_or(
	    &server->state->overrides.set.admin, server_file_admin(server));
}

enum server_admin
server_own_admin(const struct server *server)
{
	return (enum server_admin)override_or(
	    &settings_of(server)->admin, server_file_admin(server));
}

bool
server_is_wanted(const struct server *server)
{
	return server_weight(server) > 0 &&
	       server_admin_of(server) == SERVER_READY;
}

/* Returns whether the operator has set the server to stopping and no check has
 * passed since.  A reload that takes the checks away also ends the state, even
 * in the lineup that it makes before it settles the servers. */
static bool
is_stopping(const struct server *server)
{
	const struct server_state *s = server->state;

	return s->stopping &&
	       (server->check.on || s->last.status == CHECK_STATUS_NONE);
}

bool
server_is_ejected(const struct server *server)
{
	return server->state->passive.ejected &&
	       server->backend->spec->eject_after > 0;
}

/* Returns whether the server would be usable if it were not ejected. */
static bool
is_usable_unejected(const struct server *server)
{
	const struct server *ref = server->tracked ? server->tracked : server;

	return server_is_up(server) && !is_stopping(ref) &&
	       server_is_wanted(server);
}

bool
server_is_usable(const struct server *server)
{
	return is_usable_unejected(server) && !server_is_ejected(server);
}

bool
server_keeps_sources(const struct server *server)
{
	return server_is_up(server) && !server_is_ejected(server) &&
	       server_admin_of(server) != SERVER_MAINT;
}

unsigned
backend_usable_n(const struct backend *backend)
{
	unsigned usable = 0, unejected = 0;

	backend_for_each_server (s, backend) {
		usable += server_is_usable(s);
		unejected += is_usable_unejected(s);
	}
	return usable > 0 ? usable : unejected;
}

enum server_admin
server_admin_of(const struct server *server)
{
	enum server_admin own = server_own_admin(server);
	enum server_admin other =
	    server->tracked ? server_admin_of(server->tracked) : SERVER_READY;

	if (server_is_unresolved(server))
		return SERVER_MAINT;
	return own > other ? own : other;
}
